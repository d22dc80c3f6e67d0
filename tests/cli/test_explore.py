import json
import os
import re
import sys
from base64 import b64decode
from contextlib import contextmanager

import numpy as np
import pytest


def payload_of(path):
    html = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="payload">(.*?)</script>', html, re.DOTALL).group(1))


def test_a_page_is_written(isthmus, table_csv, tmp_path):
    result = isthmus("explore", table_csv, "--exclude", "name", "-k", 2, "--hover", "name,x")
    assert result.status == 0, result.err
    assert result.out == ""
    assert "page: isthmus.html" in result.err
    data = payload_of(tmp_path / "isthmus.html")
    assert (data["title"], data["nRows"], data["nClusters"]) == ("table.csv", 5, 2)
    assert data["numbers"] == [1, 2, 3, 4, 5]
    texts = {column["name"]: column["texts"] for column in data["points"]["hover"]}
    assert texts == {"name": ["ann", "bob", "cy", "dee", "eve"], "x": ["0", "9.0", "1", "0", "9"]}
    assert [axis["name"] for axis in data["points"]["axes"]] == ["x", "y", "outlier score"]


def test_options_of_the_page(isthmus, table, tmp_path):
    options = (
        "-k",
        2,
        "--coordinates",
        "y,x",
        "--max-points",
        3,
        "--k-max",
        3,
        "--title",
        "five",
        "--quiet",
    )
    page = tmp_path / "page.html"
    result = isthmus(
        "explore", "-", "--columns", "x,y", *options, "--quiet", "-o", page, stdin=table.encode()
    )
    assert (result.status, result.out, result.err) == (0, "", "")
    data = payload_of(page)
    assert data["title"] == "five"
    assert data["numbers"] == [1, 2, 3]
    assert data["nClusters"] == 2
    assert [axis["name"] for axis in data["points"]["axes"][:2]] == ["y", "x"]


def test_kmeans_and_neighbourhoods(isthmus, table_csv, tmp_path):
    options = ("--exclude", "name", "-k", 2, "--method", "kmeans", "--neighbors", 2)
    assert isthmus("explore", table_csv, *options).status == 0
    assert payload_of(tmp_path / "isthmus.html")["method"].startswith("TransitiveKMeans")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "page.png"), "name it *.html"),
        (("-o", "nowhere/page.html"), "the directory nowhere does not exist"),
        (("--hover", "age"), "has no column 'age'"),
        (("-k", "2", "--coordinates", "x"), "must name two columns"),
        (("-k", "2", "--coordinates", "x,z"), "There is no column 'z'"),
        (("--p", "3"), "--p belongs to --metric minkowski"),
        (("-k", "9"), "asks for 9 clusters"),
    ],
)
def test_errors_write_nothing(isthmus, table_csv, tmp_path, monkeypatch, options, message):
    if "--coordinates" in options:  # work may not begin
        monkeypatch.setattr("isthmus.cli.explore.fit_clusters", None)
    result = isthmus("explore", table_csv, "--exclude", "name", *options)
    assert result.status == 2
    assert message in result.err
    assert result.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_without_bokeh(isthmus, table_csv, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    result = isthmus("explore", table_csv, "--exclude", "name")
    assert result.status == 2
    assert "pip install 'isthmus[explore]'" in result.err
    assert not (tmp_path / "isthmus.html").exists()


@pytest.mark.parametrize("missing", ["drop", "mean", "nan-euclidean"])
def test_missing_values(isthmus, tmp_path, missing):
    (tmp_path / "in.csv").write_text("x,y\n0,0\n1,\n9,9\n8,9\n0,1\n")
    result = isthmus("explore", "in.csv", "-k", 2, "--missing", missing, "--hover", "y")
    n_rows = 4 if missing == "drop" else 5
    assert result.status == 0, result.err
    assert f"{n_rows} rows, 2 clusters" in result.err


def test_quiet_is_silent(isthmus, tmp_path):
    (tmp_path / "in.csv").write_text("x,y\n0,0\n0,1\n10,10\n10,11\n")
    assert "warning" in isthmus("explore", "in.csv").err
    result = isthmus("explore", "in.csv", "--quiet")
    assert (result.status, result.out, result.err) == (0, "", "")


def test_large_numbers(isthmus, tmp_path):
    (tmp_path / "in.csv").write_text("x,y\n0,0\n1,1e39\n5,5\n")
    result = isthmus("explore", "in.csv", "-k", 2, "--scale", "none")  # warnings are errors
    assert result.status == 0, result.err
    lengths = payload_of(tmp_path / "isthmus.html")["points"]["length"]
    assert lengths["type"] == "f8"
    assert np.frombuffer(b64decode(lengths["data"]), "<f8").max() == pytest.approx(1e39)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 elsewhere")
def test_name_that_is_not_utf_8(isthmus, table, tmp_path):
    name = os.fsdecode(b"p\xff.csv")
    (tmp_path / name).write_text(table)
    result = isthmus("explore", name, "--columns", "x,y", "-k", 2)
    assert result.status == 0, result.err
    assert payload_of(tmp_path / "isthmus.html")["title"] == r"p\xff.csv"
    result = isthmus("explore", name, "--columns", "x,y", "-k", 2, "--title", name)
    assert result.status == 2
    assert "--title 'p\\udcff.csv' is not valid text." in result.err


def test_no_column_of_numbers(isthmus, tmp_path, monkeypatch):
    monkeypatch.setattr("isthmus.cli.explore.fit_clusters", None)  # work may not begin
    (tmp_path / "in.csv").write_text("c,n\nu,1\nu,2\nv,3\n")
    result = isthmus("explore", "in.csv", "--metric", "gower", "--columns", "c")
    assert result.status == 2
    assert result.err.startswith("isthmus: error: no column to cluster by holds numbers")
    assert "--coordinates" not in result.err


def test_the_advice_for_no_column_of_numbers(isthmus, tmp_path):
    (tmp_path / "in.csv").write_text("c,n\nu,1\nu,2\nv,3\n")
    options = ("--metric", "gower", "--column-weight", "n=0")
    assert isthmus("explore", "in.csv", "-k", 2, *options).status == 0


def test_full_disk(isthmus, table_csv, tmp_path, monkeypatch):
    @contextmanager
    def fail(path):
        raise OSError(27, "File too large")
        yield

    monkeypatch.setattr("isthmus.cli.output_file.atomic_file", fail)
    result = isthmus("explore", table_csv, "--columns", "x,y", "-k", 2, "-o", "big.html")
    assert result.status == 2
    assert result.err == f"isthmus: error: cannot write {tmp_path / 'big.html'}: File too large.\n"
