import multiprocessing
import time

import pytest

from isthmus.paper import Task
from isthmus.paper.experiment import Experiment
from isthmus.paper.runner import TaskFailedError, run_experiments
from isthmus.paper.store import Store, results_of
from paper.examples import Calls, made_up, moments, no_square, of_tasks, square, threads


@pytest.fixture
def calls():
    return Calls()


def test_all_tasks_are_run_and_kept(tmp_path, calls):
    records = run_experiments([made_up(calls), made_up(calls, "second")], Store(tmp_path))
    assert list(records) == ["made_up", "second"]
    assert [result["square"] for result in results_of(records["second"]).values()] == [0, 1, 4]
    assert sorted(calls.names) == [f"{name}{i}" for name in ("made_up", "second") for i in range(3)]


def test_in_processes_of_their_own(tmp_path):
    experiment = of_tasks(*(Task(f"task{i}", square, {"number": i}) for i in range(4)))
    records = run_experiments([experiment], Store(tmp_path), n_jobs=2)
    assert list(records["made_up"]) == [f"task{i}" for i in range(4)]
    assert [result["square"] for result in results_of(records["made_up"]).values()] == [0, 1, 4, 9]
    assert run_experiments([experiment], Store(tmp_path)) == records


def test_an_error_in_a_process_ends_the_run(tmp_path):
    experiment = of_tasks(
        Task("bad", no_square, {"number": 3}),
        *(Task(f"long{i}", moments, {"seconds": 60}) for i in range(4)),
    )
    begun = time.monotonic()
    with pytest.raises(TaskFailedError, match="made_up, bad: no square of 3"):
        run_experiments([experiment], Store(tmp_path), n_jobs=2)
    assert time.monotonic() - begun < 45
    assert multiprocessing.active_children() == []


def test_processes_end_with_an_error_in_this_one(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    experiment = of_tasks(
        Task("short", square, {"number": 3}), Task("long", moments, {"seconds": 60})
    )
    with pytest.raises(KeyboardInterrupt):
        run_experiments([experiment], Store(tmp_path), n_jobs=2, progress=stop)
    assert multiprocessing.active_children() == []


def test_a_second_run_computes_nothing(tmp_path, calls):
    first = run_experiments([made_up(calls)], Store(tmp_path))
    again = run_experiments([made_up(calls)], Store(tmp_path))
    assert len(calls.names) == 3
    assert again == first


def test_unless_it_is_a_fresh_one(tmp_path, calls):
    for _ in range(2):
        run_experiments([made_up(calls)], Store(tmp_path), fresh=True)
    assert len(calls.names) == 6


def test_a_run_that_failed_goes_on_where_it_was(tmp_path, calls):
    with pytest.raises(TaskFailedError, match="made_up, task2: no square"):
        run_experiments([made_up(calls, failing=(2,))], Store(tmp_path))
    calls.names.clear()
    records = run_experiments([made_up(calls)], Store(tmp_path))
    assert calls.names == ["made_up2"]
    assert len(records["made_up"]) == 3


def test_a_quick_run_does_not_count_as_a_full_one(tmp_path, calls):
    run_experiments([made_up(calls)], Store(tmp_path), quick=True)
    assert calls.names == ["made_up0"]
    run_experiments([made_up(calls)], Store(tmp_path))
    assert calls.names == ["made_up0", "made_up1", "made_up2"]


def test_tasks_that_measure_time_run_last_and_alone(tmp_path):
    experiment = of_tasks(
        *(Task(name, moments, {"seconds": 0.02}, alone=name in "ac") for name in "abcd")
    )
    records = run_experiments([experiment], Store(tmp_path), n_jobs=2)
    assert list(records["made_up"]) == list("abcd")
    when = results_of(records["made_up"])
    assert max(when[name]["ended"] for name in "bd") < when["a"]["begun"]
    assert when["a"]["ended"] <= when["c"]["begun"]


def test_progress_counts_what_is_to_be_done(tmp_path, calls):
    told = []
    experiment = made_up(calls)
    run_experiments([experiment], Store(tmp_path), quick=True)
    run_experiments([experiment], Store(tmp_path), progress=lambda *n: told.append(n))
    assert told == [(1, 2), (2, 2)]


def test_ctrl_c_keeps_what_is_finished(tmp_path, calls):
    def stop(**_):
        raise KeyboardInterrupt

    def tasks(quick):
        good = made_up(calls).tasks(False)
        return [good[0], Task("stopped", stop), good[1]]

    experiment = Experiment("made_up", "", "", tasks, lambda _: ())
    with pytest.raises(KeyboardInterrupt):
        run_experiments([experiment], Store(tmp_path))
    assert calls.names == ["made_up0"]
    assert Store(tmp_path).read(experiment, tasks(False)[0]) is not None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_task_has_one_thread(tmp_path, n_jobs):
    experiment = of_tasks(Task("a", threads), Task("b", threads))
    records = run_experiments([experiment], Store(tmp_path), n_jobs=n_jobs)
    for record in records["made_up"].values():
        assert record.result == {"blas": 1, "openmp": 1}
