"""Large plain CSV → numbers, by pyarrow where it is installed.

It decides nothing: wherever Python's parser could read a text otherwise, or refuse it, the answer
is None, and that parser reads it.
"""

from __future__ import annotations

import codecs
import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats
from isthmus.cli.fields import LARGEST

if TYPE_CHECKING:
    from isthmus.cli.csv_table import Layout

# Below this importing pyarrow takes longer than Python's parser.
LEAST_BYTES = 1 << 20
# Bytes that are parsed together. Python's parser refuses longer fields.
_BLOCK, _LONGEST = 1 << 23, 1 << 17
# The usual ways to write a missing value; Python's parser knows others.
_MISSING = ["", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "None", "none", "?", "-"]


def read_numbers(data: bytes, layout: Layout, progress: Progress | None) -> Floats | None:
    """Return the selected columns, (n_rows, n_selected), or None: see the module."""
    if len(data) < LEAST_BYTES or not _is_plain(data, layout):
        return None
    try:
        pa, pa_csv = import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None
    text = data.removeprefix(codecs.BOM_UTF8).rstrip(b" \r\n") + b"\n"
    try:
        batches = pa_csv.open_csv(io.BytesIO(text), *_options(pa, pa_csv, layout))
        points = _numbers_of(batches, layout, len(text), progress)
    except (pa.ArrowException, OverflowError):
        return None
    return points if points is None or _is_safe(points) else None


def _is_plain(data: bytes, layout: Layout) -> bool:
    """Whether each line is a row, and the delimiter always ends a field."""
    delimiter = layout.dialect.delimiter
    if delimiter == " " or not delimiter.isascii() or b'"' in data:
        return False
    # A blank line could be a missing value, or a row of them.
    may_be_row = layout.n_columns == 1 or layout.allow_missing
    if may_be_row and (b"\n\n" in data or b"\n\r\n" in data):
        return False
    if data.count(b"\r") != data.count(b"\r\n"):
        return False
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    return bool(np.diff(ends, prepend=-1, append=len(data)).max() < _LONGEST)


def _options(pa: Any, pa_csv: Any, layout: Layout) -> tuple[Any, Any, Any]:
    names = [str(position) for position in range(layout.n_columns)]
    selected = [names[position] for position in layout.selected]
    read = pa_csv.ReadOptions(
        use_threads=False,
        block_size=_BLOCK,
        skip_rows=0 if layout.names is None else 1,
        column_names=names,
    )
    parse = pa_csv.ParseOptions(
        delimiter=layout.dialect.delimiter, quote_char=False, ignore_empty_lines=False
    )
    convert = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(selected, pa.float64()),
        include_columns=selected,
        null_values=_MISSING if layout.allow_missing else [],
        decimal_point=layout.dialect.decimal,
    )
    return read, parse, convert


def _numbers_of(
    batches: Any, layout: Layout, n_bytes: int, progress: Progress | None
) -> Floats | None:
    blocks, done = [np.empty((0, len(layout.selected)))], 0
    for batch in batches:
        block = np.empty((batch.num_rows, len(layout.selected)))
        for j, column in enumerate(batch.columns):
            block[:, j] = column.to_numpy(zero_copy_only=False)
            if np.count_nonzero(np.isnan(block[:, j])) != column.null_count:
                return None
        blocks.append(block)
        done = min(done + _BLOCK, n_bytes)
        if progress is not None:
            progress(done, n_bytes)
    if progress is not None:
        progress(n_bytes, n_bytes)
    return np.concatenate(blocks)


def _is_safe(points: Floats) -> bool:
    """Whether no number is infinite or an integer that may be rounded."""
    return bool(np.nanmax(np.abs(points), initial=0.0) < LARGEST)
