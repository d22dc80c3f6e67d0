"""Distances that a user computed → checked records: a square matrix, a condensed one, a graph.

Each record says how the distances are stored, so that nothing is expanded or copied: a matrix in
a file is read in blocks, and stays there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import check_array

from isthmus._utils.memory import require_memory
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.integers import first_rounded
from isthmus.metrics.validation import SYMMETRY_TOLERANCE, refuse_unsuitable

# Rows and columns of a square matrix looked at together: a row of a block is a page of a file.
_SIDE = 512
# Entries of a condensed matrix looked at together.
_BLOCK = 1 << 18

NameEntry = Callable[..., str]


@dataclass(frozen=True, eq=False)
class SquareDistances:
    """All distances, each of them twice.

    Attributes
    ----------
    matrix : (n, n) float32 or float64
        Symmetric within rounding, not negative, finite, zero on the diagonal. Read-only.
    """

    matrix: Array

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.matrix)


@dataclass(frozen=True, eq=False)
class CondensedDistances:
    """The distances above the diagonal, row by row, as of ``scipy.spatial.distance.pdist``.

    Attributes
    ----------
    values : (n (n - 1) / 2,) float32 or float64
        Not negative, finite. Read-only.
    n_points : int
    """

    values: Array
    n_points: int


@dataclass(frozen=True, eq=False)
class Graph:
    """The distances of some pairs.

    Attributes
    ----------
    edges : (m, 2) int64
        Different pairs, the smaller index first.
    weights : (m,) float64
        Not negative, finite.
    n_points : int
    """

    edges: Ints
    weights: Floats
    n_points: int


Precomputed = SquareDistances | CondensedDistances | Graph


@dataclass(frozen=True, eq=False)
class NewDistances:
    """The distances of new points to those of a fit.

    Attributes
    ----------
    matrix : (n_new, n) float32 or float64, or CSR
        Not negative, finite. What a CSR matrix does not store is infinite.
    """

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of new points and of others."""
        n_new, n_points = self.matrix.shape
        return int(n_new), int(n_points)

    def rows(self, numbers: Ints) -> Floats:
        """Return some rows, as a new array."""
        some = self.matrix[numbers]
        if not issparse(some):
            return np.array(some, dtype=np.float64)
        some = some.tocoo()
        rows = np.full(some.shape, np.inf)
        rows[some.row, some.col] = some.data
        return rows


def condensed_positions(i: Any, j: Any, n_points: int) -> Ints:
    """Return where a condensed matrix holds the distances of different points i and j."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    positions: Ints = low * (2 * n_points - low - 1) // 2 + high - low - 1
    return positions


def check_precomputed(X: Any) -> Precomputed:
    """Return distances of any form as a checked record; a record is returned as it is.

    Parameters
    ----------
    X : array-like of shape (n, n) or (n (n - 1) / 2,), or scipy.sparse of shape (n, n)
        A square matrix; a condensed one, known by its one dimension; or a graph, whose stored
        entries are its edges, zeros included. Never modified; float32 and float64 are not copied.
    """
    if isinstance(X, Precomputed):
        return X
    refuse_unsuitable(X)
    if issparse(X):
        return _check_graph(X)
    array = X if hasattr(X, "shape") else np.asarray(X)
    if len(array.shape) == 1:
        return _check_condensed(np.asarray(array))
    # scikit-learn reads frames; what it says of finiteness does not name the entry
    return _check_square(
        check_array(array, dtype=None, ensure_all_finite=False, estimator="isthmus")
    )


def check_full_matrix(X: Any, instead: str) -> Array:
    """Return distances as a square matrix, expanding a condensed one.

    Parameters
    ----------
    X : array-like of shape (n, n) or (n (n - 1) / 2,)
    instead : str
        What to do with a graph, which is refused.
    """
    checked = check_precomputed(X)
    if isinstance(checked, SquareDistances):
        return checked.matrix
    if isinstance(checked, Graph):
        raise TypeError(
            f"Every distance is needed here, and a sparse graph leaves out pairs. {instead}"
        )
    n_points = checked.n_points
    require_memory(
        n_points**2 * checked.values.itemsize,
        f"The distance matrix of {n_points} points",
        "TransitiveCut and TransitiveKMeans work on the condensed one.",
    )
    matrix = np.zeros((n_points, n_points), dtype=checked.values.dtype)
    begin = 0
    for i in range(n_points - 1):
        end = begin + n_points - 1 - i
        matrix[i, i + 1 :] = matrix[i + 1 :, i] = checked.values[begin:end]
        begin = end
    return matrix


def check_new_distances(X: Any, n_points: int, estimator: str) -> NewDistances:
    """Return the distances of new points to those of a fit, checked.

    Parameters
    ----------
    X : array-like of shape (n_new, n_points), or scipy.sparse of that shape
        What is not stored is no edge, and a stored zero is an edge of length 0.
    n_points : int
        The number of points of the fit.
    estimator : str
        Its name, for messages.
    """
    refuse_unsuitable(X)
    sparse = issparse(X)
    array = X if sparse else check_array(X, dtype=None, ensure_all_finite=False)
    n_new, n_columns = array.shape
    if n_columns != n_points:
        raise ValueError(
            f"X has {n_columns} features, but {estimator} is expecting {n_points} "
            "features as input: with metric='precomputed' a new point is given by its distances "
            f"to the {n_points} rows of the fit."
        )
    if not sparse:
        matrix = _as_floats(array, _at)
        for start, stop in chunks(n_new, max(1, _BLOCK // n_points)):
            _refuse_out_of_range(matrix[start:stop], lambda r, c, start=start: _at(start + r, c))
        return NewDistances(matrix)
    if n_new == 0:
        raise ValueError("Found a matrix with 0 sample(s), while a minimum of 1 is required.")
    stored = X.tocoo()

    def name_entry(entry: int) -> str:
        return _at(stored.row[entry], stored.col[entry])

    _refuse_out_of_range(_as_floats(stored.data, name_entry), name_entry)
    entries = stored.row.astype(np.int64) * n_points + stored.col
    if len(np.unique(entries)) < len(entries):
        raise ValueError(
            "The sparse matrix stores some entries more than once. Call sum_duplicates() first if "
            "their sums are meant, or keep one of each."
        )
    return NewDistances(X.tocsr())


def _check_square(array: Array) -> SquareDistances:
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"A precomputed distance matrix must be square, got shape {array.shape}. "
            "For a table of points choose another metric, for example metric='euclidean'; a "
            "condensed matrix has one dimension, as pdist returns it."
        )
    matrix = _as_floats(array, _at)
    tolerance = _tolerance(array.dtype)
    _refuse_diagonal(matrix)
    for i, i_stop in chunks(len(matrix), _SIDE):
        for j, j_stop in chunks(i_stop, _SIDE):
            block, mirror = matrix[i:i_stop, j:j_stop], matrix[j:j_stop, i:i_stop]
            _refuse_out_of_range(mirror, lambda r, c, i=i, j=j: _at(j + r, i + c))
            _refuse_out_of_range(block, lambda r, c, i=i, j=j: _at(i + r, j + c))
            uneven = _disagree(mirror, block.T, tolerance)
            if uneven.any():
                r, c = (int(index[0]) for index in np.nonzero(uneven))
                raise ValueError(
                    f"A precomputed distance matrix must be symmetric, but {_at(j + r, i + c)} is "
                    f"{mirror[r, c]:.17g} and {_at(i + c, j + r)} is {block[c, r]:.17g}. "
                    "Symmetrise it first, for example by np.minimum(D, D.T)."
                )
    # The kernel reads rows; in Fortran's order those are the columns, equal within rounding.
    by_columns = matrix.flags.f_contiguous and not matrix.flags.c_contiguous
    return SquareDistances(_read_only(matrix.T if by_columns else matrix))


def _refuse_diagonal(matrix: Array) -> None:
    diagonal = np.diagonal(matrix)
    _refuse_out_of_range(diagonal, lambda i: _at(i, i))
    if diagonal.any():
        i = int(np.flatnonzero(diagonal)[0])
        raise ValueError(
            f"A precomputed distance matrix must have a zero diagonal, but {_at(i, i)} is "
            f"{diagonal[i]:.17g}. Are these similarities?"
        )


def _check_condensed(array: Array) -> CondensedDistances:
    n_values = len(array)
    n_points = (1 + isqrt(1 + 8 * n_values)) // 2
    if n_points * (n_points - 1) // 2 != n_values:
        below, above = (f"{n * (n - 1) // 2} (n = {n})" for n in (n_points, n_points + 1))
        raise ValueError(
            "Precomputed distances of one dimension are a condensed matrix, which holds "
            f"n (n - 1) / 2 distances of n points; got {n_values}. The nearest right lengths are "
            f"{below} and {above}."
        )

    def name_entry(entry: int) -> str:
        i, j = _pair_of_entry(entry, n_points)
        return f"entry {entry}, the distance of points {i} and {j},"

    values = _as_floats(array, name_entry)
    for start, stop in chunks(n_values, _BLOCK):
        _refuse_out_of_range(values[start:stop], lambda e, start=start: name_entry(start + e))
    return CondensedDistances(_read_only(values), n_points)


def _pair_of_entry(entry: int, n_points: int) -> tuple[int, int]:
    """Return the points i < j whose distance is at this position of a condensed matrix."""
    from_end = n_points * (n_points - 1) // 2 - 1 - entry
    i = n_points - 2 - (isqrt(8 * from_end + 1) - 1) // 2
    return i, entry - i * (2 * n_points - i - 1) // 2 + i + 1


def _check_graph(X: Any) -> Graph:
    if len(X.shape) != 2 or X.shape[0] != X.shape[1]:
        raise ValueError(f"A sparse graph of distances must be square, got shape {X.shape}.")
    n_points = int(X.shape[0])
    if n_points == 0:
        raise ValueError("Found a sparse graph with 0 sample(s), while a minimum of 1 is required.")
    stored = X.tocoo()
    if X.format in ("bsr", "dia") and (stored.nnz < X.nnz or not stored.data.all()):
        raise ValueError(
            f"Stored zeros are edges of length 0, but in a sparse matrix of format {X.format!r} "
            "they may be padding. Convert it with tocsr(), and call eliminate_zeros() on the "
            "result if they are no edges."
        )
    rows, columns = stored.row.astype(np.int64), stored.col.astype(np.int64)

    def name_entry(entry: int) -> str:
        return _at(rows[entry], columns[entry])

    values = _as_floats(stored.data, name_entry).astype(np.float64, copy=False)
    _refuse_out_of_range(values, name_entry)
    loops = rows == columns
    if loops.any():
        if values[loops].any():
            entry = int(np.flatnonzero(loops & (values > 0))[0])
            raise ValueError(
                f"A sparse graph of distances must have a zero diagonal, but {name_entry(entry)} "
                f"is {values[entry]:.17g}. Are these similarities?"
            )
        rows, columns, values = rows[~loops], columns[~loops], values[~loops]
    return _graph_of_entries(rows, columns, values, n_points, _tolerance(stored.data.dtype))


def _graph_of_entries(
    rows: Ints, columns: Ints, values: Floats, n_points: int, tolerance: float
) -> Graph:
    """Return the graph of stored entries off the diagonal; (i, j) and (j, i) are one edge.

    Where both are stored and differ by rounding, the smaller one counts.
    """
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    # one number for each entry; those of (i, j) and (j, i) differ in the last bit
    entries = (low * n_points + high) * 2 + (rows > columns)
    order = np.argsort(entries)
    entries = entries[order]
    twice = entries[1:] == entries[:-1]
    if twice.any():
        i, j = (int(index[order[twice.argmax()]]) for index in (rows, columns))
        raise ValueError(
            f"The sparse graph stores {_at(i, j)} more than once. Call sum_duplicates() first if "
            "the sum is meant, or keep one of them."
        )
    values = values[order]
    pairs = entries >> 1
    both = np.flatnonzero(pairs[1:] == pairs[:-1])
    uneven = _disagree(values[both], values[both + 1], tolerance)
    if uneven.any():
        e = int(both[uneven.argmax()])
        i, j = divmod(int(pairs[e]), n_points)
        raise ValueError(
            f"A sparse graph of distances must be symmetric where it stores both directions, but "
            f"{_at(i, j)} is {values[e]:.17g} and {_at(j, i)} is {values[e + 1]:.17g}. "
            "Store one of the two, or symmetrise it first."
        )
    values[both] = np.minimum(values[both], values[both + 1])
    kept = np.ones(len(values), dtype=bool)
    kept[both + 1] = False
    edges = np.column_stack(np.divmod(pairs[kept], n_points))
    return Graph(edges, values[kept], n_points)


def _as_floats(array: Array, name_entry: NameEntry) -> Array:
    """Return the array as float32 where that holds every number of its type, else as float64.

    Not copied where it is one of the two already.
    """
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError("Complex data not supported: distances are real numbers.")
    if kind == "O":
        return _from_objects(array, name_entry)
    if kind not in "biuf":
        raise TypeError(f"Precomputed distances must be real numbers, got dtype {array.dtype}.")
    rounded = first_rounded(array)
    if rounded is not None:
        raise ValueError(
            f"A distance is the integer {rounded}, which float64 rounds: beyond 2**53 it does not "
            "hold all of them. Use a larger unit."
        )
    wanted = np.dtype(np.float32 if np.can_cast(array.dtype, np.float32) else np.float64)
    if array.dtype == wanted and array.flags.aligned:
        return np.asarray(array)
    require_memory(
        array.size * wanted.itemsize,
        f"A copy of the distances as {wanted}, from {array.dtype},",
        f"Store them as {wanted}: then they are used as they are.",
    )
    with np.errstate(over="ignore"):  # what is not finite is refused later
        return array.astype(wanted)


def _from_objects(array: Array, name_entry: NameEntry) -> Floats:
    floats = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        refusal = (
            f"Precomputed distances must be real numbers, but {name_entry(*index)} is {value!r}"
        )
        if isinstance(value, str | bytes):
            raise TypeError(f"{refusal}. Text is not read as numbers.")
        try:
            floats[index] = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"{refusal}: {error}.") from error
    return floats


def _refuse_out_of_range(part: Array, name_entry: NameEntry) -> None:
    """Raise where an entry is negative or not finite; name_entry takes its indices."""
    if not part.size:
        return
    with np.errstate(invalid="ignore"):
        lowest, highest = part.min(), part.max()
    if lowest >= 0 and highest < np.inf:
        return
    finite = np.isfinite(part)
    if finite.all():
        # the words that scikit-learn asks of an estimator that needs data to be positive
        rule, wrong = (
            "Negative values in data: precomputed distances must not be negative",
            part < 0,
        )
        advice = "Are these similarities?"
    else:
        rule, wrong = "Precomputed distances must be finite", ~finite
        advice = "Pairs without a distance can be left out of a sparse graph."
    index = tuple(int(along[0]) for along in np.nonzero(wrong))
    value = "NaN" if np.isnan(part[index]) else f"{part[index]:.17g}"
    raise ValueError(f"{rule}, but {name_entry(*index)} is {value}. {advice}")


def _disagree(a: Array, b: Array, tolerance: float) -> npt.NDArray[np.bool_]:
    """Whether numbers that are not negative differ by more than rounding."""
    different: npt.NDArray[np.bool_] = a != b
    if different.any():
        a, b = a.astype(np.float64), b.astype(np.float64)
        different = np.abs(a - b) > tolerance * np.maximum(a, b)
    return different


def _tolerance(dtype: np.dtype[Any]) -> float:
    rounding = 4 * float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    return max(SYMMETRY_TOLERANCE, rounding)


def _at(i: Any, j: Any) -> str:
    return f"entry ({i}, {j})"


def _read_only(array: Array) -> Array:
    view = array.view()  # the caller's own array stays as it was
    view.flags.writeable = False
    return view
