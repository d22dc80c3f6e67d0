"""What the size of neighbourhoods changes: adjusted Rand index for both kinds."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.battery import battery_sets, score
from benchmarks.harness import Table
from benchmarks.labelled_sets import LARGE, SETS, metric_of
from benchmarks.peers_of_quality import cut

SIZES = (10, 15, 20, 30, 50, 70, 100)


def run() -> Table:
    table = Table(
        "neighborhood_sizes",
        "The size of neighbourhoods",
        "Adjusted Rand index of TransitiveCut; of the battery, the mean over its sets with two or "
        "three features, and over those with more. The largest set is clustered with the sizes "
        "that are recommended.",
    )
    for name, load in SETS.items():
        X, y = load()
        k, metric = len(np.unique(y)), metric_of(name)
        for kind in ("mean", "shared"):
            row: dict[str, object] = {"data": name, "neighborhood": kind}
            row["none"] = round(adjusted_rand_score(y, cut(metric=metric)(X, k)), 3)
            for size in SIZES:
                if name in LARGE and size not in (20, 30):
                    row[str(size)] = "–"
                    continue
                labels = cut(size, kind, metric)(X, k)
                row[str(size)] = round(adjusted_rand_score(y, labels), 3)
            table.rows.append(row)
            print(row, flush=True)
    for kind in ("mean", "shared"):
        for few, paths in battery_sets().items():
            row = {"data": f"battery, {few}", "neighborhood": kind}
            for size in (None, *SIZES):
                found = [score(path, cut(size, kind)) for path in paths]
                row["none" if size is None else str(size)] = round(float(np.mean(found)), 3)
            table.rows.append(row)
            print(row, flush=True)
    return table
