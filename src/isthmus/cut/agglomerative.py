"""CUT from below: merge the two parts whose edge scores least, until one is left: a hierarchy.

Each point begins as a part of its own, and the edge of the smallest score (see score.py) merges the
two parts that it connects. That changes the scores of the edges round them, but parts only grow, so
scores only grow: an edge's last known score is a lower bound. A heap holds these bounds. The score
of its first edge is computed again; if it is larger by now the edge moves down, else its parts
merge (merge_order.py has the details). So the scores of merges never fall, and the parts for each
number of clusters divide those for the next smaller one.
Of edges whose scores are a tie the first in the spanning tree's total order merges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.parameters import check_n_clusters
from isthmus._utils.rounding import in_range, product, unit_of
from isthmus._utils.typing import Floats, Labels
from isthmus.cut.merge_order import merge_order
from isthmus.cut.numbering import numbers_by_weight
from isthmus.cut.score import finite_weights
from isthmus.metrics.validation import check_sample_weight
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import merges_of_edges
from isthmus.ultrametric.node_labels import MIXED, propagate_labels
from isthmus.ultrametric.tree import check_tree


@dataclass(frozen=True, eq=False)
class CutHierarchy:
    """Nested clusters for all numbers of clusters.

    Attributes
    ----------
    linkage : ndarray of shape (n_points - 1, 4)
        A linkage matrix as SciPy's: two clusters, the score of the edge that joined them, and
        their number of points. Scores never fall; where rounding makes one smaller than the one
        before by a last digit, it is raised to that.

    See Also
    --------
    cut_hierarchy : Compute it.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> from isthmus.cut import cut_hierarchy
    >>> hierarchy = cut_hierarchy(UltrametricTree.from_data([[0.0], [1.0], [5.0], [6.5]]))
    >>> hierarchy.labels_for(2).tolist(), hierarchy.labels_for(3).tolist()
    ([0, 0, 1, 1], [0, 0, 1, 2])
    """

    linkage: Floats

    def labels_for(self, n_clusters: int) -> Labels:
        """Return the labels for a number of clusters, from 1 to the number of points.

        They are the clusters that the last n_clusters - 1 joins would unite: exactly that many,
        also where scores are equal (``scipy.cluster.hierarchy.fcluster`` keeps such joins
        together). Clusters are numbered from the largest to the smallest; of equal ones, by their
        first point.
        """
        n_points = len(self.linkage) + 1
        k = check_n_clusters(n_clusters, n_points)
        children = self.linkage[:, :2].astype(np.int64)
        n_joins = n_points - k
        node_labels = np.full(2 * n_points - 1, MIXED, dtype=np.int32)
        nodes = np.append(children[n_joins:], 2 * n_points - 2)
        node_labels[nodes[nodes < n_points + n_joins]] = np.arange(k)
        propagate_labels(children, node_labels)
        return numbers_by_weight(node_labels[:n_points], None)


def cut_hierarchy(tree: UltrametricTree, *, sample_weight: Any = None) -> CutHierarchy:
    """Return a hierarchy of clusters: CUT from below.

    Each point begins as a cluster of its own. The edge of the spanning tree with the smallest
    ``w · a · b / (a + b)`` joins its two clusters, a and b being their numbers of points, and so
    on. Clusters for k are parts of those for k - 1, which K-means does not promise. Where points
    are infinitely far apart, their edges come last, those of the smallest clusters first.

    Parameters
    ----------
    tree : UltrametricTree
        As a fit leaves it in ``tree_``.
    sample_weight : array-like of shape (n_points,), optional
        How many points each one stands for, above 0: a and b are sums of it.

    Returns
    -------
    CutHierarchy
        ``linkage``, a linkage matrix as SciPy's, and ``labels_for(n_clusters)``.

    See Also
    --------
    CutHierarchy : What is returned.
    isthmus.TransitiveCut : CUT from the top; its ``labels_for`` is nested as well.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> from isthmus.cut import cut_hierarchy
    >>> hierarchy = cut_hierarchy(UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]]))
    >>> hierarchy.linkage
    array([[0. , 1. , 0.5, 2. ],
           [2. , 3. , 1. , 2. ],
           [4. , 5. , 4. , 4. ]])
    >>> hierarchy.labels_for(3).tolist()
    [0, 0, 1, 2]
    """
    check_tree(tree)
    point_weights = check_sample_weight(sample_weight, tree.n_points)
    if point_weights is not None and not point_weights.all():
        raise ValueError(
            f"sample_weight must be above 0, but that of point {int(point_weights.argmin())} is 0. "
            "A point that does not count is left out of the tree, as a fit does."
        )
    return CutHierarchy(linkage_of_tree(tree, point_weights))


def linkage_of_tree(tree: UltrametricTree, point_weights: Floats | None) -> Floats:
    """Return the linkage of checked input: (n - 1, 4)."""
    point_weights, weight_unit = in_range(point_weights)
    height_unit = unit_of(tree.heights)
    in_order = np.ones(tree.n_points) if point_weights is None else point_weights[tree.leaf_order]
    # Points that are close in the leaf order are close in memory, and mostly connected by edges.
    edges = tree.starts[tree.spanning_tree.edges]
    order, scores = merge_order(edges, finite_weights(tree.heights, height_unit), in_order)
    with np.errstate(over="ignore", under="ignore"):
        scores *= product([height_unit, weight_unit])
    scores[np.isinf(tree.heights[order])] = np.inf
    children, sizes = merges_of_edges(tree.spanning_tree.edges[order])
    scores = np.maximum.accumulate(scores)
    return np.column_stack([children.astype(np.float64), scores, sizes[tree.n_points :]])
