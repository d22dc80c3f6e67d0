"""pyarrow reads what Python's parser reads, to the last bit, and leaves the rest to it."""

import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isthmus.cli import fast_csv
from isthmus.cli.column_options import Selection
from isthmus.cli.csv_table import TextOptions, read_csv
from isthmus.cli.errors import UserError

FIELDS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.floats(-1e3, 1e3).map(lambda x: f"{x:.2f}"),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(["", "NA", "nan", "-", " 1", "2 ", "\t3", "+4", ".5", "6.", "1e5", "1E-400"]),
    st.sampled_from(
        ["0x10", "inf", "1_0", "x", '"7"', '"8', "1,5", "１", "\xa09", "nan(1)", "1d3"]
    ),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", " \n", "\n \n"])


def outcome(data, *, fast, **options):
    """Return the table, or the words of the error, and whether pyarrow read it."""
    used = []
    least, read = fast_csv.LEAST_BYTES, fast_csv._numbers_of
    fast_csv.LEAST_BYTES = 0 if fast else sys.maxsize
    fast_csv._numbers_of = lambda *args: used.append(read(*args)) or used[-1]
    try:
        table = read_csv(io.BytesIO(data), "f.csv", TextOptions(**options))
        return (table.names, table.selected, table.points.tobytes()), used
    except UserError as error:
        return str(error), used
    finally:
        fast_csv.LEAST_BYTES, fast_csv._numbers_of = least, read


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=3), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t", " "]),
    st.sampled_from([".", ","]),
    ENDS,
    st.booleans(),
    st.sampled_from([None, True, False]),
)
@example([["1", "2"], ["3", "4"]], ",", ".", "\n", False, None)
@example([["x"], ["1"], [""], ["2"]], ",", ".", "\n", True, None)
@example([["1", "nan(1)"]], ",", ".", "\n", True, None)
@example([["1", "2"], ["3", "4"]], ",", ".", "\n\n", True, None)
def test_both_readers_agree(rows, delimiter, decimal, end, allow_missing, header):
    data = end.join(delimiter.join(row) for row in rows).encode() + end.encode()
    options = {"delimiter": delimiter, "decimal": decimal, "header": header}
    options["allow_missing"] = allow_missing
    slow, _ = outcome(data, fast=False, **options)
    fast, _ = outcome(data, fast=True, **options)
    assert fast == slow


def test_large_plain_files_are_read_by_pyarrow():
    numbers = np.random.default_rng(0).normal(size=(1000, 3)).round(6)
    data = "x,y,z\n" + "".join(",".join(map(repr, row)) + "\n" for row in numbers.tolist())
    (names, selected, points), used = outcome(data.encode(), fast=True)
    assert used
    assert used[0] is not None
    assert names == ("x", "y", "z")
    assert points == numbers.tobytes()
    comma = data.replace(",", ";").replace(".", ",")
    found, used = outcome(comma.encode(), fast=True)
    assert used
    assert found == (names, selected, points)


def test_missing_values_are_read_by_pyarrow():
    (_, _, points), used = outcome(b"x,y\n1,NA\n,2\n", fast=True, allow_missing=True)
    assert used
    assert used[0] is not None
    assert np.array_equal(
        np.frombuffer(points).reshape(2, 2), [[1, np.nan], [np.nan, 2]], equal_nan=True
    )


def test_small_files_and_missing_pyarrow_take_pythons_parser():
    code = """
import io, sys
sys.modules["pyarrow"] = None
from isthmus.cli import fast_csv
from isthmus.cli.csv_table import TextOptions, read_csv
fast_csv.LEAST_BYTES = 0
print(read_csv(io.BytesIO(b"1,2\\n3,4\\n"), "f.csv", TextOptions()).points.tolist())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[[1.0, 2.0], [3.0, 4.0]]\n"
    _, used = outcome(b"1,2\n3,4\n", fast=False)
    assert not used


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_rows_are_written_as_they_were(end, last):
    data = ("x, y" + end + " 1,2.50" + end + "é3,4" + last.replace("\n", end)).encode()
    options = TextOptions(delimiter=",", selection=Selection(("y",)))
    table = read_csv(io.BytesIO(data), "f.csv", options)
    stream = io.StringIO()
    table.write_text(stream, ",", "cluster", ["0", ""])
    assert stream.getvalue() == f"x, y,cluster{end} 1,2.50,0{end}é3,4,{end}"
