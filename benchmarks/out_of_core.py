"""Points in a Parquet file, larger than the memory that is allowed: one process, one thread.

``python -m benchmarks.out_of_core 100000000`` runs on a hundred million rows.
"""

from __future__ import annotations

import importlib.util
import re
import resource
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import SkippedError, Table

N_ROWS, ROWS_OF_A_BLOCK = 10_000_000, 500_000
N_DISCS = 10
# Rows whose labels are compared with what predict gives them, in so many runs of the file.
N_SAMPLED, N_RUNS = 200_000, 20
# What the process may allocate.
BYTES = 6_000_000_000


def run(n_rows: int = N_ROWS) -> Table:
    for package in ("dask", "pyarrow"):
        if importlib.util.find_spec(package) is None:
            raise SkippedError("pip install 'isthmus[dask,parquet]'")
    table = Table(
        "out_of_core",
        "Clusters of a Parquet file, from disk",
        f"{N_DISCS} discs of uniform points, two float32 columns, in row groups of "
        f"{ROWS_OF_A_BLOCK:,}; one process of one thread whose data are limited to "
        f"{BYTES / 1e9:g} GB (RLIMIT_DATA). MB: the most that it held beside pages of files, as "
        "sampled every 20 ms. Predicted: the share of sampled rows whose label is that which "
        "predict gives them. Discs: the share of these rows whose label is that of their disc.",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.parquet"
        _write(path, n_rows)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(_fit, path, n_rows).result()
    table.rows.append({"rows": n_rows} | found._asdict())
    return table


def _disc_of(start: int, stop: int) -> Any:
    """Return the discs of some rows: sizes fall from disc to disc."""
    rng = np.random.default_rng(start)
    return rng.choice(N_DISCS, stop - start, p=np.arange(20, 10, -1) / 155)


def _points(start: int, stop: int) -> Any:
    rng = np.random.default_rng([1, start])
    disc, angle = _disc_of(start, stop), 2 * np.pi * rng.random(stop - start)
    radius = np.sqrt(rng.random(stop - start))
    centres = 3.0 * np.column_stack([np.arange(N_DISCS) % 4, np.arange(N_DISCS) // 4])
    offsets = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return (centres[disc] + offsets).astype(np.float32)


def _write(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("x", pa.float32()), ("y", pa.float32())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, ROWS_OF_A_BLOCK):
            points = _points(start, min(start + ROWS_OF_A_BLOCK, n_rows))
            columns = [pa.array(np.ascontiguousarray(column)) for column in points.T]
            writer.write_table(pa.table(columns, schema=schema))


def _read(path: Path, block: int) -> Any:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        table = file.read_row_group(block, use_threads=False)
    return np.column_stack([column.to_numpy() for column in table.columns])


class Found(NamedTuple):
    """What a row of the table says."""

    seconds: float
    MB: float
    sampled: int
    predicted: float
    discs: float


def _fit(path: Path, n_rows: int) -> Found:
    """Return what is found, with limited memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    import dask
    import dask.array as da

    from isthmus.dask import TransitiveCut

    starts = range(0, n_rows, ROWS_OF_A_BLOCK)
    sizes = [min(ROWS_OF_A_BLOCK, n_rows - start) for start in starts]
    read = dask.delayed(_read, pure=True)
    blocks = [da.from_delayed(read(path, b), (size, 2), np.float32) for b, size in enumerate(sizes)]
    most = _Peak()
    begin = time.perf_counter()
    model = TransitiveCut(N_DISCS, n_jobs=1, folder=path.parent).fit(da.concatenate(blocks))
    labels = model.labels_
    counts = np.zeros(N_DISCS, dtype=np.int64)
    for b in range(len(sizes)):
        own = labels.blocks[b].compute(scheduler="synchronous")
        counts += np.bincount(own, minlength=N_DISCS)
    seconds = time.perf_counter() - begin
    memory = most.stop()
    assert counts.sum() == n_rows
    chosen = np.unique(np.linspace(0, len(sizes) - 1, min(N_RUNS, len(sizes))).astype(int))
    n_each = min(N_SAMPLED // len(chosen), *sizes)
    points = [_read(path, b)[:n_each] for b in chosen]
    own = [labels.blocks[b].compute(scheduler="synchronous")[:n_each] for b in chosen]
    discs = [_disc_of(starts[b], starts[b] + sizes[b])[:n_each] for b in chosen]
    new = da.from_array(np.concatenate(points), chunks=(-1, 2))
    predicted = model.predict(new).compute(scheduler="synchronous")
    own_labels = np.concatenate(own)
    return Found(
        seconds,
        memory,
        len(own_labels),
        float(np.mean(predicted == own_labels)),
        float(np.mean(np.concatenate(discs) == own_labels)),
    )


class _Peak:
    """Watches what this process holds, beside pages of files."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.wait(0.02):
            status = Path("/proc/self/status").read_text()
            found = re.search(r"RssAnon:\s+(\d+)", status)
            self.bytes = max(self.bytes, 1024 * int(found.group(1)) if found else 0)

    def stop(self) -> float:
        """Return the most MB."""
        self._stopped.set()
        self._thread.join()
        return self.bytes / 1e6


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else N_ROWS).to_markdown())
