"""Short names for the array types that signatures use."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]
Labels: TypeAlias = npt.NDArray[np.int32]


def index_type(largest: int) -> type[np.int32 | np.int64]:
    """Return the shortest type for indices: work on many of them is bound by memory."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64
