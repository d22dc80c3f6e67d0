"""CUT from below: join the two parts whose edge scores least, until one is left: a hierarchy.

An edge of the spanning tree scores ``w · a · b / (a + b)``, as in cut.py, with a and b the weights
of the two parts that it connects. Each point begins as a part of its own, and the edge of the
smallest score joins its two. That changes the scores of the edges round them, but parts only grow,
so scores only grow: an edge's last known score is a lower bound. A heap holds these bounds. Its
first edge is measured again; if it scores more by now it moves down, else it joins (join_groups.py
has the details). So the scores of joins never fall, and the parts for each number of clusters
divide those for the next smaller.
Scores that agree to 12 digits are a tie: of these edges the first in the spanning tree's total
order joins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.parameters import as_real, check_n_clusters
from isthmus._utils.rounding import in_range, product, unit_of
from isthmus._utils.typing import Floats, Labels
from isthmus.cut.divisive import INFINITE
from isthmus.cut.merge_order import edges_as_joined
from isthmus.cut.numbering import numbers_by_weight
from isthmus.metrics.validation import check_sample_weight
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import merges_of_edges
from isthmus.ultrametric.node_labels import MIXED, propagate_labels
from isthmus.ultrametric.tree import check_tree


def cut_hierarchy(tree: UltrametricTree, *, sample_weight: Any = None) -> Floats:
    """Return a hierarchy of clusters: CUT, the default start of K-means, from below.

    Each point begins as a cluster of its own. The edge of the spanning tree with the smallest
    ``w · a · b / (a + b)`` joins its two clusters, a and b being their numbers of points, and so
    on. Clusters for k are parts of those for k - 1, which K-means does not promise. Where points
    are infinitely far apart, their edges come last, those of the smallest clusters first.

    Parameters
    ----------
    tree : UltrametricTree
    sample_weight : array-like of shape (n_points,), optional
        How many points each one stands for, above 0: a and b are sums of it.

    Returns
    -------
    ndarray of shape (n_points - 1, 4)
        A linkage matrix as SciPy's: two clusters, the score of the edge that joined them, and
        their number of points. Scores never fall; where rounding makes one smaller than the one
        before by a last digit, it is raised to that. :func:`hierarchy_labels` makes labels of it;
        so does ``scipy.cluster.hierarchy.fcluster(Z, k, "maxclust")``, which keeps joins of equal
        scores together.

    Examples
    --------
    >>> from isthmus import UltrametricTree, cut_hierarchy, hierarchy_labels
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    >>> cut_hierarchy(tree)
    array([[0. , 1. , 0.5, 2. ],
           [2. , 3. , 1. , 2. ],
           [4. , 5. , 4. , 4. ]])
    >>> hierarchy_labels(cut_hierarchy(tree), 3).tolist()
    [0, 0, 1, 2]
    """
    check_tree(tree)
    point_weights = check_sample_weight(sample_weight, tree.n_points)
    if point_weights is not None and not point_weights.all():
        raise ValueError(
            f"sample_weight must be above 0, but that of point {int(point_weights.argmin())} is 0. "
            "A point that does not count is left out of the tree, as a fit does."
        )
    return linkage_of_joins(tree, point_weights)


def linkage_of_joins(
    tree: UltrametricTree, point_weights: Floats | None, unit: float = 1.0
) -> Floats:
    """Return the linkage of checked input, (n - 1, 4); the heights of the tree are in this unit."""
    point_weights, weight_unit = in_range(point_weights)
    height_unit = unit_of(tree.heights)
    weights = np.minimum(tree.heights / height_unit, INFINITE)
    mass = np.ones(tree.n_points) if point_weights is None else point_weights[tree.leaf_order]
    # Points that are close in the leaf order are close in memory, and mostly joined by edges.
    joined, scores = edges_as_joined(tree.starts[tree.spanning_tree.edges], weights, mass)
    with np.errstate(over="ignore", under="ignore"):
        scores *= product([height_unit, weight_unit, unit])
    scores[np.isinf(tree.heights[joined])] = np.inf
    children, sizes = merges_of_edges(tree.spanning_tree.edges[joined])
    return np.column_stack(
        [
            children.astype(np.float64),
            np.maximum.accumulate(scores),
            sizes[tree.n_points :],
        ]
    )


def hierarchy_labels(Z: Any, n_clusters: int) -> Labels:
    """Return the labels that a linkage matrix holds for a number of clusters.

    They are the clusters that its last n_clusters - 1 joins would unite, exactly so many, also
    where scores are equal.

    Parameters
    ----------
    Z : array-like of shape (n_points - 1, 4)
        As :func:`cut_hierarchy` returns it, or any of SciPy's.
    n_clusters : int
        From 1 to the number of points.

    Returns
    -------
    ndarray of shape (n_points,), dtype int32
        Clusters are numbered from the largest to the smallest; of equal ones, by their first point.
    """
    linkage = as_real(Z, "Z")
    if np.isnan(linkage).any():
        raise ValueError("Z must be a linkage matrix, and holds NaN.")
    if linkage.shape != (0, 4):  # of a single point, which SciPy does not know
        from scipy.cluster.hierarchy import is_valid_linkage  # loads slowly, and is rarely needed

        is_valid_linkage(linkage, throw=True, name="Z")
    n_points = len(linkage) + 1
    k = check_n_clusters(n_clusters, n_points)
    children = linkage[:, :2].astype(np.int64)
    n_joins = n_points - k
    node_labels = np.full(2 * n_points - 1, MIXED, dtype=np.int32)
    nodes = np.append(children[n_joins:], 2 * n_points - 2)
    node_labels[nodes[nodes < n_points + n_joins]] = np.arange(k)
    propagate_labels(children, node_labels)
    return numbers_by_weight(node_labels[:n_points], None)
