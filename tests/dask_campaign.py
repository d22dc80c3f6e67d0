"""``python -m dask_campaign``, with ``tests`` on the path: ``make fuzz-dask`` calls it.

Trees and labels of isthmus.dask against those of one machine, bit for bit: generated inputs, each
in one to nine cells, in threads; inputs with many features; others on a cluster of processes; and
with a worker killed in each stage.
"""

from __future__ import annotations

import argparse
import logging
import sys
import threading
import time
import warnings

import dask.array as da
import numpy as np

import isthmus
from dask_inputs import KINDS, chunks, points
from dask_kills import STAGES, Killer
from hard_points import HARD, hard
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.dask import TransitiveCut, line_lists, minimum_spanning_tree
from isthmus.spanning_tree.by_blocks import searching


class Expected:
    """An input in blocks, and what one machine finds in it."""

    def __init__(self, seed: int, largest: int) -> None:
        rng = np.random.default_rng(seed)
        self.name = f"{KINDS[seed % len(KINDS)]}, seed {seed}"
        self.X = points(KINDS[seed % len(KINDS)], rng, largest)
        n = len(self.X)
        # Now and then one row to a block, as far as that makes sense.
        self.sizes = (1,) * n if n <= 30 and seed % 2 else chunks(n, rng)
        self.weights = rng.integers(1, 5, n).astype(float) if seed % 3 == 0 else None
        self.k = int(rng.integers(1, min(n, 10) + 1))
        self.tree = isthmus.minimum_spanning_tree(self.X, engine="prim")
        clusterer = CutClusterer(
            isthmus.UltrametricTree.from_spanning_tree(self.tree), self.weights
        )
        self.labels = clusterer.labels(CutSettings(self.k))

    def differs(self, n_cells: int, verbose=0) -> str | None:
        """Return what isthmus.dask finds otherwise, if anything."""
        X = da.from_array(self.X, chunks=(self.sizes, (self.X.shape[1],)), name=False)
        model = TransitiveCut(self.k, n_cells=n_cells, verbose=verbose)
        model.fit(X, sample_weight=self.weights)
        found = model.spanning_tree_.gather()
        for what, one, other in (
            ("weights", found.weights, self.tree.weights),
            ("edges", found.edges, self.tree.edges),
            ("labels", model.labels_.compute(), self.labels),
        ):
            if not np.array_equal(one, other):
                return f"{what} differ: {self.name}, {n_cells} cells"
        return None


def in_threads(n_inputs: int, largest: int) -> list[str]:
    """Compare generated inputs, each in one to nine cells."""
    found = []
    for seed in range(n_inputs):
        expected = Expected(seed, largest)
        found += [problem for n in range(1, 10) if (problem := expected.differs(n))]
    return found


def with_many_features(n_inputs: int, largest: int) -> list[str]:
    """Compare weights of inputs that are hard for matrix products, in small blocks."""
    found = []
    line_lists._BLOCK_SIZE, searching.GROUP = 32, 8
    for seed in range(n_inputs):
        rng = np.random.default_rng(seed)
        kind, n = HARD[seed % len(HARD)], int(rng.integers(2, largest))
        X = hard(kind, n, int(rng.integers(9, 60)), seed)
        expected = isthmus.minimum_spanning_tree(X, engine="prim").weights
        blocks = da.from_array(X, chunks=(chunks(n, rng), (X.shape[1],)))
        for n_bundles in (1, 3, 7):
            weights = minimum_spanning_tree(blocks, n_cells=n_bundles).gather().weights
            if not np.array_equal(weights, expected):
                found.append(f"weights differ: {kind}, seed {seed}, {n_bundles} bundles")
    return found


def on_processes(n_inputs: int, largest: int) -> list[str]:
    """Compare generated inputs on a cluster of two processes."""
    with _Cluster():
        seeds = range(10_000, 10_000 + n_inputs)
        return [p for seed in seeds if (p := Expected(seed, largest).differs(1 + seed % 9))]


def with_kills(n_kills: int, seconds: float) -> list[str]:
    """Kill a worker in each stage, after a random delay, and compare; bounded in time."""
    found = []
    rng = np.random.default_rng(0)
    expected = Expected(0, 60_000)  # uniform points
    for stage in STAGES:
        longest, wrong = 0.0, []
        for _ in range(n_kills):
            begin = time.monotonic()
            with _Cluster() as client:
                killer = Killer(client, stage, float(rng.uniform(0.0, 0.2)))
                problem = _within(seconds, lambda report=killer: expected.differs(6, report))
                killer.join()
            longest = max(longest, time.monotonic() - begin)
            if not killer.has_killed:
                problem = "no worker was killed"
            wrong += [f"{problem}, a worker killed in {stage!r}"] if problem else []
        sys.stdout.write(
            f"  {stage}: {n_kills} kills, {len(wrong)} differ, {longest:.1f} s at most\n"
        )
        sys.stdout.flush()
        found += wrong
    return found


def _within(seconds: float, run) -> str | None:
    """Return what a function returns, or that it took too long; it goes on in its thread then."""
    answers: list[str | None] = []

    def answer() -> None:
        try:
            answers.append(run())
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else f"no end within {seconds:g} s"


class _Cluster:
    """Two processes of one thread, and a client of them."""

    def __enter__(self):
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        )
        self.client = Client(self.cluster)
        return self.client

    def __exit__(self, *_):
        self.client.close()
        self.cluster.close()


def main() -> int:
    """Run all parts; return 1 where something was found."""
    parser = argparse.ArgumentParser(prog="dask_campaign", description=__doc__)
    parser.add_argument("--inputs", type=int, default=520, help="in threads, in 1 to 9 cells each")
    parser.add_argument("--many-features", type=int, default=100, help="in 1, 3 and 7 bundles each")
    parser.add_argument("--on-processes", type=int, default=52)
    parser.add_argument("--kills", type=int, default=10, help="in each stage")
    parser.add_argument("--seconds", type=float, default=60.0, help="for a fit that loses a worker")
    parser.add_argument("--largest", type=int, default=1500, help="rows of an input")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    problems = []
    for what, run in (
        (
            f"{options.inputs} inputs × 9 partitions",
            lambda: in_threads(options.inputs, options.largest),
        ),
        (
            f"{options.many_features} inputs with many features",
            lambda: with_many_features(options.many_features, options.largest),
        ),
        (
            f"{options.on_processes} on processes",
            lambda: on_processes(options.on_processes, options.largest),
        ),
        (
            f"{options.kills} kills in each of {len(STAGES)} stages",
            lambda: with_kills(options.kills, options.seconds),
        ),
    ):
        begin = time.monotonic()
        found = run()
        sys.stdout.write(f"{what}: {len(found)} differ ({time.monotonic() - begin:.0f} s)\n")
        sys.stdout.flush()
        problems += found
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
