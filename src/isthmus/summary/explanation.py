"""A clustering → why each cluster is one: features, a rule, representatives, its neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from isthmus._utils.rounding import TIE
from isthmus._utils.tables import count, first_few, import_pandas, told_apart
from isthmus._utils.typing import Floats, Ints
from isthmus.summary.feature_means import feature_means
from isthmus.summary.representatives import Bridge, boundary_points, bridges, typical_points
from isthmus.summary.rules import Rule, find_rules
from isthmus.ultrametric import UltrametricTree


class FeatureDifference(NamedTuple):
    """How a cluster differs from the other rows in a feature.

    Attributes
    ----------
    name : str
    effect : float
        The difference of the means over the standard deviation of all rows.
    inside, outside : float
        The means of the cluster and of the other rows.

    See Also
    --------
    ClusterExplanation : Lists them.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> points = [[0.0, 3.0], [0.1, 2.0], [0.2, 4.0], [5.0, 3.0], [5.1, 2.0]]
    >>> explanations = TransitiveCut(n_clusters=2).fit(points).explain()
    >>> largest = explanations[1].differences[0]
    >>> largest.name, round(largest.inside, 2), round(largest.outside, 2)
    ('x0', 5.05, 0.1)
    """

    name: str
    effect: float
    inside: float
    outside: float


@dataclass(frozen=True)
class ClusterExplanation:
    """Why one cluster is one.

    Attributes
    ----------
    cluster, size : int
        Its number, and that of its rows that the tree holds.
    differences : tuple of FeatureDifference
        The features in which it differs most from the other rows, the largest difference first.
    rule : Rule or None
        Conditions that tell it from the other rows, with precision and recall; None without
        features.
    typical : tuple of int
        Rows of the smallest sums of transitive distances to its rows; the first is its medoid.
    boundary : tuple of int
        Rows at which the spanning tree leaves it, by the shortest edges.
    bridge : Bridge or None
        The nearest other cluster, the two rows between which the tree leads there, and how far
        apart these are; None where there is no other cluster.

    See Also
    --------
    ClusterExplanations : Those of all clusters.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> points = [[0.0, 3.0], [0.1, 2.0], [0.2, 4.0], [5.0, 3.0], [5.1, 2.0]]
    >>> explanations = TransitiveCut(n_clusters=2).fit(points).explain()
    >>> explanations[1].size, explanations[1].typical, explanations[1].boundary
    (2, (3, 4), (3,))
    """

    cluster: int
    size: int
    differences: tuple[FeatureDifference, ...]
    rule: Rule | None
    typical: tuple[int, ...]
    boundary: tuple[int, ...]
    bridge: Bridge | None

    def __str__(self) -> str:
        lines = [f"cluster {self.cluster}: {count(self.size, 'row')}"]
        for name, effect, *means in self.differences:
            inside, outside = told_apart(*means)
            lines.append(f"  {name}: {inside}, others {outside} ({effect:+.1f} σ)")
        if self.rule is not None:
            figures = f"precision {self.rule.precision:.2f}, recall {self.rule.recall:.2f}"
            lines.append(f"  rule: {self.rule.text} ({figures})")
        lines.append(f"  typical rows: {first_few(self.typical)}")
        if self.bridge is not None:
            near, far = self.bridge.rows
            lines.append(f"  boundary rows: {first_few(self.boundary)}")
            lines.append(
                f"  nearest: cluster {self.bridge.cluster}, from row {near} to row {far}, "
                f"{self.bridge.hop:.4g} away"
            )
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class ClusterExplanations:
    """Why each cluster is one; ``print`` shows it, and ``explanations[c]`` is cluster c's.

    Attributes
    ----------
    clusters : tuple of ClusterExplanation

    See Also
    --------
    isthmus.TransitiveCut.explain : Compute it.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> points = [[0.0, 3.0], [0.1, 2.0], [0.2, 4.0], [5.0, 3.0], [5.1, 2.0]]
    >>> explanations = TransitiveCut(n_clusters=2).fit(points).explain()
    >>> explanations
    ClusterExplanations(n_clusters=2)
    >>> print(explanations[1].rule.text)
    x0 > 2.6
    """

    clusters: tuple[ClusterExplanation, ...]

    def __len__(self) -> int:
        return len(self.clusters)

    def __getitem__(self, cluster: int) -> ClusterExplanation:
        return self.clusters[cluster]

    def __iter__(self) -> Iterator[ClusterExplanation]:
        return iter(self.clusters)

    def __repr__(self) -> str:
        return f"ClusterExplanations(n_clusters={len(self)})"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.clusters))

    def to_frame(self) -> Any:
        """Return a pandas data frame: a row for each cluster and each feature that is listed."""
        pd = import_pandas("to_frame()")
        rows = [(each.cluster, *difference) for each in self for difference in each.differences]
        columns = ["cluster", "feature", "effect", "inside", "outside"]
        return pd.DataFrame(rows, columns=columns)


class ExplainedRows(NamedTuple):
    """What was clustered, and the features to explain it by.

    Attributes
    ----------
    tree : UltrametricTree
    codes : (n,) int64
        The cluster of each point, from 0; none is empty.
    point_weights : (n,) float64 or None
    rows : (n,) int64
        The row of each point.
    numbers : (n, d) array or CSR matrix
        The features of the points; d may be 0.
    names : list of d str
    """

    tree: UltrametricTree
    codes: Ints
    point_weights: Floats | None
    rows: Ints
    numbers: Any
    names: list[str]


def explain(explained: ExplainedRows, max_depth: int, n_listed: int) -> ClusterExplanations:
    """Return why each cluster is one, with as many conditions, and features and rows listed."""
    tree, codes, point_weights, rows, numbers, names = explained
    n_clusters = int(codes.max()) + 1
    weights = np.ones(len(codes)) if point_weights is None else point_weights
    differences: list[tuple[FeatureDifference, ...]] = [()] * n_clusters
    rules: list[Rule | None] = [None] * n_clusters
    if names:
        differences = _largest_differences(numbers, names, codes, weights, n_listed)
        rules = [*find_rules(numbers, names, codes, weights, max_depth)]
    typical = typical_points(tree, codes, point_weights, n_listed)
    boundary = boundary_points(tree, codes, n_listed)
    nearest, sizes = bridges(tree, codes, rows), np.bincount(codes)
    return ClusterExplanations(
        tuple(
            ClusterExplanation(
                c,
                int(sizes[c]),
                differences[c],
                rules[c],
                tuple(rows[typical[c]].tolist()),
                tuple(rows[boundary[c]].tolist()),
                nearest[c],
            )
            for c in range(n_clusters)
        )
    )


def _largest_differences(
    numbers: Any, names: list[str], codes: Ints, weights: Floats, n_listed: int
) -> list[tuple[FeatureDifference, ...]]:
    """Return the features in which each cluster differs most; missing values are left out."""
    spread = _standard_deviations(numbers, weights)
    found: list[tuple[FeatureDifference, ...]] = []
    for cluster in range(int(codes.max()) + 1):
        sides = (codes == cluster).astype(np.int32)
        means = None if sides.all() else feature_means(numbers, sides, weights)
        if means is None:  # there is no other cluster, or there are too many features
            found.append(())
            continue
        outside, inside = means
        effect = np.divide(inside - outside, spread, out=np.zeros(len(spread)), where=spread > 0.0)
        order = np.argsort(-np.abs(np.nan_to_num(effect)), kind="stable")[:n_listed].tolist()
        found.append(
            tuple(
                FeatureDifference(names[j], float(effect[j]), float(inside[j]), float(outside[j]))
                for j in order
                if abs(np.nan_to_num(effect[j])) > TIE
            )
        )
    return found


def _standard_deviations(numbers: Any, weights: Floats) -> Floats:
    """Return the standard deviation of each feature over all rows, without missing values."""
    all_rows = np.zeros(len(weights), dtype=np.int32)
    mean = feature_means(numbers, all_rows, weights)
    assert mean is not None  # numbers have features, and there is one cluster
    if issparse(numbers):
        squares = feature_means(numbers.multiply(numbers).tocsr(), all_rows, weights)
        assert squares is not None
        return np.asarray(np.sqrt(np.maximum(squares[0] - mean[0] ** 2, 0.0)))
    deviations = numbers / 2.0 - mean[0] / 2.0  # halves, which do not overflow
    largest = np.fmax.reduce(np.abs(deviations), axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    variance = feature_means((deviations / unit) ** 2, all_rows, weights)
    assert variance is not None
    return np.asarray(2.0 * unit * np.sqrt(variance[0]))
