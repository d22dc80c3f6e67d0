"""Exact spanning trees of points with many features: ours beside quitefastmst and others."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.data import make
from benchmarks.harness import SkippedError, Table, median_ratio, require, times_in_turns
from benchmarks.trees import QUADRATIC, TREES, is_installed, peak_memory

# Data, points, features, threads, and the ratio to quitefastmst that is to be reached.
ROWS = (
    ("USPS", 9_298, 256, 1, 0.15),
    ("USPS", 9_298, 256, 2, 0.15),
    ("MNIST", 20_000, 784, 2, 0.07),
    ("uniform", 20_000, 784, 2, 0.07),
    ("mixture", 50_000, 32, 2, 0.4),
    ("mixture", 50_000, 64, 2, 0.4),
    ("clustered", 50_000, 32, 2, 0.4),
)
# A peer that takes longer than this, in seconds, has one turn only.
PATIENCE = 30.0
# The largest set is too long for quitefastmst; it is extrapolated from this many points.
LARGE, EXTRAPOLATED_FROM = 70_000, 20_000


def run() -> Table:
    require("quitefastmst")
    table = Table(
        "many_features",
        "Spanning trees of points with many features",
        "Same data and number of threads, in turns; best times, and the median of ratios, of three "
        f"turns; who takes more than {PATIENCE:.0f} s has one turn. Sorted weights are equal to "
        "1e-12. MNIST with all its points: quitefastmst is extrapolated from "
        f"{EXTRAPOLATED_FROM:,} of them by the square of their number, and the last column is our "
        "peak memory, with the points as bytes.",
    )
    for kind, n_points, n_features, threads, goal in ROWS:
        try:
            points = make(kind, n_points, n_features)
        except SkippedError as reason:
            table.note += f" Left out: {reason}."
            continue
        peers = ["quitefastmst"]
        if kind == "USPS" and threads == 1:  # the smallest
            peers += [name for name in QUADRATIC if is_installed(name)]
        for peer in peers:
            row = _compare(kind, points, threads, peer)
            row["goal"] = goal if peer == "quitefastmst" else "–"
            table.rows.append(row)
        if kind == "MNIST":
            factor = (LARGE / EXTRAPOLATED_FROM) ** 2
            table.rows.append(_large(threads, float(table.rows[-1]["peer (s)"]) * factor))
    return table


def _compare(kind: str, points: np.ndarray, threads: int, peer: str) -> dict[str, object]:
    found: dict[str, np.ndarray] = {}

    def keep(name: str) -> Callable[[], None]:
        def build() -> None:
            found[name] = TREES[name](points, threads)

        return build

    once = times_in_turns({peer: keep(peer)}, 1)
    if once[peer][0] > PATIENCE:
        ours = times_in_turns({"isthmus": keep("isthmus")}, 3)["isthmus"]
        theirs = once[peer] * 3
    else:
        times = times_in_turns({"isthmus": keep("isthmus"), peer: keep(peer)}, 3)
        ours, theirs = times["isthmus"], times[peer]
    if not np.allclose(found["isthmus"], np.sort(found[peer]), rtol=1e-12, atol=0):
        raise AssertionError(f"the trees of {kind} differ in weight")
    return {
        "data": f"{len(points):,} × {points.shape[1]} {kind}",
        "threads": threads,
        "peer": peer,
        "isthmus (s)": min(ours),
        "peer (s)": min(theirs),
        "ratio": median_ratio(ours, theirs),
        "MiB": "–",
    }


def _large(threads: int, extrapolated: float) -> dict[str, object]:
    command = [sys.executable, "-m", "benchmarks.many_features", str(threads)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured = json.loads(output.splitlines()[-1])
    return {
        "data": f"{LARGE:,} × 784 MNIST",
        "threads": threads,
        "peer": "quitefastmst, extrapolated",
        "isthmus (s)": measured["seconds"],
        "peer (s)": extrapolated,
        "ratio": measured["seconds"] / extrapolated,
        "MiB": round(measured["MiB"]),
        "goal": "below 2 GB",
    }


def _main(threads: int) -> None:
    """Print time and peak memory of the tree of all digits, in a process of its own."""
    from isthmus import minimum_spanning_tree

    points = make("MNIST", LARGE, 784).astype(np.uint8)
    begin = time.perf_counter()
    minimum_spanning_tree(points, n_jobs=threads)
    print(json.dumps({"seconds": time.perf_counter() - begin, "MiB": peak_memory()}))


if __name__ == "__main__":
    _main(int(sys.argv[1]))
