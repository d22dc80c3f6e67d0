"""Which boxes hold only points that are nearer to one point than to another, by all corners."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._numba.kernel import kernel
from isthmus._numba.simd import boxes_nearer_to

DIMS = 0
KIND = 0


class Query(NamedTuple):
    box: np.ndarray
    coordinates: np.ndarray
    power: float
    gaps: np.ndarray


@kernel
def nearer_boxes(boxes, query, row, slack) -> int:
    return boxes_nearer_to(boxes, 2 * 8 * DIMS, query, row, slack, DIMS, KIND)


def accumulated(differences, kind, power):
    if kind == MAXIMUM:
        return np.abs(differences).max(axis=-1)
    return (np.abs(differences) ** {SQUARES: 2, ABSOLUTES: 1, POWERS: power}[kind]).sum(axis=-1)


def points_of(low, high):
    """All points of a box with whole coordinates."""
    sides = [range(int(a), int(b) + 1) for a, b in zip(low, high, strict=True)]
    return np.array(list(itertools.product(*sides)), dtype=float)


@pytest.mark.parametrize("kind", [SQUARES, ABSOLUTES, MAXIMUM, POWERS])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_point_of_a_box_decides(kind, dims, dtype):
    """Whole numbers, so nothing is rounded, and ties are frequent."""
    compiled = nearer_boxes.specialised({"DIMS": dims, "KIND": kind})
    rng = np.random.default_rng(dims)
    n_nearer = n_unsure = 0
    for _ in range(150):
        low = rng.integers(-9, 9, size=(8, dims))
        high = low + rng.integers(0, 5, size=(8, dims))
        bounds = np.stack([low, high], axis=1).transpose(2, 1, 0)  # by coordinate, bound and box
        boxes = np.concatenate([np.full(16 * dims, np.nan), bounds.ravel()]).astype(dtype)
        x, others = rng.integers(-9, 9, size=dims), rng.integers(-9, 9, size=(4, dims))
        apart = np.maximum(np.maximum(low - x, x - high), 0)
        gaps = accumulated(apart, kind, 3).astype(float)
        query = Query(x.astype(float), others.astype(float), 3.0, gaps)
        for slack in (0.0, 0.25):
            mask = compiled(boxes, query, 2, slack)
            for lane in range(8):
                points = points_of(low[lane], high[lane])
                to_v, to_x = (accumulated(points - y, kind, 3) for y in (others[2], x))
                is_nearer = bool((to_v <= (1 - slack) * to_x).all())
                assert is_nearer or not mask >> lane & 1
                n_nearer += is_nearer
                n_unsure += is_nearer and not mask >> lane & 1
                # Where coordinates are summed it is never unsure, but for the slack and far ties.
                is_far = to_x.max() > 64 * gaps[lane]
                if slack == 0.0 and kind != MAXIMUM and not (is_far and (to_v == to_x).any()):
                    assert is_nearer == bool(mask >> lane & 1)
    assert n_nearer > 500
    assert n_unsure < n_nearer / 4


@pytest.mark.parametrize("kind", [SQUARES, ABSOLUTES, MAXIMUM, POWERS])
@pytest.mark.parametrize("side", [1e3, 1e6, 1e9, 1e17])
def test_rounding_at_a_far_corner_decides_nothing(kind, side):
    """A box from near to far: its near points are nearer to x."""
    compiled = nearer_boxes.specialised({"DIMS": 2, "KIND": kind})
    bounds = np.stack([[[2.5, 0.001]] * 8, [[2.5, side]] * 8], axis=1).transpose(2, 1, 0)
    boxes = np.concatenate([np.full(32, np.nan), bounds.ravel()])
    gaps = np.full(8, accumulated(np.array([1.5, 0.001]), kind, 8.0))
    query = Query(np.array([1.0, 0.0]), np.zeros((4, 2)), 8.0, gaps)
    assert compiled(boxes, query, 2, 0.0) == 0
