"""Results of tasks ↔ files, kept under what produced them.

A result is one JSON file. Its name ends in a key made of the task's parameters, the code and the
versions of the libraries; if any of these changes, so does the key, and the task is run again.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from isthmus._utils.parallel import available_cores
from isthmus._version import __version__
from isthmus.files.atomic_write import write_atomically
from isthmus.paper.experiment import Experiment, Result, Results, Task

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
# Packages that no result depends on.
_NOT_COMPUTING = ("cli", "plotting")
_KEY_LENGTH = 12


@dataclass(frozen=True)
class Record:
    """A result, how long the task took, and what it was computed with and on."""

    result: Result
    seconds: float
    versions: dict[str, str]
    machine: dict[str, Any]


class Store:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, experiment: Experiment, task: Task) -> Path:
        """Return the file of a task's result, whether it is there or not."""
        return self.folder / experiment.name / f"{task.name}-{key_of(experiment, task)}.json"

    def read(self, experiment: Experiment, task: Task) -> Record | None:
        """Return the record of a task, or None. A damaged file counts as none."""
        try:
            kept = json.loads(self.path(experiment, task).read_text(encoding="utf-8"))
            record = Record(**{name: kept[name] for name in Record.__dataclass_fields__})
            return record if _is_sound(record) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, experiment: Experiment, task: Task, record: Record) -> None:
        """Write the record of a task: whole or not at all."""
        path = self.path(experiment, task)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "experiment": experiment.name,
            "task": task.name,
            "parameters": plain(task.parameters),
            **record.__dict__,
        }
        text = json.dumps(kept, allow_nan=False, ensure_ascii=False, indent=1)
        write_atomically(path, f"{text}\n".encode())

    def records(self, experiment: Experiment, *, quick: bool) -> dict[str, Record] | None:
        """Return the records of all tasks by name, or None if one is missing."""
        found = {task.name: self.read(experiment, task) for task in experiment.tasks(quick)}
        complete = {name: record for name, record in found.items() if record is not None}
        return complete if len(complete) == len(found) else None


def _is_sound(record: Record) -> bool:
    """Whether what was read is of the types that were written."""
    seconds = record.seconds
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    described = isinstance(record.versions, dict) and isinstance(record.machine, dict)
    return is_number and 0.0 <= seconds < float("inf") and described


def results_of(records: Mapping[str, Record]) -> Results:
    """Return the results alone."""
    return {name: record.result for name, record in records.items()}


def run_task(task: Task) -> Record:
    """Run a task and return its result, as it would come back from a file."""
    start = time.perf_counter()
    found = task.function(**task.parameters)
    seconds = time.perf_counter() - start
    return Record(plain(found), round(seconds, 3), versions(), machine())


def key_of(experiment: Experiment, task: Task) -> str:
    """Return a short digest of everything that a result depends on."""
    depends = [experiment.name, task.name, plain(task.parameters), versions(), code_fingerprint()]
    text = json.dumps(depends, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


@cache
def code_fingerprint() -> str:
    """Return a digest of the source files that compute something."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in _NOT_COMPUTING:
            digest.update(f"{name.as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def versions() -> dict[str, str]:
    """Return the versions of isthmus and of the libraries that it computes with."""
    return {"isthmus": __version__} | {name: version(name) for name in _LIBRARIES}


@cache
def machine() -> dict[str, Any]:
    """Return a description of this machine that names no one."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def plain(value: Any) -> Any:
    """Return a value as it would come back from a JSON file; NumPy's arrays become lists."""
    return json.loads(json.dumps(value, allow_nan=False, default=lambda array: array.tolist()))


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
