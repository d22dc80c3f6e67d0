"""Transitive distances of limited order against enumeration of all paths."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from inputs import KINDS, many, points
from isthmus.metrics.pairwise import distance_matrix
from isthmus.theory import stopping_orders, transitive_distances, transitive_sequence
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_the_sequence_holds_every_order(kind, n):
    X = points(kind, n, 2, seed=1)
    base = distance_matrix(X)
    sequence = transitive_sequence(X, 7)
    assert sequence.shape == (7, n, n)
    for order in range(1, 8):
        np.testing.assert_array_equal(sequence[order - 1], minimax_of_order(base, min(order, n)))


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(84, largest=60))
def test_the_sequence_ends_where_nothing_changes_any_more(kind, n, d, seed):
    X = points(kind, n, d, seed)
    full = minimax_matrix(distance_matrix(X))
    sequence = transitive_sequence(X)
    np.testing.assert_array_equal(sequence[-1], full)
    if len(sequence) > 1:
        assert (sequence[-2] != full).any()
    for order in {1, 2, 3, len(sequence) // 2, len(sequence)} - {0}:
        if order <= len(sequence):
            np.testing.assert_array_equal(sequence[order - 1], transitive_distances(X, order))
    orders = stopping_orders(X)
    assert orders.dtype == np.int64
    # the first order, from 1, at which a pair has its transitive distance
    np.testing.assert_array_equal(orders, (sequence == full).argmax(axis=0) + 1)
    np.testing.assert_array_equal(stopping_orders(X, n_jobs=2), orders)


def test_a_path_needs_all_its_vertices():
    orders = stopping_orders(np.arange(60.0)[:, None])
    i, j = np.indices((60, 60))
    steps = np.abs(i - j)
    np.testing.assert_array_equal(orders, np.where(steps < 2, 1, steps + 1))


def test_orders_of_given_distances():
    X = points("blobs", 40, 2, seed=3)
    manhattan = pdist(X, "cityblock")
    orders = stopping_orders(X, metric="manhattan")
    np.testing.assert_array_equal(orders, stopping_orders(manhattan, metric="precomputed"))
    # what is symmetric only up to rounding is made so
    uneven = squareform(manhattan)
    uneven[np.triu_indices(40)] *= 1 + 1e-12
    sequence = transitive_sequence(uneven, metric="precomputed")
    np.testing.assert_array_equal(sequence, sequence.transpose(0, 2, 1))
    np.testing.assert_array_equal(stopping_orders(uneven, metric="precomputed"), orders)
    words = ["a", "ab", "abc", "abcd"]
    by_length = {"metric": lambda a, b: abs(len(a) - len(b))}
    assert stopping_orders(words, **by_length)[0].tolist() == [1, 1, 3, 4]
    assert transitive_sequence(words, **by_length)[:, 0, 3].tolist() == [3, 3, 2, 1]


def test_sequences_that_would_not_fit_are_refused():
    with pytest.raises(MemoryError, match=r"matrices of distances of 300 points.*UltrametricTree"):
        transitive_sequence(points("gaussian", 300, 2, seed=0), 10**9)
    for wrong, error in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="max_order"):
            transitive_sequence([[0.0], [1.0]], wrong)
