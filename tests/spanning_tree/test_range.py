"""Points whose distances lie at the ends of what float64 can hold, or span more than that."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isthmus import minimum_spanning_tree
from isthmus.spanning_tree.by_blocks import boruvka
from oracles.exact import assert_rounded, exact_distances, exact_tree_weights

ENGINES = {
    "euclidean": ("auto", "prim", "kd-tree", "blocked", "sparse"),
    "sqeuclidean": ("auto", "blocked"),
    "manhattan": ("auto", "kd-tree"),
    "chebyshev": ("prim", "kd-tree"),
}
KINDS = ("all magnitudes", "tiny among ordinary", "clusters of all sizes", "grid", "one far point")


def wide(kind, n, d, seed):
    """Return points that span more orders of magnitude than squares can hold."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    X = rng.normal(size=(n, d))
    if kind == "all magnitudes":
        return 10.0 ** rng.uniform(-300, 150, size=(n, d)) * rng.choice([-1, 0, 1], size=(n, d))
    if kind == "tiny among ordinary":
        return np.where(rng.random((n, d)) < 0.6, 1e-200 * X, rng.integers(0, 2, size=(n, d)))
    if kind == "clusters of all sizes":
        return X * 10.0 ** rng.choice([-300, -160, -150, 0, 140], size=(n, 1))
    if kind == "grid":
        exponents = rng.choice([-1074, -600, -530, -500, -480, -440, 0, 400], size=(n, d))
        return rng.integers(0, 3, size=(n, d)) * 2.0**exponents
    X[0] *= 1e200
    return X


def tree_of(X, engine, metric):
    if engine == "sparse":
        return minimum_spanning_tree(csr_array(X), metric=metric)
    return minimum_spanning_tree(X, engine=engine, metric=metric)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ENGINES)
@pytest.mark.parametrize("d", [1, 3])
def test_trees_are_exact_however_far_points_spread(metric, kind, d):
    X = wide(kind, 40, d, seed=d)
    if metric == "sqeuclidean":
        X = np.clip(X, -1e150, 1e150)
    X = np.vstack([X, X[:5]])
    distances = exact_distances(X, metric)
    expected = exact_tree_weights(distances)
    for engine in (*ENGINES[metric], *(("sort",) if d == 1 else ())):
        tree = tree_of(X, engine, metric)
        assert_rounded(tree.weights, expected)
        assert_rounded(tree.weights, [distances[a][b] for a, b in tree.edges.tolist()])


def test_the_smallest_examples():
    assert minimum_spanning_tree([[0, 0], [1, 0], [0, 2], [1e200, 1]]).weights.tolist() == [
        1.0,
        2.0,
        1e200,
    ]
    X = [[0.0, 0.0], [1e-200, 0.0], [0.0, 2e-200], [1.0, 1.0]]
    assert minimum_spanning_tree(X).weights[:2].tolist() == [1e-200, 2e-200]


@pytest.mark.parametrize("p", [1.5, 3.0, 8.0])
def test_powers_that_vanish(p):
    X = np.vstack([wide("one far point", 60, 2, seed=0), wide("grid", 60, 2, seed=1)])
    trees = [
        minimum_spanning_tree(X, metric="minkowski", metric_params={"p": p}, engine=engine)
        for engine in ("kd-tree", "prim")
    ]
    np.testing.assert_allclose(trees[0].weights, trees[1].weights, rtol=1e-12)
    assert np.count_nonzero(trees[0].weights) == np.count_nonzero(
        minimum_spanning_tree(X, metric="chebyshev").weights
    )


@pytest.mark.parametrize(
    ("metric", "X", "expected"),
    [
        ("angular", [[1.0, 0.0], [1.0, 1e-200], [1.0, 3e-200]], [1e-200, 2e-200]),
        ("haversine", [[0.0, 0.0], [0.0, 1e-200], [3e-200, 0.0]], [1e-200, 3e-200]),
        ("hellinger", [[1.0, 0.0], [1.0, 2e-320], [0.0, 1.0]], [1e-160, 1.0]),
        ("cosine", [[1.0, 0.0], [1.0, 2e-155], [1.0, 2e-156]], [2e-312, 1.62e-310]),
    ],
)
def test_after_a_map(metric, X, expected):
    tree = minimum_spanning_tree(X, metric=metric)
    np.testing.assert_allclose(tree.weights, expected, rtol=1e-3 if metric == "cosine" else 1e-4)


def test_many_points_that_are_alike():
    """All but one feature constant, and the other tiny: an ordinary tree, at another scale."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1.0], 2000), rng.normal(size=4000)])
    expected = minimum_spanning_tree(X * [1e6, 1.0])
    found = minimum_spanning_tree(X * [1.0, 2.0**-700])
    np.testing.assert_array_equal(found.weights[:-1], expected.weights[:-1] * 2.0**-700)
    assert found.weights[-1] == 1.0


def test_the_approximate_engine_refuses_what_it_would_lose():
    X = wide("one far point", 60, 3, seed=0)
    with pytest.raises(ValueError, match=r"orders of magnitude.*engine='auto'"):
        minimum_spanning_tree(X, engine="approximate", neighbors=np.zeros((60, 1), dtype=int))


@pytest.mark.timeout(60)
def test_sparse_points_that_are_all_denormal():
    tree = minimum_spanning_tree(csr_array([[1e-310, 0.0], [0.0, 0.0], [0.0, 1e-310]]))
    assert tree.weights.tolist() == [1e-310, 1e-310]


@pytest.mark.timeout(60)
def test_a_search_that_finds_nothing_ends(monkeypatch):
    monkeypatch.setattr(boruvka.BlockSearch, "__call__", lambda *_: True)
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:40] = X[0]  # longer lists than these would be needed
    X[:40, 0] += np.arange(40) * 1e-3
    X[40:] += 100.0
    with pytest.raises(AssertionError, match="for ever"):
        minimum_spanning_tree(X, engine="blocked")
