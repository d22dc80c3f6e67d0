"""Integers that float64 would round: distinct points would become equal without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._utils.typing import Array

# float64 holds all integers up to this one.
_LARGEST = 2**53


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
        numbers = (int(x) for x in array.flat if isinstance(x, int) and abs(x) > _LARGEST)
        return next((number for number in numbers if _is_rounded(number)), None)
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or array.size == 0:
        return None
    if max(int(array.max()), -int(array.min())) <= _LARGEST:
        return None
    # An integer is held if it has 53 binary digits at most, beside the zeros at its end.
    magnitudes = (np.abs(array) if array.dtype.kind == "i" else array).astype(np.uint64)
    last_digit = magnitudes & (~magnitudes + np.uint64(1))
    rounded = magnitudes // np.maximum(last_digit, np.uint64(1)) > np.uint64(_LARGEST)
    return int(array[rounded].flat[0]) if rounded.any() else None


def _is_rounded(number: int) -> bool:
    try:
        return float(number) != number
    except OverflowError:  # found to be too large elsewhere
        return False


def _arrays_of(X: Any) -> Iterator[Array]:
    """Yield the parts of data, of any kind, that may hold large integers."""
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
