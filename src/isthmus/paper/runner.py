"""Experiments → the records of their tasks: what is kept is not run again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from threadpoolctl import threadpool_limits

from isthmus._parallel import map_in_threads
from isthmus.paper.experiment import Experiment, Task
from isthmus.paper.store import Record, Store, run_task

Progress = Callable[[int, int], None]


class TaskFailedError(RuntimeError):
    """A task raised an error; the results of those before it are kept."""


def run_experiments(
    experiments: Sequence[Experiment],
    store: Store,
    *,
    quick: bool = False,
    fresh: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, dict[str, Record]]:
    """Run the tasks of experiments that are not kept yet; return the records of all.

    Parameters
    ----------
    experiments : sequence of Experiment
    store : Store
        Every result is written to it as soon as it is there.
    quick : bool
        Whether to run the small version of each experiment.
    fresh : bool
        Whether to run everything again.
    n_jobs : int
        Threads over tasks; those that measure time run after the others, one by one.
    progress : callable, optional
        Called with the numbers of tasks that are done and to be done.

    Returns
    -------
    dict
        From the names of experiments to dicts from the names of tasks to records.
    """
    every = [(experiment, task) for experiment in experiments for task in experiment.tasks(quick)]
    kept = {_name(*pair): None if fresh else store.read(*pair) for pair in every}
    missing = [pair for pair in every if kept[_name(*pair)] is None]
    tell = _Count(len(missing), progress)

    def run(pair: tuple[Experiment, Task]) -> None:
        experiment, task = pair
        try:
            # The limit below reaches BLAS in all threads, but OpenMP only in its own.
            with threadpool_limits(limits=1, user_api="openmp"):
                record = run_task(task)
        except Exception as error:
            raise TaskFailedError(f"{experiment.name}, {task.name}: {error}") from error
        store.write(experiment, task, record)
        kept[_name(*pair)] = record
        tell.one_more()

    # One thread per task: results must not depend on the number of cores.
    with threadpool_limits(limits=1):
        map_in_threads(run, [pair for pair in missing if not pair[1].alone], n_jobs)
        map_in_threads(run, [pair for pair in missing if pair[1].alone], 1)
    records: dict[str, dict[str, Record]] = {experiment.name: {} for experiment in experiments}
    for experiment, task in every:
        record = kept[_name(experiment, task)]
        if record is not None:
            records[experiment.name][task.name] = record
    return records


class _Count:
    """Counts tasks of several threads."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._lock = threading.Lock()

    def one_more(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)


def _name(experiment: Experiment, task: Task) -> tuple[str, str]:
    return experiment.name, task.name
