"""Experiments → the records of their tasks; stored ones are not run again."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from importlib import import_module
from itertools import chain

from threadpoolctl import threadpool_limits

from isthmus.paper.experiment import Experiment, Task
from isthmus.paper.store import Record, Store, run_task

Progress = Callable[[int, int], None]
Pair = tuple[Experiment, Task]


class TaskFailedError(RuntimeError):
    """A task raised an error; the results of earlier ones are kept."""


def run_experiments(
    experiments: Sequence[Experiment],
    store: Store,
    *,
    quick: bool = False,
    fresh: bool = False,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, dict[str, Record]]:
    """Run the tasks of experiments whose results are not stored yet; return the records of all.

    Records are returned by the names of experiments and of tasks. Every result is stored as soon as
    it is found. Tasks run in ``n_jobs`` processes; those that measure time run after the others,
    one by one. ``progress`` is called with the numbers of tasks that are done and of all to run.
    """
    every = [(experiment, task) for experiment in experiments for task in experiment.tasks(quick)]
    records = {_name(*pair): None if fresh else store.read(*pair) for pair in every}
    missing = [pair for pair in every if records[_name(*pair)] is None]
    together = _run([pair for pair in missing if not pair[1].alone], n_jobs)
    one_by_one = _run([pair for pair in missing if pair[1].alone], 1)
    # closed, so that the processes end however the loop ends
    with closing(together), closing(one_by_one):
        for n_done, (pair, record) in enumerate(chain(together, one_by_one), start=1):
            store.write(*pair, record)
            records[_name(*pair)] = record
            if progress is not None:
                progress(n_done, len(missing))
    by_experiment: dict[str, dict[str, Record]] = {each.name: {} for each in experiments}
    for (name, task), kept in records.items():
        if kept is not None:
            by_experiment[name][task] = kept
    return by_experiment


def _run(pairs: Sequence[Pair], n_jobs: int) -> Generator[tuple[Pair, Record], None, None]:
    """Yield the records of tasks as they finish; end the processes on an error or Ctrl-C.

    Tasks run in processes, since most spend much of their time in Python.
    """
    n_workers = min(n_jobs, len(pairs))
    if n_workers <= 1:
        for pair in pairs:
            yield pair, _record_of(*_name(*pair), pair[1])
        return
    # Forked processes would inherit the locks of threads that they do not have.
    context = multiprocessing.get_context("spawn")
    others = multiprocessing.active_children()
    # Leaving the executor joins its processes. Nothing else may join them: of two threads that wait
    # for the same process only one learns that it ended.
    with ProcessPoolExecutor(n_workers, mp_context=context) as workers:
        try:
            begun = {workers.submit(_record_of, *_name(*pair), pair[1]): pair for pair in pairs}
            for future in as_completed(begun):
                yield begun[future], future.result()
        except BaseException:
            for process in set(multiprocessing.active_children()) - set(others):
                process.terminate()
            raise


def _record_of(experiment: str, name: str, task: Task) -> Record:
    import_module("sklearn.cluster")  # loads OpenMP and BLAS: limits do not apply to later ones
    # One thread per task: results must not depend on the number of cores.
    with threadpool_limits(limits=1):
        try:
            return run_task(task)
        except Exception as error:
            raise TaskFailedError(f"{experiment}, {name}: {error}") from error


def _name(experiment: Experiment, task: Task) -> tuple[str, str]:
    return experiment.name, task.name
