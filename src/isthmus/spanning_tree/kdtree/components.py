"""Components: joining them along edges, and labelling the tree with them."""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Ints, Labels
from isthmus.spanning_tree.kdtree.neighbours import HUGE
from isthmus.spanning_tree.kdtree.search import Best, Forest, offer_edge
from isthmus.spanning_tree.kdtree.simd import LANES

NEIGHBOURS = 0


@kernel_part
def find(parent: Labels, x: int) -> int:
    """Return the root of x's set, shortening the way there."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


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
def join_best(
    n_components: int,
    largest: int,
    best: Best,
    labels: Labels,
    parent: Labels,
    new_label: Labels,
    size: Labels,
    member: Labels,
    edge_a: Labels,
    edge_b: Labels,
    n_edges: int,
) -> tuple[int, int, int]:
    """Join components along their best edges; return components, edges and the largest one.

    parent : (>= n_components,), scratch
    new_label : (>= n_components,), out
        The new number of each old component.
    size, member, edge_a, edge_b : in and out
    """
    for c in range(n_components):
        parent[c] = c
    for c in range(n_components):
        if c == largest or best.distance[c] == HUGE:
            continue
        end = max(best.a[c], ~best.a[c])
        a = find(parent, labels[end])
        b = find(parent, labels[best.b[c]])
        if a != b:
            parent[max(a, b)] = min(a, b)
            edge_a[n_edges] = end
            edge_b[n_edges] = best.b[c]
            n_edges += 1
    n_left = 0
    for c in range(n_components):
        root = find(parent, c)
        if root == c:
            new_label[c] = n_left
            member[n_left] = member[c]
            size[n_left] = size[c]
            n_left += 1
        else:
            new_label[c] = new_label[root]
            size[new_label[c]] += size[c]
    largest = 0
    for c in range(n_left):
        if size[c] > size[largest]:
            largest = c
    return n_left, n_edges, largest


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


@kernel
def merge_best(best: Best, other: Best, n_components: int) -> None:
    """Offer the best edges that another worker has found."""
    for c in range(n_components):
        if other.distance[c] < HUGE:
            offer_edge(c, other.distance[c], np.int64(other.a[c]), np.int64(other.b[c]), best)
