"""Columns → what the page can draw along its axes, for the rows that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.explorer.user_table import Columns

SCORE = "outlier score"
_COMPONENTS = ("PC 1", "PC 2")  # principal components
# The most values of columns beside the two that are drawn first, so that pages stay small.
_MOST_VALUES = 250_000

NEEDS_COORDINATES = (
    "The fit has no columns to draw (it was given distances or objects). Give two coordinates for "
    "each row, such as UMAP's: explore(coordinates=…), an array of shape (n_samples, 2)."
)


@dataclass(frozen=True)
class Axis:
    """One thing to draw along an axis: a name, and a value for each row that is shown."""

    name: str
    values: Array


def check_coordinates(coordinates: Any, columns: Columns) -> Any:
    """Return coordinates as two names of columns or as an array, (n_rows, 2); None stays None."""
    if coordinates is None:
        if not columns.names:
            raise ValueError(NEEDS_COORDINATES)
        return None
    if isinstance(coordinates, list | tuple) and all(isinstance(c, str) for c in coordinates):
        if len(coordinates) != 2:
            raise ValueError(f"coordinates must name two columns, got {len(coordinates)}.")
        for name in coordinates:
            if columns.require(name) not in columns.names:
                raise ValueError(f"Column {name!r} holds texts, which cannot be coordinates.")
        return tuple(coordinates)
    values = as_real(coordinates, "coordinates")
    if values.shape != (columns.n_rows, 2):
        raise ValueError(
            f"coordinates must have two numbers for each of the {columns.n_rows} rows: shape "
            f"({columns.n_rows}, 2), got {values.shape}."
        )
    return values


def axes_of(columns: Columns, coordinates: Any, scores: Floats, shown: Ints) -> list[Axis]:
    """Return the axes; the first two are drawn first.

    They are the coordinates, or the only two columns, or two principal components; then come
    columns, as many as keep the page small, and the outlier score.

    coordinates : as check_coordinates returns them
    shown : (m,) int64
        The rows that are shown.
    """
    score = Axis(SCORE, scores[shown])
    first: list[Axis]
    if isinstance(coordinates, tuple):
        first = [Axis(name, columns.column(name)[shown]) for name in coordinates]
    elif coordinates is not None:
        first = [Axis(f"coordinate {j + 1}", coordinates[shown, j]) for j in range(2)]
    elif len(columns.names) == 1:
        first = [Axis(columns.names[0], columns.column(columns.names[0])[shown]), score]
    elif len(columns.names) == 2:
        first = [Axis(name, columns.column(name)[shown]) for name in columns.names]
    else:
        first = _principal_components(columns.numbers[shown])
    taken = {axis.name for axis in first}
    others = [name for name in columns.names if name not in taken]
    others = others[: _MOST_VALUES // max(1, len(shown))]
    more = [Axis(name, columns.column(name)[shown]) for name in others]
    return [*first, *more, *([] if SCORE in taken else [score])]


def _principal_components(numbers: Any) -> list[Axis]:
    if issparse(numbers):
        filled, solver = numbers, "arpack"
        if min(numbers.shape) <= 2:
            filled, solver = numbers.toarray(), "full"
    else:
        filled, solver = np.nan_to_num(numbers.astype(np.float64)), "auto"
    values = np.zeros((filled.shape[0], 2))
    n_found = min(2, filled.shape[0])
    pca = PCA(n_found, svd_solver=solver, random_state=0)
    with np.errstate(invalid="ignore"):  # the share of a variance that is 0
        values[:, :n_found] = pca.fit_transform(filled)
    return [Axis(name, values[:, j]) for j, name in enumerate(_COMPONENTS)]
