"""Gower's distance of mixed tables: spanning trees, beside the package gower and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_limits

from benchmarks.harness import Table, median_ratio, require, times_in_turns
from isthmus import minimum_spanning_tree

# Rows, the share of values that are missing, and how often each is timed.
CASES = ((2_000, 0.0, 5), (2_000, 0.05, 5), (20_000, 0.0, 1), (20_000, 0.05, 1))
# Beyond this many rows the definition, with its matrices of float64, takes too much memory.
LARGEST_BY_DEFINITION = 5_000
IS_CATEGORY = np.array([False, False, False, True, True, True])


class Mixed(NamedTuple):
    """A table, as people have it and as numbers."""

    frame: pd.DataFrame
    codes: np.ndarray  # (n_rows, n_columns), categories as numbers, NaN where a value is missing


def mixed_table(n_rows: int, missing: float) -> Mixed:
    """Return eight groups of rows: three numbers, categories of twelve and four, a boolean."""
    rng = np.random.default_rng(0)
    group = rng.integers(8, size=n_rows)
    numbers = rng.normal(size=(8, 3))[group] * 3.0 + rng.normal(size=(n_rows, 3))
    usual = np.column_stack([rng.integers(n, size=8) for n in (12, 4, 2)])[group]
    others = np.column_stack([rng.integers(n, size=n_rows) for n in (12, 4, 2)])
    categories = np.where(rng.random((n_rows, 3)) < 0.8, usual, others)
    is_missing = rng.random((n_rows, 6)) < missing
    is_missing[:, 0] = False  # two rows without a column in common have no distance
    # Above zero: the package divides by the largest value before it divides by the range.
    codes = np.column_stack([np.exp(numbers / 3.0), categories])
    codes = np.where(is_missing, np.nan, codes)
    frame = pd.DataFrame(codes[:, :3], columns=["income", "age", "height"])
    for j, name in enumerate(("city", "plan", "member"), start=3):
        values = [None if np.isnan(code) else f"{name} {code:.0f}" for code in codes[:, j]]
        frame[name] = pd.Series(values, dtype=object)
    return Mixed(frame, codes)


def by_isthmus(table: Mixed) -> np.ndarray:
    return minimum_spanning_tree(table.frame, metric="gower", n_jobs=1).weights


def by_package(table: Mixed) -> np.ndarray:
    """Return the weights of the tree; NaN where distances are."""
    import gower

    # Categories as numbers, and which ones these are: much faster than a data frame.
    distances = gower.gower_matrix(table.codes, cat_features=IS_CATEGORY)
    return _tree_weights(distances)


def by_definition(table: Mixed) -> np.ndarray:
    """Return the weights from the matrix of the definition, a column at a time."""
    n_rows = len(table.codes)
    total, shared = np.zeros((n_rows, n_rows)), np.zeros((n_rows, n_rows))
    for column, is_category in zip(table.codes.T, IS_CATEGORY, strict=True):
        apart = np.abs(column[:, None] - column)
        present = ~np.isnan(apart)
        scaled = apart > 0.0 if is_category else apart / (np.nanmax(column) - np.nanmin(column))
        total += np.where(present, scaled, 0.0)
        shared += present
    return _tree_weights(total / shared)


def _tree_weights(distances: np.ndarray) -> np.ndarray:
    condensed = squareform(distances, checks=False)
    if np.isnan(condensed).any():
        return np.array([np.nan, np.isnan(condensed).mean()])
    return np.asarray(linkage(condensed, "single")[:, 2])


def run(cases: tuple[tuple[int, float, int], ...] = CASES) -> Table:
    require("gower")
    table = Table(
        "gower",
        "Gower's distance",
        "Minimum spanning trees of tables with three numbers, a boolean and categories of four and "
        "twelve values, on one thread: isthmus from the data frame; gower.gower_matrix, given "
        "categories as numbers, and SciPy's single linkage of it; the definition as matrices of "
        "NumPy, and the same. Seconds, best of five in turns (one of 20,000 rows); ratios are ours "
        "to theirs, medians of turns. “off” is the largest difference of the sorted weights.",
    )
    for n_rows in (300, 9_000):  # compiles
        by_isthmus(mixed_table(n_rows, 0.0))
    by_isthmus(mixed_table(300, 0.05))
    with threadpool_limits(1):
        for n_rows, missing, repeats in cases:
            table.rows.append(_row(mixed_table(n_rows, missing), missing, repeats))
            print(table.rows[-1], flush=True)
    return table


def _row(table: Mixed, missing: float, repeats: int) -> dict[str, object]:
    weights: dict[str, np.ndarray] = {}

    def keep(name: str, find: Callable[[Mixed], np.ndarray]) -> None:
        weights[name] = find(table)

    methods = {"isthmus": by_isthmus, "gower": by_package, "definition": by_definition}
    if len(table.codes) > LARGEST_BY_DEFINITION:
        methods.pop("definition")
        if missing > 0.0:  # the package has no distances there, as smaller tables show
            methods.pop("gower")
    functions: dict[str, Callable[[], Any]] = {
        name: lambda name=name, find=find: keep(name, find) for name, find in methods.items()
    }
    times = times_in_turns(functions, repeats)
    row: dict[str, object] = {
        "rows": f"{len(table.codes):,}",
        "missing": f"{missing:.0%}",
        "isthmus (s)": min(times["isthmus"]),
    }
    for name in ("gower", "definition"):
        row |= dict.fromkeys((f"{name} (s)", f"ratio to {name}", f"off {name}"), "–")
        if name in times:
            row[f"{name} (s)"] = min(times[name])
            row[f"ratio to {name}"] = median_ratio(times["isthmus"], times[name])
            row[f"off {name}"] = _difference(weights["isthmus"], weights[name])
    return row


def _difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    if np.isnan(theirs[0]):
        return f"no tree: {theirs[1]:.0%} of its distances are NaN"
    return f"{np.abs(ours - theirs).max():.0e}"
