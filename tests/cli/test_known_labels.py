"""--known: a column with the clusters of some rows."""

import numpy as np
import pytest

# Two groups, and rows between them.
TABLE = "x,group\n0,\n1,a\n5,\n6,b\n10,\n11,\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text(TABLE)
    return path


def test_rows_follow_what_is_known(isthmus, table):
    plain = isthmus("cluster", table, "-k", 2, "--columns", "x", "--labels-only").out.split()[1:]
    result = isthmus("cluster", table, "-k", 2, "--known", "group", "--labels-only")
    assert result.status == 0
    labels = result.out.split()[1:]
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert (
        isthmus("cluster", table, "-k", 2, "--known", 2, "--labels-only").out.split()[1:] == labels
    )
    assert len(plain) == len(labels) == 6


def test_rows_that_are_dropped_are_not_counted(isthmus, tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("x,group\n,b\n0,\n1,a\n5,\n6,b\n10,\n")
    command = ["cluster", path, "-k", 2, "--known", "group", "--missing", "drop", "--labels-only"]
    labels = isthmus(*command).out.splitlines()[1:]
    assert labels[0] == '""'
    assert labels[1] == labels[2] != labels[3] == labels[4]


def test_numbers_and_missing_ones_in_binary_files(isthmus, tmp_path):
    values = np.array([[0, np.nan], [1, 7], [5, np.nan], [6, 8]])
    np.save(tmp_path / "known.npy", values.astype(np.float32))
    labels = isthmus("cluster", "known.npy", "-k", 2, "--known", 2, "--labels-only").out.split()
    assert labels[-4] == labels[-3] != labels[-2] == labels[-1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--known", "grupo"], "has no column 'grupo'. Its columns are 'x', 'group', 'empty'."),
        (["--known", "empty"], "--known: column empty is empty"),
        (["--known", "2-3"], "--known takes one column, and 2-3 are 2."),
        (["--known", "group", "--method", "kmeans"], "--known belongs to --method cut"),
        (["--known", "group", "-k", "1"], "needs 2 clusters"),
        (["--known", "group", "--out-of-core"], "--known"),
    ],
)
def test_what_is_wrong_is_named(isthmus, tmp_path, arguments, error):
    first, *rows = TABLE.split()
    lines = [f"{first},empty", *(f"{row}," for row in rows)]
    (tmp_path / "known.csv").write_text("\n".join(lines))
    result = isthmus("cluster", "known.csv", "-k", 2, "--columns", "x", *arguments)
    assert (result.status, result.out) == (2, "")
    assert error in result.err
