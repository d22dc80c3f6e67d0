"""Where tasks run: on the workers of a Dask client, or on threads of this process.

A *handle* stands for a task's result. Handles are arguments of other tasks, alone or in lists.

Each task costs Dask some milliseconds, whatever it does. So blocks and cells are put into *groups*,
one for each thread of the cluster, and small work is done for a whole group in one task, on the
worker that holds the group.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from isthmus.dask.result_files import ResultFile

# Seconds after which to ask why a task takes so long.
_PATIENCE = 5.0


class Executor(Protocol):
    """Runs tasks.

    Attributes
    ----------
    n_threads : int
    n_groups : int or None
        Into how many groups blocks and cells are put; None: each of them is one.
    shares_memory : bool
        Whether tasks see results where they are, without a copy.
    """

    n_threads: int
    n_groups: int | None
    shares_memory: bool

    def submit(
        self,
        stage: str,
        function: Callable[..., Any],
        *args: Any,
        where: int = -1,
        large: bool = False,
        copies: bool = False,
    ) -> Any:
        """Return the handle of a task.

        stage : str
            What the task is part of; Dask's dashboard shows it.
        where : int
            The group; its tasks run on the same worker, as long as that lives. -1: on any.
        large : bool
            Whether the result may be kept in a file.
        copies : bool
            Whether the function copies what it needs of its arrays; they need not be aligned then.
        """

    def blocks(self, blocks: Sequence[Any]) -> list[Any]:
        """Return the handles of blocks of the input: Dask's ``Delayed`` objects, or arrays."""

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of tasks."""

    def delayed(self, handle: Any) -> Any:
        """Return what stands for a task's result in the graph of a Dask collection."""


class DaskExecutor:
    """Runs tasks on the workers of a client of ``dask.distributed``.

    A task depends on nothing but other tasks and the input, so whatever is lost with a worker is
    computed again. Tasks prefer the worker of their group. Where all workers are lost at the same
    time, Dask keeps such tasks waiting for workers that never return: that raises RuntimeError.
    """

    shares_memory = False

    def __init__(self, client: Any) -> None:
        self.client = client
        info = client.scheduler_info(n_workers=-1)["workers"]
        self._workers = [name for name in sorted(info) for _ in range(info[name]["nthreads"])]
        self.n_threads = max(len(self._workers), 1)
        self.n_groups: int | None = self.n_threads

    def submit(
        self,
        stage: str,
        function: Callable[..., Any],
        *args: Any,
        where: int = -1,
        large: bool = False,  # noqa: ARG002
        copies: bool = False,
    ) -> Any:
        """Return the future of a task."""
        key = f"{stage}-{uuid.uuid4().hex}"
        options = self._preferring(where)
        called = function if copies else Aligned(function)
        return self.client.submit(called, *args, key=key, pure=False, **options)

    def _preferring(self, where: int) -> dict[str, Any]:
        """Return options for a task that had better run where its group is."""
        if where < 0 or len(set(self._workers)) < 2:  # a preference would help nothing
            return {}
        worker = self._workers[where % len(self._workers)]
        return {"workers": [worker], "allow_other_workers": True}

    def blocks(self, blocks: Sequence[Any]) -> list[Any]:
        """Return the futures of blocks."""
        handles = list(blocks)
        for where, group in enumerate(groups(len(handles), self)):
            lazy = [b for b in group if hasattr(handles[b], "__dask_graph__")]
            futures = self.client.compute([handles[b] for b in lazy], **self._preferring(where))
            for b, future in zip(lazy, futures, strict=True):
                handles[b] = future
        return handles

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of tasks."""
        self._wait_for([handle for handle in handles if hasattr(handle, "key")])
        return [aligned(result) for result in self.client.gather(list(handles))]

    def _wait_for(self, futures: list[Any]) -> None:
        """Wait for tasks; RuntimeError where nothing will ever run them."""
        from distributed import wait

        n_stuck = 0
        while n_stuck < 2:
            try:
                wait(futures, timeout=_PATIENCE)
            except TimeoutError:
                n_stuck = n_stuck + 1 if self._is_stuck() else 0
            else:
                return
        raise RuntimeError(
            "All workers that this fit began on were lost, and Dask keeps their tasks waiting for "
            "them. Fit again, on the workers that are there now."
        )

    def _is_stuck(self) -> bool:
        """Whether there are workers, all of them new, and none has anything to do."""
        workers = set(self.client.scheduler_info(n_workers=-1)["workers"])
        if not workers or workers & set(self._workers):
            return False
        return not any(self.client.processing().values())

    def delayed(self, handle: Any) -> Any:
        """Return the future: it may be part of a graph."""
        return handle


class Aligned:
    """A function whose arrays are aligned, as kernels want them; those from a message need not be.

    Attributes
    ----------
    function : callable
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        """Call it."""
        return self.function(*(aligned(arg) for arg in args))


def aligned(value: Any) -> Any:
    """Return an array, or a list, tuple, dict or record of arrays, with each of them aligned."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="A") if value.dtype != object else value
    if isinstance(value, list):
        return [aligned(each) for each in value]
    if isinstance(value, dict):
        return {key: aligned(each) for key, each in value.items()}
    if type(value) is tuple:
        return tuple(aligned(each) for each in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return type(value)._make(aligned(each) for each in value)
    return value


class _Handle:
    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def result(self) -> Any:
        value = self.future.result()
        return value.load() if isinstance(value, ResultFile) else value


class _Block:
    """A block that is read whenever it is needed."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def result(self) -> Any:
        return self.block.compute(scheduler="synchronous")


class ThreadExecutor:
    """Runs tasks on threads of this process.

    Parameters
    ----------
    n_threads : int
    folder : path, optional
        Where results are kept, in a folder of their own that is removed in the end; by default
        they stay in memory.
    """

    shares_memory = True

    def __init__(self, n_threads: int = 1, folder: str | os.PathLike[str] | None = None) -> None:
        self.n_threads = n_threads
        # In memory there is nothing to gain from small groups; with files, a group is what memory
        # must hold at once.
        self.n_groups = n_threads if folder is None else None
        # One thread takes tasks in the order in which they come, so that all that a task waits
        # for has begun before it.
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="isthmus")
        self._folder = None
        if folder is not None:
            self._folder = Path(tempfile.mkdtemp(prefix="isthmus-", dir=folder))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a copy is made: threads of its own, and nothing in files."""
        return ThreadExecutor, (self.n_threads,)

    def submit(
        self,
        stage: str,  # noqa: ARG002
        function: Callable[..., Any],
        *args: Any,
        where: int = -1,  # noqa: ARG002
        large: bool = False,
        copies: bool = False,  # noqa: ARG002
    ) -> Any:
        """Return the handle of a task."""
        folder = self._folder if large else None

        def run() -> Any:
            value = function(*(_resolved(arg) for arg in args))
            return value if folder is None else ResultFile(value, folder)

        return _Handle(self._pool.submit(run))

    def blocks(self, blocks: Sequence[Any]) -> list[Any]:
        """Return the handles of blocks, which are read again for each task."""
        return [_Block(each) if hasattr(each, "__dask_graph__") else each for each in blocks]

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of tasks."""
        return [_resolved(handle) for handle in handles]

    def delayed(self, handle: Any) -> Any:
        """Return a delayed call that waits for the result."""
        from dask.delayed import delayed

        return delayed(_resolved, pure=True)(_Opaque(handle))


class _Opaque:
    """Hides a handle from Dask, which would look into it."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __dask_tokenize__(self) -> int:
        return id(self.handle)


def _resolved(arg: Any) -> Any:
    if isinstance(arg, list):
        return [_resolved(each) for each in arg]
    if isinstance(arg, _Opaque):
        return _resolved(arg.handle)
    return arg.result() if isinstance(arg, _Handle | _Block) else arg


def groups(n_items: int, executor: Executor) -> list[range]:
    """Return the groups of n_items blocks or cells: those of a group follow each other."""
    n_groups = n_items if executor.n_groups is None else min(executor.n_groups, n_items)
    bounds = [n_items * g // max(n_groups, 1) for g in range(n_groups + 1)]
    return [range(bounds[g], bounds[g + 1]) for g in range(n_groups)]


def for_each(
    executor: Executor,
    stage: str,
    function: Callable[..., Any],
    handles: Sequence[Any],
    arguments: Sequence[tuple[Any, ...]] | None = None,
) -> list[Any]:
    """Return what a function finds for each block or cell, gathered: a task for each group.

    arguments : sequence of tuple, optional
        Further arguments of each call.
    """
    given = [()] * len(handles) if arguments is None else arguments
    tasks = [
        executor.submit(
            stage,
            _apply,
            function,
            [handles[i] for i in group],
            [given[i] for i in group],
            where=g,
        )
        for g, group in enumerate(groups(len(handles), executor))
    ]
    return [found for results in executor.gather(tasks) for found in results]


def _apply(
    function: Callable[..., Any], items: list[Any], arguments: list[tuple[Any, ...]]
) -> list[Any]:
    return [function(item, *others) for item, others in zip(items, arguments, strict=True)]


def find_executor(client: Any, n_jobs: int, folder: Any = None) -> Executor:
    """Return the executor of a client, of the current one, or threads where there is none."""
    if client is None and folder is None:
        client = _current_client()
    return ThreadExecutor(n_jobs, folder) if client is None else DaskExecutor(client)


def _current_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:  # there is none
        return None
