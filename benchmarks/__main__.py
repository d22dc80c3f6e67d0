"""Run the benchmarks: ``python -m benchmarks [names] [--output FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path

from benchmarks.harness import SkippedError, write

NAMES = (
    "startup",
    "reading",
    "spanning_trees",
    "threads",
    "peers",
    "growth",
    "many_features",
    "choice",
    "callables",
    "gower",
    "clustering",
    "kmeans_stage",
    "path",
    "predict",
    "extend",
    "on_top",
    "progress",
    "battery",
    "many_features_battery",
    "neighborhood_sizes",
    "nearest_neighbors",
    "approximate",
    "outliers",
    "noise",
    "constraints",
    "choosing_k",
    "explorer",
    "distributed",
    "out_of_core",
)


def main() -> None:
    """Run the named benchmarks, or all, one after another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], help=f"of {', '.join(NAMES)}")
    parser.add_argument("--output", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    tables = []
    for name in arguments.names or NAMES:
        begin = time.perf_counter()
        try:
            table = importlib.import_module(f"benchmarks.{name}").run()
        except SkippedError as reason:
            print(f"{name} skipped: {reason}\n", flush=True)
            continue
        tables.append(table)
        print(f"{table.to_markdown()}\n({time.perf_counter() - begin:.0f} s)\n", flush=True)
        write(tables, arguments.output)
    if tables:
        print(f"written to {arguments.output}")


if __name__ == "__main__":
    main()
