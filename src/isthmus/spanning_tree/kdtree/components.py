"""Components: joining them along edges, and labelling the tree with them."""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._numba.simd import LANES, lanes_other_than
from isthmus._utils.typing import Ints, Labels
from isthmus.spanning_tree.kdtree.knn import Neighbours
from isthmus.spanning_tree.kdtree.query import Forest
from isthmus.spanning_tree.union_find import Joined, find, unite

NEIGHBOURS = 0


@kernel_part
def are_mutual(found: Neighbours, i: int, j: int) -> bool:
    """Whether nothing is nearer to j than i, which has several nearest neighbours, j among them."""
    if found.used[j] > 1:
        return bool(found.known[j] == found.known[i])
    return bool(found.places[j * NEIGHBOURS] == i)


@kernel_part
def number_sets(parent: Labels, labels: Labels, size: Labels, member: Labels) -> int:
    """Fill the labels of all places, and the sizes and a member of their sets; return how many."""
    n_sets = 0
    for i in range(parent.shape[0]):
        above = np.int64(parent[i])
        if above == i:
            label = np.int32(n_sets)
            member[n_sets] = i
            size[n_sets] = 0
            n_sets += 1
        else:  # parents come before their children, so this one has its label
            label = labels[above]
        labels[i] = label
        size[np.int64(label)] = size[np.int64(label)] + 1
    return n_sets


@kernel_part
def join(joined: Joined, i: int, j: int, n_edges: int) -> int:
    """Join two places by an edge, unless they are in one set; return the number of edges then."""
    if unite(joined.parent, i, j):
        joined.edge_a[n_edges] = i
        joined.edge_b[n_edges] = j
        n_edges += 1
    return n_edges


@kernel_part
def join_equally_near(
    found: Neighbours, joined: Joined, n_edges: int, mutual: bool
) -> tuple[int, bool]:
    """Join points that have several nearest neighbours to these; see join_ties.

    mutual : bool
        Whether to join those that are nearest neighbours of each other, or the others.

    Returns the number of edges then, and whether pairs were left for the other choice.
    """
    parent, has_gone_out = joined.parent, joined.size
    are_left = False
    for i in range(parent.shape[0]):
        n_nearest = np.int64(found.used[i])
        for t in range(n_nearest if n_nearest > 1 else 0):
            j = np.int64(found.places[i * NEIGHBOURS + t])
            if parent[i] == parent[j]:  # as most are before long
                continue
            if are_mutual(found, i, j) != mutual:
                are_left = True
                continue
            if not mutual and has_gone_out[find(parent, i)] > 0:
                continue
            n_before = n_edges
            n_edges = join(joined, i, j, n_edges)
            if not mutual and n_edges > n_before:
                has_gone_out[find(parent, i)] = 1
    return n_edges, are_left


@kernel
def join_ties(found: Neighbours, joined: Joined) -> int:
    """Begin the first round, in which each point joins its nearest neighbour, or several of them.

    Of points that have several equally near ones, first all pairs are joined that are nearest
    neighbours of each other. No point of such a set has anything nearer than these, all equally
    far. So the set may then be joined to one neighbour more that is just as far, and has something
    nearer itself; to two, it could close a circle with shorter edges that are found later. All
    other points join their one nearest neighbour next: join_to_nearest.

    Returns the number of edges.
    """
    for i in range(joined.parent.shape[0]):
        joined.parent[i] = i
        joined.size[i] = 0
    n_edges = np.int64(0)
    are_left = True
    for turn in range(2):
        if are_left:
            n_after, are_left = join_equally_near(found, joined, n_edges, turn == 0)
            n_edges = np.int64(n_after)
    return int(n_edges)


@kernel
def join_to_nearest(
    found: Neighbours,
    joined: Joined,
    start: int,
    stop: int,
    edge_a: Labels,
    edge_b: Labels,
    counts: Ints,
) -> None:
    """Join points at places start … stop - 1 to their one nearest neighbour, if it is among them.

    Those whose neighbour is elsewhere are left for later, in joined.member from start on.
    found.used is set to the number of entries that are known to lie in the point's component.

    edge_a, edge_b : (>= stop - start - 1,) int32, out
        The ends of the new edges.
    counts : (2,) int64, out
        How many edges there are, and how many points are left.
    """
    n_edges = 0
    n_left = 0
    for i in range(start, stop):
        if found.used[i] != 1:
            found.used[i] = 0
            continue
        nearest = np.int64(found.places[i * NEIGHBOURS])
        if nearest < start or nearest >= stop:
            joined.member[start + n_left] = i
            n_left += 1
        elif unite(joined.parent, i, nearest):
            edge_a[n_edges] = i
            edge_b[n_edges] = nearest
            n_edges += 1
    counts[0] = n_edges
    counts[1] = n_left


@kernel
def end_first_round(
    found: Neighbours, joined: Joined, left: Ints, n_edges: int, labels: Labels
) -> int:
    """Join the points that are left to their nearest neighbours; number the components.

    left : (n, 2) int64
        Where, in joined.member, points that are left begin, and how many there are.
    labels : (>= n,) int32, out
        The component of each place, numbered from 0.

    Returns the number of components.
    """
    for part in range(left.shape[0]):
        for k in range(left[part, 0], left[part, 0] + left[part, 1]):
            i = np.int64(joined.member[k])
            nearest = np.int64(found.places[i * NEIGHBOURS])
            n_edges = join(joined, i, nearest, n_edges)
    return number_sets(joined.parent, labels, joined.size, joined.member)


@kernel
def relabel_leaves(forest: Forest, new_label: Labels, n_points: int, start: int, stop: int) -> None:
    """Give the places of leaves start … stop - 1 their new labels, and label the leaves.

    new_label may be empty: then labels are right already, and only leaves are labelled. Places
    beyond the last point get the label of the last one.
    """
    labels = forest.labels
    for leaf in range(start, stop):
        first = leaf * LANES
        if new_label.shape[0] > 0:
            for place in range(first, min(first + LANES, n_points)):
                labels[place] = new_label[np.int64(labels[place])]
        for place in range(max(first, n_points), first + LANES):
            labels[place] = labels[n_points - 1]
        label = labels[first]
        differing = 0
        for place in range(first + 1, first + LANES):
            differing |= labels[place] ^ label
        forest.node_labels[leaf] = label if differing == 0 else np.int32(-1)


@kernel
def relabel_nodes(node_labels: Labels, first_block: Ints, n_nodes: Ints) -> None:
    """Label all nodes above the leaves."""
    for level in range(1, n_nodes.shape[0]):
        for node in range(n_nodes[level]):
            begin = (first_block[level - 1] + node) * LANES
            n_children = min(LANES, n_nodes[level - 1] - node * LANES)
            label = node_labels[begin]
            others = lanes_other_than(node_labels, begin, label) & ((1 << n_children) - 1)
            above = first_block[level] * LANES + node
            node_labels[above] = label if others == 0 else np.int32(-1)
