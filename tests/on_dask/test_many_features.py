"""Where cells do not serve, sets of blocks meet; and K-means on the gathered tree."""

import pickle
from itertools import combinations

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

import isthmus
from isthmus.dask import TransitiveCut, TransitiveKMeans, minimum_spanning_tree, whole_tree
from isthmus.dask.bundles import LINES, default_n_bundles, make_plan, make_tasks


@pytest.mark.parametrize("n_bundles", [n for n in LINES if n > 1])
def test_any_two_bundles_meet_once(n_bundles):
    plan = make_plan([5] * n_bundles, n_bundles)
    met = [pair for task in plan.tasks for pair in combinations(task, 2)]
    assert sorted(met) == list(combinations(range(n_bundles), 2))
    tasks = make_tasks(n_bundles)
    assert [sorted(task) for task in tasks] == plan.tasks
    assert sorted(task[0] for task in tasks) == list(range(n_bundles))


@pytest.mark.parametrize("sizes", [[10], [0, 4, 0], [1, 1], [900, 1, 1, 1], [3] * 40, [0, 7] * 9])
@pytest.mark.parametrize("n_bundles", [1, 3, 8, 13])
def test_bundles_hold_every_block_once(sizes, n_bundles):
    plan = make_plan(sizes, n_bundles)
    assert [b for bundle in plan.bundles for b in bundle] == list(range(len(sizes)))
    assert len(plan.bundles) <= max(n_bundles, 1)


def test_as_many_tasks_as_threads_or_more():
    assert [default_n_bundles(n) for n in (1, 2, 4, 7, 8, 57, 1000)] == [3, 3, 7, 7, 13, 57, 91]


@pytest.mark.parametrize(
    ("metric", "n_features"),
    [("euclidean", 20), ("cosine", 12), ("manhattan", 3), ("canberra", 4), ("chebyshev", 9)],
)
def test_trees_and_labels_are_those_of_one_machine(metric, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, n_features))[rng.integers(0, 6, 900)] * 3
    X += rng.normal(size=X.shape)
    blocks = da.from_array(X, chunks=((100, 0, 250, 50, 300, 1, 199), -1))
    expected = isthmus.minimum_spanning_tree(X, metric=metric)
    found = minimum_spanning_tree(blocks, metric=metric, n_cells=7).gather()
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.edges, expected.edges)
    weights = rng.integers(1, 4, len(X)).astype(float)
    alone = isthmus.TransitiveCut(4, metric=metric).fit(X, sample_weight=weights)
    model = TransitiveCut(4, metric=metric).fit(blocks, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_.compute(), alone.labels_)
    np.testing.assert_array_equal(model.labels_for(7).compute(), alone.labels_for(7))
    assert model.labels_.chunks == (blocks.chunks[0],)
    new = np.concatenate([X[::7], 3 * rng.normal(size=(60, n_features))])
    predicted = model.predict(da.from_array(new, chunks=(50, -1)))
    assert predicted.chunks[0][0] == 50
    np.testing.assert_array_equal(predicted.compute(), alone.predict(new))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_equally_near_rows_the_first_one_counts(dtype):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (300, 10)).astype(dtype)
    new = rng.integers(0, 3, (200, 10)).astype(dtype)
    model = TransitiveCut(20).fit(da.from_array(X, chunks=(70, -1)))
    labels = model.labels_.compute()
    nearest = np.square(new[:, None, :] - X[None]).sum(axis=2).argmin(axis=1)
    blocks = da.from_array(new, chunks=(90, -1))
    np.testing.assert_array_equal(model.predict(blocks).compute(), labels[nearest])
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict(blocks).compute(), labels[nearest]
    )


@pytest.mark.parametrize(
    ("new", "words"),
    [(np.ones((3, 9)), "9 features, .* 10"), (np.full((3, 10), np.nan), "missing or infinite")],
)
def test_new_rows_that_do_not_suit(new, words):
    model = TransitiveCut(2).fit(da.random.random((30, 10), chunks=(10, 10)))
    with pytest.raises(ValueError, match=words):
        model.predict(da.from_array(new)).compute()


def test_bundles_may_be_empty():
    X = np.random.default_rng(6).random((306, 3))
    blocks = da.from_array(X, chunks=((300, 1, 1, 1, 1, 1, 1), -1))
    found = minimum_spanning_tree(blocks, metric="manhattan", n_cells=7).gather()
    expected = isthmus.minimum_spanning_tree(X, metric="manhattan")
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_equal_lengths_leave_the_weights():
    X = np.random.default_rng(1).integers(0, 2, (400, 15)).astype(float)
    found = minimum_spanning_tree(da.from_array(X, chunks=(90, -1))).gather()
    np.testing.assert_array_equal(found.weights, isthmus.minimum_spanning_tree(X).weights)


@pytest.mark.parametrize("n_features", [2, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans_is_that_of_one_machine(n_features, weighted):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5, n_features))[rng.integers(0, 5, 700)] * 4 + rng.normal(
        size=(700, n_features)
    )
    weights = rng.integers(1, 4, 700).astype(float) if weighted else None
    blocks = da.from_array(X, chunks=(150, -1))
    alone = isthmus.TransitiveKMeans(4).fit(X, sample_weight=weights)
    model = TransitiveKMeans(4).fit(blocks, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_.compute(), alone.labels_)
    assert model.labels_.chunks == (blocks.chunks[0],)
    assert model.inertia_ == pytest.approx(alone.inertia_, rel=1e-12)
    np.testing.assert_array_equal(model.labels_for(3).compute(), alone.labels_for(3))
    np.testing.assert_array_equal(
        model.spanning_tree_.gather().weights, alone.spanning_tree_.weights
    )
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("estimator", [TransitiveKMeans, TransitiveCut])
def test_memory_is_checked_before_the_tree_is_found(estimator, monkeypatch):
    monkeypatch.setitem(whole_tree.BYTES_PER_ROW, "kmeans", 1 << 60)
    monkeypatch.setitem(whole_tree.BYTES_PER_ROW, "cut", 1 << 60)
    stages = []
    model = estimator(2, verbose=lambda stage, *_: stages.append(stage))
    with pytest.raises(MemoryError, match="whole spanning tree of 30 rows"):
        model.fit(da.random.random((30, 12), chunks=(10, 12)))
    assert set(stages) == {"input"}
