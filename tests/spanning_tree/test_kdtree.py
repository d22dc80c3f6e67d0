"""Borůvka on a kd-tree against Prim: a tree as good, bit for bit, ties included."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from inputs import KINDS, assert_as_good, many, points
from isthmus import SpanningTree
from isthmus.metrics.mapped import prepare_points
from isthmus.metrics.registry import resolve_metric
from isthmus.spanning_tree.by_kdtree import boruvka as engine
from isthmus.spanning_tree.by_kdtree import first_round
from isthmus.spanning_tree.by_kdtree.boruvka import boruvka_on_kdtree
from isthmus.spanning_tree.prim import prim_of_points

METRICS = [
    ("euclidean", None),
    ("sqeuclidean", None),
    ("manhattan", None),
    ("chebyshev", None),
    ("minkowski", {"p": 3}),
    ("cosine", None),
]


def both(X, metric="euclidean", params=None, n_jobs=1, *, by_index=False):
    prepared = prepare_points(X, resolve_metric(metric, params))
    return (
        SpanningTree.from_edges(*boruvka_on_kdtree(prepared, n_jobs, by_index=by_index)[:2]),
        SpanningTree.from_edges(*prim_of_points(prepared)[:2]),
    )


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(140) if p[1] > 1])
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "n_jobs"), [(2, 1), (2, 2), (3, 3)])
def test_ties_by_index_are_those_of_prim_on_any_threads(kind, d, n_jobs, monkeypatch):
    monkeypatch.setattr(engine, "_POINTS_TO_SHARE", 100)
    monkeypatch.setattr(engine, "_COMPONENTS_TO_MERGE", 16)
    boruvka, prim = both(points(kind, 700, d, seed=d), n_jobs=n_jobs, by_index=True)
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
        SpanningTree.from_edges(*boruvka_on_kdtree(prepared, jobs)[:2]) for jobs in (1, 2, 4)
    )
    assert one == two == four


def tied_points(seed, d):
    """Points with ties of many lengths: integers, stretched, halved, or partly disturbed."""
    rng = np.random.default_rng(seed)
    n, largest = int(rng.integers(20, 1500)), int(rng.integers(2, 50))
    X = rng.integers(0, largest, size=(n, d)) * rng.choice([1.0, 1.0, 2.0, 3.0], size=d)
    X[rng.random(n) < rng.choice([0.0, 0.3])] *= 0.5
    disturbed = rng.random(n) < rng.choice([0.0, 0.2])
    X[disturbed] += rng.random((int(disturbed.sum()), d))
    far = X[: n // 3] * 7.0 + 3.0
    return rng.permutation(np.unique(np.concatenate([X, far]), axis=0))


# Each metric, each way to search; every pair more would take long to compile.
@pytest.mark.parametrize(
    ("metric", "d"),
    [("euclidean", 2), ("manhattan", 2), ("chebyshev", 2), ("euclidean", 7), ("chebyshev", 7)],
)
def test_ties_of_many_lengths(metric, d):
    for seed in range(60):
        boruvka, prim = both(tied_points(seed, d), metric, n_jobs=1 + seed % 2)
        np.testing.assert_array_equal(boruvka.weights, prim.weights, err_msg=f"seed {seed}")


@pytest.mark.parametrize("decimals", [2, 15])
def test_threads_that_follow_nearest_points_find_the_same_tree(decimals, monkeypatch):
    # few components to a task, so that there are tasks for all
    monkeypatch.setattr(engine, "_COMPONENTS_PER_TASK", 4)
    X = np.round(np.random.default_rng(0).normal(size=(6000, 2)), decimals)
    alone, prim = both(X)
    np.testing.assert_array_equal(alone.weights, prim.weights)
    followed = []
    follow = engine._Searcher._follow
    monkeypatch.setattr(
        engine._Searcher, "_follow", lambda *args: followed.append(args[1]) or follow(*args)
    )
    for n_jobs in (2, 4):
        assert both(X, n_jobs=n_jobs)[0] == alone
    assert max(followed) > 8


@pytest.mark.parametrize("decimals", [1, 2, 15])
def test_threads_that_share_the_first_round_find_the_same_tree(decimals, monkeypatch):
    monkeypatch.setattr(engine, "_POINTS_TO_SHARE", 100)
    monkeypatch.setattr(engine, "_COMPONENTS_TO_MERGE", 64)
    X = np.round(np.random.default_rng(0).normal(size=(3001, 2)), decimals)
    alone, prim = both(X)
    np.testing.assert_array_equal(alone.weights, prim.weights)
    n_blocks, starts = [], []
    join_to_nearest = first_round.join_to_nearest.specialised
    end_first_round = first_round.end_first_round.specialised

    def joining(constants):
        def join(lists, joined, first_edge, waits, start, stop):
            starts.append(start)
            return join_to_nearest(constants)(lists, joined, first_edge, waits, start, stop)

        return join

    def ending(constants):
        def end(lists, joined, waits, *args):
            n_blocks.append(len(starts))
            starts.clear()
            inside = lists.n_inside[: len(X)]
            assert set(inside) <= {0, 1}
            assert (inside == 0).any() == (decimals < 15)
            assert waits.any() == (n_blocks[-1] > 1)
            return end_first_round(constants)(lists, joined, waits, *args)

        return end

    monkeypatch.setattr(first_round.join_to_nearest, "specialised", joining)
    monkeypatch.setattr(first_round.end_first_round, "specialised", ending)
    for n_jobs in (2, 3, 4):
        assert both(X, n_jobs=n_jobs)[0] == alone
    # what is joined along ties reaches from block to block
    assert n_blocks == ([2, 3, 4] if decimals == 15 else [1, 1, 1])


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("kind", ["tied", "gaussian", "lattice", "duplicates"])
def test_lists_hold_what_they_say(kind, d, monkeypatch):
    X = tied_points(d, d) if kind == "tied" else points(kind, 700, d, seed=d)
    prepared = prepare_points(X, resolve_metric("chebyshev"))
    runs = []
    monkeypatch.setattr(engine._Run, "join", lambda run, **_: runs.append(run) or True)
    monkeypatch.setattr(engine._Run, "edges", lambda _: (np.empty((0, 2)), np.empty(0)))
    boruvka_on_kdtree(prepared)
    order, lists = runs[0].tree.order, runs[0].lists
    positions = lists.positions.reshape(len(lists.known), -1)[: len(X)]
    distances = cdist(X[order], X[order], "chebyshev")
    np.fill_diagonal(distances, np.inf)
    n_ties = 0
    for i, listed in enumerate(positions):
        entries = listed[listed != i]
        assert len(set(entries)) == len(entries) > 0
        lengths = distances[i, entries]
        assert (np.diff(lengths) >= 0).all()
        assert lengths[0] == distances[i].min()
        assert lists.n_nearest[i] == np.count_nonzero(lengths == lengths[0])
        assert set(np.flatnonzero(distances[i] < lengths[-1])) <= set(entries)
        assert lists.known[i] == lengths[1]
        n_ties += lists.n_nearest[i] > 1
    assert n_ties > 0 or kind == "gaussian"


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
        SpanningTree.from_edges(*boruvka_on_kdtree(prepared, jobs)[:2]) for jobs in (1, 2, 4)
    )
    assert one == two == four
    assert_as_good(one, SpanningTree.from_edges(*prim_of_points(prepared)[:2]))
