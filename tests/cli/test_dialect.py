"""What separates the fields of a text, and its decimals, is found out, or left as it was."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.cli.csv_table import TextOptions, read_csv
from isthmus.cli.dialect import Dialect, detect_dialect
from isthmus.cli.errors import UserError

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 2))


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("1,2\n3,4\n", Dialect(",", ".")),
        ("1;2\n3;4\n", Dialect(";", ".")),
        ("1,5;2,5\n3,5;4\n", Dialect(";", ",")),
        ("x;y\n1,5;2,5\n", Dialect(";", ",")),
        ("x\ty\n1,5\t2,5\n", Dialect("\t", ",")),
        ("x|y\n1|2\n", Dialect("|", ".")),
        ("1 2\n3 4\n", Dialect(" ", ".")),
        ("1, 2\n3, 4\n", Dialect(",", ".")),
        ("x\n1,5\n2\n", Dialect(";", ",")),  # one column
        ("1,5\n2,5\n", Dialect(",", ".")),  # two columns
        ("x,y\n1,2\n3\n", Dialect(",", ".")),  # a row too short
        ("name;x\nSmith, J;1\nDoe, A;2\n", Dialect(";", ".")),
        ('name,x\n"a;b",1\n"c;d",2\n', Dialect(",", ".")),
        ("x;y\n1,234;5,678\n", Dialect(";", ".")),  # may be thousands
        ("x;y\n1,234;5,67\n", Dialect(";", ",")),  # cannot all be
        ('x,y\n"1,234",2\n', Dialect(",", ".")),
        ("", Dialect(",", ".")),
        ("x\n", Dialect(",", ".")),
        ("x;;y\n;1;\n", Dialect(";", ".")),
        ('"a\n', Dialect(",", ".")),
    ],
)
def test_detected(text, dialect):
    assert detect_dialect(text.encode(), None, None) == dialect


def test_what_is_given_is_taken():
    text = b"x;y\n1,5;2,5\n"
    assert detect_dialect(text, ",", ".") == Dialect(",", ".")
    assert detect_dialect(text, ";", None) == Dialect(";", ",")
    assert detect_dialect(text, None, ".") == Dialect(";", ".")
    assert detect_dialect(b"1,5\n2\n", ";", None) == Dialect(";", ",")
    assert detect_dialect(b"1,234\n", ";", ",") == Dialect(";", ",")


def test_a_long_line_that_the_sample_cuts_does_not_count():
    text = "1;2\n" * 20_000 + "3;4;"
    assert detect_dialect(text.encode(), None, None) == Dialect(";", ".")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=8),
    st.sampled_from([";", "\t", "|"]),
    st.sampled_from(".,"),
    st.booleans(),
)
def test_generated_tables_come_back(rows, delimiter, decimal, header):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    if header:
        writer.writerow(["x", "y", "z"])
    writer.writerows([f"{value:.2f}".replace(".", decimal) for value in row] for row in rows)
    table = read_csv(io.BytesIO(stream.getvalue().encode()), "f.csv", TextOptions())
    assert table.dialect == Dialect(delimiter, decimal)
    assert np.array_equal(table.points, np.array(rows))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1,5;2.5\n3,5;4\n2,5;1\n", {}, "'2.5' is not a number with a decimal comma. If its point"),
        ("x;y\n1,234;5,678\n", {}, "'1,234' is not a number. If its comma is a decimal one, add"),
        ("1.234,5;2\n3,5;4\n", {"header": False}, "'1.234,5' is not a number."),
        ("x\n1;2\n", {"decimal": ",", "delimiter": ","}, "add --delimiter ';'"),
        ("ä\n", {"encoding": "ascii"}, "is not text in ascii"),
    ],
)
def test_wrong_numbers_say_what_may_help(text, options, message):
    with pytest.raises(UserError) as error:
        read_csv(io.BytesIO(text.encode()), "f.csv", TextOptions(**options))
    assert message in str(error.value)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-8-sig", "utf-8"])
def test_encodings(encoding):
    data = "größe,x\n1,2\n".encode(encoding)
    table = read_csv(io.BytesIO(data), "f.csv", TextOptions(encoding=encoding))
    assert table.names == ("größe", "x")
    if encoding in ("utf-16", "utf-8-sig", "utf-8"):  # known by themselves
        assert read_csv(io.BytesIO(data), "f.csv", TextOptions()).names == ("größe", "x")
    else:
        with pytest.raises(UserError, match="name its encoding with --encoding"):
            read_csv(io.BytesIO(data), "f.csv", TextOptions())
