"""Integers that float64 would round: distinct points would become equal without a word."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from isthmus._utils.typing import Array

# float64 holds all integers up to this one.
LARGEST = 2**53


def refuse_rounded_integers(X: Any) -> None:
    """Raise ValueError for points with integers that float64 does not hold."""
    for array in _arrays_of(X):
        found = first_rounded(array)
        if found is not None:
            raise ValueError(
                f"X holds the integer {found}, which float64 rounds to {float(found):.0f}: beyond "
                "2**53 distinct points would become equal. Subtract a constant from each feature "
                "first, as integers, for example X - X.min(axis=0); or use a larger unit."
            )


def first_rounded(array: Array) -> int | None:
    """Return the first integer that float64 does not hold; None where there is none."""
    if array.dtype.kind == "O":
        return next((int(x) for x in array.flat if is_rounded(x)), None)
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or array.size == 0:
        return None
    if max(int(array.max()), -int(array.min())) <= LARGEST:
        return None
    # An integer is held if it has 53 binary digits at most, beside the zeros at its end.
    magnitudes = (np.abs(array) if array.dtype.kind == "i" else array).astype(np.uint64)
    last_digit = magnitudes & (~magnitudes + np.uint64(1))
    rounded = magnitudes // np.maximum(last_digit, np.uint64(1)) > np.uint64(LARGEST)
    return int(array[rounded].flat[0]) if rounded.any() else None


def is_rounded(value: Any) -> bool:
    """Whether a value is an integer, perhaps a Decimal, that float64 rounds to another one.

    Not so those above all numbers of float64: these are found to be too large elsewhere.
    """
    if isinstance(value, Decimal):
        return (
            value.is_finite()
            and value == value.to_integral_value()
            and value != (number := float(value))
            and abs(number) < np.inf
        )
    if isinstance(value, np.timedelta64) or not isinstance(value, int | np.integer):
        return False
    integer = int(value)
    try:
        return abs(integer) > LARGEST and float(integer) != integer
    except OverflowError:
        return False


def _arrays_of(X: Any) -> Iterator[Array]:
    """Yield the parts of data, of any kind, that may hold large integers."""
    from scipy.sparse import issparse  # the metrics of tables need no SciPy

    if issparse(X):
        if X.dtype.kind in "iu":
            yield X.tocoo().data
    elif len(getattr(X, "shape", ())) == 2 and hasattr(X, "columns"):  # a data frame
        for name in X.columns:
            column = X[name]
            if not isinstance(column.dtype, np.dtype) or column.dtype.kind in "iuO":
                yield np.asarray(column)
    elif isinstance(X, list | tuple):
        try:
            yield np.asarray(X)
        except (ValueError, TypeError):  # refused elsewhere
            return
    elif isinstance(X, np.ndarray):
        yield X
