"""The tree of cells is the tree of one machine, to the last bit, whatever the blocks and cells."""

import gc

import dask.array as da
import numpy as np
import pytest

import isthmus
from dask_inputs import KINDS, chunks, points
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.dask import TransitiveCut, minimum_spanning_tree
from isthmus.metrics import prepare_points, resolve_metric
from isthmus.spanning_tree.by_kdtree.boruvka import boruvka_on_kdtree
from isthmus.spanning_tree.result import trusted_tree


def assert_same_tree(found, expected):
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.edges, expected.edges)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_kdtree_with_ties_by_index_finds_the_tree_of_prim(kind, seed):
    X = points(kind, np.random.default_rng(seed), 1500).astype(float)
    if len(X) < 2:
        return
    prepared = prepare_points(X, resolve_metric("euclidean"))
    found = boruvka_on_kdtree(prepared, by_index=True)
    tree = trusted_tree(np.asarray(found.edges, dtype=np.int64), found.weights, "kd-tree")
    assert_same_tree(tree, isthmus.minimum_spanning_tree(X, engine="prim"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_tree_and_labels_are_those_of_one_machine(kind, seed):
    rng = np.random.default_rng(100 + seed)
    X = points(kind, rng, 2000)
    sizes = chunks(len(X), rng)
    k, n_cells = int(rng.integers(1, min(len(X), 10) + 1)), int(rng.integers(1, 10))
    weights = rng.integers(1, 5, len(X)).astype(float) if rng.random() < 0.4 else None
    blocks = da.from_array(X, chunks=(sizes, (X.shape[1],)))
    model = TransitiveCut(k, n_cells=n_cells).fit(blocks, sample_weight=weights)
    expected = isthmus.minimum_spanning_tree(X, engine="prim")
    assert_same_tree(model.spanning_tree_.gather(), expected)
    assert model.spanning_tree_.log.n_rounds <= 3
    tree = isthmus.UltrametricTree.from_spanning_tree(expected)
    labels = CutClusterer(tree, weights).labels(CutSettings(k))
    np.testing.assert_array_equal(model.labels_.compute(), labels)
    assert model.labels_.chunks == (sizes,)


@pytest.mark.parametrize("metric", ["cosine", "angular", "haversine", "correlation", "hellinger"])
def test_metrics_that_are_euclidean_after_a_map(metric):
    X = np.random.default_rng(1).random((800, 2 if metric == "haversine" else 3))
    found = minimum_spanning_tree(da.from_array(X, chunks=(99, -1)), metric=metric, n_cells=5)
    expected = isthmus.minimum_spanning_tree(X, metric=metric, engine="prim")
    assert_same_tree(found.gather(), expected)


@pytest.mark.parametrize("n_rows", [1, 40])
def test_one_cluster_of_equal_rows(n_rows):
    model = TransitiveCut(1, n_cells=3).fit(da.ones((n_rows, 2), chunks=(9, 2)))
    np.testing.assert_array_equal(model.labels_.compute(), np.zeros(n_rows))


def test_files_hold_what_memory_does_not(tmp_path):
    X = np.random.default_rng(2).random((3000, 2))
    blocks = da.from_array(X, chunks=(500, 2))
    model = TransitiveCut(4, n_cells=6, folder=tmp_path).fit(blocks)
    labels = model.labels_.compute()
    assert len(list(tmp_path.glob("*/*"))) == 12  # a cell and its labels are a file each
    np.testing.assert_array_equal(labels, isthmus.TransitiveCut(4).fit_predict(X))
    del model
    gc.collect()
    assert not list(tmp_path.iterdir())
