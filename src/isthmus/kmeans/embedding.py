"""K-means in the embedded space V′ itself, in which transitive distances are Euclidean.

The squared distance of a point i to the centre of cluster a is the mean of D(i, j)² over its
points j, less half the mean of D(j, l)² over its pairs. For the points below a node it is the
same number for every cluster but their own, so a step needs no more than one bound per node.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from isthmus._compile import kernel
from isthmus._typing import Floats, Ints, Labels
from isthmus.kmeans.frontier import MIXED, View, fold_siblings, members_and_distances
from isthmus.kmeans.objective import TIE, TreeObjective
from isthmus.ultrametric.products import multiply

# Columns of the aggregates of a node v, with t_i the sum of D(i, m)² over m in v.
MASS, T_SUM, T_MIN, T_MAX = range(4)

_STACK = 72  # as in rows.py


class EmbeddingObjective(TreeObjective):
    """Squared Euclidean distances between the images of the points in V′."""

    @cached_property
    def squared_heights(self) -> Floats:
        """The squares of the heights."""
        return self.heights * self.heights

    @cached_property
    def aggregates(self) -> Floats:
        """The aggregates of all nodes, columns as above: shape (2n - 1, 4)."""
        aggregates = np.zeros((2 * self.n_points - 1, 4))
        aggregates[: self.n_points, MASS] = 1.0
        aggregate_squares(self.tree.children, self.squared_heights, aggregates)
        return aggregates

    def assign_view(
        self, view: View, node_labels: Labels, masses: Floats, *, move: bool
    ) -> tuple[bool, float]:
        """Do a Lloyd step on a view; see TreeObjective."""
        inertia = np.zeros(1)
        changed = assign_embedded(
            self.tree.children,
            self.squared_heights,
            self.aggregates,
            view.count,
            view.node,
            view.label,
            view.first,
            view.second,
            view.mean,
            view.spread,
            node_labels,
            self.opened_buffer(),
            masses,
            inertia,
            move,
        )
        return changed, float(inertia[0])

    def distances_to_centres(self, membership: Floats, masses: Floats) -> Floats:
        """Return the squared distances to centres by one product; see TreeObjective."""
        means = multiply(self.tree.children, self.squared_heights, membership) / masses
        halves = (membership * means).sum(axis=0) / (2.0 * masses)
        distances: Floats = means - halves
        return distances

    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every point to one, in leaf order."""
        out = np.empty(self.n_points)
        squared_row(
            self.tree.children,
            self.squared_heights,
            self.parents,
            self.tree.starts,
            self.tree.sizes,
            point,
            out,
        )
        return out


@kernel
def aggregate_squares(children: Ints, squared_heights: Floats, aggregates: Floats) -> None:
    """Fill the aggregates, (2n - 1, 4), in and out, of all merges; those of leaves are given."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 1):
        x, y = aggregates[children[e, 0]], aggregates[children[e, 1]]
        out = aggregates[n_points + e]
        up_x, up_y = squared_heights[e] * y[MASS], squared_heights[e] * x[MASS]
        out[MASS] = x[MASS] + y[MASS]
        out[T_SUM] = (x[T_SUM] + y[T_SUM]) + 2.0 * squared_heights[e] * (x[MASS] * y[MASS])
        out[T_MIN] = min(x[T_MIN] + up_x, y[T_MIN] + up_y)
        out[T_MAX] = max(x[T_MAX] + up_x, y[T_MAX] + up_y)


@kernel
def assign_embedded(
    children: Ints,
    squared_heights: Floats,
    aggregates: Floats,
    count: int,
    node: Ints,
    label: Labels,
    first: Ints,
    second: Ints,
    sums: Floats,
    members: Floats,
    node_labels: Labels,
    opened: Ints,
    masses: Floats,
    inertia: Floats,
    move: bool,
) -> bool:
    """Move every point to the nearest centre of the assignment in the view.

    Arguments as in rows.py: the tree, the view, scratch (sums, members, opened), node_labels in
    and out, masses and inertia out. Returns whether any point moved.
    """
    n_points = children.shape[0] + 1
    k = sums.shape[1]
    members_and_distances(
        count, node, label, first, second, squared_heights, aggregates, n_points, members, sums
    )
    old_masses = members[0].copy()
    # halves[a]: half the mean squared distance between the points of cluster a
    halves = np.zeros(k)
    for x in range(count):
        b = label[x]
        if b != MIXED and b < k:
            v = node[x]
            halves[b] += aggregates[v, MASS] * sums[x, b] + aggregates[v, T_SUM]
    for a in range(k):
        halves[a] /= 2.0 * old_masses[a] * old_masses[a]
    masses[:] = 0.0
    stack_node = np.empty(_STACK, dtype=np.int64)
    stack_own = np.empty(_STACK)
    changed = False
    n_opened = 0
    total = 0.0
    for x in range(count):
        b = label[x]
        if b == MIXED:
            continue
        # The nearest of the other clusters is the same for all points below the node.
        other, to_other = -1, np.inf
        if move:
            for a in range(k):
                if a != b:
                    distance = sums[x, a] / old_masses[a] - halves[a]
                    if distance < to_other - TIE * (abs(distance) + halves[a]) or other < 0:
                        other, to_other = a, distance
        depth = 0
        stack_node[0] = node[x]
        stack_own[0] = sums[x, b] if b < k else 0.0
        while depth >= 0:
            v, own = stack_node[depth], stack_own[depth]
            mass = aggregates[v, MASS]
            nearest, farthest, tie = np.inf, np.inf, 0.0
            if b < k:
                nearest = (own + aggregates[v, T_MIN]) / old_masses[b] - halves[b]
                farthest = (own + aggregates[v, T_MAX]) / old_masses[b] - halves[b]
                tie = TIE * (abs(farthest) + 2.0 * halves[b])
            if farthest < to_other - tie:
                winner = b
            elif nearest > to_other + tie:
                winner = other
            elif v < n_points or nearest == farthest:
                winner = min(b, other) if other >= 0 else b
            else:
                node_labels[v] = MIXED
                opened[n_opened] = v
                n_opened += 1
                e = v - n_points
                y, z = children[e, 0], children[e, 1]
                if aggregates[y, MASS] < aggregates[z, MASS]:
                    y, z = z, y
                stack_node[depth], stack_node[depth + 1] = y, z
                stack_own[depth] = own + squared_heights[e] * aggregates[z, MASS]
                stack_own[depth + 1] = own + squared_heights[e] * aggregates[y, MASS]
                depth += 1
                continue
            node_labels[v] = winner
            changed = changed or winner != b
            masses[winner] += mass
            if winner == b:
                total += (mass * own + aggregates[v, T_SUM]) / old_masses[b] - mass * halves[b]
            else:
                total += mass * to_other
            depth -= 1
    fold_siblings(children, node_labels, opened, n_opened, node, count)
    inertia[0] = total
    return changed


@kernel
def squared_row(
    children: Ints,
    squared_heights: Floats,
    parents: Ints,
    starts: Ints,
    sizes: Ints,
    point: int,
    out: Floats,
) -> None:
    """Fill out, (n,) in leaf order, with the squared transitive distances to one point."""
    n_points = children.shape[0] + 1
    out[starts[point]] = 0.0
    v = point
    while parents[v] >= 0:
        e = parents[v] - n_points
        y = children[e, 1] if children[e, 0] == v else children[e, 0]
        out[starts[y] : starts[y] + sizes[y]] = squared_heights[e]
        v = parents[v]
