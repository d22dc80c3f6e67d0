"""Components: joining them along edges, and labelling the tree with them."""

from __future__ import annotations

from isthmus._compile import kernel
from isthmus._typing import Ints, Labels
from isthmus.spanning_tree.boruvka import find
from isthmus.spanning_tree.kdtree.search import Forest
from isthmus.spanning_tree.simd import LANES

NEIGHBOURS = 0


@kernel
def join_nearest(
    places: Labels,
    parent: Labels,
    labels: Labels,
    edge_a: Labels,
    edge_b: Labels,
    size: Labels,
    member: Labels,
) -> tuple[int, int]:
    """Do the first round: each point joins its nearest neighbour.

    places : (n * NEIGHBOURS,), in
    parent : (n,), out
    labels : (>= n,), out
        The component of each place, numbered from 0.
    edge_a, edge_b : (n - 1,), out
    size, member : (n,), out
        Of each component, its number of points and one of them.

    Returns the number of components and of edges.
    """
    n_points = parent.shape[0]
    for i in range(n_points):
        parent[i] = i
    n_edges = 0
    for i in range(n_points):
        j = places[i * NEIGHBOURS]
        a = find(parent, i)
        b = find(parent, j)
        if a != b:
            parent[max(a, b)] = min(a, b)
            edge_a[n_edges] = i
            edge_b[n_edges] = j
            n_edges += 1
    n_components = 0
    for i in range(n_points):
        root = find(parent, i)
        if root == i:  # roots come before all else in their set
            labels[i] = n_components
            member[n_components] = i
            size[n_components] = 0
            n_components += 1
        labels[i] = labels[root]
        size[labels[i]] += 1
    return n_components, n_edges


@kernel
def relabel_leaves(forest: Forest, new_label: Labels, n_points: int, start: int, stop: int) -> None:
    """Give the places of leaves start … stop - 1 their new labels, and label the leaves.

    new_label may be empty: then labels are right already, and only leaves are labelled. Places
    beyond the last point get the label of the last one.
    """
    labels = forest.labels
    for leaf in range(start, stop):
        pure = True
        first = leaf * LANES
        for place in range(first, first + LANES):
            if place < n_points:
                if new_label.shape[0] > 0:
                    labels[place] = new_label[labels[place]]
            else:
                labels[place] = labels[place - 1]
            pure = pure and labels[place] == labels[first]
        forest.node_labels[leaf] = labels[first] if pure else -1


@kernel
def relabel_nodes(node_labels: Labels, first_block: Ints, n_nodes: Ints) -> None:
    """Label all nodes above the leaves."""
    for level in range(1, n_nodes.shape[0]):
        for node in range(n_nodes[level]):
            begin = (first_block[level - 1] + node) * LANES
            label = node_labels[begin]
            for child in range(1, min(LANES, n_nodes[level - 1] - node * LANES)):
                if node_labels[begin + child] != label:
                    label = -1
            node_labels[first_block[level] * LANES + node] = label
