"""Whatever the user gets wrong: status 2, one line that says so, and nothing written."""

import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def refused(isthmus, tmp_path):
    """Check that a call is refused, and return its message."""

    def call(*arguments, stdin=b"", output=("-o", "out.csv")):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        result = isthmus("cluster", *arguments, *output, stdin=stdin)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        assert (result.status, result.out) == (2, "")
        assert result.err.startswith("isthmus: error: ")
        assert result.err.count("\n") == 1
        return result.err.removeprefix("isthmus: error: ").strip()

    return call


@pytest.fixture
def save(tmp_path):
    def write(name, content):
        path = tmp_path / name
        if isinstance(content, np.ndarray):
            np.save(path, content, allow_pickle=True)
        elif isinstance(content, pa.Table):
            pq.write_table(content, path)
        else:
            path.write_bytes(content)
        return name

    return write


@pytest.fixture
def no_work(monkeypatch):
    """Reading is a failure: the refusal must come before."""

    def fail(*arguments):
        raise AssertionError("work began")

    monkeypatch.setattr("isthmus.cli.command_table.read_table", fail)


class TestInput:
    def test_missing_file(self, refused):
        assert refused("no.csv", "-k", 2) == "cannot read no.csv: No such file or directory."

    def test_directory(self, refused, tmp_path):
        (tmp_path / "in.csv").mkdir()
        assert refused("in.csv", "-k", 2) == "in.csv is a directory, not a file."

    def test_unreadable_file(self, refused, save, monkeypatch):
        def fail(*arguments):
            raise PermissionError(13, "Permission denied")

        save("in.csv", b"1\n2\n")
        monkeypatch.setattr("pathlib.Path.open", fail)
        assert refused("in.csv", "-k", 2) == "cannot read in.csv: Permission denied."

    def test_unknown_ending(self, refused, save, no_work):
        message = refused(save("in.ods", b"1\n2\n"), "-k", 2)
        assert message.startswith("in.ods: the format cannot be told from the name. Known")
        assert ".csv, .tsv, .tab, .npy, .parquet" in message
        assert "--format" in message

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "in.csv is empty."),
            (b"x,y\n", "in.csv has a header, but no rows below it."),
            (b"x,y\n1,2\n3\n", "in.csv, line 3: expected 2 fields, found 1."),
            (b"1,2\n3,x\n", "in.csv, line 2, column 2: 'x' is not a number. Choose"),
            (b"x,y\n1,2\n3,\n", "in.csv, line 3, column 2 ('y'): the field is empty; missing"),
            (b"x,y\n1,nan\n", "in.csv, line 2, column 2 ('y'): 'nan' is a missing value; missing"),
            (b"x,y\n1,inf\n", "in.csv, line 2, column 2 ('y'): 'inf' is infinite; only finite"),
            (b"\x93NUMPY\x01\0", "in.csv is not text in UTF-8 (byte 0x93 on line 1)."),
            (b"PAR1\0\0", "in.csv is not text (it holds NUL bytes)."),
        ],
    )
    def test_wrong_csv(self, refused, save, content, message):
        assert refused(save("in.csv", content), "-k", 1).startswith(message)

    def test_unknown_column(self, refused, table_csv):
        message = refused("table.csv", "-k", 2, "--columns", "x,z")
        assert message == "table.csv has no column 'z'. Its columns are 'name', 'x', 'y'."

    def test_duplicate_names(self, refused, save):
        message = refused(save("in.csv", b"x,x\n1,2\n"), "-k", 1, "--columns", "x")
        assert message.startswith("in.csv has several columns named 'x' (columns 1 and 2)")

    def test_standard_input_is_called_that(self, refused):
        assert refused("-k", 2, stdin=b"") == "standard input is empty."

    def test_terminal_is_not_waited_for(self, refused, monkeypatch):
        terminal = type("Terminal", (), {"isatty": lambda self: True})()
        monkeypatch.setattr("isthmus.cli.read_table.sys", type("Sys", (), {"stdin": terminal}))
        assert refused("-k", 2).startswith("no input. Name a file")

    def test_closed_standard_input(self, refused, monkeypatch):
        closed = type("Sys", (), {"stdin": None})
        monkeypatch.setattr("isthmus.cli.read_table.sys", closed)
        assert refused("-k", 2).startswith("standard input is closed")

    @pytest.mark.parametrize("options", [["--delimiter", ";"], ["--header"], ["--no-header"]])
    def test_options_of_text_only(self, refused, save, options, no_work):
        message = refused(save("in.npy", np.ones((2, 2))), "-k", 1, *options)
        assert message.endswith("do not apply to npy input.")


class TestNpy:
    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (np.ones(3), "in.npy holds an array of shape (3,); expected two dimensions"),
            (np.ones((2, 2, 2)), "in.npy holds an array of shape (2, 2, 2)"),
            (np.array(1.0), "in.npy holds an array of shape ()"),
            (np.ones((0, 2)), "in.npy is empty: its shape is (0, 2)."),
            (np.ones((2, 0)), "in.npy is empty: its shape is (2, 0)."),
            (np.array([["a"]]), "in.npy holds an array of type <U1, which is not numeric."),
            (np.ones((2, 2), bool), "in.npy holds an array of type bool"),
            (np.ones((2, 2), complex), "in.npy holds an array of type complex128"),
            (np.array([[1, {}]], object), "in.npy is not a .npy file of numbers: Object arrays"),
            (
                np.array([[1, 2], [3, np.nan]]),
                "in.npy, row 2, column 2: nan is a missing value; missing values must be",
            ),
            (np.array([[1, -np.inf]]), "in.npy, row 1, column 2: -inf is infinite"),
        ],
    )
    def test_wrong_array(self, refused, save, array, message):
        assert refused(save("in.npy", array), "-k", 1).startswith(message)

    @pytest.mark.parametrize("length", [0, 4, 9, 40, 127, 128, 140])
    def test_truncated(self, refused, tmp_path, length):
        stream = io.BytesIO()
        np.save(stream, np.ones((4, 2)))
        (tmp_path / "in.npy").write_bytes(stream.getvalue()[:length])
        assert refused("in.npy", "-k", 1).startswith("in.npy is not a .npy file of numbers")
        message = refused("--format", "npy", "-k", 1, stdin=stream.getvalue()[:length])
        assert message.startswith("standard input is not a .npy file of numbers")

    @pytest.mark.parametrize("position", [0, 6, 8, 10, 11, 20, 30, 45, 61])
    def test_damaged_header(self, refused, save, position):
        stream = io.BytesIO()
        np.save(stream, np.ones((4, 2)))
        data = bytearray(stream.getvalue())
        data[position] = ord("(")
        message = refused(save("in.npy", bytes(data)), "-k", 1)
        assert message.startswith("in.npy is not a .npy file of numbers: ")

    def test_wrong_position_names_the_range(self, refused, save):
        message = refused(save("in.npy", np.ones((2, 2))), "-k", 1, "--columns", "3")
        assert message.startswith("in.npy has no column 3: positions go from 1 to 2")

    def test_names_need_a_header(self, refused, save):
        message = refused(save("in.npy", np.ones((2, 2))), "-k", 1, "--columns", "x")
        assert message.startswith("in.npy has no header, so 'x' names no column")


class TestParquet:
    @pytest.mark.parametrize(
        ("table", "message"),
        [
            (pa.table({"x": ["a"]}), "in.parquet, column 1 ('x') is of type string, which is not"),
            (pa.table({"x": [True]}), "in.parquet, column 1 ('x') is of type bool"),
            (
                pa.table({"x": [1, None]}),
                "in.parquet, row 2, column 1 ('x'): the field is empty; missing values must be",
            ),
            (
                pa.table({"y": [1.0, 2.0], "x": [1.0, float("nan")]}),
                "in.parquet, row 2, column 2 ('x'): nan is a missing value",
            ),
            (pa.table({"x": [float("inf")]}), "in.parquet, row 1, column 1 ('x'): inf is infinite"),
            (pa.table({"x": pa.array([], pa.float64())}), "in.parquet is empty: 0 rows, 1 columns"),
            (pa.table({}), "in.parquet is empty: 0 rows, 0 columns."),
        ],
    )
    def test_wrong_table(self, refused, save, table, message):
        assert refused(save("in.parquet", table), "-k", 1).startswith(message)

    def test_corrupt(self, refused, save):
        stream = io.BytesIO()
        pq.write_table(pa.table({"x": np.arange(100.0)}), stream)
        for data in (stream.getvalue()[:-20], b"", b"PAR1garbagePAR1", b"x,y\n1,2\n"):
            message = refused(save("in.parquet", data), "-k", 1)
            assert message.startswith("in.parquet is not a readable Parquet file: ")

    def test_index_of_pandas_is_not_clustered_by(self, refused, isthmus, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"x": [0.0, 9.0, 1.0]}, index=[700, 1, 3])
        frame.to_parquet(tmp_path / "in.parquet")
        message = refused("in.parquet", "-k", 2)
        assert "('__index_level_0__') is the index of a pandas DataFrame" in message
        result = isthmus("cluster", "in.parquet", "-k", 2, "--columns", "x", "--labels-only")
        assert (result.status, result.out) == (0, "cluster\n0\n1\n0\n")

    @pytest.mark.parametrize(
        "notes",
        [b"{", b"\xff", b"[1]", b"null", b'{"index_columns": 3}', b'{"index_columns": [{}]}'],
    )
    def test_notes_of_pandas_that_make_no_sense_are_passed_over(self, notes, isthmus, tmp_path):
        table = pa.table({"x": [0.0, 9.0, 1.0]}).replace_schema_metadata({b"pandas": notes})
        pq.write_table(table, tmp_path / "in.parquet")
        result = isthmus("cluster", "in.parquet", "-k", 2, "--labels-only")
        assert (result.status, result.out) == (0, "cluster\n0\n1\n0\n")

    def test_index_without_values_is_no_matter(self, isthmus, tmp_path):
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame({"x": [0.0, 9.0, 1.0]}).to_parquet(tmp_path / "in.parquet")
        result = isthmus("cluster", "in.parquet", "-k", 2, "--labels-only")
        assert (result.status, result.out) == (0, "cluster\n0\n1\n0\n")

    def test_without_pyarrow(self, refused, save, monkeypatch):
        advice = "Parquet files need pyarrow, which is not installed: "
        advice += "pip install 'isthmus[parquet]'"
        save("in.parquet", pa.table({"x": [1.0]}))
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert refused("in.parquet", "-k", 1) == advice

    def test_without_pyarrow_output_is_refused_at_once(self, refused, no_work, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        message = refused("in.csv", "-k", 1, output=("-o", "out.parquet"))
        assert "pip install 'isthmus[parquet]'" in message


class TestParameters:
    def test_more_clusters_than_rows(self, refused, table_csv):
        message = refused("table.csv", "-k", 6, "--columns", "x,y")
        assert message == "-k asks for 6 clusters, but the input has only 5 rows."

    def test_unknown_metric(self, refused, table_csv, no_work):
        assert "unknown metric 'taxi'" in refused("table.csv", "-k", 2, "--metric", "taxi")

    def test_what_the_method_refuses(self, refused, table_csv):
        message = refused(
            "table.csv", "-k", 2, "--columns", "x,y", "--method", "kmeans", "--power", -1
        )
        assert message.startswith("power must be")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ("--space rows", "--space belongs to --method kmeans, not to --method cut."),
            ("--init cut", "--init belongs to --method kmeans, not to --method cut."),
            ("--n-init 3", "--n-init belongs to --method kmeans, not to --method cut."),
            ("--max-iter 3", "--max-iter belongs to --method kmeans, not to --method cut."),
            (
                "--seed 0 --power 0.5 --method cut",
                "--power, --seed belong to --method kmeans, not to --method cut.",
            ),
        ],
    )
    def test_options_of_the_other_method(self, refused, table_csv, no_work, options, message):
        assert refused("table.csv", "-k", 2, *options.split()) == message

    def test_rows_without_direction(self, refused, table_csv):
        message = refused("table.csv", "-k", 2, "--columns", "x,y", "--metric", "cosine")
        assert "Row 0 is zero" in message

    def test_not_enough_memory(self, refused, table_csv, monkeypatch):
        from isthmus.estimators import TransitiveCut

        def fail(self, X):
            raise MemoryError

        monkeypatch.setattr(TransitiveCut, "fit", fail)
        assert refused("table.csv", "-k", 2, "--columns", "x,y") == "not enough memory."


class TestOutput:
    def test_missing_directory(self, refused, no_work):
        message = refused("in.csv", "-k", 1, output=("-o", "no/out.csv"))
        assert message == "cannot write no/out.csv: the directory no does not exist."

    def test_directory(self, refused, no_work, tmp_path):
        (tmp_path / "out.csv").mkdir()
        assert refused("in.csv", "-k", 1) == "cannot write out.csv: it is a directory."

    @pytest.mark.parametrize("name", ["out", "out.xlsx", "out.gz"])
    def test_unknown_ending(self, refused, no_work, name):
        message = refused("in.csv", "-k", 1, output=("-o", name))
        assert message.startswith(f"cannot write {name}: its ending names no known format.")

    def test_same_file(self, refused, no_work, table_csv):
        for name in ("table.csv", "./table.csv", table_csv):
            message = refused("table.csv", "-k", 1, output=("-o", name))
            assert message == f"cannot write {name}: it is the input. Write to another file."

    def test_same_file_by_another_name(self, refused, no_work, table_csv, tmp_path):
        (tmp_path / "link.csv").symlink_to(table_csv)
        (tmp_path / "hard.csv").hardlink_to(table_csv)
        for name in ("link.csv", "hard.csv"):
            message = refused("table.csv", "-k", 1, output=("-o", name))
            assert message.startswith(f"cannot write {name}: it is the input.")

    def test_label_column_exists(self, refused, table_csv, monkeypatch):
        monkeypatch.setattr("isthmus.cli.cluster.fit_clusters", None)  # work may not begin
        message = refused("table.csv", "-k", 2, "--columns", "x,y", "--label-column", "name")
        assert message.startswith("the input already has a column named 'name'. Choose another")

    def test_no_permission(self, refused, no_work, tmp_path, monkeypatch):
        monkeypatch.setattr("os.access", lambda path, mode: False)
        message = refused("in.csv", "-k", 1)
        assert message == "cannot write out.csv: no permission to write to its directory."
        (tmp_path / "out.csv").write_text("kept")
        message = refused("in.csv", "-k", 1)
        assert message == "cannot write out.csv: no permission to write to it."

    def test_full_disk(self, refused, table_csv, monkeypatch):
        def fail(*arguments):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("isthmus.cli.write_table._write_text", fail)
        message = refused("table.csv", "-k", 2, "--columns", "x,y")
        assert message.endswith("out.csv: No space left on device.")
