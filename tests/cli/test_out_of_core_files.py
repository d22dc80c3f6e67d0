"""``isthmus cluster --out-of-core``: its files are read as in memory, or refused in one line."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from isthmus.cli import block_sources, csv_blocks

pa = pytest.importorskip("pyarrow")
pytest.importorskip("dask.array")
pq = pytest.importorskip("pyarrow.parquet")

POINTS = "x,y\n0,0\n0,1\n10,10\n10,11\n"
LONG = "a" * 300


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Small blocks, so that files have several."""
    monkeypatch.setattr(csv_blocks, "_BYTES", 1 << 10)
    monkeypatch.setattr(csv_blocks, "BLOCK", 100)
    monkeypatch.setattr(block_sources, "BLOCK", 100)


def refused(result, *words):
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("isthmus: error: ")
    assert result.err.count("\n") == 1
    for word in words:
        assert word in result.err


# --- the output is no file of the input ---


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "fold"
    path.mkdir()
    (path / "a.csv").write_text(POINTS)
    (path / "b.csv").write_text("x,y\n5,5\n5,6\n")
    return path


@pytest.mark.parametrize("output", ["fold/a.csv", "fold/b.csv", "fold/new.csv", "fold/new.npy"])
def test_the_output_is_not_in_the_folder_that_is_read(isthmus, folder, output):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = isthmus("cluster", "fold", "-k", 2, "--out-of-core", "-o", output)
    refused(result, "the folder that is read", "Write to another folder")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_the_output_is_no_link_to_a_file_that_is_read(isthmus, folder, tmp_path, link):
    if link == "hard":
        (tmp_path / "out.csv").hardlink_to(folder / "b.csv")
    else:
        (tmp_path / "out.csv").symlink_to(folder / "b.csv")
    before = (folder / "b.csv").read_bytes()
    refused(isthmus("cluster", "fold", "-k", 2, "--out-of-core", "-o", "out.csv"))
    assert (folder / "b.csv").read_bytes() == before


def test_the_output_is_not_the_one_file_that_is_read(isthmus, tmp_path):
    (tmp_path / "p.csv").write_text(POINTS)
    result = isthmus("cluster", "p.csv", "-k", 2, "--out-of-core", "-o", "p.csv")
    refused(result, "it is the input")
    assert isthmus("cluster", "p.csv", "-k", 2, "--out-of-core", "-o", "q.csv").status == 0


@pytest.mark.parametrize("option", ["-o", "--save"])
def test_a_file_of_pairs_is_not_overwritten(isthmus, tmp_path, option):
    (tmp_path / "p.csv").write_text(POINTS)
    (tmp_path / "ml.csv").write_text("1,2\n")
    for pairs in ("--must-link", "--cannot-link"):
        result = isthmus("cluster", "p.csv", "-k", 2, pairs, "ml.csv", option, "ml.csv")
        refused(result, "cannot write ml.csv: it is the input file ml.csv")
    assert (tmp_path / "ml.csv").read_text() == "1,2\n"


def test_a_page_does_not_overwrite_its_table(isthmus, tmp_path):
    pytest.importorskip("bokeh")
    (tmp_path / "h.html").write_text(POINTS)
    result = isthmus("explore", "h.html", "--format", "csv", "-o", "h.html")
    refused(result, "cannot write h.html: it is the input")
    assert (tmp_path / "h.html").read_text() == POINTS


# --- text is read as in memory ---

BODY = "".join(f"{i % 7},{i % 11}\n" for i in range(500))
READ_ALIKE = {
    "no header, but text in a column left out": ("a,5,6\nb,7,8\nc,100,11\n", ["--exclude", "1"]),
    "a header, all columns chosen by position": ("a,5\nb,6\n9,9\n1,1\n", ["--columns", "2"]),
    "spaces before numbers": ("x, y\n1, 2\n 3,4 \n90, 90\n", []),
    "names with spaces, by name": (" x , y\n1,2\n3,4\n90,90\n", ["--columns", "y"]),
    "a space before a quote": ('x,y\n1, "2"\n3,4\n90,"90"\n', []),
    "a space before a quoted text": (
        'n,y\n"a", 2\n"b, c",4\n d,90\n',
        ["--columns", "y"],
    ),
    "a quoted text after a space": ('y,n\n2, "b, c"\n3,e\n90,f\n', ["--columns", "y"]),
    "lines in a quoted field": ('y,n\n2,"b\n\nc"\n3,e\n90,"f\n"\n', ["--columns", "y"]),
    "semicolons and decimal commas": ("x;y\n1,5;2,5\n3,5;4\n90,25;90\n", []),
    "decimal commas, said": ("x;y\n1,5;2,5\n3,5;4\n90,25;90\n", ["--decimal", "comma"]),
    "tabs": ("x\ty\n1\t2\n3\t4\n90\t90\n", []),
    "bars": ("x|y\n1|2\n3|4\n90|90\n", []),
    "spaces": ("1 2\n3 4\n90 90\n", []),
    "a delimiter beyond ASCII": ("1§2\n3§4\n90§90\n", ["--delimiter", "§"]),
    "blank lines at the end": ("x\n1\n3\n90\n\n  \n\r\n", []),
    "no end of the last line": ("x,y\n1,2\n3,4\n90,90", []),
    "lines that end in CR": ("x,y\r1,2\r3,4\r90,90\r", []),
    "lines that end in CRLF": ("x,y\r\n1,2\r\n3,4\r\n90,90\r\n", []),
    "a byte order mark": ("\ufeffx,y\n1,2\n3,4\n90,90\n", ["--columns", "x"]),
    "a plus, exponents": ("x\n+1\n1e1\n.5\n90.\n", []),
    "large numbers that float64 holds": ("x\n9007199254740994\n1e300\n18014398509481984\n1\n", []),
    "no header, said": (BODY, ["--no-header"]),
    "a header, said": (BODY, ["--header"]),
    "digits of another script": (BODY + "٣,٤\n", []),
    "a name that is a number": ("1,2\n5,6\n7,8\n90,90\n", ["--header", "--columns", "2"]),
}


@pytest.mark.parametrize("case", READ_ALIKE)
def test_text_is_read_as_in_memory(isthmus, tmp_path, case):
    text, options = READ_ALIKE[case]
    (tmp_path / "t.csv").write_bytes(text.encode())
    common = ["cluster", "t.csv", "-k", 2, *options, "--json"]
    expected = isthmus(*common, "-o", "in_memory.csv")
    assert expected.status == 0, expected.err
    found = isthmus(*common, "--out-of-core", "-o", "blocks.csv")
    assert found.status == 0, found.err
    for part in ("n_points", "columns", "sizes"):
        assert json.loads(found.err)[part] == json.loads(expected.err)[part]
    assert isthmus(*common, "-o", "a.npy").status == 0
    assert isthmus(*common, "--out-of-core", "-o", "b.npy").status == 0
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


REFUSED_ALIKE = {
    "an integer that float64 rounds": (
        "x,y\n1,2\n9007199254740993,4\n9007199254740992,4\n5,7\n",
        "line 3, column 1 ('x'): '9007199254740993' is an integer which float64 rounds",
    ),
    "the same, after many rows": (
        "x,y\n" + BODY + "9007199254740993,4\n",
        "line 502, column 1 ('x'): '9007199254740993' is an integer which float64 rounds",
    ),
    "a missing value in the first row": ("?,1\n2,3\n4,5\n90,1\n", "'?' is a missing value"),
    "a blank line": ("x\n1\n\n3\n90\n", "line 3: the line is blank, but rows follow it"),
    "a blank line of a table": ("x,y\n1,2\n\n3,4\n", "line 3: the line is blank"),
    "a blank line at the top": ("\nx,y\n1,2\n3,4\n", "line 1: the line is blank"),
    "a blank line after many rows": (BODY + "\n1,2\n", "line 501: the line is blank"),
    "an empty field": ("x,y\n1,2\n,4\n90,1\n", "line 3, column 1 ('x'): the field is empty"),
    "an infinite number": ("x\n1\ninf\n3\n", "'inf' is infinite"),
    "a word": ("x\n1\ntwo\n3\n", "'two' is not a number"),
    "a missing field": ("x,y\n1,2\n3\n4,5\n", "line 3: expected 2 fields, found 1"),
    "a field too many": ("x,y\n1,2\n3,4,5\n4,5\n", "line 3: expected 2 fields, found 3"),
    "a quote that is never closed": ('x,n\n1,a\n3,"b\n4,c\n', "a quoted field is never closed"),
    "an underscore": ("x\n1\n1_0\n3\n", "'1_0' is not a number"),
    "no rows": ("x,y\n", "t.csv has a header, but no rows below it"),
    "nothing": ("\n", "t.csv is empty"),
    "NUL bytes": ("x\n1\n2\0\n3\n", "NUL bytes"),
}


@pytest.mark.parametrize("case", REFUSED_ALIKE)
def test_text_is_refused_as_in_memory(isthmus, tmp_path, case):
    text, words = REFUSED_ALIKE[case]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    exclude = ["--columns", "1"] if "n\n" in text[:4] else []
    for options in ([], ["--out-of-core"]):
        result = isthmus("cluster", "t.csv", "-k", 2, *exclude, "-o", "out.csv", *options)
        refused(result, words)
        assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (POINTS.encode("utf-16"), "t.csv is text in UTF-16, and --out-of-core reads UTF-8 only"),
        (b"x,n\n1,\xe4\n2,b\n", "not text in UTF-8 (byte 0xe4). Save it as UTF-8"),
    ],
)
def test_another_encoding_is_refused(isthmus, tmp_path, data, words):
    (tmp_path / "t.csv").write_bytes(data)
    refused(isthmus("cluster", "t.csv", "-k", 2, "--columns", "1", "--out-of-core"), words)


def test_files_of_a_folder_agree(isthmus, folder):
    (folder / "b.csv").write_text("y,x\n5,5\n5,6\n")
    result = isthmus("cluster", "fold", "-k", 2, "--out-of-core", "-o", "out.csv")
    refused(result, "b.csv has another header than")
    (folder / "b.csv").write_text("\n")
    result = isthmus("cluster", "fold", "-k", 2, "--out-of-core", "-o", "out.csv")
    refused(result, "b.csv is empty")
    (folder / "b.csv").write_text("x,y\n5,5\n5,six\n")
    result = isthmus("cluster", "fold", "-k", 2, "--out-of-core", "-o", "out.csv")
    refused(result, "b.csv, line 3, column 2 ('y'): 'six' is not a number")


def test_the_second_parser_begins_where_the_file_begins(isthmus, folder, tmp_path):
    (folder / "a.csv").write_text("x,y\n" + BODY)
    (folder / "b.csv").write_text("x,y\n" + BODY + '1, "2"\n')
    (folder / "c.csv").write_text("x,y\n" + BODY)
    whole = "x,y\n" + BODY + BODY + "1,2\n" + BODY
    (tmp_path / "whole.csv").write_text(whole)
    assert isthmus("cluster", "whole.csv", "-k", 3, "-o", "a.csv").status == 0
    assert isthmus("cluster", "fold", "-k", 3, "--out-of-core", "-o", "b.csv").status == 0
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_what_was_found_out_about_a_text_is_said_and_written(isthmus, tmp_path):
    (tmp_path / "t.csv").write_text("x;y\n1,5;2,5\n3,5;4\n90,25;90\n")
    result = isthmus("cluster", "t.csv", "-k", 2, "--out-of-core", "-o", "out.csv")
    assert "t.csv: fields separated by ';', decimal comma" in result.err
    assert (tmp_path / "out.csv").read_text().splitlines()[:2] == ["x;y;cluster", "1,5;2,5;0"]


# --- no tracebacks ---


def test_a_damaged_page_of_parquet_is_told(isthmus, tmp_path):
    x = np.arange(5000.0)
    pq.write_table(pa.table({"x": x, "y": x % 7}), tmp_path / "cz.parquet", compression="zstd")
    data = bytearray((tmp_path / "cz.parquet").read_bytes())
    data[4:60] = b"\xff" * 56
    (tmp_path / "cz.parquet").write_bytes(data)
    result = isthmus("cluster", "cz.parquet", "-k", 2, "--out-of-core", "-o", "out.csv")
    refused(result, "cz.parquet is not a readable Parquet file")
    assert not (tmp_path / "out.csv").exists()


def test_columns_of_one_name_are_told_apart_by_position(isthmus, tmp_path):
    near, far = np.tile([0.0, 9.0], 50), np.repeat([0.0, 9.0], 50)
    table = pa.Table.from_arrays([pa.array(near), pa.array(far)], names=["a", "a"])
    pq.write_table(table, tmp_path / "two.parquet")
    for column, values in ((1, near), (2, far)):
        options = ["--columns", column, "--out-of-core", "-o", "labels.npy"]
        assert isthmus("cluster", "two.parquet", "-k", 2, *options).status == 0
        labels = np.load(tmp_path / "labels.npy")
        assert len(set(zip(labels.tolist(), values.tolist(), strict=True))) == 2


def test_a_column_whose_name_begins_another_is_read_alone(isthmus, tmp_path):
    table = pa.table({"a.b": np.tile([0.0, 9.0], 50), "a": np.repeat([0.0, 9.0], 50)})
    pq.write_table(table, tmp_path / "dot.parquet")
    options = ["--columns", "a", "--out-of-core", "-o", "labels.npy"]
    assert isthmus("cluster", "dot.parquet", "-k", 2, *options).status == 0
    assert np.load(tmp_path / "labels.npy").tolist() == [0] * 50 + [1] * 50


def test_a_damaged_header_of_npy_is_told(isthmus, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((10, 2)))
    data = bytearray((tmp_path / "a.npy").read_bytes())
    data[20:25] = b"((((("
    (tmp_path / "a.npy").write_bytes(data)
    result = isthmus("cluster", "a.npy", "-k", 2, "--out-of-core", "-o", "out.csv")
    refused(result, "a.npy is not a .npy file of numbers")


@pytest.mark.parametrize("options", [[], ["--scratch", "s"]])
def test_a_full_disk_is_told(tmp_path, options):
    pytest.importorskip("resource")
    rows = "".join(f"{i},{i % 7}\n" for i in range(20000))
    (tmp_path / "m.csv").write_text("x,y\n" + rows)
    (tmp_path / "s").mkdir()
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20480, 20480)); "
        "from isthmus.cli.main import main; main()"
    )
    command = ["cluster", "m.csv", "-k", "2", "--out-of-core", "-o", "big.csv", *options]
    found = subprocess.run(
        [sys.executable, "-c", limited, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.startswith("isthmus: error: cannot use the scratch folder")
    assert found.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.csv", "s"]
    assert not list((tmp_path / "s").iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        [f"{LONG}.csv", "--out-of-core"],
        ["p.csv", "--out-of-core", "--scratch", LONG],
        ["p.csv", "-o", LONG],
        ["p.csv", "-o", f"{LONG}.csv"],
        ["p.csv", "--out-of-core", "-o", LONG],
        ["p.csv", "--save", LONG],
    ],
)
def test_a_name_that_is_too_long_is_told(isthmus, tmp_path, arguments):
    (tmp_path / "p.csv").write_text(POINTS)
    refused(isthmus("cluster", *arguments, "-k", 2), "File name too long")
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]
