"""Labels of the nodes of a tree, and from them those of its leaves."""

from __future__ import annotations

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Ints, Labels

# The label of a node whose points are not all of one cluster.
MIXED = -1


@kernel
def propagate_labels(children: Ints, node_labels: Labels) -> None:
    """Give the children of every node that is not mixed its label, in place."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        label = node_labels[n_points + e]
        if label != MIXED:
            node_labels[children[e, 0]] = label
            node_labels[children[e, 1]] = label
