"""A table with gaps and units → the points of a fit; and, later, new rows in the same way.

The command prepares tables so. A model file keeps the numbers that were learnt, so that new rows
are scaled as the fitted ones were.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from isthmus._utils.parameters import check_choice
from isthmus._utils.typing import Array, Floats

MISSING = ("error", "drop", "mean", "nan-euclidean")
# What a preparation may say: Gower's distance sees to missing values itself.
_KNOWN = (*MISSING, "gower")
SCALES = ("none", "standard", "robust")


@dataclass(frozen=True, eq=False)
class Preparation:
    """How rows of numbers are prepared, and what was learnt for that from those of the fit.

    Attributes
    ----------
    columns : tuple of str, or None where columns have no names
    n_features : int
    missing : {"error", "drop", "mean", "nan-euclidean", "gower"}
        What becomes of a row with missing values: it is wrong, left out, filled with the means of
        the columns, or compared by the values that it has.
    scale : {"none", "standard", "robust"}
        Columns as they are; less their mean, divided by the standard deviation; or less their
        median, divided by the range between the quartiles. A column without spread is not divided.
    fill, centre, spread : (n_features,) float64, or None
        The numbers for that.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.metrics.preparation import learn_preparation
    >>> points = np.array([[1.0, 10.0], [np.nan, 20.0], [3.0, 30.0]])
    >>> preparation = learn_preparation(points, missing="mean", columns=("x", "y"))
    >>> prepared, taken = preparation.apply(points)
    >>> prepared
    array([[ 1., 10.],
           [ 2., 20.],
           [ 3., 30.]])
    """

    columns: tuple[str, ...] | None
    n_features: int
    missing: str = "error"
    scale: str = "none"
    fill: Floats | None = None
    centre: Floats | None = None
    spread: Floats | None = None

    @property
    def changes_values(self) -> bool:
        """Whether prepared rows differ from what was read."""
        return self.fill is not None or self.centre is not None

    def apply(self, points: Array) -> tuple[Array, Array | None]:
        """Return the prepared rows, and which rows they are: (n_rows,) bool, None for all.

        points : (n_rows, n_features), NaN where a value is missing
        """
        taken: Array | None = None
        if self.missing == "drop":
            is_whole: Array = np.asarray(~np.isnan(points).any(axis=1))
            taken = None if is_whole.all() else is_whole
            points = points if taken is None else points[taken]
        if self.fill is not None:
            points = np.where(np.isnan(points), self.fill, points)
        if self.centre is not None and self.spread is not None:
            with np.errstate(over="ignore"):
                points = (points - self.centre) / self.spread
            if np.isinf(points).any():
                raise ValueError(f"scale={self.scale!r}: numbers are too large to be scaled.")
        return points, taken

    def to_content(self) -> dict[str, Any]:
        """Return it as values of a file."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return content | {"columns": None if self.columns is None else list(self.columns)}

    @classmethod
    def from_content(cls, saved: Any, n_features: int) -> Preparation:
        """Return what a file holds; ValueError where nothing could have learnt that."""
        if not isinstance(saved, dict) or saved.keys() != {field.name for field in fields(cls)}:
            raise ValueError("a preparation must have all its parts and no others.")
        columns = saved["columns"]
        is_list = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
        if columns is not None and (not is_list or len(columns) != n_features):
            raise ValueError("a preparation must have the names of all columns.")
        if saved["n_features"] != n_features or type(saved["n_features"]) is not int:
            raise ValueError(f"a preparation of {n_features} columns must say so.")
        missing = check_choice(saved["missing"], "missing", _KNOWN)
        scale = check_choice(saved["scale"], "scale", SCALES)
        needed = {"fill": missing == "mean", "centre": scale != "none", "spread": scale != "none"}
        numbers = {
            name: _checked_numbers(saved[name], name, n_features) if is_needed else None
            for name, is_needed in needed.items()
        }
        if any(saved[name] is not None for name in needed if not needed[name]):
            raise ValueError("a preparation must have no numbers that it does not use.")
        if numbers["spread"] is not None and not (numbers["spread"] > 0.0).all():
            raise ValueError("the spread of a column must be above zero.")
        names = None if columns is None else tuple(columns)
        return cls(names, n_features, missing, scale, **numbers)


def learn_preparation(
    points: Array,
    *,
    missing: str = "error",
    scale: str = "none",
    columns: tuple[str, ...] | None = None,
) -> Preparation:
    """Return how to prepare rows like these, (n_rows, n_features), NaN where a value is missing.

    ValueError where a column has no value to learn from.
    """
    n_features = points.shape[1]
    described = [f"column {j + 1}" for j in range(n_features)]
    if columns is not None:
        described = [f"column {name!r}" for name in columns]
    is_missing = np.isnan(points)
    for j in np.flatnonzero(is_missing.all(axis=0)):
        raise ValueError(f"{described[j]} has no value at all: leave it out.")
    if missing == "drop" and is_missing.any(axis=1).all():
        raise ValueError("every row has a missing value, so that none is left.")
    rows = points[~is_missing.any(axis=1)] if missing == "drop" else points
    with np.errstate(over="ignore", invalid="ignore"):
        fill: Floats | None = None
        if missing == "mean":
            fill = _means(rows)
            rows = np.where(np.isnan(rows), fill, rows)
        centre, spread = _location_and_spread(rows, scale)
    for numbers in (fill, centre, spread):
        if numbers is not None and not np.isfinite(numbers).all():
            wrong = described[int(np.argmin(np.isfinite(numbers)))]
            raise ValueError(f"the numbers of {wrong} are too large for sums of them.")
    return Preparation(columns, n_features, missing, scale, fill, centre, spread)


def _means(rows: Array) -> Floats:
    """Return the mean of each column; that of equal numbers is one of them, however it rounds."""
    means = np.nanmean(rows, axis=0, dtype=np.float64)
    within = np.clip(means, np.nanmin(rows, axis=0), np.nanmax(rows, axis=0))
    return np.where(np.isfinite(means), within, means)


def _location_and_spread(rows: Array, scale: str) -> tuple[Floats | None, Floats | None]:
    if scale == "none":
        return None, None
    rows = rows.astype(np.float64, copy=False)
    if scale == "standard":
        centre, spread = _means(rows), np.nanstd(rows, axis=0)
    else:
        low, centre, high = np.nanquantile(rows, [0.25, 0.5, 0.75], axis=0)
        spread = high - low
    # Rounding may give a column of equal numbers a tiny standard deviation.
    is_constant = np.nanmax(rows, axis=0) == np.nanmin(rows, axis=0)
    return centre, np.where(is_constant | (spread == 0.0), 1.0, spread)


def _checked_numbers(numbers: Any, name: str, n_features: int) -> Floats:
    is_array = isinstance(numbers, np.ndarray) and numbers.dtype == np.float64
    if not is_array or numbers.shape != (n_features,) or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be a finite number for each of {n_features} columns.")
    return numbers  # type: ignore[no-any-return]
