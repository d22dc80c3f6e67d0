"""On workers that are processes, and that die."""

import logging
import os
import signal

import dask.array as da
import distributed
import numpy as np
import pytest

import isthmus
from isthmus.dask import TransitiveCut

pytestmark = pytest.mark.filterwarnings("ignore")  # of workers that die


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("stage", ["", "partition", "boundaries"])
def test_a_worker_lost_costs_time_only(client, stage):
    X = np.random.default_rng(0).random((30_000, 2))
    killed = []

    def kill(current, done, total):
        if current == stage and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    model = TransitiveCut(5, n_cells=6, verbose=kill).fit(da.from_array(X, chunks=(6000, 2)))
    alone = isthmus.TransitiveCut(5).fit(X)
    assert bool(killed) == bool(stage)
    np.testing.assert_array_equal(model.labels_.compute(), alone.labels_)
    tree = model.spanning_tree_.gather()
    np.testing.assert_array_equal(tree.weights, alone.spanning_tree_.weights)
    np.testing.assert_array_equal(tree.edges, alone.spanning_tree_.edges)
    np.testing.assert_array_equal(
        model.predict(da.from_array(X[:50])).compute(), alone.labels_[:50]
    )
