"""Threads over chunks of work; kernels release the GIL, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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


def map_in_threads(function: Callable[[T], R], items: Iterable[T], n_jobs: int) -> list[R]:
    """Apply function to each item, in order, on at most ``n_jobs`` threads.

    On an error or Ctrl-C, items that have not started never start.
    """
    items = list(items)
    if n_jobs == 1 or len(items) <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(n_jobs, len(items))) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
