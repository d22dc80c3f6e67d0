"""How points are divided: cells of few features, bundles of many."""

import numpy as np
import pytest

from isthmus.dask.boxes import Boxes
from isthmus.dask.cell import build_cell
from isthmus.dask.halfspaces import main_direction, split_by_directions
from isthmus.dask.partition import (
    SAMPLED_PER_CELL,
    Division,
    Sorted,
    join_pieces,
    sort_blocks,
    split_space,
    take_cells,
)
from isthmus.dask.points import PointMap
from isthmus.metrics import resolve_metric


def test_a_cut_goes_through_a_gap():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 2)) * [1.0, 0.8]
    assert split_space(X, 2).feature[0] == 0  # across the widest feature, in the middle
    assert split_space(X, 2).value[0] == pytest.approx(0.5, abs=0.05)
    X[:, 1] += X[:, 1] > 0.45  # 45 % of the points lie above
    splits = split_space(X, 2)
    assert splits.feature[0] == 1
    assert 0.45 < splits.value[0] <= X[X[:, 1] > 1.0, 1].min()
    assert np.bincount(splits.cells_of(X)).min() > 700


@pytest.mark.parametrize("kind", ["normal", "rare bits", "clusters", "far"])
@pytest.mark.parametrize("n_bundles", [3, 7, 13])
def test_bundles_are_about_even(kind, n_bundles):
    rng = np.random.default_rng(1)
    n_sample = SAMPLED_PER_CELL * n_bundles
    X = rng.normal(size=(2 * n_sample, 40))
    if kind == "rare bits":
        X = (X > 1.6).astype(float)
    elif kind == "clusters":
        X += rng.normal(size=(9, 40))[rng.integers(0, 9, len(X))] * 20
    elif kind == "far":
        X = X * 1e99
    found = split_by_directions(X[:n_sample], n_bundles).cells_of(X)
    sizes = np.bincount(found, minlength=n_bundles)
    assert sizes.max() < 2 * len(X) / n_bundles
    assert sizes.min() > 0


def test_equal_points_are_one_bundle():
    X = np.full((50, 12), 0.5)
    assert len(np.unique(split_by_directions(X, 7).cells_of(X))) == 1


def test_the_main_direction_is_the_widest():
    rng = np.random.default_rng(2)
    axis = rng.normal(size=30)
    axis /= np.linalg.norm(axis)
    X = rng.normal(size=(500, 30)) + np.outer(rng.normal(size=500) * 10, axis)
    assert abs(main_direction(X) @ axis) > 0.99


def test_taken_cells_follow_each_other():
    bounds = np.array([0, 2, 2, 5, 6])
    points = Sorted(np.arange(12.0).reshape(6, 2), np.arange(6), np.empty(0), bounds)
    taken = take_cells(points, [3, 1, 0])
    assert taken.rows.tolist() == [5, 0, 1]
    assert taken.bounds.tolist() == [0, 1, 1, 3]
    assert len(taken.weights) == 0
    np.testing.assert_array_equal(taken.points, points.points[taken.rows])


def test_cells_are_joined_one_after_the_other():
    first = Sorted(np.arange(6.0)[:, None], np.arange(6), np.empty(0), np.array([0, 2, 2, 6]))
    last = Sorted(
        np.arange(6.0, 9.0)[:, None], np.arange(6, 9), np.empty(0), np.array([0, 1, 2, 3])
    )
    joined = join_pieces([first, last], [2, 0])
    assert joined.rows.tolist() == [2, 3, 4, 5, 8, 0, 1, 6]
    np.testing.assert_array_equal(joined.points[:, 0], joined.rows)


@pytest.mark.parametrize(("n_points", "dtype"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_numbers_of_rows_are_as_small_as_they_can_be(n_points, dtype):
    X = np.random.default_rng(3).random((20, 2))
    mapping = PointMap(resolve_metric("euclidean"), scale=1.0, single=False)
    division = Division(split_space(X, 3), 3, mapping, n_points)
    ordered = sort_blocks([X], [None], [n_points - 20], division)
    assert ordered.rows.dtype == dtype
    assert np.sort(ordered.rows).tolist() == list(range(n_points - 20, n_points))
    np.testing.assert_array_equal(ordered.points, X[ordered.rows - (n_points - 20)])


@pytest.mark.parametrize("n_copies", [1, 5])
def test_a_cell_knows_its_rows_once(n_copies):
    X = np.repeat(np.random.default_rng(4).random((40, 2)), n_copies, axis=0)
    rows = np.arange(3, 3 + len(X), dtype=np.int32)
    given = Sorted(X, rows, np.empty(0), np.array([0, len(X)]))
    cell = build_cell([given], 0, 0, Boxes(np.empty((0, 2)), np.empty((0, 2))))
    np.testing.assert_array_equal(cell.rows, rows)
    np.testing.assert_array_equal(cell.view.points[cell.position], X)
    assert len(cell.all_rows) == (len(X) if n_copies > 1 else 0)
    assert cell.all_rows.base is None  # no view, which would keep other memory
