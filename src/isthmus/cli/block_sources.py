"""Files and folders that are larger than memory → blocks of rows."""

from __future__ import annotations

import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Array
from isthmus.cli.column_options import Selection, describe_column, resolve_selection
from isthmus.cli.errors import UserError, one_line, shown
from isthmus.cli.formats import compression_of_name, format_of_name, require_pyarrow

# Rows of a block, where the file leaves the choice.
BLOCK = 1 << 19
_CHOOSE = "Choose the columns to cluster with --columns, or leave some out with --exclude."


class BlockSource(ABC):
    """A table in blocks of rows, each of which can be read again.

    Attributes
    ----------
    names : tuple of str, or None
        The header.
    selected : tuple of int
        The positions of the clustered columns, from 0.
    sizes : list of int
        The number of rows of each block.
    dtype : dtype
        Of the points.
    delimiter : str
        What separates the fields of a text.
    """

    names: tuple[str, ...] | None
    selected: tuple[int, ...]
    sizes: list[int]
    dtype: Any
    delimiter: str = ","

    @abstractmethod
    def points(self, block: int) -> Array:
        """Return the clustered columns of a block: (n, d)."""

    @abstractmethod
    def table(self, block: int) -> Any:
        """Return all columns of a block, a ``pyarrow.Table``."""

    def selected_names(self) -> list[str]:
        """Return the names of the clustered columns, or their positions from 1."""
        return [self.names[p] if self.names else str(p + 1) for p in self.selected]


class NpySource(BlockSource):
    """A two-dimensional array in a file, read through a memory map."""

    def __init__(self, path: Path, selection: Selection) -> None:
        self.path = path
        array = self._array()
        if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
            raise UserError(
                f"{path} holds an array of type {array.dtype} and shape {array.shape}; expected "
                "numbers in two dimensions: one row per point, one column per feature."
            )
        self.names = None
        self.selected = resolve_selection(selection, None, array.shape[1], str(path))
        self.sizes = [min(BLOCK, len(array) - start) for start in range(0, len(array), BLOCK)]
        self.dtype = array.dtype if array.dtype == np.float32 else np.dtype(np.float64)

    def _array(self) -> Array:
        try:
            return np.asarray(np.lib.format.open_memmap(self.path, mode="r"))
        # NumPy reads the header as Python source: what a damaged one raises has no common type.
        except Exception as error:
            raise UserError(
                f"{self.path} is not a .npy file of numbers: {one_line(error)}"
            ) from error

    def points(self, block: int) -> Array:
        """Return the clustered columns of a block."""
        rows = self._array()[block * BLOCK : (block + 1) * BLOCK]
        return as_points(rows[:, self.selected], self.dtype, str(self.path))

    def table(self, block: int) -> Any:
        """Return all columns, named ``column_1`` and so on."""
        pa = require_pyarrow()
        rows = self._array()[block * BLOCK : (block + 1) * BLOCK]
        columns = [pa.array(np.ascontiguousarray(column)) for column in rows.T]
        return pa.table(columns, names=[f"column_{i + 1}" for i in range(len(columns))])


class _RowGroups(NamedTuple):
    """Row groups of a Parquet file that follow each other."""

    path: Path
    groups: list[int]
    n_rows: int


class ParquetSource(BlockSource):
    """Parquet files; a block is a row group, or several small ones."""

    def __init__(self, paths: Sequence[Path], selection: Selection) -> None:
        schema = _schema_of(paths[0])
        self.names = tuple(schema.names)
        self.selected = resolve_selection(selection, self.names, len(self.names), str(paths[0]))
        for position in self.selected:
            _require_number(schema.field(position), describe_column(position, self.names), paths[0])
        types = require_pyarrow().types
        single = all(types.is_float32(schema.field(position).type) for position in self.selected)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._blocks: list[_RowGroups] = []
        for path in paths:
            found = _schema_of(path)
            if not found.equals(schema):
                raise UserError(f"{path} has other columns, or other types, than {paths[0]}.")
            self._blocks += _row_groups(path)
        self.sizes = [block.n_rows for block in self._blocks]

    def points(self, block: int) -> Array:
        """Return the clustered columns of a block."""
        assert self.names is not None
        columns = self._read(block, self.selected)
        points = np.empty((len(columns), len(self.selected)), self.dtype)
        for j, column in enumerate(columns.columns):
            values = column.to_numpy()
            if values.dtype.kind not in "iuf":  # decimal numbers
                values = values.astype(np.float64)
            points[:, j] = as_points(values, self.dtype, str(self._blocks[block].path))
        return points

    def table(self, block: int) -> Any:
        """Return all columns of a block."""
        return self._read(block)

    def _read(self, block: int, positions: Sequence[int] | None = None) -> Any:
        """Return the columns at these positions, by default all."""
        pa = require_pyarrow()
        import pyarrow.parquet as pq

        assert self.names is not None
        path, groups, _ = self._blocks[block]
        names = None if positions is None else [self.names[p] for p in positions]
        if names is not None and len(set(self.names)) < len(self.names):
            names = None  # several columns of one name can be told apart by position only
        try:
            with pq.ParquetFile(path) as file:
                table = file.read_row_groups(groups, columns=names, use_threads=False)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable_parquet(path, error) from error
        if positions is None:
            return table
        # With a name pyarrow also returns the columns whose names begin with it and a point.
        return table.select(list(positions) if names is None else names)


def _schema_of(path: Path) -> Any:
    pa = require_pyarrow()
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable_parquet(path, error) from error


def _unreadable_parquet(path: Path, error: Exception) -> UserError:
    return UserError(f"{path} is not a readable Parquet file: {one_line(error)}")


def _row_groups(path: Path) -> Iterator[_RowGroups]:
    """Yield blocks of at least BLOCK rows; a row group is never divided."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    groups: list[int] = []
    n_rows = 0
    for group in range(metadata.num_row_groups):
        groups.append(group)
        n_rows += metadata.row_group(group).num_rows
        if n_rows >= BLOCK or group == metadata.num_row_groups - 1:
            yield _RowGroups(path, groups, n_rows)
            groups, n_rows = [], 0


def _require_number(field: Any, name: str, path: Path) -> None:
    types = require_pyarrow().types
    kinds = (types.is_integer, types.is_floating, types.is_decimal)
    if not any(is_kind(field.type) for is_kind in kinds):
        raise UserError(f"{path}, {name} is of type {field.type}, which is not numeric. {_CHOOSE}")


def as_points(values: Array, dtype: Any, source: str) -> Array:
    """Return numbers in the type of points; ValueError for an integer that it cannot hold."""
    from isthmus.metrics.integers import first_rounded  # loads SciPy

    rounded = first_rounded(values)
    if rounded is not None:
        raise ValueError(
            f"{source} holds the integer {rounded}, which float64 cannot hold exactly."
        )
    return np.ascontiguousarray(values, dtype=dtype)


def find_files(name: str | None, file_format: str | None) -> tuple[list[Path], str]:
    """Return the files that an input stands for, in the order of their names, and their format."""
    if name is None or name == "-":
        raise UserError("--out-of-core reads its input twice: name a file or a folder.")
    path = Path(name)
    try:
        mode = path.stat().st_mode
        inside = sorted(path.iterdir()) if stat.S_ISDIR(mode) else []
    except OSError as error:
        raise UserError(f"cannot read {name}: {error.strerror or error}.") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise UserError(f"--out-of-core reads its input twice: {name} is no file or folder.")
    files = [path]
    if stat.S_ISDIR(mode):
        known = [each for each in inside if each.is_file()]
        files = [each for each in known if format_of_name(each.name) is not None]
        if not files:
            raise UserError(f"{name} holds no file with a known ending: .csv, .tsv, .parquet.")
    packed = next((each for each in files if compression_of_name(each.name)), None)
    if packed is not None:
        raise UserError(f"--out-of-core reads files as they are: unpack {packed} first.")
    formats = {file_format or format_of_name(each.name) for each in files}
    if len(formats) > 1:
        raise UserError(f"{name} holds files of several formats: {', '.join(map(str, formats))}.")
    found = formats.pop()
    if found not in ("csv", "tsv", "npy", "parquet"):
        raise UserError(
            f"--out-of-core reads CSV, TSV, NumPy and Parquet files, not {shown(name)}."
        )
    if any(each.suffix.lower() in (".gz", ".zst") for each in files):
        raise UserError(f"--out-of-core reads no compressed text: unpack {name} first.")
    if found == "npy" and len(files) > 1:
        raise UserError(f"{name}: of .npy files only a single one can be read, not a folder.")
    return files, found
