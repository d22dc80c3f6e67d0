"""A fit → its clusters for several numbers of clusters, and how good they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any

import numpy as np

from isthmus._utils.parallel import map_in_threads
from isthmus._utils.tables import first_few, import_pandas, text_table
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.model_selection.silhouette import Silhouette
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.separation import gaps_of_clusters, margins_of

# The most rows that are printed.
_ROWS = 40


@dataclass(frozen=True, eq=False, repr=False)
class ClusterPath:
    """The clusters of one fit for several numbers of clusters. ``print`` shows a table.

    Row i of each attribute belongs to ``n_clusters[i]``.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
        The numbers of clusters, ascending.
    labels : ndarray of shape (m, n_samples), dtype int32
        What a fit with each number gives; -1 for noise, which counts nowhere else.
    inertia : ndarray of shape (m,)
        Its inertia.
    sizes : list of m arrays
        The number of rows of each of its clusters.
    margin : ndarray of shape (m,)
        The smallest margin of a cluster: its distance to the nearest other one, less the widest
        gap within it. Above 0 exactly where all clusters are consistent; see
        :func:`isthmus.theory.consistency`. Infinite for one cluster.
    silhouette : ndarray of shape (m,)
        The mean silhouette by transitive distances; see
        :func:`isthmus.model_selection.transitive_silhouette`. NaN for one cluster, which has none.

    See Also
    --------
    isthmus.TransitiveCut.path : Compute it.
    isthmus.plotting.plot_cluster_path : Draw it.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> path = TransitiveCut(2).fit([[0.0], [1.0], [5.0], [6.5]]).path(2, 3)
    >>> path.n_clusters.tolist(), path.labels_for(3).tolist()
    ([2, 3], [0, 0, 2, 1])
    """

    n_clusters: Ints
    labels: Labels
    inertia: Floats
    sizes: list[Ints]
    margin: Floats
    silhouette: Floats

    def labels_for(self, n_clusters: int) -> Labels:
        """Return the labels for one of the numbers of clusters: shape (n_samples,)."""
        rows = np.flatnonzero(self.n_clusters == n_clusters)
        if rows.size == 0:
            raise ValueError(
                f"The path goes from {self.n_clusters[0]} to {self.n_clusters[-1]} clusters, and "
                f"does not hold {n_clusters!r}."
            )
        labels: Labels = self.labels[rows[0]]
        return labels

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one row per number of clusters, its index; without labels."""
        pandas = import_pandas("to_frame()")
        columns = {
            "silhouette": self.silhouette,
            "margin": self.margin,
            "inertia": self.inertia,
            "largest": [int(sizes.max()) for sizes in self.sizes],
            "smallest": [int(sizes.min()) for sizes in self.sizes],
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.n_clusters, name="n_clusters"))

    def __len__(self) -> int:
        return len(self.n_clusters)

    def __repr__(self) -> str:
        low, high = self.n_clusters[0], self.n_clusters[-1]
        title = f"ClusterPath({self.labels.shape[1]} rows, {low} to {high} clusters)"
        header = ("k", "silhouette", "margin", "inertia", "sizes")
        rows = [
            (
                str(self.n_clusters[i]),
                f"{self.silhouette[i]:.4f}",
                f"{self.margin[i]:.4g}",
                f"{self.inertia[i]:.4g}",
                first_few(self.sizes[i].tolist()),
            )
            for i in range(min(len(self), _ROWS))
        ]
        more = [f"… and {len(self) - _ROWS} more"] if len(self) > _ROWS else []
        return "\n".join([title, *text_table(header, rows, left_last=True), *more])


@dataclass(frozen=True)
class Found:
    """The clusters for one number of them.

    Attributes
    ----------
    labels : (n_samples,) int32
        Of all rows; -1 for noise.
    on_tree : (n,) int32
        Of the points that were clustered: rows of weight 0 and noise are not among them.
    inertia : float
    """

    labels: Labels
    on_tree: Labels
    inertia: float


def cluster_path(
    tree: UltrametricTree,
    point_weights: Floats | None,
    solvers: dict[int, Callable[[], Found]],
    *,
    n_jobs: int,
    progress: Callable[[int, int], object] | None = None,
) -> ClusterPath:
    """Return the path over several numbers of clusters.

    They are shared among threads; the result does not depend on their number.

    Parameters
    ----------
    tree : UltrametricTree
        Of the points that were clustered.
    point_weights : (n,) float64, optional
        How many points each one stands for.
    solvers : dict
        For each number of clusters, ascending, the function that finds them.
    n_jobs : int
    progress : callable, optional
        Called as ``progress(done, total)``.
    """
    numbers = list(solvers)
    silhouette = Silhouette(tree, point_weights)
    n_done, one_at_a_time = count(1), Lock()

    def measure(k: int) -> tuple[Found, float, float]:
        found = solvers[k]()
        gaps = gaps_of_clusters(tree, found.on_tree.astype(np.int64), k)
        margin = float(margins_of(gaps.inside, gaps.outside).min())
        mean = silhouette.mean(found.on_tree, k) if k > 1 else np.nan
        with one_at_a_time:
            if progress is not None:
                progress(next(n_done), len(numbers))
        return found, margin, mean

    silhouette.arrays  # noqa: B018 -- shared by all threads, so computed before they begin
    measured = map_in_threads(measure, numbers, n_jobs)
    found, margins, means = zip(*measured, strict=True)
    return ClusterPath(
        n_clusters=np.array(numbers),
        labels=np.stack([each.labels for each in found]),
        inertia=np.array([each.inertia for each in found]),
        sizes=[
            np.bincount(each.labels[each.labels >= 0], minlength=k)
            for k, each in zip(numbers, found, strict=True)
        ],
        margin=np.array(margins),
        silhouette=np.array(means),
    )
