"""Results of Figure 6's tasks → the error rates that claims, tables and pictures show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import numpy as np
from scipy.stats import rankdata

from isthmus._utils.typing import Floats
from isthmus.paper.experiment import Result, Results
from isthmus.paper.methods import METHODS, NAMES

SEED = 0
# How many of the ten sets have two, three and four digits; the paper does not say.
TEN = {2: 4, 3: 3, 4: 3}
# The grids that all sets have in common; those of the ten are finer.
COARSE_SIGMAS = (1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0)
COARSE_NEIGHBORS = (2, 7, 20)
# Grey levels of the stand-in go from 0 to 16, on a quarter of the pixels.
STAND_IN_SCALE = 4.0
_N_DRAWS = 10_000
HIGH_ERROR = 0.2
# Beside the paper's four, for information: CUT, and CUT with neighbourhoods.
CUTS = {"cut": "CUT", "shared": "CUT, shared neighbours", "mean": "CUT, means"}
ALL_METHODS = (*METHODS, *CUTS)
LONG_NAMES = {**NAMES, **CUTS}


def ten_sets(results: Results) -> list[Result]:
    """Return the results on the ten sets, pairs first."""
    return [result for name, result in results.items() if name.startswith("ten-")]


def data_of(sets: Sequence[Result]) -> str:
    """Return the name of the images that were clustered."""
    return "USPS" if all(s["data"] == "usps" for s in sets) else "scikit-learn's digits, not USPS"


def sets_of(results: Results, n_digits: int) -> list[Result]:
    """Return the results on all sets of a number of digits."""
    return [result for result in results.values() if len(result["digits"]) == n_digits]


def error_of(result: Result, method: str, *, coarse: bool = False) -> float:
    """Return the error of a method on one set; of a tuned one the smallest, over a grid.

    coarse : bool
        Whether to look only at the values that were tried on every set.
    """
    found = result["ways"][method] if method in CUTS else result[method]
    if not isinstance(found, Mapping):
        return float(found)
    scale = 1.0 if result["data"] == "usps" else STAND_IN_SCALE
    grid = {scale * v for v in COARSE_SIGMAS} if method == "njw" else set(COARSE_NEIGHBORS)
    runs = zip(found["values"], found["errors"], strict=True)
    return float(min(error for value, error in runs if not coarse or value in grid))


def error_table(sets: Sequence[Result], methods: Sequence[str], *, coarse: bool = False) -> Floats:
    """Return the errors, (n_sets, n_methods)."""
    return np.array([[error_of(s, m, coarse=coarse) for m in methods] for s in sets])


def means_and_ranks(sets: Sequence[Result]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean error and the mean rank of each of the four methods, the best first.

    The best error on a set has rank 1; ties share a rank.
    """
    errors = error_table(sets, METHODS)
    both = errors.mean(axis=0), rankdata(errors, axis=1).mean(axis=0)
    means, ranks = (
        dict(sorted(zip(METHODS, values.tolist(), strict=True), key=itemgetter(1)))
        for values in both
    )
    return means, ranks


def draws_of_ten(results: Results, methods: Sequence[str]) -> Floats | None:
    """Return mean errors over other draws of ten sets, (n_draws, n_methods).

    None where there are no more than ten sets. All sets have the coarse grids.
    """
    source = np.random.default_rng(SEED)
    total = np.zeros((_N_DRAWS, len(methods)))
    if len(results) <= sum(TEN.values()):
        return None
    for n_digits, n_first in TEN.items():
        errors = error_table(sets_of(results, n_digits), methods, coarse=True)
        chosen = source.random((_N_DRAWS, len(errors))).argpartition(n_first - 1, axis=1)
        total += errors[chosen[:, :n_first]].sum(axis=1)
    means: Floats = total / sum(TEN.values())
    return means


def name_of(result: Result) -> str:
    """Return the digits of a set, to print."""
    return " ".join(map(str, result["digits"]))
