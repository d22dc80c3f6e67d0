"""Threads: never more than are of use, and a clear word where the system allows none."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from isthmus import TransitiveCut, minimum_spanning_tree
from isthmus._utils.parallel import Workers, available_cores
from isthmus._utils.parameters import check_n_jobs


@pytest.mark.parametrize("n_jobs", [65, 100_000, 2**64, np.int64(2**62)])
def test_no_more_threads_than_are_of_use(n_jobs):
    assert check_n_jobs(n_jobs) == max(64, available_cores())


def test_a_call_with_a_huge_number(tmp_path):
    X = np.random.default_rng(0).normal(size=(3000, 2))
    expected = minimum_spanning_tree(X)
    assert minimum_spanning_tree(X, n_jobs=2**64) == expected
    path = tmp_path / "model"
    TransitiveCut(2, n_jobs=2**64).fit(X).save(path)
    before = threading.active_count()
    TransitiveCut.load(path).predict(X)
    assert threading.active_count() <= before + max(64, available_cores())


def test_a_thread_that_cannot_start(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    with Workers(4) as workers, pytest.raises(RuntimeError, match=r"Of 4 threads only 1.*n_jobs=1"):
        workers.in_blocks(100, 1, lambda *_: None)


def test_threads_are_told_to_end_whenever_ctrl_c_comes():
    workers, calls = Workers(3), []
    workers.in_blocks(30, 1, lambda *_: time.sleep(0.001))
    pool = workers._pool
    threads, shutdown = list(pool._threads), pool.shutdown
    assert threads

    def interrupted(**options):
        calls.append(options)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        shutdown(**options)

    pool.shutdown = interrupted
    with pytest.raises(KeyboardInterrupt):
        workers.__exit__()
    for thread in threads:
        thread.join(10.0)
        assert not thread.is_alive()
