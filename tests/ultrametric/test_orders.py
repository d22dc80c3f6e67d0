"""Transitive distances of limited order against enumeration of all paths."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from inputs import KINDS, many, points
from isthmus import transitive_distances
from isthmus.distances import distance_matrix
from isthmus.ultrametric.orders import minimax_product
from oracles.dense import minimax_matrix, minimax_of_order


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 4, 6])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 9])
def test_every_order_is_its_definition(kind, n, order):
    X = points(kind, n, 2, seed=1)
    np.testing.assert_array_equal(
        transitive_distances(X, order), minimax_of_order(distance_matrix(X), min(order, n))
    )


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(28, largest=120))
def test_orders_fall_from_the_base_distance_to_the_ultrametric(kind, n, d, seed):
    X = points(kind, n, d, seed)
    base = distance_matrix(X)
    full = minimax_matrix(base)
    np.testing.assert_array_equal(transitive_distances(X, 2), base)
    np.testing.assert_array_equal(transitive_distances(X), full)
    np.testing.assert_array_equal(transitive_distances(X, n), full if n > 2 else base)
    previous = base
    for order in (3, 4, 7, 12):
        current = transitive_distances(X, order)
        assert (current <= previous).all()
        assert (current >= full).all()
        previous = current


def test_product_of_rectangles_across_panels():
    rng = np.random.default_rng(0)
    a, b = rng.random((37, 150)), rng.random((150, 700))
    expected = np.minimum.reduce(np.maximum(a[:, :, None], b[None]), axis=1)
    np.testing.assert_array_equal(minimax_product(a, b), expected)
    np.testing.assert_array_equal(minimax_product(a, b, n_jobs=3), expected)


def test_precomputed_and_other_metrics():
    X = points("gaussian", 30, 3, seed=0)
    manhattan = cdist(X, X, "cityblock")
    np.testing.assert_allclose(
        transitive_distances(X, 4, metric="manhattan"),
        transitive_distances(manhattan, 4, metric="precomputed"),
        rtol=1e-15,
    )


@pytest.mark.parametrize(
    ("order", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_wrong_orders_are_refused(order, error):
    with pytest.raises(error, match="order"):
        transitive_distances([[0.0], [1.0]], order)
