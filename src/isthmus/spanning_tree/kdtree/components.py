"""Components: joining them along edges, and labelling the tree with them."""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Ints, Labels
from isthmus.spanning_tree.boruvka import Joined, find
from isthmus.spanning_tree.kdtree.neighbours import Neighbours
from isthmus.spanning_tree.kdtree.search import Forest
from isthmus.spanning_tree.simd import LANES

NEIGHBOURS = 0


@kernel_part
def unite(a: int, b: int, joined: Joined, n_edges: int) -> int:
    """Join the sets of two places by an edge, if they differ; return the new number of edges.

    Both ways up are walked at once, always from where the parent is larger, and that parent gives
    way to the smaller one: Rem's algorithm, which often ends before it has come to a root.
    """
    parent = joined.parent
    i, j = a, b
    while parent[i] != parent[j]:
        if parent[i] < parent[j]:
            i, j = j, i
        above = parent[i]
        parent[i] = parent[j]
        if above == i:
            joined.edge_a[n_edges] = a
            joined.edge_b[n_edges] = b
            return n_edges + 1
        i = above
    return n_edges


@kernel_part
def are_nearest(found: Neighbours, i: int, j: int) -> bool:
    """Whether i, a point with several nearest neighbours, is as near to j, one of them, as any."""
    if found.used[j] > 1:
        return bool(found.known[j] == found.known[i])
    return bool(found.places[j * NEIGHBOURS] == i)


@kernel_part
def is_listed(found: Neighbours, i: int, j: int) -> bool:
    """Whether j is in the list of i."""
    for t in range(i * NEIGHBOURS, (i + 1) * NEIGHBOURS):
        if found.places[t] == j:
            return True
    return False


@kernel_part
def join_equally_near(found: Neighbours, joined: Joined) -> int:
    """Join points that have several nearest neighbours with these; return the number of edges.

    First all pairs that are nearest neighbours of each other. No point of such a set has anything
    nearer than these, all equally far. So the set may then be joined to one neighbour more that is
    just as far, and has something nearer itself; to two, it could close a circle with shorter edges
    that are found later.
    """
    n_points = joined.parent.shape[0]
    n_edges = 0
    for i in range(n_points):
        for t in range(found.used[i] if found.used[i] > 1 else 0):
            j = np.int64(found.places[i * NEIGHBOURS + t])
            if are_nearest(found, i, j) and (j > i or not is_listed(found, j, i)):
                n_edges = unite(i, j, joined, n_edges)
    has_gone_out = joined.size
    has_gone_out[:] = 0
    for i in range(n_points):
        for t in range(found.used[i] if found.used[i] > 1 else 0):
            j = np.int64(found.places[i * NEIGHBOURS + t])
            if are_nearest(found, i, j) or has_gone_out[find(joined.parent, i)]:
                continue
            n_before = n_edges
            n_edges = unite(i, j, joined, n_edges)
            if n_edges > n_before:
                has_gone_out[find(joined.parent, i)] = 1
    return n_edges


@kernel
def join_nearest(found: Neighbours, joined: Joined, labels: Labels) -> tuple[int, int]:
    """Do the first round: each point joins its nearest neighbour, or several equally near ones.

    found.used is set to the number of entries that are known to lie in the point's component.
    labels, (>= n,), is filled with the component of each place, numbered from 0.

    Returns the number of components and of edges.
    """
    n_points = joined.parent.shape[0]
    for i in range(n_points):
        joined.parent[i] = i
    n_edges = join_equally_near(found, joined)
    for i in range(n_points):
        if found.used[i] == 1:
            n_edges = unite(i, np.int64(found.places[i * NEIGHBOURS]), joined, n_edges)
        else:
            found.used[i] = 0
    n_components = 0
    for i in range(n_points):
        root = find(joined.parent, i)
        if root == i:  # roots come before all else in their set
            labels[i] = n_components
            joined.member[n_components] = i
            joined.size[n_components] = 0
            n_components += 1
        labels[i] = labels[root]
        joined.size[labels[i]] += 1
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
