"""The exact tree on a Dask cluster of two processes, against one machine: CPU seconds."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isthmus
from benchmarks.harness import SkippedError, Table


class Input(NamedTuple):
    """Points, in so many blocks and cells; with 64 features, in bundles instead of cells."""

    kind: str
    n_points: int
    n_features: int
    n_blocks: int


INPUTS = (
    Input("uniform", 1_000_000, 2, 16),
    Input("uniform", 5_000_000, 2, 16),
    Input("uniform", 5_000_000, 3, 16),
    Input("clustered", 5_000_000, 2, 16),
    Input("clustered", 5_000_000, 3, 16),
    Input("uniform", 20_000_000, 2, 32),
    Input("uniform", 50_000, 64, 6),
    Input("clustered", 50_000, 64, 6),
)


def run(inputs: Sequence[Input] = INPUTS) -> Table:
    if importlib.util.find_spec("distributed") is None:
        raise SkippedError("pip install 'isthmus[dask]'")
    table = Table(
        "distributed",
        "The spanning tree on a Dask cluster",
        "LocalCluster, 2 processes of one thread, points read from a file, as many cells as "
        "blocks; CPU seconds of client, scheduler and workers, after a run on few points, against "
        "one thread of one process. Equal: edges and weights, to the last bit. Compared: points in "
        "comparisons of cells, as a share of all. MB: the most that a process held.",
    )
    with tempfile.TemporaryDirectory() as folder:
        for given in inputs:
            table.rows.append(_measure(Path(folder) / "points.npy", given))
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


def _measure(path: Path, given: Input) -> dict[str, Any]:
    from dask.distributed import Client, LocalCluster

    few = 100_000 if given.n_features <= 8 else 30_000  # the same engine
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(_alone, _write(path, given.kind, few, given.n_features)).result()
        _write(path, given.kind, given.n_points, given.n_features)
        one, memory_of_one, digest = pool.submit(_alone, path).result()
    _write(path, given.kind, few, given.n_features)
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        _on_cluster(client, path, given.n_blocks)
        _write(path, given.kind, given.n_points, given.n_features)
        begin = _cpu_seconds(client)
        found = _on_cluster(client, path, given.n_blocks)
        many = _cpu_seconds(client) - begin
        memory = client.run(_peak_memory)
        same = _digest(found.gather()) == digest
    return {
        "points": given.kind,
        "n": given.n_points,
        "features": given.n_features,
        "blocks": given.n_blocks,
        "one machine, s": one,
        "cluster, s": many,
        "ratio": many / one,
        "equal": same,
        "compared": found.log.n_points_compared / given.n_points,
        "numbers at the coordinator": found.log.n_numbers,
        "MB of one machine": memory_of_one,
        "MB of a worker": max(memory.values()),
    }


def _alone(path: Path) -> tuple[float, float, str]:
    """Return CPU seconds, memory and what was found, on one thread."""
    points = np.load(path)
    begin = time.process_time()
    tree = isthmus.minimum_spanning_tree(points)
    return time.process_time() - begin, _peak_memory(), _digest(tree)


def _digest(tree: isthmus.SpanningTree) -> str:
    content = hashlib.sha256(np.ascontiguousarray(tree.edges, dtype=np.int64))
    content.update(np.ascontiguousarray(tree.weights))
    return content.hexdigest()


def _on_cluster(client: Any, path: Path, n_blocks: int) -> Any:
    """Return the tree, found and kept on the workers."""
    import dask
    import dask.array as da

    from isthmus.dask import minimum_spanning_tree

    n_points, n_features = np.load(path, mmap_mode="r").shape
    bounds = np.linspace(0, n_points, n_blocks + 1).astype(int).tolist()
    blocks = [
        da.from_delayed(
            dask.delayed(_read)(path, start, stop, time.time()),
            (stop - start, n_features),
            np.float64,
        )
        for start, stop in pairwise(bounds)
    ]
    found = minimum_spanning_tree(da.concatenate(blocks), n_cells=n_blocks, client=client)
    float(found.weights.sum().compute())
    return found


def _read(path: Path, start: int, stop: int, _: float) -> Any:
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def _cpu_seconds(client: Any) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def _peak_memory() -> float:
    """Return the most MB that this process held; getrusage would count its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1000
