"""Exact Euclidean spanning trees: ours beside quitefastmst, the fastest peer on a CPU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import quitefastmst

from benchmarks.harness import Table, best_times, data_folder
from isthmus import minimum_spanning_tree


def _lattice(rng: np.random.Generator, n_points: int, n_features: int) -> np.ndarray:
    side = round(n_points ** (1 / n_features))
    axes = np.meshgrid(*[np.arange(float(side))] * n_features)
    lattice = np.stack(axes, -1).reshape(-1, n_features)
    return rng.permutation(lattice)


def _stars(rng: np.random.Generator, n_points: int, _: int) -> np.ndarray:
    folder = data_folder()
    if folder is None:
        raise ValueError("ISTHMUS_DATA is not set")
    with np.load(folder / "tycho2_uint32.npz") as file:
        stars = file["u"] / file["range"][6] + file["range"][:3]
    return rng.permutation(stars)[:n_points]


KINDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "clustered": lambda rng, n, d: (
        (rng.random((20, d)) * 10)[rng.integers(20, size=n)] + rng.normal(0, 0.25, (n, d))
    ),
    "1,000 distinct": lambda rng, n, d: rng.random((1000, d))[rng.integers(1000, size=n)],
    "rounded to 0.1": lambda rng, n, d: np.round(rng.normal(0, 100, (n, d)), 1),
    "rounded to 0.01": lambda rng, n, d: np.round(rng.random((n, d)) * 10, 2),
    "lattice": _lattice,
    "Tycho-2": _stars,
}
ROWS = (
    *(
        (kind, n, d)
        for n in (100_000, 1_000_000)
        for d in (2, 3)
        for kind in ("uniform", "clustered")
    ),
    ("Tycho-2", 1_000_000, 3),
    ("uniform", 200_000, 5),
    ("uniform", 100_000, 8),
    ("clustered", 100_000, 8),
    ("clustered", 50_000, 16),
    ("rounded to 0.1", 1_000_000, 2),
    ("rounded to 0.01", 1_000_000, 2),
    ("lattice", 1_000_000, 2),
    ("lattice", 1_000_000, 3),
)


def run() -> Table:
    table = Table(
        "spanning_trees",
        "Euclidean minimum spanning trees against quitefastmst",
        "Best of 3, in turns, same data and number of threads; weights equal to 1e-12. "
        "quitefastmst is quadratic on repeated points, so 1,000 distinct points are repeated to "
        "100,000 rows only.",
    )
    rng = np.random.default_rng(0)
    for threads in (1, 2):
        quitefastmst.omp_set_num_threads(threads)
        for kind, n_points, n_features in (*ROWS, ("1,000 distinct", 100_000, 2)):
            if kind == "Tycho-2" and data_folder() is None:
                continue
            points = KINDS[kind](rng, n_points, n_features)
            table.rows.append(_compare(kind, points, threads))
    return table


def _compare(kind: str, points: np.ndarray, threads: int) -> dict[str, object]:
    found = {}

    def ours() -> None:
        found["ours"] = minimum_spanning_tree(points, n_jobs=threads, engine="kd-tree").weights

    def theirs() -> None:
        found["theirs"] = np.sort(quitefastmst.mst_euclid(points)[0])

    ours()  # compiles
    times = best_times({"ours": ours, "theirs": theirs}, repeats=3)
    if not np.allclose(found["ours"], found["theirs"], rtol=1e-12, atol=0):
        raise AssertionError(f"the trees of {kind} differ in weight")
    return {
        "data": f"{len(points):,} × {points.shape[1]} {kind}",
        "threads": threads,
        "ours (s)": times["ours"],
        "quitefastmst (s)": times["theirs"],
        "ours ÷ theirs": times["ours"] / times["theirs"],
    }
