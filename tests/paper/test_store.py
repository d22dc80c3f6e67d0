import json

import numpy as np
import pytest

from isthmus.paper import Task, store
from isthmus.paper.store import Store, key_of, plain, run_task
from paper.examples import Calls, made_up


@pytest.fixture
def experiment():
    return made_up(Calls())


def kept(folder, experiment, task):
    place = Store(folder)
    place.write(experiment, task, run_task(task))
    return place


def test_a_result_comes_back_as_it_was_found(tmp_path, experiment):
    task = experiment.tasks(False)[2]
    record = kept(tmp_path, experiment, task).read(experiment, task)
    assert record == run_task(task).__class__(
        {"square": 4.0, "all": [0, 1]}, record.seconds, store.versions(), store.machine()
    )


def test_the_file_says_what_it_is(tmp_path, experiment):
    task = experiment.tasks(False)[1]
    written = json.loads(kept(tmp_path, experiment, task).path(experiment, task).read_text())
    assert written["experiment"] == "made_up"
    assert written["task"] == "task1"
    assert written["parameters"] == {"name": "made_up1", "number": 1}
    assert set(written["versions"]) == {"isthmus", "numpy", "scipy", "scikit-learn", "numba"}
    assert written["machine"]["cores"] >= 1


def test_nothing_is_kept_of_what_was_not_run(tmp_path, experiment):
    assert Store(tmp_path).read(experiment, experiment.tasks(False)[0]) is None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"result": {}}', "\x00"])
def test_a_damaged_file_counts_as_none(tmp_path, experiment, damage):
    task = experiment.tasks(False)[0]
    place = kept(tmp_path, experiment, task)
    place.path(experiment, task).write_text(damage)
    assert place.read(experiment, task) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "3.5"),
        ("seconds", None),
        ("seconds", True),
        ("seconds", -1.0),
        ("versions", "1.0"),
        ("machine", []),
    ],
)
def test_values_of_another_type_count_as_none(tmp_path, experiment, name, value):
    task = experiment.tasks(False)[0]
    place = kept(tmp_path, experiment, task)
    path = place.path(experiment, task)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    assert place.read(experiment, task) is None


def test_records_are_all_or_nothing(tmp_path, experiment):
    place = Store(tmp_path)
    for task in experiment.tasks(False)[:2]:
        place.write(experiment, task, run_task(task))
    assert place.records(experiment, quick=False) is None
    assert set(place.records(experiment, quick=True)) == {"task0"}


def test_the_key_changes_with_everything_a_result_depends_on(monkeypatch, experiment):
    task = experiment.tasks(False)[0]
    key = key_of(experiment, task)
    assert key == key_of(experiment, task)
    assert key != key_of(made_up(Calls(), "other"), task)
    assert key != key_of(experiment, Task("task1", task.function, task.parameters))
    assert key != key_of(experiment, Task(task.name, task.function, {"number": 1}))
    monkeypatch.setattr(store, "code_fingerprint", lambda: "other code")
    assert key != key_of(experiment, task)


def test_numbers_that_json_does_not_know_are_refused(tmp_path, experiment):
    task = Task("bad", lambda: {"value": np.nan})
    with pytest.raises(ValueError, match="JSON compliant"):
        kept(tmp_path, experiment, task)
    assert not list(tmp_path.iterdir())


def test_plain_values():
    value = {"a": np.arange(2), 3: (np.int32(1), np.bool_(True)), "b": [np.ones((1, 2))], "c": None}
    assert plain(value) == {"a": [0, 1], "3": [1, True], "b": [[[1.0, 1.0]]], "c": None}
    assert type(plain(np.float32(0.5))) is float
