"""NumPy's ``.npy`` → Table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from isthmus.cli.columns import Selection, describe_column, resolve_selection
from isthmus.cli.errors import UserError, one_line
from isthmus.cli.fields import why_not_finite
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.table import Table, column_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isthmus._utils.typing import Array

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class NpyTable(Table):
    """A table that was a two-dimensional array."""

    array: Array

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield each row; numbers have the fewest digits that tell them apart."""
        # A float32 that became a Python float would show the digits of a float64.
        exact = self.array.dtype.kind != "f" or self.array.dtype.itemsize == 8
        for start in range(0, len(self.array), _BLOCK):
            block = self.array[start : start + _BLOCK]
            yield from (block if exact else block.astype(str)).tolist()

    def to_arrow(self) -> Any:
        """Return the columns, named ``column_1`` and so on, in the array's own type."""
        pa = require_pyarrow()
        native = self.array.astype(self.array.dtype.newbyteorder("="), copy=False)
        columns = [pa.array(np.ascontiguousarray(column)) for column in native.T]
        return pa.Table.from_arrays(columns, names=column_names(None, len(columns)))


def read_npy(stream: BinaryIO, source: str, selection: Selection) -> NpyTable:
    """Read a two-dimensional array of numbers; nothing in the file is ever executed."""
    array = _load(stream, source)
    if array.dtype.kind not in "iuf":
        raise UserError(f"{source} holds an array of type {array.dtype}, which is not numeric.")
    if array.ndim != 2:
        raise UserError(
            f"{source} holds an array of shape {array.shape}; "
            "expected two dimensions: one row per point, one column per feature."
        )
    if 0 in array.shape:
        raise UserError(f"{source} is empty: its shape is {array.shape}.")
    selected = resolve_selection(selection, None, array.shape[1], source)
    chosen = array if selected == tuple(range(array.shape[1])) else array[:, selected]
    points = chosen.astype(np.float32 if chosen.dtype == np.float32 else np.float64, copy=False)
    refuse_not_finite(points, selected, None, source)
    return NpyTable(None, selected, points, ",", array)


def refuse_not_finite(
    points: Array, selected: Sequence[int], names: Sequence[str] | None, source: str
) -> None:
    """Raise UserError that names the first NaN or infinity, rows counted from 1."""
    if np.isfinite(points).all():
        return
    row, j = (int(index[0]) for index in np.nonzero(~np.isfinite(points)))
    number = float(points[row, j])
    where = f"{source}, row {row + 1}, {describe_column(selected[j], names)}"
    raise UserError(f"{where}: {why_not_finite(number, str(number))}")


def _load(stream: BinaryIO, source: str) -> Array:
    # NumPy reads the header as Python source: what a damaged one raises has no common type.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of old files take a second try
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:
        raise UserError(f"{source} is not a .npy file of numbers: {one_line(error)}") from error
    return array
