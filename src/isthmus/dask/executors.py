"""Where tasks run: on the workers of a Dask client, or on threads of this process.

A *handle* stands for a task's result. Handles are arguments of other tasks, alone or in lists.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np


class Executor(Protocol):
    """Runs tasks."""

    n_threads: int

    def submit(
        self,
        stage: str,
        function: Callable[..., Any],
        *args: Any,
        where: int = -1,
        large: bool = False,
    ) -> Any:
        """Return the handle of a task.

        stage : str
            What the task is part of; Dask's dashboard shows it.
        where : int
            Tasks of the same number run on the same worker, as long as it lives; -1: on any.
        large : bool
            Whether the result may be kept in a file.
        """

    def block(self, block: Any) -> Any:
        """Return the handle of a block of the input: a Dask ``Delayed``, or an array."""

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of tasks."""

    def delayed(self, handle: Any) -> Any:
        """Return what stands for a task's result in the graph of a Dask collection."""


class DaskExecutor:
    """Runs tasks on the workers of a client of ``dask.distributed``.

    A task depends on nothing but other tasks and the input, so whatever is lost with a worker is
    computed again.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        info = client.scheduler_info(n_workers=-1)["workers"]
        self.n_threads = sum(worker["nthreads"] for worker in info.values())
        self._workers = sorted(info)

    def submit(
        self,
        stage: str,
        function: Callable[..., Any],
        *args: Any,
        where: int = -1,
        large: bool = False,  # noqa: ARG002
    ) -> Any:
        """Return the future of a task."""
        options: dict[str, Any] = {}
        if where >= 0 and self._workers:
            worker = self._workers[where % len(self._workers)]
            options = {"workers": [worker], "allow_other_workers": True}
        key = f"{stage}-{uuid.uuid4().hex}"
        return self.client.submit(_Aligned(function), *args, key=key, pure=False, **options)

    def block(self, block: Any) -> Any:
        """Return the future of a block."""
        return self.client.compute(block) if hasattr(block, "__dask_graph__") else block

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results of tasks."""
        return [aligned(result) for result in self.client.gather(list(handles))]

    def delayed(self, handle: Any) -> Any:
        """Return the future: it may be part of a graph."""
        return handle


class _Aligned:
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
    """Return an array, or a list, tuple or record of arrays, with each of them aligned."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="A") if value.dtype != object else value
    if isinstance(value, list):
        return [aligned(each) for each in value]
    if type(value) is tuple:
        return tuple(aligned(each) for each in value)
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return type(value)._make(aligned(each) for each in value)
    return value


class _InFile:
    """A result in a file, which is removed with it."""

    def __init__(self, value: Any, folder: Path) -> None:
        self.path = folder / uuid.uuid4().hex
        with self.path.open("wb") as file:
            pickle.dump(value, file, protocol=5)
        weakref.finalize(self, self.path.unlink, missing_ok=True)

    def load(self) -> Any:
        with self.path.open("rb") as file:
            return pickle.load(file)


class _Handle:
    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def result(self) -> Any:
        value = self.future.result()
        return value.load() if isinstance(value, _InFile) else value


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

    def __init__(self, n_threads: int = 1, folder: str | os.PathLike[str] | None = None) -> None:
        self.n_threads = n_threads
        # One thread takes tasks in the order in which they come, so that all that a task waits
        # for has begun before it.
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="isthmus")
        self._folder = None
        if folder is not None:
            self._folder = Path(tempfile.mkdtemp(prefix="isthmus-", dir=folder))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def submit(
        self,
        stage: str,  # noqa: ARG002
        function: Callable[..., Any],
        *args: Any,
        where: int = -1,  # noqa: ARG002
        large: bool = False,
    ) -> Any:
        """Return the handle of a task."""
        folder = self._folder if large else None

        def run() -> Any:
            value = function(*(_resolved(arg) for arg in args))
            return value if folder is None else _InFile(value, folder)

        return _Handle(self._pool.submit(run))

    def block(self, block: Any) -> Any:
        """Return the handle of a block, which is read again for each task."""
        return _Block(block) if hasattr(block, "__dask_graph__") else block

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
