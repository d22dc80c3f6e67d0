"""Threads: never more than are of use, and a clear word where the system allows none."""

import threading
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
