"""Sixty-four points in the order of a kd-tree: sorted in registers, halved, and sorted again."""

import numpy as np
import pytest

from isthmus._numba.kernel import kernel
from isthmus._numba.simd import BLOCK, order_along_widest
from isthmus.kdtree.block_sort import order_64_rows

DIMS = 0
LENGTH = 0


@kernel
def fill_places(columns, base, places) -> None:
    order_along_widest(columns, base, LENGTH, DIMS, places)


@kernel
def put_into_order(rows, order, start, first, second, sources) -> None:
    order_64_rows(rows, order, start, first, second, sources)


def places_along_widest(points, base, length):
    """Return what order_along_widest says of points, (64, dims)."""
    places = np.full(BLOCK, -1)
    constants = {"DIMS": points.shape[1], "LENGTH": length}
    fill_places.specialised(constants)(points.T.ravel().copy(), base, places)
    assert (np.delete(places, np.s_[base : base + length]) == -1).all()
    return places[base : base + length]


@pytest.mark.parametrize("length", [16, 32, 64])
@pytest.mark.parametrize("dims", [2, 5])
def test_points_stand_along_their_widest_coordinate(dims, length):
    rng = np.random.default_rng(dims * length)
    for widest in range(dims):
        points = rng.normal(size=(BLOCK, dims))
        points[:, widest] = 1e8 + 100.0 * rng.permutation(BLOCK)
        for base in range(0, BLOCK, length):
            expected = base + np.argsort(points[base : base + length, widest])
            np.testing.assert_array_equal(places_along_widest(points, base, length), expected)


@pytest.mark.parametrize("length", [16, 64])
def test_the_next_coordinates_decide_where_the_widest_is_equal(length):
    rng = np.random.default_rng(length)
    grid = np.stack(np.meshgrid(range(5), range(4), range(4), indexing="ij"), -1).reshape(-1, 3)
    points = rng.permutation(grid.astype(float)[:length])
    points = np.concatenate([points, np.zeros((BLOCK - length, 3))])
    found = points[places_along_widest(points, 0, length)]
    widest = int(np.argmax(np.ptp(points[:length], axis=0)))
    keys = np.roll(points[:length], -widest, axis=1)
    expected = points[:length][np.lexsort(keys.T[::-1])]
    np.testing.assert_array_equal(found, expected)


def test_near_points_are_ordered_by_the_next_coordinate_as_well():
    points = np.column_stack([np.linspace(0.0, 1.0, BLOCK), np.zeros(BLOCK)])
    points[30:32, 0] = [0.5, 0.5 + 2.0**-13]
    points[30, 1] = 1.0
    places = places_along_widest(points, 0, BLOCK)
    assert places[30:32].tolist() == [31, 30]
    points[31, 0] = 0.5 + 2.0**-11
    np.testing.assert_array_equal(places_along_widest(points, 0, BLOCK), np.arange(BLOCK))


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(BLOCK),
        np.full(BLOCK, -1e300),
        1.7e308 * np.linspace(-1.0, 1.0, BLOCK),  # the extent is infinite
        np.arange(BLOCK) * 5e-324,  # its inverse is
        np.arange(BLOCK) * 1e-310,
        np.repeat([0.0, 1e-200, 1e200, 1.0], BLOCK // 4),
    ],
)
def test_every_point_has_one_place_whatever_the_scale(column):
    points = np.column_stack([column, column[::-1]])
    for length in (16, 32, 64):
        for base in range(0, BLOCK, length):
            places = places_along_widest(points, base, length)
            np.testing.assert_array_equal(np.sort(places), np.arange(base, base + length))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dims", [2, 8])
def test_rows_move_with_their_numbers_into_halves(dims, dtype):
    rng = np.random.default_rng(dims)
    scratch = (
        *np.empty((2, (dims + 1) * BLOCK)),
        np.empty(BLOCK, dtype=np.int64),
    )
    for _ in range(300):
        points = rng.normal(size=(3 * BLOCK, dims)).astype(dtype)
        rows, order = points.copy().ravel(), np.arange(3 * BLOCK, dtype=np.int32)
        put_into_order.specialised({"DIMS": dims})(rows, order, BLOCK, *scratch)
        rows = rows.reshape(-1, dims)
        assert (np.diff(np.concatenate([order[:BLOCK], order[2 * BLOCK :]])) > 0).all()
        np.testing.assert_array_equal(np.sort(order), np.arange(3 * BLOCK))
        np.testing.assert_array_equal(rows, points[order])
        check_halves(rows[BLOCK : 2 * BLOCK])


def check_halves(rows):
    """Check that halves of rows, and halves of these, lie side by side, down to leaves of 8."""
    extents = np.ptp(rows, axis=0)
    along = rows[:, np.argmax(extents)]
    half = len(rows) // 2
    assert along[:half].max() <= along[half:].min() + extents.max() * 2.0**-11
    if half > 8:
        check_halves(rows[:half])
        check_halves(rows[half:])
