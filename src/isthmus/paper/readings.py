"""Points and their classes → what self-tuning finds when its description is read in other ways.

The paper's error rate of self-tuning on Iris is not what the method gives here. Its authors do not
say how they implemented it; these are the choices that were open to them. Which neighbour is the
N-th is one more: errors come by *place*, the number of points between which and the point itself
the scale is taken, so N is place N, or N - 1 where a point is its own first neighbour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from isthmus._utils.typing import Array, Floats
from isthmus.baselines.affinities import local_exponents, normalised_affinities
from isthmus.baselines.eigenvectors import leading_eigenvectors, unit_rows
from isthmus.baselines.rotation import align_incrementally, minimise_cost
from isthmus.evaluation import error_rate
from isthmus.metrics.pairwise import distance_matrix
from isthmus.paper.methods import n_classes, run_kmeans, run_ours

FEATURES = ("as they are", "standardised", "scaled to [0, 1]")
DIAGONALS = (0, 1)
HALVINGS = (False, True)
LAST_STEPS = ("rotation", "one descent", "kmeans")


@dataclass(frozen=True)
class Reading:
    """One way to read self-tuning, and its error rates by N.

    The first choice everywhere is that of :class:`isthmus.baselines.SelfTuningSpectralClustering`.
    """

    features: str
    diagonal: int
    halved: bool
    last_step: str
    counts_itself: bool
    errors: dict[int, float]

    @property
    def changes(self) -> tuple[str, ...]:
        """What is read in another way than ours, in words."""
        steps = {
            "one descent": "descent from the eigenvectors alone",
            "kmeans": "K-means on rows, single random starts",
        }
        possible = (
            (self.features != FEATURES[0], f"features {self.features}"),
            (self.counts_itself, "a point is its own first neighbour"),
            (self.diagonal != 0, "affinities of 1 on the diagonal"),
            (self.halved, "exponents halved, as NJW's"),
            (self.last_step in steps, steps.get(self.last_step, "")),
        )
        return tuple(words for changed, words in possible if changed)

    @property
    def best(self) -> int:
        """The N of the smallest error; the first of several."""
        return min(self.errors, key=lambda n: (self.errors[n], n))


def errors_of_readings(
    X: Any, y: Any, *, features: str, places: Sequence[int], n_starts: int
) -> dict[str, Any]:
    """Return errors of all readings with these features, by place, and of the other two methods.

    "readings" holds, for each diagonal and halving, a list of errors for each last step, and
    the "gaps" below the leading eigenvalues.
    """
    points = _transformed(X, features)
    distances = distance_matrix(points)
    return {
        "features": features,
        "places": list(places),
        "kmeans": run_kmeans(points, y)["error"],
        "ours": run_ours(points, y)["error"],
        "readings": [
            {
                "diagonal": diagonal,
                "halved": halved,
                **_errors_by_place(distances, y, diagonal, halved, places, n_starts),
            }
            for diagonal, halved in product(DIAGONALS, HALVINGS)
        ],
    }


def all_readings(found: Sequence[dict[str, Any]]) -> Iterator[Reading]:
    """Yield every reading in what :func:`errors_of_readings` found, ours first of all."""
    for result, counts_itself in product(found, (False, True)):
        numbers = [place + counts_itself for place in result["places"]]
        for variant, step in product(result["readings"], LAST_STEPS):
            errors = dict(zip(numbers, variant[step], strict=True))
            yield Reading(
                result["features"],
                variant["diagonal"],
                variant["halved"],
                step,
                counts_itself,
                {n: error for n, error in errors.items() if n > 1},
            )


def _transformed(X: Any, features: str) -> Floats:
    if features == "standardised":
        X = StandardScaler().fit_transform(X)
    elif features == "scaled to [0, 1]":
        X = MinMaxScaler().fit_transform(X)
    return np.ascontiguousarray(X, dtype=np.float64)


def _errors_by_place(
    distances: Floats, y: Any, diagonal: int, halved: bool, places: Sequence[int], n_starts: int
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in (*LAST_STEPS, "gaps")}
    for place in places:
        exponents = local_exponents(distances, place)
        if halved:
            exponents /= 2
        if diagonal == 1:
            np.fill_diagonal(exponents, 0.0)
        vectors, gap = leading_eigenvectors(normalised_affinities(exponents), n_classes(y))
        found["gaps"].append(gap)
        found["rotation"].append(error_rate(y, _axes(vectors, align_incrementally(vectors)[0][-1])))
        alone = minimise_cost(unit_rows(vectors), np.eye(vectors.shape[1]))[0]
        found["one descent"].append(error_rate(y, _axes(vectors, alone)))
        found["kmeans"].append(_most_frequent_error(unit_rows(vectors), y, n_starts))
    return found


def _axes(vectors: Floats, rotation: Floats) -> Array:
    """Return, for each row, the axis that it is nearest to after a rotation."""
    nearest: Array = np.abs(unit_rows(vectors) @ rotation).argmax(axis=1)
    return nearest


def _most_frequent_error(rows: Floats, y: Any, n_starts: int) -> float:
    errors = [
        error_rate(
            y, KMeans(n_classes(y), init="random", n_init=1, random_state=seed).fit(rows).labels_
        )
        for seed in range(n_starts)
    ]
    return Counter(errors).most_common(1)[0][0]
