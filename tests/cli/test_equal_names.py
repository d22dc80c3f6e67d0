"""Tables with several columns of one name."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest

TABLE = "a,a,c\n1,5,u\n2,6,u\n50,9,v\n51,8,v\n"


@pytest.fixture
def equal_names(tmp_path):
    (tmp_path / "in.csv").write_text(TABLE)
    return "in.csv"


@pytest.mark.parametrize("options", [("--metric", "gower"), ("--exclude", "c")])
def test_explanations_tell_them_apart(isthmus, equal_names, options):
    result = isthmus("cluster", equal_names, "-k", 2, *options, "--explain", "--json")
    assert result.status == 0, result.err
    differences = json.loads(result.err)["explanations"][0]["differences"]
    inside = {each["name"]: each["inside"] for each in differences}
    assert (inside["a"], inside["a (2)"]) == (1.5, 5.5)


def test_a_name_that_is_there_is_not_made_up(isthmus, tmp_path):
    (tmp_path / "in.csv").write_text("a,a,a (2)\n1,5,20\n2,6,21\n50,9,80\n51,8,81\n")
    result = isthmus("cluster", "in.csv", "-k", 2, "--explain", "--json")
    differences = json.loads(result.err)["explanations"][0]["differences"]
    inside = {each["name"]: each["inside"] for each in differences}
    assert inside == {"a": 1.5, "a (3)": 5.5, "a (2)": 20.5}


@pytest.mark.parametrize("options", [("--columns", "1"), ("--metric", "gower")])
def test_they_are_not_saved(isthmus, equal_names, tmp_path, monkeypatch, options):
    monkeypatch.setattr("isthmus.cli.cluster.fit_clusters", None)  # work may not begin
    result = isthmus("cluster", equal_names, "-k", 2, *options, "--save", "m", "-o", "out.csv")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("isthmus: error: --save: columns 1 and 2 of the input are all")
    assert "'a'" in result.err
    assert result.err.endswith("Rename them, or leave out --save.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_others_beside_them_are_saved(isthmus, equal_names, tmp_path):
    (tmp_path / "in.csv").write_text("a,a,x\n1,5,1\n2,6,2\n50,9,9\n")
    options = ("--columns", "x", "--save", "m")
    assert isthmus("cluster", equal_names, "-k", 2, *options).status == 0
    result = isthmus("predict", "m", equal_names, "--labels-only")
    assert (result.status, result.out) == (0, "cluster\n0\n0\n1\n")


def test_new_rows_with_equal_names(isthmus, equal_names, tmp_path):
    (tmp_path / "old.csv").write_text("a\n1\n2\n9\n")
    assert isthmus("cluster", "old.csv", "-k", 2, "--save", "m").status == 0
    result = isthmus("predict", "m", equal_names)
    assert result.status == 2
    assert "in.csv has several columns named 'a' (columns 1 and 2), and the model" in result.err
    assert "Rename them" in result.err
    assert "by position" not in result.err


@pytest.mark.parametrize("options", [("--metric", "gower"), ("--exclude", "c")])
def test_a_page_tells_them_apart(isthmus, equal_names, tmp_path, options):
    result = isthmus("explore", equal_names, "-k", 2, *options, "--hover", "1,2")
    assert result.status == 0, result.err
    html = (tmp_path / "isthmus.html").read_text(encoding="utf-8")
    found = json.loads(re.search(r'id="payload">(.*?)</script>', html, re.DOTALL).group(1))
    points = found["points"]
    assert [axis["name"] for axis in points["axes"]] == ["a", "a (2)", "outlier score"]
    second = np.frombuffer(b64decode(points["axes"][1]["values"]["data"]), "<f4")
    assert second.tolist() == [5.0, 6.0, 9.0, 8.0]
    texts = {column["name"]: column["texts"] for column in points["hover"]}
    assert (texts["a"], texts["a (2)"]) == (["1", "2", "50", "51"], ["5", "6", "9", "8"])
