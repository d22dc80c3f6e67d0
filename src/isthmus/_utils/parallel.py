"""Threads that share chunks of work; kernels release the GIL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import TypeVar

from isthmus._utils.interrupts import interrupt_held_back

T = TypeVar("T")
R = TypeVar("R")


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def chunks(n_items: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the half-open ranges of at most ``size`` items that make up ``range(n_items)``.

    Kernels are called once per range so that Ctrl-C is seen between two calls.
    """
    for start in range(0, n_items, size):
        yield start, min(start + size, n_items)


class ThreadsRefusedError(RuntimeError):
    """The system starts no more threads."""


class Workers:
    """Threads that share blocks of work, kept alive between the phases of a computation.

    Use as a context manager. The calling thread is worker 0; with one worker there is no other
    thread.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs - 1) if n_jobs > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            with interrupt_held_back():  # the threads are told to end, whenever Ctrl-C comes
                self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool.shutdown(wait=True)

    def in_blocks(self, n_items: int, size: int, work: Callable[[int, int, int], object]) -> None:
        """Call work(worker, start, stop) for blocks of items; each worker takes the next one.

        Blocks hold at most ``size`` items; where there are several, every worker gets equally many.
        On an error or Ctrl-C the others only finish their current block.
        """
        n_blocks = -(-n_items // size)
        if n_blocks > 1:
            n_blocks += -n_blocks % self.n_jobs
            size = -(-n_items // n_blocks)
        blocks = list(chunks(n_items, size))
        numbers = count()
        stopped = threading.Event()

        def take_blocks(worker: int) -> None:
            try:
                while not stopped.is_set() and (number := next(numbers)) < len(blocks):
                    work(worker, *blocks[number])
            except BaseException:
                stopped.set()
                raise

        others = range(1, min(self.n_jobs, len(blocks)))
        futures: list[Future[None]] = []
        try:  # Ctrl-C may come before all others have begun
            futures.extend(self._submit(take_blocks, worker) for worker in others)
            take_blocks(0)
            for future in futures:
                if not future.cancel():  # a worker that has not begun by now is not needed
                    future.result()
        finally:
            stopped.set()

    def _submit(self, function: Callable[[int], None], worker: int) -> Future[None]:
        assert self._pool is not None  # there are other workers
        try:
            return self._pool.submit(function, worker)
        except RuntimeError as error:
            raise ThreadsRefusedError(
                f"Of {self.n_jobs} threads only {worker} could be started: the system allows no "
                "more threads, or has no memory for them. Lower n_jobs; n_jobs=1 starts none."
            ) from error


def map_in_threads(function: Callable[[T], R], items: Iterable[T], n_jobs: int) -> list[R]:
    """Apply function to each item, in order, on at most ``n_jobs`` threads.

    On an error or Ctrl-C, no further item is started.
    """
    items = list(items)
    results: list[R] = [None] * len(items)  # type: ignore[list-item]

    def work(_: int, i: int, __: int) -> None:
        results[i] = function(items[i])

    with Workers(max(1, min(n_jobs, len(items)))) as workers:
        workers.in_blocks(len(items), 1, work)
    return results
