"""Points → how far K-means on them and on the rows of their distance matrix agree.

This measures the paper's observation that both give nearly the same clusters where these are round
or elliptic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from isthmus._utils.parameters import check_integer, check_n_clusters
from isthmus._utils.typing import Array, Ints
from isthmus.estimators import KMeansDuality
from isthmus.evaluation import match_labels
from isthmus.metrics.validation import check_points


@dataclass(frozen=True, eq=False, repr=False)
class DualityGap:
    """Two clusterings of the same n points: by their coordinates, and by their distances.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        K-means on the points.
    dual_labels : ndarray of shape (n,)
        K-means on the rows of the distance matrix, its clusters renamed to match ``labels`` best.

    See Also
    --------
    duality_gap : Compute it.

    Examples
    --------
    >>> from isthmus.theory import duality_gap
    >>> gap = duality_gap([[0.0], [0.1], [5.0], [5.1]], 2, random_state=0)
    >>> gap.share, gap.differing.tolist()
    (0.0, [])
    """

    labels: Array
    dual_labels: Array

    @property
    def differing(self) -> Ints:
        """The points that the two label differently."""
        return np.flatnonzero(self.labels != self.dual_labels)

    @property
    def share(self) -> float:
        """Their share of all points, between 0 and 1."""
        return len(self.differing) / len(self.labels)

    def __repr__(self) -> str:
        return (
            f"DualityGap(share={self.share:.4g}, differing={len(self.differing)} of "
            f"{len(self.labels)} points)"
        )


def duality_gap(
    X: Any, n_clusters: int, *, random_state: Any = None, n_init: int = 10
) -> DualityGap:
    """Compare K-means on points with K-means on the rows of their distance matrix.

    Both begin with the same points as centres, ``n_init`` times, and both keep the clustering of
    their own smallest inertia. So differences are due to the distances and not to the starts.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
    n_clusters : int
    random_state : int, RandomState or None, default=None
        Chooses the starts; an int makes the result reproducible.
    n_init : int, default=10
        The number of starts.

    Returns
    -------
    DualityGap

    See Also
    --------
    DualityGap : What is returned.
    isthmus.KMeansDuality : K-means on the rows of a distance matrix.

    Notes
    -----
    Needs the n × n matrix of distances.

    Examples
    --------
    >>> from isthmus.theory import duality_gap
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> duality_gap(points, 2, random_state=0)
    DualityGap(share=0, differing=0 of 5 points)
    """
    points = check_points(X)
    k = check_n_clusters(n_clusters, len(points))
    n_init = check_integer(n_init, "n_init", 1)
    # One seed for both: both draw from n rows, so they draw the same ones.
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    settings: dict[str, Any] = {"init": "random", "n_init": n_init, "random_state": seed}
    labels = KMeans(k, **settings).fit(points).labels_
    dual = KMeansDuality(k, **settings).fit(points).labels_
    return DualityGap(labels, match_labels(labels, dual))
