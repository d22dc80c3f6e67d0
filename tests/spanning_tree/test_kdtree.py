"""Borůvka on a kd-tree against Prim: the same tree, edge for edge, ties included."""

import numpy as np
import pytest

from inputs import KINDS, many, points
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
    assert boruvka == prim


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3, 7])
def test_same_tree_on_larger_inputs(kind, d):
    boruvka, prim = both(points(kind, 1500, d, seed=d), n_jobs=2)
    assert boruvka == prim


@pytest.mark.parametrize(("metric", "params"), METRICS)
@pytest.mark.parametrize("kind", ["gaussian", "lattice", "blobs"])
def test_every_metric(metric, params, kind):
    X = points(kind, 700, 3, seed=2) + 0.5
    boruvka, prim = both(X, metric, params)
    np.testing.assert_allclose(boruvka.weights, prim.weights, rtol=1e-12)
    if metric not in ("minkowski",):  # powers are summed in another way there
        assert boruvka == prim


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicates", "blobs"])
def test_threads_do_not_matter(kind):
    prepared = prepare_points(points(kind, 20_000, 2, seed=9), resolve_metric("euclidean"))
    one, two, four = (
        SpanningTree.from_edges(*spanning_tree_by_boruvka(prepared, jobs)) for jobs in (1, 2, 4)
    )
    assert one == two == four


def test_float32():
    X = points("gaussian", 1200, 2, seed=0).astype(np.float32)
    boruvka, prim = both(X)
    assert boruvka == prim
    assert boruvka == both(X.astype(np.float64))[0]
