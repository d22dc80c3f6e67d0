import io

import numpy as np
import pytest

from isthmus.cli import csv_table
from isthmus.cli.column_options import Selection
from isthmus.cli.csv_table import TextOptions, read_csv
from isthmus.cli.errors import UserError


def read(text, *, delimiter=",", header=None, columns=None, exclude=()):
    data = text if isinstance(text, bytes) else text.encode()
    options = TextOptions(delimiter, header=header, selection=Selection(columns, exclude))
    return read_csv(io.BytesIO(data), "f.csv", options)


def written(table, labels, delimiter=","):
    stream = io.StringIO()
    table.write_text(stream, delimiter, "cluster", list(map(str, labels)))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n", None),
        ("x,y\n1,2\n3,4\n", ("x", "y")),
        ("x,y\r\n1,2\r\n3,4\r\n", ("x", "y")),
        ("x,y\r1,2\r3,4\r", ("x", "y")),
        ("\ufeffx,y\n1,2\n3,4", ("x", "y")),
        ("\ufeff1,2\n3,4", None),
        ("1,2\n3,4\n\n  \n\r\n", None),
        (' x , y \n 1, 2\n\t3 ,"4"\n', ("x", "y")),
        ('"x", "y"\n"1", "2"\n"3" ,"4" \n', ("x", "y")),
        ("1e0,+2\n3.0,.4e1\n", None),
    ],
)
def test_dialects(text, names):
    table = read(text)
    assert table.names == names
    assert table.selected == (0, 1)
    assert table.points.dtype == np.float64
    assert table.points.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("delimiter", [";", "\t", " ", "|", ":"])
def test_delimiters(delimiter):
    table = read(f"x{delimiter}y\n1{delimiter}2\n", delimiter=delimiter)
    assert table.names == ("x", "y")
    assert table.points.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "selection", "names"),
    [
        ("ann,1\nbob,2\n", {"columns": ("2",)}, None),
        ("ann,1\nbob,2\n", {"exclude": ("1",)}, None),
        ("id,2019\na,2\n", {"columns": ("2019",)}, ("id", "2019")),
        ("id,2019\na,2\n", {"exclude": ("id",)}, ("id", "2019")),
        ("id,x\na,2\n", {"columns": ("x",)}, ("id", "x")),
        ("1,2\n3,4\n", {"header": True}, ("1", "2")),
        ("nan,x\n3,4\n", {}, ("nan", "x")),
    ],
)
def test_header_is_found(text, selection, names):
    assert read(text, **selection).names == names


def test_header_of_numbers_can_be_forced():
    assert read("1,2\n3,4\n", header=True).points.tolist() == [[3, 4]]


def test_no_header_makes_names_wrong_rows():
    with pytest.raises(UserError, match=r"f\.csv, line 1, column 1: 'x' is not a number"):
        read("x,y\n1,2\n", header=False)


def test_misspelt_name_is_looked_for_in_the_header():
    with pytest.raises(UserError, match=r"no column 'z'\. Its columns are 'x', 'y'"):
        read("x,y\n1,2\n", columns=("z",))


def test_missing_value_on_the_first_line_is_no_header():
    with pytest.raises(UserError, match=r"line 1, column 2: 'NA' is a missing value; .* filled in"):
        read("1,NA\n3,4\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^f\.csv is empty\.$"),
        ("\n\n", "is empty"),
        ("\ufeff", "is empty"),
        ("x,y\n", "has a header, but no rows"),
        ("x,y\n1,2\n3\n", "line 3: expected 2 fields, found 1"),
        ("1,2\n3,4,5\n", "line 2: expected 2 fields, found 3"),
        ("1,2\n\n3,4\n", "line 2: the line is blank, but rows follow"),
        ("x,y\n1,2\n3,b\n", r"line 3, column 2 \('y'\): 'b' is not a number"),
        ("x,y\n1,2\nc,b\n", r"line 3, column 1 \('x'\): 'c' is not a number"),
        ("id,x\nann,1\n", r"line 2, column 1 \('id'\): 'ann' .* --columns.* --exclude"),
        ("1,2\n3,1_000\n", "line 2, column 2: '1_000' is not a number"),
        ("x,y\n1,\n", r"line 2, column 2 \('y'\): the field is empty; missing values must be"),
        ("x,y\n1,  \n", "line 2, column 2 .*: the field is empty"),
        ('x\n""\n', "line 2, column 1 .*: the field is empty"),
        ("1,2\n3,nan\n", "line 2, column 2: 'nan' is a missing value"),
        ("1,2\n3,NULL\n", "line 2, column 2: 'NULL' is a missing value"),
        ("1,2\n3,-inf\n", "line 2, column 2: '-inf' is infinite; only finite"),
        ("1,2\n3,1e999\n", "line 2, column 2: '1e999' is infinite"),
        ('1,2\n3,"4\n5,6\n', "line 2: a quoted field is never closed"),
        ('1,2\n3,"', "line 2: a quoted field is never closed"),
        ("x;y\n1;2\n", r"line 2, column 1 \('x;y'\): '1;2' .* add --delimiter ';'"),
        ("x\ty\n1\t2\n", r"add --delimiter '\\t'"),
        (b"x,y\n1,\xe9\n", r"not text in UTF-8 \(byte 0xe9 on line 2\)"),
        ("x,y\n1,2\n".encode("utf-16-le"), "holds NUL bytes"),
        (b"x,y\n1,\0\n", "holds NUL bytes"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not text in UTF-8"),
    ],
)
def test_wrong_text(text, message):
    with pytest.raises(UserError, match=message):
        read(text)


def test_line_of_an_error_counts_lines_inside_quotes():
    with pytest.raises(UserError, match="line 4, column 2"):
        read('id,x\n"a\nb",1\nc,d\n', columns=("x",))


def test_endless_field_names_its_line():
    with pytest.raises(UserError, match=r"line 3: field larger than field limit.*quote not closed"):
        read('id,x\na,1\nb,"2\n' + "c,3\n" * 50_000)


def test_long_value_is_cut():
    with pytest.raises(UserError, match=r"'a{40}…' is not a number") as caught:
        read("x\n" + "a" * 10_000)
    assert len(str(caught.value)) < 250


def test_errors_are_found_in_every_block(monkeypatch):
    monkeypatch.setattr(csv_table, "_BLOCK", 3)
    good = "".join(f"{i},{i}\n" for i in range(10))
    assert read(good).points.tolist() == [[i, i] for i in range(10)]
    with pytest.raises(UserError, match="line 11, column 2: 'b'"):
        read(good + "1,b\n")
    with pytest.raises(UserError, match="line 11: expected 2 fields, found 1"):
        read(good + "1\n")


def test_text_is_written_as_it_was():
    text = (
        'name, x ,"y"\r\n"a, b", 0,1.50\r\n"c",2 , "3"\r\n"d ""q""\r\ne",4,5\r\n é,+6,7e0\r\n\r\n'
    )
    table = read(text, columns=("x", "y"))
    assert written(table, [1, 0, 2, 3]) == (
        'name, x ,"y",cluster\r\n"a, b", 0,1.50,1\r\n"c",2 , "3",0\r\n'
        '"d ""q""\r\ne",4,5,2\r\n é,+6,7e0,3\r\n'
    )


def test_last_line_without_an_end_gets_that_of_the_others():
    assert written(read("1,2\r\n3,4"), [0, 1]) == "1,2,0\r\n3,4,1\r\n"
    assert written(read("1,2"), [0]) == "1,2,0\n"


def test_fields_are_written_with_another_delimiter():
    table = read('name,x\n"a, b",01.50\n"c\td",2\n', columns=("x",))
    assert written(table, [1, 0], "\t") == 'name\tx\tcluster\na, b\t01.50\t1\n"c\td"\t2\t0\n'


def test_label_column_is_quoted_where_needed():
    stream = io.StringIO()
    read("x\n1\n").write_text(stream, ",", "a,b", np.array([0]))
    assert stream.getvalue() == 'x,"a,b"\n1,0\n'


def test_wrong_number_of_labels_is_refused():
    with pytest.raises(ValueError, match="zip"):
        written(read("1,2\n3,4\n"), [0])
