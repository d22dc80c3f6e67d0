"""Timing side by side, and results as data first: JSON, then a table for people."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "isthmus",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "quitefastmst",
)


class SkippedError(Exception):
    """A benchmark cannot run here; the message says what it needs."""


@dataclass
class Table:
    """What a benchmark measured: a title, a note on how, and one dictionary per row."""

    name: str
    title: str
    note: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    def to_markdown(self) -> str:
        columns = list(self.rows[0]) if self.rows else []
        lines = [
            "| " + " | ".join(columns) + " |",
            "|" + "---|" * len(columns),
            *("| " + " | ".join(_cell(row[c]) for c in columns) + " |" for row in self.rows),
        ]
        return f"## {self.title}\n\n{self.note}\n\n" + "\n".join(lines) + "\n"


def best_times(functions: dict[str, Callable[[], Any]], repeats: int = 3) -> dict[str, float]:
    """Return the best time of each function, in seconds; the functions take turns."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def machine() -> dict[str, Any]:
    """Return what a figure depends on besides the code."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "versions": versions,
    }


def data_folder() -> Path | None:
    """Return the folder of public data sets, from the environment variable ISTHMUS_DATA."""
    folder = os.environ.get("ISTHMUS_DATA")
    return Path(folder) if folder else None


def write(tables: list[Table], folder: Path) -> None:
    """Write every table as JSON, and all of them as one page of Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    where = machine()
    for table in tables:
        text = json.dumps({"machine": where, **asdict(table)}, indent=1)
        (folder / f"{table.name}.json").write_text(text)
    facts = (
        f"{where['date']}, {where['processor']}, {where['cores']} cores, Python {where['python']}"
    )
    versions = ", ".join(f"{name} {number}" for name, number in where["versions"].items())
    (folder / "results.md").write_text(
        f"# Benchmarks\n\n{facts}; {versions}.\n\n"
        + "\n".join(table.to_markdown() for table in tables)
    )


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
