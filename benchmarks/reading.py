"""How long the command needs to read and to write a CSV file of a million rows."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Table, best_times
from isthmus.cli import fast_csv
from isthmus.cli.csv_table import TextOptions, read_csv

_ROWS = 1_000_000


def run() -> Table:
    table = Table(
        "reading",
        "Reading and writing a CSV file",
        f"{_ROWS:,} rows of two numbers of six digits. Seconds, best of 3. The command reads by "
        "pyarrow where that is installed and the text is plain, and by Python's csv module "
        "otherwise; both give equal numbers. pandas and pyarrow alone only parse: they do not "
        "keep the text to write it again.",
    )
    points = np.random.default_rng(0).normal(size=(_ROWS, 2)).round(6)
    text = "x,y\n" + "".join(f"{x},{y}\n" for x, y in points.tolist())
    data = text.encode()
    functions = {
        "isthmus, pyarrow installed": lambda: _read(data, fast=True),
        "isthmus, Python's csv module": lambda: _read(data, fast=False),
        "isthmus, writing a column beside it": _writing(data),
        **_peers(data),
    }
    assert np.array_equal(_read(data, fast=True).points, _read(data, fast=False).points)
    seconds = best_times(functions)
    table.rows = [{"what": name, "seconds": seconds[name]} for name in functions]
    return table


def _read(data: bytes, *, fast: bool) -> Any:
    least = fast_csv.LEAST_BYTES
    fast_csv.LEAST_BYTES = least if fast else len(data) + 1
    try:
        return read_csv(io.BytesIO(data), "points.csv", TextOptions())
    finally:
        fast_csv.LEAST_BYTES = least


def _writing(data: bytes) -> Any:
    read, values = _read(data, fast=True), ["0"] * _ROWS

    def write() -> None:
        read.write_text(io.StringIO(), ",", "cluster", values)

    return write


def _peers(data: bytes) -> dict[str, Any]:
    peers: dict[str, Any] = {}
    for name in ("pandas", "pyarrow.csv"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        peers[f"{name}.read_csv"] = lambda module=module: module.read_csv(io.BytesIO(data))
    return peers
