"""Random starts: distances between rows, and the chances of D² sampling."""

import numpy as np
import pytest

from inputs import many, points
from isthmus import UltrametricTree
from isthmus.kmeans.embedding_objective import EmbeddingObjective
from isthmus.kmeans.init import random_points, spread_points
from isthmus.kmeans.rows_objective import RowsObjective


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(84))
def test_squared_distances_to_a_point(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    matrix = tree.matrix()
    point = seed % n
    for objective, expected in (
        (RowsObjective(tree), ((matrix - matrix[point]) ** 2).sum(1)),
        (EmbeddingObjective(tree), matrix[point] ** 2),
    ):
        found = objective.squared_distances_to(point) * objective.unit**2
        scale = (matrix**2).sum() + 1e-300
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * scale)


def test_second_point_is_drawn_in_proportion_to_the_squared_distance():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    tree = UltrametricTree.from_data(X)
    objective = RowsObjective(tree)
    matrix = tree.matrix()
    drawn = np.zeros((4, 4))
    random_state = np.random.RandomState(0)
    for _ in range(8000):
        first, second = spread_points(objective, 2, random_state)
        drawn[first, second] += 1
    squared = ((matrix[:, None] - matrix[None]) ** 2).sum(-1)
    expected = squared / squared.sum(1, keepdims=True) / 4
    np.testing.assert_allclose(drawn / 8000, expected, atol=0.02)


@pytest.mark.parametrize("kind", ["gaussian", "duplicates", "all equal"])
def test_points_are_different(kind):
    tree = UltrametricTree.from_data(points(kind, 30, 2, seed=0))
    random_state = np.random.RandomState(0)
    for k in (1, 2, 15, 30):
        for objective in (RowsObjective(tree), EmbeddingObjective(tree)):
            chosen = spread_points(objective, k, random_state)
            assert len(np.unique(chosen)) == k
        assert len(np.unique(random_points(objective, k, random_state))) == k
