"""--column-weight: what columns count for in Gower's distance."""

import json

import numpy as np
import pytest

from isthmus import TransitiveCut
from isthmus.cli.column_weights import ColumnWeight, parse_column_weight

COLUMNS = ("age", "city", "a=b", "id")
ROWS = np.array(
    [
        [20, "Rome", 1, 5],
        [22, "Rome", 9, 6],
        [21, None, 2, 7],
        [70, "Lima", 8, 8],
        [72, "Lima", 3, 9],
        [71, "Lima", 7, 4],
    ],
    dtype=object,
)


@pytest.fixture
def people(tmp_path):
    fields = [["" if value is None else str(value) for value in row] for row in ROWS]
    (tmp_path / "in.csv").write_text("\n".join(map(",".join, [COLUMNS, *fields])))
    return "in.csv"


def options(*weights):
    command = ["--metric", "gower", "--exclude", "id"]
    return command + [part for weight in weights for part in ("--column-weight", weight)]


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        (["age=2"], [2, 1, 1]),
        (["a=b=9", "city=0"], [1, 0, 9]),
        (["1=0", "2=0"], [0, 0, 1]),
        (["1-2=0.5"], [0.5, 0.5, 1]),
        (["a=b=1e-3"], [1, 1, 1e-3]),
    ],
)
def test_the_metric_has_the_weights(isthmus, people, tmp_path, given, weights):
    result = isthmus("cluster", people, "-k", 2, *options(*given), "--save", "m", "--json")
    assert result.status == 0, result.err
    model = TransitiveCut(2, metric="gower", metric_params={"w": weights}).fit(ROWS[:, :3])
    labels = [line.rsplit(",", 1)[1] for line in result.out.splitlines()[1:]]
    assert labels == model.labels_.astype(str).tolist()
    assert json.loads(result.err)["column_weights"] == weights
    saved = TransitiveCut.load(tmp_path / "m")
    assert saved.spanning_tree_ == model.spanning_tree_
    (tmp_path / "new.csv").write_text("a=b,city,age\n8,Rome,30\n2,Lima,40\n9,,\n")
    new = np.array([[30, "Rome", 8], [40, "Lima", 2], [None, None, 9]], dtype=object)
    if weights[2]:
        out = isthmus("predict", "m", "new.csv", "--labels-only").out.split()[1:]
        assert out == model.predict(new).astype(str).tolist()
    scores = isthmus("outliers", people, *options(*given), "--scores-only").out.split()[1:]
    assert [float(score) for score in scores] == model.outlier_scores_.tolist()
    assert json.loads(isthmus("info", "m", "--json").out)["column weights"] == weights


def test_weights_are_said(isthmus, people):
    result = isthmus("cluster", people, "-k", 2, *options("age=2.50"), "--save", "m")
    assert "weights   age 2.5, city 1, a=b 1" in result.err
    assert "column weights  2.5, 1, 1" in isthmus("info", "m").out
    assert "weights" not in isthmus("cluster", people, "-k", 2, *options()).err


def test_tables_without_names(isthmus, tmp_path):
    points = np.array([[0.0, 5.0], [1.0, 1.0], [8.0, 5.0], [9.0, 1.0]])
    np.save(tmp_path / "in.npy", points)
    for column in (0, 1):
        weight = f"{column + 1}=0"
        options = ["--metric", "gower", "--column-weight", weight, "--labels-only"]
        labels = isthmus("cluster", "in.npy", "-k", 2, *options).out.split()[-4:]
        expected = TransitiveCut(2, metric="gower").fit(points[:, [1 - column]]).labels_
        assert labels == expected.astype(str).tolist()


def test_pages(isthmus, people, tmp_path):
    pytest.importorskip("bokeh")
    assert isthmus("explore", people, *options("age=2"), "-k", 2).status == 0
    assert (tmp_path / "isthmus.html").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["town=2"], "in.csv has no column 'town'. Its columns are 'age', 'city', 'a=b', 'id'."),
        (["9=2"], "in.csv has no column 9: positions go from 1 to 4"),
        (["age=2", "age=3"], "--column-weight weighs column 1 ('age') twice."),
        (["age=2", "1-2=3"], "--column-weight weighs column 1 ('age') twice."),
        (["id=2"], "--column-weight id: rows are not clustered by column 4 ('id')."),
        (["1-3=0"], "--column-weight leaves no column a weight above 0."),
        (["age=-1"], "the weight of 'age' must be a finite number, not below 0; got '-1'"),
        (["age=two"], "must be a finite number, not below 0; got 'two'"),
        (["age=nan"], "got 'nan'"),
        (["age=inf"], "got 'inf'"),
        (["age="], "got ''"),
        (["age"], "expected a column and its weight, such as age=2, got 'age'"),
        (["=2"], "expected a column and its weight, such as age=2, got '=2'"),
    ],
)
def test_what_is_wrong_is_named(isthmus, people, monkeypatch, given, message):
    monkeypatch.setattr("isthmus.cli.cluster.fit_clusters", None)  # work may not begin
    result = isthmus("cluster", people, "-k", 2, *options(*given))
    assert (result.status, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize("command", ["cluster", "outliers", "explore"])
def test_other_metrics_have_none(isthmus, people, monkeypatch, command):
    monkeypatch.setattr("isthmus.cli.command_table.read_table", None)
    number = [] if command == "outliers" else ["-k", 2]
    result = isthmus(command, people, *number, "--columns", "age", "--column-weight", "age=2")
    assert result.status == 2
    assert "--column-weight belongs to --metric gower, not to --metric euclidean." in result.err


def test_the_last_sign_parts_a_name_from_its_weight():
    assert parse_column_weight("a=b = 2e1") == ColumnWeight("a=b", 20.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,c\n1,a\n2,a\ninf,b\n9,b\n", "in.csv, line 4, column 1 ('x'): 'inf' is infinite; only"),
        (
            "c,x\na,1\nb,1000000000000000001\nb,\n",
            "in.csv, line 3, column 2 ('x'): '1000000000000000001' is an integer which float64",
        ),
    ],
)
def test_numbers_that_float64_does_not_hold_are_no_categories(isthmus, tmp_path, text, message):
    (tmp_path / "in.csv").write_text(text)
    result = isthmus("cluster", "in.csv", "-k", 2, "--metric", "gower")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"isthmus: error: {message}")
    assert result.err.count("\n") == 1


def test_texts_among_them_make_categories(isthmus, tmp_path):
    (tmp_path / "in.csv").write_text("x\ninf\ninf\nabc\n1000000000000000001\n")
    result = isthmus("cluster", "in.csv", "-k", 3, "--metric", "gower", "--labels-only")
    assert (result.status, result.out) == (0, "cluster\n0\n0\n1\n2\n")
