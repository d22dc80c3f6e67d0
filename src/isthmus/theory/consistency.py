"""UltrametricTree and labels → whether they are consistent (the paper's Definition 2).

A cluster C is consistent if, however it is divided in two, its parts are closer to each other than
any point outside is to C. Divided at its widest gap, its parts are as far apart as the two points
of C with the largest transitive distance; so C must be narrower than its distance to the outside,
and strictly so. The base distance, which the paper uses, and the transitive distance give the same
verdict on every labelling.

Both numbers can be read off the tree: see ``gaps_of_clusters``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.parameters import coded_labels
from isthmus._utils.tables import count, text_table
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.separation import gaps_of_clusters, margins_of
from isthmus.ultrametric.tree import check_tree

# The most clusters that are printed: those of the smallest margins.
_MAX_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Consistency:
    """Whether each of k clusters is consistent, and by which margin. ``print`` shows a table.

    Attributes
    ----------
    clusters : ndarray of shape (k,)
        The labels, in ascending order; all other attributes have the same order.
    sizes : ndarray of shape (k,)
        The number of points of each cluster.
    inside : ndarray of shape (k,)
        The widest gap within each cluster: the largest transitive distance of two of its points;
        0 for a single point.
    outside : ndarray of shape (k,)
        The smallest transitive distance to a point of another cluster, which is also the smallest
        base distance; infinite where there is no other cluster.
    inside_pairs : ndarray of shape (k, 2)
        Two points of the cluster that are ``inside`` apart; the same one twice where it has no
        other.
    outside_pairs : ndarray of shape (k, 2)
        A point of the cluster and one outside that are ``outside`` apart, also by the base
        distance if the tree knows its edges; -1 where there is none.

    See Also
    --------
    consistency : Compute it.
    isthmus.plotting.plot_consistency : Draw it.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [6.5]])
    >>> from isthmus.theory import consistency
    >>> found = consistency(tree, [0, 0, 1, 1])
    >>> found.consistent, found.margins.tolist()
    (True, [3.0, 2.5])
    """

    clusters: Array
    sizes: Ints
    inside: Floats
    outside: Floats
    inside_pairs: Ints
    outside_pairs: Ints

    @property
    def margins(self) -> Floats:
        """``outside - inside``, above 0 exactly where the cluster is consistent: shape (k,).

        Infinite where there is only one cluster, 0 where both numbers are infinite.
        """
        return margins_of(self.inside, self.outside)

    @property
    def consistent(self) -> bool:
        """Whether every cluster is narrower than its distance to the others."""
        return bool((self.margins > 0).all())

    @property
    def failing(self) -> Array:
        """The labels of the clusters that are not consistent."""
        failing: Array = self.clusters[~(self.margins > 0)]
        return failing

    def __repr__(self) -> str:
        return (
            f"Consistency(consistent={self.consistent}, n_clusters={len(self.clusters)}, "
            f"failing={len(self.failing)}, smallest_margin={self.margins.min():.4g})"
        )

    def __str__(self) -> str:
        n_clusters, n_failing, margins = len(self.clusters), len(self.failing), self.margins
        verdict = f"{n_failing} of them not consistent" if n_failing else "consistent"
        shown = np.sort(np.argsort(margins, kind="stable")[:_MAX_ROWS])
        numbers = np.column_stack([self.inside, self.outside, margins])
        header, *rows = text_table(
            ("cluster", "points", "inside", "outside", "margin"),
            [
                (str(self.clusters[c]), str(self.sizes[c]), *(f"{x:.4g}" for x in numbers[c]))
                for c in shown
            ],
        )
        marked = [
            row if margin > 0 else f"{row} !"
            for row, margin in zip(rows, margins[shown], strict=True)
        ]
        lines = [f"{count(n_clusters, 'cluster')}, {verdict}", header, *marked]
        if n_clusters > _MAX_ROWS:
            lines.append(f"… and {count(n_clusters - _MAX_ROWS, 'cluster')} with larger margins")
        return "\n".join(lines)


def consistency(tree: UltrametricTree, labels: Any) -> Consistency:
    """Return whether a labelling is consistent in the sense of the paper, and where it is not.

    Definition 2 demands of every cluster C: however C is divided into two parts, these are closer
    to each other than any point outside is to C. That holds exactly where
    ``inside < outside``, strictly: equality is not enough. A single point, which cannot be divided,
    counts as 0 wide; so equal points in different clusters are never consistent, since the
    paper's points are distinct. A single cluster always is.

    Parameters
    ----------
    tree : UltrametricTree
    labels : array-like of shape (n_points,)
        The cluster of each point: integers or strings.

    Returns
    -------
    Consistency

    See Also
    --------
    Consistency : What is returned.
    consistent_partitions : Which numbers of clusters can be consistent.
    isthmus.plotting.plot_consistency : Draw the margins.

    Notes
    -----
    O(n) for integers within a range of 4n; other labels are sorted.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> from isthmus.theory import consistency
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    >>> consistency(tree, [0, 0, 1, 1]).consistent
    True
    >>> consistency(tree, [0, 1, 1, 1]).failing.tolist()
    [1]
    """
    check_tree(tree)
    clusters, codes = coded_labels(labels, tree.n_points)
    gaps = gaps_of_clusters(tree, codes, len(clusters))
    return Consistency(
        clusters, gaps.sizes, gaps.inside, gaps.outside, gaps.inside_pairs, gaps.outside_pairs
    )
