"""A set of Figure 5 → the errors of four methods; and these, read by set and method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.datasets import make_figure5
from isthmus.paper.experiment import Result, Results
from isthmus.paper.methods import run_all

# The largest error rate at which a set is solved, and the one above which a method fails.
SOLVED, FAILED = 0.01, 0.02
# The methods that fail in the paper, besides K-means, which fails everywhere.
PAPER_FAILS = {
    "d": ("self_tuning",),
    "e": ("self_tuning",),
    "f": ("self_tuning",),
    "k": ("njw",),
    "l": ("njw", "self_tuning"),
}


def methods_on(
    which: str, seed: int, sigmas: Sequence[float], neighbors: Sequence[int], labels: bool
) -> Result:
    """Return the errors of all methods on a set, and, if asked for, the points and labels."""
    X, y = make_figure5(which, random_state=seed)
    found = run_all(X, y, sigmas=sigmas, neighbors=neighbors, seed=seed)
    kept = ("error", "parameter", "default", "default_error", "errors")
    result: Result = {
        "set": which,
        "seed": seed,
        **{name: {key: run[key] for key in kept if key in run} for name, run in found.items()},
    }
    if labels:
        result["points"] = np.round(X, 4)
        result["labels"] = {name: run["labels"] for name, run in found.items()}
    return result


def errors_of(results: Results, which: str, method: str, key: str = "error") -> Floats:
    """Return the errors of a method on a set, by seed."""
    return np.array([found[method][key] for found in results.values() if found["set"] == which])


def solved(results: Results, which: str, method: str, key: str = "error") -> float:
    """Return the share of the seeds from which a method solves a set."""
    return float(np.mean(errors_of(results, which, method, key) <= SOLVED))


def failed(results: Results, which: str, method: str) -> float:
    """Return the share of the seeds from which a method fails on a set."""
    return float(np.mean(errors_of(results, which, method) > FAILED))


def as_in_paper(results: Results, which: str, method: str) -> float:
    """Return the share of the seeds from which a method does on a set what the paper says."""
    fails = method == "kmeans" or method in PAPER_FAILS.get(which, ())
    return (failed if fails else solved)(results, which, method)
