"""Points and their classes → what self-tuning finds when its description is read in other ways.

The paper's error rate of self-tuning on Iris is not what the method gives here. The authors do not
say how they implemented it; these are the choices that were open to them. One more is which
neighbour is the N-th: errors are computed by *rank*, where the nearest other point has rank 1, so
that N is rank N, or rank N - 1 if a point is its own first neighbour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from isthmus._utils.typing import Floats
from isthmus.baselines.affinities import local_exponents, normalised_affinities
from isthmus.baselines.rotation import align_incrementally, minimise_cost, nearest_axes
from isthmus.baselines.spectral import leading_eigenvectors, unit_rows
from isthmus.evaluation import error_rate
from isthmus.metrics.pairwise import distance_matrix
from isthmus.paper.methods import n_classes, run_kmeans, run_ours, single_start

# The first choice everywhere is that of isthmus.baselines.SelfTuningSpectralClustering.
FEATURES = ("as they are", "standardised", "scaled to [0, 1]")
_SCALERS = dict(zip(FEATURES[1:], (StandardScaler, MinMaxScaler), strict=True))
LAST_STEPS = {
    "rotation": "",
    "one descent": "descent from the eigenvectors alone",
    "kmeans": "K-means on rows, single random starts",
}


@dataclass(frozen=True)
class Reading:
    """One way to read self-tuning: what it changes, in words, and its error rates by N."""

    features: str
    changes: tuple[str, ...]
    errors: dict[int, float]

    @property
    def best(self) -> int:
        """The N with the smallest error; the first of several."""
        return min(self.errors, key=lambda n: (self.errors[n], n))

    @property
    def summary(self) -> str:
        """The changes, separated by commas."""
        return ", ".join(self.changes) or "ours"


def errors_of_readings(
    X: Any, y: Any, *, features: str, ranks: Sequence[int], n_starts: int
) -> dict[str, Any]:
    """Return errors of all readings with these features, by rank, and of the other two methods.

    "readings" holds, for each diagonal and halving, a list of errors for each last step, and
    the "gaps" below the leading eigenvalues.
    """
    scaled = _SCALERS[features]().fit_transform(X) if features in _SCALERS else X
    points = np.ascontiguousarray(scaled, dtype=np.float64)
    distances = distance_matrix(points)
    return {
        "features": features,
        "ranks": list(ranks),
        "kmeans": run_kmeans(points, y)["error"],
        "ours": run_ours(points, y)["error"],
        "readings": [
            {
                "diagonal": diagonal,
                "halved": halved,
                **_errors_by_rank(distances, y, diagonal, halved, ranks, n_starts),
            }
            for diagonal, halved in product((0, 1), (False, True))
        ],
    }


def all_readings(found: Sequence[dict[str, Any]]) -> Iterator[Reading]:
    """Yield every reading in what :func:`errors_of_readings` found, ours first of all."""
    for result, counts_itself in product(found, (False, True)):
        numbers = [rank + counts_itself for rank in result["ranks"]]
        for variant, (step, step_in_words) in product(result["readings"], LAST_STEPS.items()):
            changes = {
                f"features {result['features']}": result["features"] != FEATURES[0],
                "a point is its own first neighbour": counts_itself,
                "affinities of 1 on the diagonal": variant["diagonal"] != 0,
                "exponents halved, as NJW's": variant["halved"],
                step_in_words: step != "rotation",
            }
            errors = zip(numbers, variant[step], strict=True)
            yield Reading(
                result["features"],
                tuple(words for words, changed in changes.items() if changed),
                {n: error for n, error in errors if n > 1},
            )


def _errors_by_rank(
    distances: Floats, y: Any, diagonal: int, halved: bool, ranks: Sequence[int], n_starts: int
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in (*LAST_STEPS, "gaps")}
    for rank in ranks:
        exponents = local_exponents(distances, rank)
        if halved:
            exponents /= 2
        if diagonal == 1:
            np.fill_diagonal(exponents, 0.0)
        vectors, gap = leading_eigenvectors(normalised_affinities(exponents), n_classes(y))
        rows = unit_rows(vectors)
        aligned = align_incrementally(vectors)[0][-1]
        descended = minimise_cost(rows, np.eye(rows.shape[1]))[0]
        found["gaps"].append(gap)
        found["rotation"].append(error_rate(y, nearest_axes(rows @ aligned)))
        found["one descent"].append(error_rate(y, nearest_axes(rows @ descended)))
        found["kmeans"].append(_most_frequent_error(rows, y, n_starts))
    return found


def _most_frequent_error(rows: Floats, y: Any, n_starts: int) -> float:
    errors = [error_rate(y, single_start(rows, y, seed).labels_) for seed in range(n_starts)]
    return Counter(errors).most_common(1)[0][0]
