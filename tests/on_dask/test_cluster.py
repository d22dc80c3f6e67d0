"""On workers that are processes, and that die."""

import contextlib
import logging
import os
import signal

import dask.array as da
import distributed
import numpy as np
import pytest

import isthmus
from dask_kills import Killer
from isthmus.dask import TransitiveCut, executors, minimum_spanning_tree

pytestmark = pytest.mark.filterwarnings("ignore")  # of workers that die


@contextlib.contextmanager
def cluster_of(n_workers):
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client():
    """A cluster for each test: Dask may not start a killed worker again for the next one."""
    with cluster_of(n_workers=2) as client:
        yield client


@pytest.fixture(scope="module")
def points():
    X = np.random.default_rng(0).random((30_000, 2))
    return X, isthmus.TransitiveCut(5).fit(X)


@pytest.mark.parametrize("stage", ["", "near rows"])
def test_many_features(client, stage):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(8, 20))[rng.integers(0, 8, 3000)] * 4 + rng.normal(size=(3000, 20))
    killer = Killer(client, stage)
    blocks = da.from_array(X, chunks=(500, -1))
    found = minimum_spanning_tree(blocks, n_cells=7, client=client, verbose=killer).gather()
    killer.join()
    assert killer.has_killed == bool(stage)
    expected = isthmus.minimum_spanning_tree(X)
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.edges, expected.edges)


# The campaign, dask_campaign.py, kills workers in all stages, ten times each.
@pytest.mark.parametrize("stage", ["", "partition", "boundaries"])
def test_a_worker_lost_costs_time_only(client, points, stage):
    X, alone = points
    killer = Killer(client, stage)
    model = TransitiveCut(5, n_cells=6, verbose=killer).fit(da.from_array(X, chunks=(6000, 2)))
    killer.join()
    assert killer.has_killed == bool(stage)
    np.testing.assert_array_equal(model.labels_.compute(), alone.labels_)
    tree = model.spanning_tree_.gather()
    np.testing.assert_array_equal(tree.weights, alone.spanning_tree_.weights)
    np.testing.assert_array_equal(tree.edges, alone.spanning_tree_.edges)
    np.testing.assert_array_equal(
        model.predict(da.from_array(X[:50])).compute(), alone.labels_[:50]
    )


def test_a_cluster_of_which_nothing_is_left_is_an_error_not_a_hang(client, monkeypatch, points):
    monkeypatch.setattr(executors, "_PATIENCE", 0.5)
    workers = client.run(os.getpid).values()

    def kill_all(stage, done, total):
        if stage == "partition":
            for worker in workers:
                os.kill(worker, signal.SIGKILL)

    model = TransitiveCut(5, n_cells=6, verbose=kill_all)
    with pytest.raises(RuntimeError, match=r"All workers .* were lost"):
        model.fit(da.from_array(points[0], chunks=(6000, 2)))


def test_one_worker_that_dies_is_waited_for(points):
    X, alone = points
    with cluster_of(n_workers=1) as client:
        killer = Killer(client, "local trees")
        model = TransitiveCut(5, n_cells=3, verbose=killer).fit(da.from_array(X, chunks=(6000, 2)))
        killer.join()
        assert killer.has_killed
        np.testing.assert_array_equal(model.labels_.compute(), alone.labels_)
