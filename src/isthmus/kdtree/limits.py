"""For which points and metrics there are kd-trees."""

from __future__ import annotations

from isthmus._numba.accumulators import POWERS
from isthmus.metrics import MappedMetric

# Numbers of coordinates that kernels are compiled for; points are padded with zeros to the next.
COMPILED_DIMS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
MOST_FEATURES = COMPILED_DIMS[-1]
# Up to this number of features a kd-tree is faster than all else; nothing has to be counted.
FEW_FEATURES = 8
# Powers above this would vanish for small differences.
LARGEST_POWER = 8.0


def is_supported(n_features: int, metric: MappedMetric) -> bool:
    """Whether there are kernels for this number of features, after the map, and this metric."""
    powers = metric.kind == POWERS
    return n_features <= MOST_FEATURES and not (powers and metric.power > LARGEST_POWER)


def padded_dims(n_features: int) -> int:
    """Return the number of coordinates that points are padded to."""
    return next(size for size in COMPILED_DIMS if size >= n_features)


def bytes_per_point(n_features: int, itemsize: int) -> int:
    """Return how much memory a kd-tree takes for each point.

    Boxes take two sevenths of what coordinates take; there are two numbers for each point.
    """
    return 9 * padded_dims(n_features) * itemsize // 7 + 13
