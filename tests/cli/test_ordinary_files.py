"""Compressed files, workbooks, missing values, scales, saved models: end to end."""

import datetime as dt
import gzip
import io
import json
import sys

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isthmus import TransitiveCut, TransitiveKMeans, minimum_spanning_tree
from isthmus.cli import compression
from isthmus.cli.compression import packed, require_zstd, unpacked
from isthmus.cli.errors import UserError
from isthmus.cli.prepare import hint_of_spreads
from isthmus.ultrametric import UltrametricTree

HOLES = "name,x,y\nann,0,0\nbob,9,9\ncy,1,NA\ndee,0,1\neve,9,8\n"
POINTS = np.array([[0, 0], [9, 9], [0, 1], [9, 8]], dtype=float)


@pytest.fixture
def holes(tmp_path):
    (tmp_path / "holes.csv").write_text(HOLES)
    return "holes.csv"


def in_zst(data):
    stream = io.BytesIO()
    with packed(stream, ".zst") as file:
        file.write(data)
    return stream.getvalue()


class TestCompression:
    @pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", in_zst)])
    def test_tables(self, isthmus, tmp_path, table, labels, ending, pack):
        (tmp_path / f"in.csv{ending}").write_bytes(pack(table.encode()))
        plain = isthmus("cluster", "-k", 2, "--exclude", "name", stdin=table.encode())
        result = isthmus("cluster", f"in.csv{ending}", "-k", 2, "--exclude", "name")
        assert (result.status, result.out) == (0, plain.out)
        written = tmp_path / f"out.tsv{ending}"
        isthmus("cluster", f"in.csv{ending}", "-k", 2, "--exclude", "name", "-o", written)
        with written.open("rb") as stream:
            text = unpacked(stream, ending, "out").read().decode()
        assert text == plain.out.replace(",", "\t")
        first = written.read_bytes()
        isthmus("cluster", f"in.csv{ending}", "-k", 2, "--exclude", "name", "-o", written)
        assert written.read_bytes() == first

    @pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", in_zst)])
    def test_streams(self, ending, pack):
        data = np.random.default_rng(0).bytes(3_000_000)
        for content in (data, b"", data[:1]):
            assert unpacked(io.BytesIO(pack(content)), ending, "f").read() == content
        twice = pack(data[:1000]) + pack(data[1000:])
        assert unpacked(io.BytesIO(twice), ending, "f").read() == data
        for wrong in (pack(data)[:-5], b"not compressed", pack(data[:9])[:3]):
            with pytest.raises(UserError, match=f"is not a readable {ending} file"):
                unpacked(io.BytesIO(wrong), ending, "f")

    def test_a_small_file_that_unpacks_to_more_than_the_memory(self, monkeypatch):
        monkeypatch.setattr(compression, "_CHECKED_EVERY", 1 << 20)
        monkeypatch.setattr("isthmus._utils.memory.available_memory", lambda: 1 << 22)
        bomb = gzip.compress(bytes(1 << 24))
        with pytest.raises(MemoryError, match="f needs"):
            unpacked(io.BytesIO(bomb), ".gz", "f")

    def test_without_zstandard(self, isthmus, monkeypatch, table_csv):
        for name in ("zstandard", "compression.zstd"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UserError, match=r"pip install 'isthmus\[zstd\]'"):
            require_zstd()
        for arguments in (["in.csv.zst"], [table_csv, "-o", "out.csv.zst"]):
            result = isthmus("cluster", *arguments, "-k", 2)
            assert result.status == 2
            assert "isthmus[zstd]" in result.err

    def test_pythons_own_module(self, monkeypatch):
        class Module:
            ZstdError = ValueError
            ZstdFile = staticmethod(lambda stream, mode: gzip.GzipFile(fileobj=stream, mode=mode))

        monkeypatch.setitem(sys.modules, "compression", Module)
        monkeypatch.setitem(sys.modules, "compression.zstd", Module)
        assert unpacked(io.BytesIO(in_zst(b"text")), ".zst", "f").read() == b"text"


class TestExcel:
    @pytest.fixture
    def save(self, tmp_path):
        def write(rows, name="in.xlsx", other=()):
            book = openpyxl.Workbook()
            for row in rows:
                book.active.append(row)
            sheet = book.create_sheet("more")
            for row in other:
                sheet.append(row)
            book.save(tmp_path / name)
            return name

        return write

    def test_a_sheet(self, isthmus, save, tmp_path):
        day = dt.datetime(2024, 5, 1)
        rows = [["name", "x", "day"], ["a", 0, day], ["b", 9.5, day], [None, "1", day]]
        name = save(rows, other=[[1], [2], [9]])
        result = isthmus("cluster", name, "-k", 2, "--columns", "x")
        assert result.status == 0
        assert result.out.splitlines() == [
            "name,x,day,cluster",
            "a,0,2024-05-01 00:00:00,0",
            "b,9.5,2024-05-01 00:00:00,1",
            ",1,2024-05-01 00:00:00,0",
        ]
        out = isthmus("cluster", name, "-k", 2, "--sheet", "more").out
        assert out == "1,0\n2,0\n9,1\n"
        isthmus("cluster", name, "-k", 2, "--columns", "x", "-o", "out.parquet")
        table = pq.read_table(tmp_path / "out.parquet").to_pydict()
        assert table["x"] == [0.0, 9.5, 1.0]
        assert table["name"] == ["a", "b", None]
        assert table["cluster"] == [0, 1, 0]

    def test_missing_cells(self, isthmus, save):
        name = save([["x"], [0], [None], [5], ["n/a"]])
        out = isthmus("cluster", name, "-k", 2, "--missing", "drop").out
        assert out == "x,cluster\n0,0\n,\n5,1\nn/a,\n"

    @pytest.mark.parametrize(
        ("rows", "options", "message"),
        [
            ([["x"], [1], ["b"]], [], "in.xlsx, row 3, column 1 ('x'): 'b' is not a number."),
            ([["x"], [1], [True]], [], "row 3, column 1 ('x'): 'True' is a bool, not a number."),
            ([["x"], [1], [None], [2]], [], "row 3, column 1 ('x'): the field is empty;"),
            ([["x"], [1]], ["--sheet", "no"], "no sheet 'no'. Its sheets are 'Sheet', 'more'."),
            ([["x"], [1]], ["--columns", "y"], "no column 'y'. Its columns are 'x'."),
            ([["x"]], [], "has a header, but no rows below it."),
            ([], [], "in.xlsx is empty."),
            ([["x"], [1]], ["--delimiter", ";"], "do not apply to xlsx input."),
        ],
    )
    def test_refused(self, isthmus, save, rows, options, message):
        result = isthmus("cluster", save(rows), "-k", 1, *options)
        assert result.status == 2
        assert message in result.err

    def test_damaged(self, isthmus, tmp_path):
        (tmp_path / "in.xlsx").write_bytes(b"PK not a workbook")
        result = isthmus("cluster", "in.xlsx", "-k", 1)
        assert "in.xlsx is not a readable Excel workbook" in result.err

    def test_without_openpyxl(self, isthmus, save, monkeypatch):
        name = save([[1]])
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        result = isthmus("cluster", name, "-k", 1)
        assert (result.status, "pip install 'isthmus[excel]'" in result.err) == (2, True)


class TestText:
    def test_what_was_taken_is_said(self, isthmus, tmp_path):
        (tmp_path / "in.csv").write_text("x;y\n0,5;0\n9;9\n")
        result = isthmus("cluster", "in.csv", "-k", 2)
        assert result.out == "x;y;cluster\n0,5;0;0\n9;9;1\n"
        assert result.err.splitlines()[0].startswith(
            "isthmus: in.csv: fields separated by ';', decimal comma ("
        )
        assert isthmus("cluster", "in.csv", "-k", 2, "--quiet").err == ""
        said = json.loads(isthmus("cluster", "in.csv", "-k", 2, "--json").err)["read"]
        assert said.startswith("in.csv: fields separated by ';'")
        given = isthmus("cluster", "in.csv", "-k", 2, "--delimiter", ";", "--decimal", "comma")
        assert "separated" not in given.err
        isthmus("cluster", "in.csv", "-k", 2, "-o", "out.csv")
        assert (tmp_path / "out.csv").read_text() == result.out

    def test_usual_files_are_read_without_a_word(self, isthmus, table_csv):
        assert "separated" not in isthmus("cluster", table_csv, "-k", 2, "--columns", "x,y").err

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("--decimal", ";", "must be 'point', 'comma', '.' or ',', got ';'"),
            ("--encoding", "klingon", "unknown encoding 'klingon'; usual ones are utf-8, cp1252"),
            ("--encoding", "rot13", "unknown encoding 'rot13'"),
            ("--missing", "zero", "invalid choice: 'zero'"),
            ("--scale", "log", "invalid choice: 'log'"),
        ],
    )
    def test_bad_values(self, isthmus, table_csv, option, value, message):
        result = isthmus("cluster", table_csv, "-k", 2, option, value)
        assert (result.status, message in result.err) == (2, True)


class TestMissing:
    def test_dropped_rows_keep_their_place(self, isthmus, holes, tmp_path):
        arguments = ["cluster", holes, "-k", 2, "--columns", "x,y", "--missing", "drop"]
        result = isthmus(*arguments)
        labels = TransitiveCut(2).fit(POINTS).labels_.astype(str).tolist()
        labels.insert(2, "")
        assert [line.split(",")[-1] for line in result.out.splitlines()] == ["cluster", *labels]
        assert "left out  1 row with missing values" in result.err
        assert isthmus(*arguments, "--labels-only").out == 'cluster\n0\n1\n""\n0\n1\n'
        isthmus(*arguments, "-o", "out.npy")
        assert np.load(tmp_path / "out.npy").tolist() == [0, 1, -1, 0, 1]
        isthmus(*arguments, "-o", "out.parquet")
        table = pq.read_table(tmp_path / "out.parquet").to_pydict()
        assert table["cluster"] == [0, 1, None, 0, 1]
        assert table["y"] == [0.0, 9.0, None, 1.0, 8.0]

    def test_means_and_nan_euclidean(self, isthmus, holes):
        for options in (["mean"], ["nan-euclidean"], ["nan-euclidean", "--scale", "robust"]):
            out = isthmus(
                "cluster",
                holes,
                "-k",
                2,
                "--columns",
                "x,y",
                "--labels-only",
                "--missing",
                *options,
            ).out
            assert out.split() == ["cluster", "0", "1", "0", "0", "1"]
        by_metric = isthmus(
            "cluster", holes, "-k", 2, "--columns", "x,y", "--metric", "nan_euclidean"
        )
        assert by_metric.status == 0

    def test_binary_tables(self, isthmus, tmp_path):
        np.save(tmp_path / "in.npy", [[0.0], [np.nan], [9.0]])
        pq.write_table(pa.table({"x": [0, None, 9]}), tmp_path / "in.parquet")
        for name in ("in.npy", "in.parquet"):
            refused = isthmus("cluster", name, "-k", 2)
            assert "or see --missing" in refused.err
            out = isthmus("cluster", name, "-k", 2, "--missing", "drop", "--labels-only").out
            assert out.split()[-3:] == ["0", '""', "1"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--missing", "error"], "holes.csv, line 4, column 3 ('y'): 'NA' is a missing value"),
            ([], "or see --missing"),
            (["--missing", "nan-euclidean", "--metric", "cosine"], "does not go with --metric cos"),
            (["--scale", "robust", "--metric", "haversine"], "are angles on a sphere"),
        ],
    )
    def test_refused(self, isthmus, holes, options, message):
        result = isthmus("cluster", holes, "-k", 2, "--columns", "x,y", *options)
        assert (result.status, message in result.err) == (2, True)


class TestScale:
    def test_hint(self, isthmus, tmp_path):
        (tmp_path / "in.csv").write_text("age,income\n20,20000\n30,90000\n20,20000\n30,90000\n")
        first = isthmus("cluster", "in.csv", "-k", 2)
        assert "isthmus: hint: column 'income' spreads 7,000 times as far as 'age'" in first.err
        for options in (["--scale", "none"], ["--scale", "standard"], ["--metric", "cosine"]):
            assert "hint" not in isthmus("cluster", "in.csv", "-k", 2, *options).err
        told = json.loads(isthmus("cluster", "in.csv", "-k", 2, "--json").err)
        assert (len(told["hints"]), told["scale"]) == (1, "none")

    @pytest.mark.parametrize("factor", [99.0, 101.0])
    def test_when_spreads_differ_by_a_hundred(self, factor):
        column = np.random.default_rng(0).normal(size=50)
        points = np.column_stack([column, factor * column, np.full(50, 0.1)])
        assert (hint_of_spreads(points, "abc") is not None) == (factor > 100)
        points[3, :2] = np.nan
        assert (hint_of_spreads(points, "abc") is not None) == (factor > 100)


class TestModels:
    @pytest.fixture
    def model(self, isthmus, tmp_path):
        rng = np.random.default_rng(0)
        points = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(9, 1, (20, 2))])
        points[:, 1] *= 1000
        np.savetxt(tmp_path / "in.csv", points, delimiter=",", header="x,y", comments="")
        options = ["--scale", "standard", "--missing", "mean", "--save", "m.isthmus", "--quiet"]
        result = isthmus("cluster", "in.csv", "-k", 2, *options, "-o", "out.csv")
        assert result.status == 0, result.err
        return points

    def test_predict_finds_columns_by_name_and_scales_them(self, isthmus, model, tmp_path):
        (tmp_path / "new.csv").write_text("y,more,x\n100,a,0.1\n9100,b,9\n,c,9\n")
        result = isthmus("predict", "m.isthmus", "new.csv")
        scaled = (model - model.mean(axis=0)) / model.std(axis=0)
        new = np.array([[0.1, 100], [9, 9100], [9, model[:, 1].mean()]])
        expected = (
            TransitiveCut(2).fit(scaled).predict((new - model.mean(axis=0)) / model.std(axis=0))
        )
        rows = result.out.splitlines()
        assert rows[0] == "y,more,x,cluster"
        assert [int(row.split(",")[-1]) for row in rows[1:]] == expected.tolist()
        assert "scale     standard" in result.err
        again = isthmus("predict", "m.isthmus", "in.csv", "-o", "again.csv", "--json")
        assert (tmp_path / "again.csv").read_text() == (tmp_path / "out.csv").read_text()
        assert json.loads(again.err)["sizes"] == [30, 20]

    def test_mismatched_columns_are_refused(self, isthmus, model, tmp_path):
        (tmp_path / "new.csv").write_text("x,z\n1,2\n")
        np.save(tmp_path / "new.npy", [[1.0, 2.0], [9.0, 9000.0]])
        cases = {
            ("new.csv",): "new.csv has no column 'y'. Its columns are 'x', 'z'.",
            ("in.csv", "--columns", "x"): "the model takes its columns by their names: 'x', 'y'.",
            ("in.csv", "--no-header"): "has no names of columns, and the model was fitted on 'x'",
            ("new.npy",): "say which 2 columns these are with --columns.",
            ("new.npy", "--columns", "1"): "has 1 column to cluster by, but the model was fitted",
        }
        for arguments, message in cases.items():
            result = isthmus("predict", "m.isthmus", *arguments)
            assert (result.status, result.out) == (2, "")
            assert message in result.err
        assert isthmus("predict", "m.isthmus", "new.npy", "--columns", "1,2").status == 0

    def test_names_that_look_like_positions(self, isthmus, tmp_path):
        (tmp_path / "in.csv").write_text("1,2\n0,0\n9,9\n")
        assert (
            isthmus("cluster", "in.csv", "-k", 2, "--header", "--save", "m", "-o", "o.csv").status
            == 0
        )
        (tmp_path / "new.csv").write_text("2,3\n0,0\n")
        assert "new.csv has no column '1'" in isthmus("predict", "m", "new.csv").err

    def test_dropped_and_refused_rows(self, isthmus, tmp_path):
        (tmp_path / "in.csv").write_text("x\n0\n\n9\n".replace("\n\n", "\nNA\n"))
        (tmp_path / "new.csv").write_text("x\n8\nNA\n")
        isthmus("cluster", "in.csv", "-k", 2, "--missing", "drop", "--save", "m", "-o", "o.csv")
        assert isthmus("predict", "m", "new.csv").out == "x,cluster\n8,1\nNA,\n"
        (tmp_path / "new.csv").write_text("x\nNA\n")
        assert isthmus("predict", "m", "new.csv").out == "x,cluster\nNA,\n"
        (tmp_path / "in.csv").write_text("x\n0\n9\n")
        isthmus("cluster", "in.csv", "-k", 2, "--save", "m", "-o", "o.csv")
        assert "'NA' is a missing value" in isthmus("predict", "m", "new.csv").err

    def test_models_of_python(self, isthmus, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(POINTS, columns=["x", "y"])
        TransitiveKMeans(2).fit(frame).save(tmp_path / "m")
        (tmp_path / "new.csv").write_text("y,x\n9,9\n0,1\n")
        out = isthmus("predict", "m", "new.csv", "--labels-only").out
        expected = TransitiveKMeans(2).fit(POINTS).predict([[9, 9], [1, 0]])
        assert out.split()[1:] == expected.astype(str).tolist()
        TransitiveCut(2).fit(POINTS).save(tmp_path / "m")
        assert isthmus("predict", "m", "new.csv", "--labels-only").status == 0
        TransitiveCut(2, metric="precomputed").fit(np.ones((3, 3)) - np.eye(3)).save(tmp_path / "m")
        assert "distances or objects" in isthmus("predict", "m", "new.csv").err

    def test_loading_warns_of_the_preparation(self, model, tmp_path):
        with pytest.warns(UserWarning, match="was fitted to prepared columns"):
            loaded = TransitiveCut.load(tmp_path / "m.isthmus")
        loaded.save(tmp_path / "again")
        with pytest.warns(UserWarning, match="scale='standard'"):
            TransitiveCut.load(tmp_path / "again")

    def test_info(self, isthmus, model, tmp_path):
        out = isthmus("info", "m.isthmus").out
        facts = dict(line.split("  ", 1) for line in out.splitlines())
        facts = {name: value.strip() for name, value in facts.items()}
        assert facts["holds"] == "TransitiveCut"
        assert facts["columns"] == "x, y"
        assert (facts["rows"], facts["sizes"], facts["scale"]) == ("50", "30, 20", "standard")
        told = json.loads(isthmus("info", "m.isthmus", "--json").out)
        assert (told["clusters"], told["features"], told["missing"]) == (2, 2, "mean")
        UltrametricTree.from_spanning_tree(minimum_spanning_tree(POINTS)).save(tmp_path / "t")
        assert json.loads(isthmus("info", "t", "--json").out)["points"] == 4
        assert "which has no clusters" in isthmus("predict", "t", "in.csv").err

    @pytest.mark.parametrize("command", ["info", "predict"])
    def test_wrong_files(self, isthmus, tmp_path, command):
        (tmp_path / "no").write_text("nothing")
        (tmp_path / "folder").mkdir()
        for name, message in {
            "no": "not a file that isthmus has saved",
            "folder": "is a directory",
            "gone": "cannot read gone: No such file",
        }.items():
            result = isthmus(command, name)
            assert (result.status, message in result.err) == (2, True)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("no/m.isthmus", "the directory no does not exist"),
            ("in.csv", "it is the input"),
            ("out.csv", "--save and --output name the same file"),
        ],
    )
    def test_where_models_go_is_checked_first(self, isthmus, tmp_path, monkeypatch, name, message):
        (tmp_path / "in.csv").write_text("1\n2\n")
        monkeypatch.setattr("isthmus.cli.command_table.read_table", None)
        result = isthmus("cluster", "in.csv", "-k", 2, "-o", "out.csv", "--save", name)
        assert (result.status, message in result.err) == (2, True)


class TestOutliers:
    def test_scores(self, isthmus, tmp_path):
        rng = np.random.default_rng(0)
        points = np.concatenate([rng.normal(size=(40, 2)), [[30.0, 30.0]]])
        np.savetxt(tmp_path / "in.csv", points, delimiter=",")
        result = isthmus("outliers", "in.csv", "--scores-only")
        expected = (
            TransitiveCut(1).fit(np.loadtxt(tmp_path / "in.csv", delimiter=",")).outlier_scores_
        )
        assert [float(line) for line in result.out.split()] == expected.tolist()
        assert result.err.split("\n\n")[1].splitlines()[1].split()[0] == "41"
        isthmus("outliers", "in.csv", "-o", "out.npy", "--quiet")
        assert np.load(tmp_path / "out.npy").tolist() == expected.tolist()
        told = json.loads(isthmus("outliers", "in.csv", "--json").err)
        assert told["highest"][0] == {"row": 41, "score": expected[40]}

    def test_missing_and_names(self, isthmus, holes, tmp_path):
        out = isthmus("outliers", holes, "--exclude", "name", "--missing", "drop").out
        assert out.splitlines()[0] == "name,x,y,outlier_score"
        assert out.splitlines()[3] == "cy,1,NA,"
        isthmus("outliers", holes, "--exclude", "name", "--missing", "drop", "-o", "o.npy")
        assert np.isnan(np.load(tmp_path / "o.npy")).tolist() == [False, False, True, False, False]
        options = ["--missing", "mean", "--score-column", "x"]
        taken = isthmus("outliers", holes, "--exclude", "name", *options)
        assert (
            "already has a column named 'x'. Choose another name with --score-column" in taken.err
        )


class TestGower:
    PEOPLE = (
        "age,city,since,code\n20,Rome,2024-01-01,1\n22,Rome,2024-01-03,b\n21,,2024-01-02,1\n"
        "70,Lima,2020-01-01,c\n72,Lima,2020-02-01,c\n71,Lima,NA,c\n"
    )

    @pytest.fixture
    def people(self, tmp_path):
        (tmp_path / "people.csv").write_text(self.PEOPLE)
        return "people.csv"

    def frame(self):
        return np.array(
            [
                [20, "Rome", dt.date(2024, 1, 1), "1"],
                [22, "Rome", dt.date(2024, 1, 3), "b"],
                [21, None, dt.date(2024, 1, 2), "1"],
                [70, "Lima", dt.date(2020, 1, 1), "c"],
                [72, "Lima", dt.date(2020, 2, 1), "c"],
                [71, "Lima", None, "c"],
            ],
            dtype=object,
        )

    def test_a_table_of_all_kinds(self, isthmus, people, tmp_path):
        result = isthmus("cluster", people, "-k", 2, "--metric", "gower", "--save", "m")
        model = TransitiveCut(2, metric="gower").fit(self.frame())
        labels = [line.rsplit(",", 1)[1] for line in result.out.splitlines()[1:]]
        assert labels == model.labels_.astype(str).tolist()
        (tmp_path / "new.csv").write_text("code,city,since,age\n1,Rome,2024-01-01,25\n1,X,,\n")
        out = isthmus("predict", "m", "new.csv", "--labels-only").out
        new = [[25, "Rome", dt.date(2024, 1, 1), "1"], [None, "X", None, "1"]]
        expected = model.predict(np.array(new, dtype=object))
        assert out.split()[1:] == expected.astype(str).tolist()
        facts = json.loads(isthmus("info", "m", "--json").out)
        assert facts["columns"] == ["age", "city", "since", "code"]
        assert (facts["metric"], facts["missing"]) == ("gower", "gower")
        scores = isthmus("outliers", people, "--metric", "gower", "--scores-only").out.split()[1:]
        assert [float(score) for score in scores] == model.outlier_scores_.tolist()

    def test_other_formats(self, isthmus, people, tmp_path):
        out = isthmus("cluster", people, "-k", 2, "--metric", "gower", "--labels-only").out
        isthmus("cluster", people, "-k", 2, "--metric", "gower", "-o", "out.parquet")
        table = pq.read_table(tmp_path / "out.parquet")
        assert table["since"].to_pylist()[3] == dt.datetime(2020, 1, 1)
        again = ["cluster", "out.parquet", "-k", 2, "--metric", "gower", "--exclude", "cluster"]
        assert isthmus(*again, "--labels-only").out == out
        book = openpyxl.Workbook()
        for row in [["age", "city", "since", "code"], *self.frame().tolist()]:
            book.active.append(row)
        book.save(tmp_path / "in.xlsx")
        options = ["-k", 2, "--metric", "gower", "--labels-only"]
        assert isthmus("cluster", "in.xlsx", *options).out == out
        np.save(tmp_path / "in.npy", [[0.0], [np.nan], [9.0]])
        assert "no column of which both" in isthmus("cluster", "in.npy", *options).err

    def test_pages(self, isthmus, people, tmp_path):
        pytest.importorskip("bokeh")
        options = ["-k", 2, "--metric", "gower", "--coordinates", "age,city"]
        result = isthmus("explore", people, *options)
        assert "Column 'city' holds texts, which cannot be coordinates" in result.err
        assert isthmus("explore", people, "-k", 2, "--metric", "gower").status == 0
        assert (tmp_path / "isthmus.html").exists()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--missing", "mean"], "--missing mean does not go with --metric gower"),
            (["--scale", "robust"], "--scale robust does not go with --metric gower"),
        ],
    )
    def test_refused(self, isthmus, people, options, message):
        result = isthmus("cluster", people, "-k", 2, "--metric", "gower", *options)
        assert (result.status, message in result.err) == (2, True)

    def test_values_of_other_kinds(self, isthmus, people, tmp_path):
        isthmus("cluster", people, "-k", 2, "--metric", "gower", "--save", "m", "-o", "o.csv")
        (tmp_path / "new.csv").write_text("age,city,since,code\nold,Rome,2024-01-01,1\n")
        result = isthmus("predict", "m", "new.csv")
        assert (result.status, "held numbers in the fit" in result.err) == (2, True)
        pq.write_table(pa.table({"x": [[1], [2]]}), tmp_path / "in.parquet")
        result = isthmus("cluster", "in.parquet", "-k", 2, "--metric", "gower")
        assert (result.status, "values of the types list" in result.err) == (2, True)
