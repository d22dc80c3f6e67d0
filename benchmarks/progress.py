"""How far estimates of the remaining time are off, while a fit runs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import make
from benchmarks.harness import Table
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus._utils.progress import seconds_left

# Kind, points, features, estimator.
CASES: tuple[tuple[str, int, int, str], ...] = (
    ("uniform", 3_000_000, 2, "cut"),
    ("clustered", 3_000_000, 2, "cut"),
    ("rounded to 0.1", 3_000_000, 2, "cut"),
    ("uniform", 2_000_000, 4, "cut"),
    ("clustered", 1_000_000, 5, "cut"),
    ("mixture", 300_000, 8, "cut"),
    ("mixture", 100_000, 12, "cut"),
    ("uniform", 100_000, 16, "cut"),
    ("clustered", 100_000, 16, "cut"),
    ("uniform", 60_000, 64, "cut"),
    ("clustered", 100_000, 64, "cut"),
    ("mixture", 60_000, 64, "cut"),
    ("1,000 distinct", 2_000_000, 64, "cut"),
    ("uniform", 1_000_000, 2, "kmeans"),
)
_MOMENTS = (0.1, 0.25, 0.5, 0.75, 0.9)
_PATIENCE = 2.0  # seconds until a bar is shown


def run(cases: tuple[tuple[str, int, int, str], ...] = CASES) -> Table:
    table = Table(
        "progress",
        "Estimates of the remaining time",
        "The longest stage of a fit on one thread: the estimated time of the whole stage, over its "
        "true time, when a tenth, a quarter ... of that has passed; 1 is right, – where a bar says "
        "that it is estimating. The last column: the worst factor, either way, from a tenth of "
        "the time on and after the two seconds in which no bar is shown.",
    )
    with threadpool_limits(1):
        table.rows = [_row(*case) for case in cases]
    return table


def _row(kind: str, n_points: int, d: int, method: str) -> dict[str, object]:
    points = make(kind, n_points, d)
    _fit(points[:20_000], method)  # compiles
    stage, reports, seconds = _longest_stage(_fit(points, method))
    estimates = [(t, estimate) for t, share in reports if (estimate := _whole(t, share))]
    row: dict[str, object] = {
        "points": f"{n_points:,} × {d} {kind}",
        "stage": stage,
        "seconds": seconds,
    }
    for moment in _MOMENTS:
        known = [estimate for t, estimate in estimates if t <= moment * seconds]
        row[f"{moment:.0%}"] = known[-1] / seconds if known else "–"
    from_then_on = max(0.1 * seconds, min(_PATIENCE, 0.5 * seconds))
    ratios = [estimate / seconds for t, estimate in estimates if t >= from_then_on]
    row["worst factor"] = max((max(ratio, 1 / ratio) for ratio in ratios), default="–")
    return row


def _fit(points: np.ndarray, method: str) -> list[tuple[str, float, float]]:
    """Fit; return (stage, seconds, share that is done) of all reports, and the end at last."""
    reports: list[tuple[str, float, float]] = []
    begin = time.monotonic()

    def report(stage: str, done: int, total: int) -> None:
        reports.append((stage, time.monotonic() - begin, done / max(total, 1)))

    options: dict[str, Any] = {"n_jobs": 1, "verbose": report}
    if method == "cut":
        TransitiveCut(20, **options).fit(points)
    else:
        TransitiveKMeans(20, init="k-means++", random_state=0, **options).fit(points)
    return reports


def _longest_stage(
    reports: list[tuple[str, float, float]],
) -> tuple[str, list[tuple[float, float]], float]:
    """Return a stage, its reports with seconds since its beginning, and the seconds it took."""
    begin, longest = 0.0, ("", [(0.0, 1.0)], 0.0)
    for stage in dict.fromkeys(name for name, *_ in reports):
        of_stage = [(t - begin, share) for name, t, share in reports if name == stage]
        seconds = of_stage[-1][0]
        if seconds > longest[2]:
            longest = (stage, of_stage, seconds)
        begin += seconds
    return longest


def _whole(seconds: float, share: float) -> float | None:
    left = seconds_left(seconds, share)
    return None if left is None else seconds + left
