"""Borůvka on a kd-tree against Prim: a tree as good, bit for bit, ties included."""

import numpy as np
import pytest

from inputs import KINDS, assert_as_good, many, points
from isthmus import SpanningTree
from isthmus.metrics import prepare_points, resolve_metric
from isthmus.spanning_tree.kdtree.engine import spanning_tree_by_boruvka
from isthmus.spanning_tree.prim import prim_of_points

METRICS = [
    ("euclidean", None),
    ("sqeuclidean", None),
    ("manhattan", None),
    ("chebyshev", None),
    ("minkowski", {"p": 3}),
    ("cosine", None),
]


def both(X, metric="euclidean", params=None, n_jobs=1):
    prepared = prepare_points(X, resolve_metric(metric, params))
    return (
        SpanningTree.from_edges(*spanning_tree_by_boruvka(prepared, n_jobs)),
        SpanningTree.from_edges(*prim_of_points(prepared)),
    )


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(210) if p[1] > 1])
def test_same_tree_as_prim(kind, n, d, seed):
    # few numbers of coordinates: each is compiled for itself
    boruvka, prim = both(points(kind, n, (1, 2, 3, 2, 3, 2)[d - 1], seed))
    assert_as_good(boruvka, prim)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3, 7])
def test_same_tree_on_larger_inputs(kind, d):
    boruvka, prim = both(points(kind, 1500, d, seed=d), n_jobs=2)
    assert_as_good(boruvka, prim)
    if kind == "gaussian":  # without ties there is just one
        assert boruvka == prim


@pytest.mark.parametrize(("metric", "params"), METRICS)
@pytest.mark.parametrize("kind", ["gaussian", "lattice", "blobs"])
def test_every_metric(metric, params, kind):
    X = points(kind, 700, 3, seed=2) + 0.5
    boruvka, prim = both(X, metric, params)
    np.testing.assert_allclose(boruvka.weights, prim.weights, rtol=1e-12)
    if metric not in ("minkowski",):  # powers are summed in another way there
        assert_as_good(boruvka, prim)


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicates", "blobs"])
@pytest.mark.parametrize("d", [2, 7])
def test_threads_do_not_matter(kind, d):
    prepared = prepare_points(points(kind, 20_000, d, seed=9), resolve_metric("euclidean"))
    one, two, four = (
        SpanningTree.from_edges(*spanning_tree_by_boruvka(prepared, jobs)) for jobs in (1, 2, 4)
    )
    assert one == two == four


def test_float32():
    X = points("gaussian", 1200, 2, seed=0).astype(np.float32)
    boruvka, prim = both(X)
    assert boruvka == prim
    assert boruvka == both(X.astype(np.float64))[0]


@pytest.mark.parametrize(("side", "d"), [(150, 2), (28, 3), (9, 4)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_lattices(side, d, missing):
    # nearly all edges are equally long: any tree will do, but for any number of threads the same
    rng = np.random.default_rng(d)
    grid = np.indices((side,) * d).reshape(d, -1).T.astype(float)
    X = rng.permutation(grid[rng.random(len(grid)) >= missing])
    prepared = prepare_points(X, resolve_metric("euclidean"))
    one, two, four = (
        SpanningTree.from_edges(*spanning_tree_by_boruvka(prepared, jobs)) for jobs in (1, 2, 4)
    )
    assert one == two == four
    assert_as_good(one, SpanningTree.from_edges(*prim_of_points(prepared)))
