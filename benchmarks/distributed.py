"""The exact tree on a Dask cluster of two processes, against one machine: CPU seconds."""

from __future__ import annotations

import logging
import resource
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import isthmus
from benchmarks.harness import SkippedError, Table

N_BLOCKS = N_CELLS = 16
INPUTS = (
    ("uniform", 1_000_000, 2),
    ("uniform", 5_000_000, 2),
    ("uniform", 5_000_000, 3),
    ("clustered", 5_000_000, 2),
    ("clustered", 5_000_000, 3),
)


def run() -> Table:
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise SkippedError("pip install 'isthmus[dask]'") from None
    table = Table(
        "distributed",
        "The spanning tree on a Dask cluster",
        f"LocalCluster, 2 processes of one thread, {N_BLOCKS} blocks and {N_CELLS} cells, points "
        "read from a file; CPU seconds of client, scheduler and workers, after a run on few "
        "points, against one thread of one process. Edges and weights are equal to the last bit. "
        "Compared: points in comparisons of cells, as a share of all.",
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        for kind, n_points, n_features in INPUTS:
            path = Path(folder) / "points.npy"
            _on_cluster(client, _write(path, kind, 100_000, n_features))
            table.rows.append(_measure(client, _write(path, kind, n_points, n_features), kind))
    return table


def _write(path: Path, kind: str, n_points: int, n_features: int) -> Path:
    rng = np.random.default_rng(0)
    points = rng.random((n_points, n_features))
    if kind == "clustered":
        centres, spread = rng.random((50, n_features)) * 20, rng.uniform(0.1, 1.0, 50)
        label = rng.integers(0, 50, n_points)
        noise = rng.normal(size=points.shape) * spread[label][:, None]
        points = centres[label] + noise
    np.save(path, points)
    return path


def _measure(client: Any, path: Path, kind: str) -> dict[str, Any]:
    points = np.load(path)
    isthmus.minimum_spanning_tree(points[:100_000], engine="kd-tree")
    begin = time.process_time()
    alone = isthmus.minimum_spanning_tree(points, engine="kd-tree")
    one = time.process_time() - begin
    begin = _cpu_seconds(client)
    found = _on_cluster(client, path)
    many = _cpu_seconds(client) - begin
    memory = client.run(_peak_memory)
    gathered = found.gather()
    same = np.array_equal(gathered.edges, alone.edges)
    same = same and np.array_equal(gathered.weights, alone.weights)
    return {
        "points": kind,
        "n": len(points),
        "features": points.shape[1],
        "one machine, s": one,
        "cluster, s": many,
        "ratio": many / one,
        "equal": same,
        "compared": found.log.n_points_compared / len(points),
        "numbers at the coordinator": found.log.n_numbers,
        "MB per worker": max(memory.values()),
    }


def _on_cluster(client: Any, path: Path) -> Any:
    """Return the tree, found and kept on the workers."""
    import dask
    import dask.array as da

    from isthmus.dask import minimum_spanning_tree

    n_points, n_features = np.load(path, mmap_mode="r").shape
    bounds = np.linspace(0, n_points, N_BLOCKS + 1).astype(int).tolist()
    blocks = [
        da.from_delayed(
            dask.delayed(_read)(path, start, stop, time.time()),
            (stop - start, n_features),
            np.float64,
        )
        for start, stop in pairwise(bounds)
    ]
    found = minimum_spanning_tree(da.concatenate(blocks), n_cells=N_CELLS, client=client)
    float(found.weights.sum().compute())
    return found


def _read(path: Path, start: int, stop: int, _: float) -> Any:
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def _cpu_seconds(client: Any) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def _peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
