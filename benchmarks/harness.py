"""Timing side by side, and results as data first: JSON, then a table for people."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
    "genieclust",
    "hdbscan",
    "fast_hdbscan",
    "deadwood",
    "mlpack",
    "lumbermark",
    "gudhi",
    "evoc",
    "faiss-cpu",
    "pynndescent",
    "bokeh",
    "gower",
)


class SkippedError(Exception):
    """A benchmark cannot run here; the message says what it needs."""


@dataclass
class Table:
    """What a benchmark measured: a title, a note on how, and one dictionary per row.

    ``draw``, if given, turns the rows into a Matplotlib figure.
    """

    name: str
    title: str
    note: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    draw: Callable[[list[dict[str, Any]]], Any] | None = None

    def to_markdown(self) -> str:
        columns = list(self.rows[0]) if self.rows else []
        lines = [
            "| " + " | ".join(columns) + " |",
            "|" + "---|" * len(columns),
            *("| " + " | ".join(_cell(row[c]) for c in columns) + " |" for row in self.rows),
        ]
        return f"## {self.title}\n\n{self.note}\n\n" + "\n".join(lines) + "\n"


def times_in_turns(
    functions: dict[str, Callable[[], Any]], repeats: int = 5
) -> dict[str, list[float]]:
    """Return the times of each function, in seconds.

    The functions take turns, so that all see the same moods of the machine. Where one takes more
    than five seconds, three turns have to do.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeats):
        for name, function in functions.items():
            times[name].append(_seconds(function))
        if turn == 2 and max(map(min, times.values())) > 5.0:
            break
    return times


def best_times(functions: dict[str, Callable[[], Any]], repeats: int = 3) -> dict[str, float]:
    """Return the best time of each function, in seconds; the functions take turns."""
    return {name: min(times) for name, times in times_in_turns(functions, repeats).items()}


def _seconds(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def median_ratio(ours: list[float], theirs: list[float]) -> float:
    """Return the median of the ratios of times that were taken in turns."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def require(package: str) -> None:
    """Skip the benchmark where a package is not installed."""
    if importlib.util.find_spec(package) is None:
        raise SkippedError(f"it needs {package}")


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
        measured = {"title": table.title, "note": table.note, "rows": table.rows}
        text = json.dumps({"machine": where, **measured}, indent=1)
        (folder / f"{table.name}.json").write_text(text)
        if table.draw is not None:
            table.draw(table.rows).savefig(folder / f"{table.name}.png", dpi=120)
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
