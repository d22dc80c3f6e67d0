"""The choice of engines, and what they share: order, duplicates, points on a line."""

import numpy as np
import pytest

from inputs import assert_as_good, many, points
from isthmus import minimum_spanning_tree
from isthmus.metrics import duplicates, resolve_metric
from isthmus.metrics.duplicates import representatives
from isthmus.spanning_tree import edge_order as ordering
from isthmus.spanning_tree import find_spanning_tree
from isthmus.spanning_tree.by_kdtree import boruvka
from isthmus.spanning_tree.edge_order import sort_edges


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(35) if p[1] > 1])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_engines_agree_on_a_line(kind, n, d, seed, metric):
    X = points(kind, n, 1, seed)
    trees = [
        minimum_spanning_tree(X, metric=metric, engine=engine)
        for engine in ("sort", "prim", "kd-tree")
    ]
    assert trees[0] == trees[1]
    assert_as_good(trees[2], trees[1])
    assert [tree.engine for tree in trees] == ["sort", "prim", "kd-tree"]


@pytest.mark.parametrize("n", [1, 2, 2000])
def test_auto_takes_the_obvious_engine(n):
    rng = np.random.default_rng(0)
    assert minimum_spanning_tree(rng.random((n, 1))).engine == ("prim" if n == 1 else "sort")
    assert minimum_spanning_tree(rng.random((n, 2))).engine == "prim"


@pytest.mark.parametrize("d", [2, 6])
@pytest.mark.parametrize("kind", ["unique", "rounded", "lattice", "one copy", "float32"])
def test_few_points_have_one_tree_whatever_is_compiled(kind, d, monkeypatch):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(3000, d))
    if kind == "rounded":
        X = X.round(2 if d < 6 else 0)
    elif kind == "lattice":
        X = rng.integers(0, 4000 ** (1 / d), size=(3000, d)).astype(float)
    elif kind == "one copy":
        X[-1] = X[17]
    elif kind == "float32":
        X = X.astype(np.float32)
    expected = minimum_spanning_tree(X, engine="prim")
    minimum_spanning_tree(rng.random((100, d)).astype(X.dtype), engine="kd-tree")  # compiles it
    found = minimum_spanning_tree(X)
    assert found == expected
    assert (found.engine, found.by_index) == ("kd-tree", True)
    monkeypatch.setattr(boruvka, "is_compiled", lambda _: False)
    assert minimum_spanning_tree(X).engine == "prim"


@pytest.mark.parametrize("n_copies", [1, 3])
def test_a_kdtree_is_kept_where_it_is_wanted(n_copies):
    X = np.tile(np.random.default_rng(1).random((200, 2)), (n_copies, 1))
    metric = resolve_metric("euclidean")
    kept, dropped = (
        find_spanning_tree(X, metric, engine="kd-tree", keep_index=keep) for keep in (True, False)
    )
    assert kept.tree == dropped.tree
    assert kept.index is not None
    assert dropped.index is None


def test_auto_on_many_points():
    rng = np.random.default_rng(0)
    assert minimum_spanning_tree(rng.random((30_000, 2))).engine == "kd-tree"
    assert minimum_spanning_tree(rng.random((9_000, 40))).engine == "blocked"
    assert minimum_spanning_tree(rng.random((9_000, 40)), metric="manhattan").engine == "prim"


def test_auto_counts_where_there_are_many_features():
    rng = np.random.default_rng(0)
    n, d = 10_000, 12
    on_a_curve = np.sin(np.linspace(0, 5, n)[:, None] * np.arange(1, d + 1))
    assert minimum_spanning_tree(on_a_curve).engine == "kd-tree"
    assert minimum_spanning_tree(rng.normal(size=(n, d))).engine == "blocked"


@pytest.mark.parametrize("kind", ["1,000 copies", "few copies", "all equal", "signed zeros"])
def test_repeated_points_give_the_same_tree(kind):
    rng = np.random.default_rng(0)
    if kind == "1,000 copies":
        X = rng.random((5, 2))[rng.integers(0, 5, size=3000)]
    elif kind == "few copies":
        X = rng.random((2000, 2))[rng.integers(0, 2000, size=3000)]
    elif kind == "all equal":
        X = np.full((500, 2), 0.25)
    else:
        X = rng.choice([-1.0, -0.0, 0.0, 1.0], size=(400, 2))
    prim = minimum_spanning_tree(X, engine="prim")
    for jobs in (1, 3):
        assert_as_good(minimum_spanning_tree(X, engine="kd-tree", n_jobs=jobs), prim)


def test_representatives_are_the_first_of_equal_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(2000, 2)).astype(float)
    _, inverse = np.unique(X, axis=0, return_inverse=True)
    first = np.full(inverse.max() + 1, len(X))
    np.minimum.at(first, inverse, np.arange(len(X)))
    np.testing.assert_array_equal(representatives(X), first[inverse])
    assert representatives(rng.random((2000, 2))) is None


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_equal_rows_are_noticed_in_whatever_block_they_are(share, monkeypatch):
    monkeypatch.setattr(duplicates, "_BLOCK", 5000)
    rng = np.random.default_rng(0)
    X = rng.random((40_000, 3))
    repeated = rng.random(len(X)) < share
    X[repeated] = X[rng.permutation(np.flatnonzero(~repeated))[: repeated.sum()]]
    first = representatives(X)
    if share < 0.25:
        assert first is None
    else:
        assert np.count_nonzero(first != np.arange(len(X))) == repeated.sum()
    np.testing.assert_array_equal(representatives(X, n_jobs=3), first)


@pytest.mark.parametrize("distinct", [1, 3, 50, 100_000])
@pytest.mark.parametrize("scale", [0.0, 1e-14, 1.0, 1e300])
@pytest.mark.parametrize("n", [0, 1, 2, 20_000])
@pytest.mark.parametrize("in_one_number", [True, False])
def test_edges_are_sorted_by_three_keys(distinct, scale, n, in_one_number, monkeypatch):
    monkeypatch.setattr(ordering, "_BLOCK", 3000)
    monkeypatch.setattr(ordering, "_CACHED", 1000)
    if not in_one_number:  # as with millions of points, whose two indices do not fit
        monkeypatch.setattr(ordering, "_has_many_runs", lambda *_: False)
    rng = np.random.default_rng(distinct)
    weights = 1.0 + scale * rng.integers(0, distinct, size=n) / 7.0
    weights[::5] = 0.0
    weights[1::5] = -0.0
    edges = np.sort(rng.integers(0, n + 1, size=(n, 2)), axis=1)
    given = edges.copy(), weights.copy()
    expected = np.lexsort((edges[:, 1], edges[:, 0], weights))
    for dtype, n_jobs in ((np.int64, 1), (np.int32, 3)):
        found_edges, found_weights = sort_edges(edges.astype(dtype, copy=False), weights, n_jobs)
        assert found_edges.dtype == np.int64
        np.testing.assert_array_equal(found_edges, edges[expected])
        np.testing.assert_array_equal(found_weights, weights[expected])
        assert not np.signbit(found_weights).any()
    np.testing.assert_array_equal(edges, given[0])
    np.testing.assert_array_equal(weights, given[1])


@pytest.mark.parametrize("largest", [1, 5, 2**62])
@pytest.mark.parametrize("n", [0, 1, 33, 100, 257, 1000])
def test_threads_sort_numbers_together(n, largest, monkeypatch):
    monkeypatch.setattr(ordering, "_BLOCK", 16)
    numbers = np.random.default_rng(n).integers(0, largest, size=n, endpoint=True)
    for n_jobs in (1, 2, 3, 4, 7):
        found = ordering.sort_numbers(numbers.copy(), n_jobs)
        np.testing.assert_array_equal(found, np.sort(numbers))


@pytest.mark.parametrize("weight", [0.0, -0.0, 2.5, np.inf])
def test_equally_long_edges_are_sorted_by_index(weight):
    # 100,000: two indices do not fit into 32 bits
    edges = np.sort(np.random.default_rng(0).integers(0, 100_000, size=(8000, 2)), axis=1)
    given = edges.copy()
    for dtype in (np.int64, np.int32):
        found_edges, found_weights = sort_edges(
            edges.astype(dtype, copy=False), np.full(8000, weight)
        )
        np.testing.assert_array_equal(found_edges, edges[np.lexsort(edges.T[::-1])])
        assert (found_weights == weight).all()
        assert not np.signbit(found_weights).any()
    np.testing.assert_array_equal(edges, given)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (np.zeros((3, 2)), {"engine": "luck"}, "engine must be one of 'auto'"),
        (np.zeros((3, 2)), {"engine": "sort"}, "points on a line"),
        (np.zeros((3, 40)), {"engine": "kd-tree"}, "up to 32 features"),
        (
            np.zeros((3, 2)),
            {"engine": "kd-tree", "metric": "minkowski", "metric_params": {"p": 9}},
            "up to p = 8",
        ),
        (np.zeros((3, 3)), {"engine": "kd-tree", "metric": "precomputed"}, "takes dense points"),
        (np.zeros((3, 3)), {"engine": "blocked", "metric": "manhattan"}, "Euclidean after a map"),
    ],
)
def test_engines_that_cannot_serve_are_refused(X, options, words):
    with pytest.raises(ValueError, match=words):
        minimum_spanning_tree(X, **options)


@pytest.mark.parametrize("exponent", [-1000, -400, 400, 1000])
def test_the_kd_tree_at_any_scale(exponent):
    X = np.random.default_rng(0).normal(size=(800, 3))
    plain, scaled = (minimum_spanning_tree(np.ldexp(X, e), engine="kd-tree") for e in (0, exponent))
    np.testing.assert_array_equal(plain.edges, scaled.edges)
    np.testing.assert_allclose(scaled.weights, np.ldexp(plain.weights, exponent), rtol=1e-15)


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_the_kd_tree_at_any_offset(offset):
    X = np.random.default_rng(0).integers(0, 1 << 20, size=(2000, 3)) / 1024.0
    moved = minimum_spanning_tree(X + offset, engine="kd-tree")
    assert_as_good(moved, minimum_spanning_tree(X, engine="prim"))
    assert moved == minimum_spanning_tree(X, engine="kd-tree")


def test_what_the_kd_tree_returns_is_a_record_like_any_other():
    X = np.random.default_rng(0).integers(0, 9, size=(400, 2)).astype(float)
    tree = minimum_spanning_tree(X, engine="kd-tree")
    assert tree.engine == "kd-tree"
    assert not tree.edges.flags.writeable
    assert not tree.weights.flags.writeable
    assert tree == type(tree)(tree.edges, tree.weights, tree.engine)  # which checks everything
