import pytest

from isthmus.cli.column_options import Selection, resolve_selection, split_tokens
from isthmus.cli.errors import UserError

NAMES = ("id", "x", "y", "2019", "a-b")


def resolve(columns=None, exclude="", names=NAMES):
    selection = Selection(
        None if columns is None else split_tokens(columns),
        split_tokens(exclude) if exclude else (),
    )
    return resolve_selection(selection, names, len(NAMES), "f.csv")


@pytest.mark.parametrize(
    ("columns", "exclude", "expected"),
    [
        (None, "", (0, 1, 2, 3, 4)),
        ("x,y", "", (1, 2)),
        ("y, x", "", (2, 1)),
        ("2", "", (1,)),
        ("2-4", "", (1, 2, 3)),
        ("3-3", "", (2,)),
        ("1,3-5", "", (0, 2, 3, 4)),
        ("x,5", "", (1, 4)),
        ("2019", "", (3,)),  # a name before a position
        ("a-b", "", (4,)),  # a name before a range
        (None, "id", (1, 2, 3, 4)),
        (None, "1,4-5", (1, 2)),
        ("2-5", "y", (1, 3, 4)),
        ("x", "y", (1,)),
    ],
)
def test_selection(columns, exclude, expected):
    assert resolve(columns, exclude) == expected


def test_name_with_a_comma_can_be_quoted():
    assert split_tokens('"a, b",c') == ("a, b", "c")


@pytest.mark.parametrize(
    ("columns", "exclude", "message"),
    [
        ("z", "", r"f\.csv has no column 'z'. Its columns are 'id', 'x', 'y', '2019', 'a-b'\."),
        ("X", "", "no column 'X'"),
        (None, "z", "no column 'z'"),
        ("0", "", "no column 0: positions go from 1 to 5"),
        ("6", "", "no column 6: positions go from 1 to 5"),
        ("4-6", "", "no column 4-6"),
        ("3-2", "", "from the smaller to the larger"),
        ("x,2", "", r"takes column 2 \('x'\) of f\.csv twice"),
        ("1-3,2-4", "", "twice"),
        ("x", "x", "leave no column"),
        (None, "1-5", "leave no column"),
    ],
)
def test_wrong_selection(columns, exclude, message):
    with pytest.raises(UserError, match=message):
        resolve(columns, exclude)


def test_name_without_header():
    with pytest.raises(UserError, match=r"has no header, so 'x' names no column.* from 1 to 5"):
        resolve("x", names=None)


def test_ambiguous_name():
    names = ("x", "y", "x", "z", "w")
    with pytest.raises(UserError, match=r"several columns named 'x' \(columns 1 and 3\)"):
        resolve("x", names=names)
    with pytest.raises(UserError, match="several columns named 'x'"):
        resolve(None, "x", names=names)
    assert resolve("y,3", names=names) == (1, 2)
    assert resolve(names=names) == (0, 1, 2, 3, 4)


def test_long_list_of_columns_is_cut():
    names = tuple(f"c{i}" for i in range(30))
    with pytest.raises(UserError, match=r"'c19' and 10 more\."):
        resolve_selection(Selection(("z",)), names, 30, "f.csv")
