"""How time and memory grow with the number of points, each tree in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np

from benchmarks.harness import Table, median_ratio
from benchmarks.trees import QUADRATIC, TREES, is_installed

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
N_FEATURES = 2
# A peer takes part in the next size, three times as large, if this one took less: in seconds.
PATIENCE = 7.5
# Exponents are fitted from here on: below, calls themselves take time.
FIRST_FITTED = 100_000


def run() -> Table:
    table = Table(
        "growth",
        "Time and memory against the number of points",
        f"Uniform points, {N_FEATURES} features; each tree in a new process, after a small one; "
        "best of three. Weights agree to 1e-12, but for fast_hdbscan, which computes in float32. "
        "Memory is the process's peak, libraries and points included. The exponent "
        f"is that of a power of n fitted to the times from {FIRST_FITTED:,} points on.",
        draw=_draw,
    )
    for threads in (1, 2):
        names = [
            name
            for name in TREES
            if name not in QUADRATIC
            and is_installed(name)
            and (threads == 1 or name in ("isthmus", "quitefastmst"))
        ]
        rows = _measure(names, threads)
        for name in names:
            exponent = _exponent([row for row in rows if row["tree"] == name])
            for row in rows:
                if row["tree"] == name:
                    row["exponent"] = exponent
        table.rows += rows
    return table


def _measure(names: list[str], threads: int) -> list[dict[str, Any]]:
    rows = []
    for n_points in SIZES:
        seconds: dict[str, list[float]] = {name: [] for name in names}
        memory: dict[str, float] = dict.fromkeys(names, np.inf)
        weight: dict[str, float] = {}
        for _ in range(3):
            for name in names:
                result = _in_new_process(name, n_points, threads)
                seconds[name].append(result["seconds"])
                memory[name] = min(memory[name], result["MiB"])
                weight[name] = result["weight"]
        for name in names:
            if name != "fast_hdbscan" and not np.isclose(
                weight[name], weight["isthmus"], rtol=1e-12, atol=0
            ):
                raise AssertionError(f"the tree of {name} differs in weight at n = {n_points}")
            rows.append(
                {
                    "tree": name,
                    "points": n_points,
                    "threads": threads,
                    "seconds": min(seconds[name]),
                    "MiB": round(memory[name]),
                    "isthmus ÷ this, time": median_ratio(seconds["isthmus"], seconds[name]),
                    "isthmus ÷ this, memory": memory["isthmus"] / memory[name],
                }
            )
        names = [name for name in names if name == "isthmus" or min(seconds[name]) < PATIENCE]
    return rows


def _in_new_process(name: str, n_points: int, threads: int) -> dict[str, float]:
    arguments = [name, str(n_points), str(N_FEATURES), str(threads)]
    command = [sys.executable, "-m", "benchmarks.trees", *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    return result


def _exponent(rows: list[dict[str, Any]]) -> float | str:
    rows = [row for row in rows if row["points"] >= FIRST_FITTED]
    if len(rows) < 2:
        return "–"
    logs = np.log([[row["points"], row["seconds"]] for row in rows])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def _draw(rows: list[dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for ax, key in zip(figure.subplots(1, 2), ("seconds", "MiB"), strict=True):
        for i, name in enumerate(TREES):
            line = [row for row in rows if row["tree"] == name and row["threads"] == 1]
            if line:
                ax.plot(
                    [row["points"] for row in line],
                    [row[key] for row in line],
                    marker="osD^vP*"[i],
                    color=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")[i],
                    linewidth=2.5 if name == "isthmus" else 1.2,
                    label=name,
                )
        ax.set(xscale="log", yscale="log", xlabel="points", ylabel=key)
        ax.grid(alpha=0.3)
    figure.axes[0].set_ylabel("seconds, one thread")
    figure.axes[1].set_ylabel("peak memory (MiB)")
    figure.axes[0].legend(frameon=False)
    return figure
