"""What the library says is wrong, as the command tells it: rows, columns, advice, notes."""

import pytest

from isthmus import TransitiveCut
from isthmus.cli.errors import from_library
from isthmus.cli.mixed_columns import with_names

POINTS = "x,y\n0,0\n0,1\n10,10\n10,11\n"
COUNTED = "(Rows are counted from 0.)\n"
NOT_ALL_COUNTED = "(Rows are counted from 0, without those left out for missing values.)\n"


@pytest.fixture
def refused(isthmus, tmp_path):
    """Write tables, check that a call is refused and writes nothing, return its message."""

    def call(*arguments, **tables):
        for name, text in tables.items():
            (tmp_path / f"{name}.csv").write_text(text)
        before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        result = isthmus(*arguments)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
        assert (result.status, result.out) == (2, "")
        assert result.err.startswith("isthmus: error: ")
        assert result.err.count("\n") == 1
        return result.err

    return call


@pytest.mark.parametrize("command", [("cluster", "-k", 2), ("outliers",), ("explore", "-k", 2)])
def test_rows_are_said_to_be_counted_from_0(refused, command):
    message = refused(*command, "in.csv", "--metric", "cosine", **{"in": POINTS})
    assert "Row 0 is zero" in message
    assert message.endswith(COUNTED)


def test_rows_of_wrong_latitudes_and_of_pairs(refused, tmp_path):
    message = refused("cluster", "in.csv", "-k", 2, "--metric", "haversine", **{"in": POINTS})
    assert "row 2 has 10" in message
    assert message.endswith(COUNTED)
    (tmp_path / "pairs").write_text("1,2\n")
    pairs = ("--must-link", "pairs", "--cannot-link", "pairs")
    message = refused("cluster", "in.csv", "-k", 2, *pairs)
    assert "rows 0 and 1" in message
    assert message.endswith(COUNTED)


def test_rows_left_out_are_not_counted(refused):
    table = "x,y\n,1\n,2\n1,1\n0,0\n3,1\n"
    options = ("--metric", "cosine", "--missing", "drop")
    message = refused("cluster", "in.csv", "-k", 2, *options, **{"in": table})
    assert "Row 1 is zero" in message
    assert message.endswith(NOT_ALL_COUNTED)


@pytest.mark.parametrize("command", ["predict", "extend"])
def test_new_rows_left_out_are_not_counted(refused, isthmus, tmp_path, command):
    (tmp_path / "old.csv").write_text("x,y\n1,2\n2,1\n3,1\n,1\n")
    options = ("--metric", "cosine", "--missing", "drop", "--save", "m", "-o", "out.csv")
    assert isthmus("cluster", "old.csv", "-k", 2, *options).status == 0
    message = refused(command, "m", "new.csv", new="x,y\n,1\n1,1\n0,0\n")
    assert "is zero" in message
    assert message.endswith(NOT_ALL_COUNTED)


def test_messages_without_rows_stay():
    for text in ("power must be positive.", "Column 'row 1' holds infinity.", "12 rows differ."):
        assert str(from_library(ValueError(text))) == text


def test_notes_are_told():
    error = ValueError("Row 3 is zero.")
    error.add_note("Rows are counted among those with a sample_weight above 0.")
    told = "Row 3 is zero. Rows are counted among those with a sample_weight above 0. "
    assert str(from_library(error)) == told + COUNTED.strip()


def test_notes_of_a_fit_are_told(refused, monkeypatch):
    def fail(self, X):
        error = ValueError("wrong.")
        error.add_note("A note.")
        raise error

    monkeypatch.setattr(TransitiveCut, "fit", fail)
    message = refused("cluster", "in.csv", "-k", 2, **{"in": POINTS})
    assert message == "isthmus: error: wrong. A note.\n"


@pytest.mark.parametrize("command", ["predict", "extend"])
def test_missing_values_in_new_rows(refused, isthmus, tmp_path, command):
    (tmp_path / "old.csv").write_text(POINTS)
    assert isthmus("cluster", "old.csv", "-k", 2, "--save", "m", "--quiet").status == 0
    message = refused(command, "m", "new.csv", new="x,y\n1,2\nnan,4\n")
    assert "new.csv, line 3, column 1 ('x'): 'nan' is a missing value; the model takes" in message
    assert "fit the model again with 'isthmus cluster --missing drop'" in message
    assert "see --missing" not in message


@pytest.mark.parametrize("command", ["predict", "extend"])
def test_columns_of_gower_are_called_by_their_names(refused, isthmus, tmp_path, command):
    (tmp_path / "old.csv").write_text("d,c\n2020-01-01,u\n2020-01-02,u\n2021-01-01,v\n")
    options = ("--metric", "gower", "--save", "m", "--quiet")
    assert isthmus("cluster", "old.csv", "-k", 2, *options).status == 0
    assert "Column 'd' held dates in the fit" in refused(
        command, "m", "new.csv", new="c,d\nu,abc\n"
    )


def test_columns_of_gower_without_names_are_called_by_their_positions(refused):
    options = ("--metric", "gower", "--no-header", "-k", 1)
    message = refused("cluster", "in.csv", *options, **{"in": "1,-1e308\n2,1.7e308\n"})
    assert message.startswith("isthmus: error: Column 2 holds infinity, or numbers too far apart")


@pytest.mark.parametrize(
    ("names", "known", "told"),
    [
        (["age", "city"], (), "Column 'city' is wrong"),
        (None, (), "Column 2 is wrong"),
        (["x1", "x0"], (), "Column 'x0' is wrong"),
        (["x1", "x0"], ("x0", "x1"), "Column 'x0' is wrong"),
        (["x1", "x0"], ("x1", "x0"), "Column 'x1' is wrong"),  # may be either
        (["age"], (), "Column 'x1' is wrong"),
    ],
)
def test_names_of_columns(names, known, told):
    assert with_names("Column 'x1' is wrong", names, known) == told


def test_what_cannot_be_explained_writes_nothing(refused, monkeypatch):
    def fail(*arguments):
        raise ValueError("Column 'x' has no mean.")

    monkeypatch.setattr("isthmus.cli.cluster.explanations", fail)
    options = ("--explain", "-o", "out.csv", "--save", "m")
    message = refused("cluster", "in.csv", "-k", 2, *options, **{"in": POINTS})
    assert message == "isthmus: error: Column 'x' has no mean.\n"
