"""Borůvka's algorithm: components, each with its best edge, and how they join along these.

An engine finds the best edges; what is common to all engines is here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Floats, Labels

# No distance is larger; infinity marks what is not there.
HUGE = float(np.finfo(np.float64).max)


class Best(NamedTuple):
    """The best edge that is known of each component.

    Attributes
    ----------
    distance : (n_components,) float64
        HUGE where none is known.
    a, b : (n_components,) int32
        The places of its ends; ~a where it comes from a neighbour list.
    """

    distance: Floats
    a: Labels
    b: Labels


class Joined(NamedTuple):
    """What has been joined.

    Attributes
    ----------
    parent : (n,) int32
        A forest of sets: of places at first, later of components.
    size, member : (n,) int32
        Of each component, its number of points and one of them.
    edge_a, edge_b : (n - 1,) int32
        The places that edges join.
    """

    parent: Labels
    size: Labels
    member: Labels
    edge_a: Labels
    edge_b: Labels


@kernel_part
def offer_edge(component: int, distance: float, a: int, b: int, best: Best) -> None:
    """Make an edge the component's best one, if it is better; ~a marks one from a list."""
    current = best.distance[component]
    if distance > current:
        return
    if distance == current:
        old_a, old_b = np.int64(best.a[component]), np.int64(best.b[component])
        if old_a < 0 and a >= 0:
            return
        if (old_a < 0) == (a < 0):
            end, old_end = max(a, ~a), max(old_a, ~old_a)
            low, old_low = min(end, b), min(old_end, old_b)
            if low > old_low or (low == old_low and max(end, b) >= max(old_end, old_b)):
                return
    best.distance[component] = distance
    best.a[component] = a
    best.b[component] = b


@kernel_part
def offer_both(distance: float, a: int, b: int, labels: Labels, best: Best) -> None:
    """Offer an edge that a search has found to the components of both of its ends."""
    offer_edge(np.int64(labels[a]), distance, a, b, best)
    offer_edge(np.int64(labels[b]), distance, a, b, best)


@kernel
def merge_best(best: Best, other: Best, start: int, stop: int) -> None:
    """Offer the best edges that another worker has found for components start … stop - 1."""
    for c in range(start, stop):
        if other.distance[c] < HUGE:
            offer_edge(c, other.distance[c], np.int64(other.a[c]), np.int64(other.b[c]), best)


@kernel_part
def find(parent: Labels, x: int) -> int:
    """Return the root of x's set, shortening the way there."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel_part
def unite(parent: Labels, a: int, b: int) -> bool:
    """Join the sets of two numbers; return whether they differed.

    Both ways up are walked at once, always from where the parent is larger, and that parent gives
    way to the smaller one: Rem's algorithm, which often ends before it has come to a root.
    """
    while True:
        above_a, above_b = parent[a], parent[b]
        if above_a == above_b:
            return False
        if above_a < above_b:
            a, b = b, a
            above_a, above_b = above_b, above_a
        parent[a] = above_b
        if above_a == a:
            return True
        a = int(above_a)


@kernel
def join_best(
    n_components: int,
    largest: int,
    best: Best,
    labels: Labels,
    joined: Joined,
    new_label: Labels,
    n_edges: int,
) -> int:
    """Join components along their best edges; return how many are left.

    labels : (n,) int32
        The component of each place.
    new_label : (>= n_components,) int32, out
        The new number of each old component.
    """
    parent, size, member = joined.parent, joined.size, joined.member
    for c in range(n_components):
        parent[c] = c
    for c in range(n_components):
        if c == largest or best.distance[c] == HUGE:
            continue
        end = max(best.a[c], ~best.a[c])
        if unite(parent, np.int64(labels[end]), np.int64(labels[best.b[c]])):
            joined.edge_a[n_edges] = end
            joined.edge_b[n_edges] = best.b[c]
            n_edges += 1
    n_left = 0
    for c in range(n_components):
        above = parent[c]
        if above == c:
            new_label[c] = n_left
            member[n_left] = member[c]
            size[n_left] = size[c]
            n_left += 1
        else:  # parents come before their children, so this one has its label
            new_label[c] = new_label[above]
            size[new_label[c]] += size[c]
    return n_left
