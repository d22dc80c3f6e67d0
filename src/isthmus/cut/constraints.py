"""A spanning tree, and rows that belong together or apart → the tree of what is known of them.

Rows that belong together are joined by edges of length 0; of each cycle that this closes the
longest edge leaves. Then the edges of that tree are joined from the shortest to the longest, but
an edge that would join two rows that belong apart is left out, and CUT cuts it first. So the edge
is the longest one between two such rows, within what has been joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Ints, Labels
from isthmus.spanning_tree import SpanningTree
from isthmus.spanning_tree.edge_order import sort_edges
from isthmus.spanning_tree.kruskal import choose_edges
from isthmus.spanning_tree.result import tree_in_order
from isthmus.spanning_tree.union_find import find

UNKNOWN = -1


class Rules(NamedTuple):
    """What is known of rows; checked, and without contradictions.

    Attributes
    ----------
    together : (m, 2) int64
        Rows that belong to one cluster: edges of a forest, the smaller index first.
    apart : (p, 2) int64
        Rows that belong to two.
    label : (n,) int64
        Rows with different labels belong to different clusters; UNKNOWN for most.
    """

    together: Ints
    apart: Ints
    label: Ints

    @property
    def only_together(self) -> bool:
        """Whether nothing belongs apart."""
        return len(self.apart) == 0 and bool((self.label == UNKNOWN).all())


@dataclass(frozen=True, eq=False)
class Constraints:
    """How CUT honours what is known: merges of the constrained tree.

    Attributes
    ----------
    together : (m,) int64
        Those that are never cut.
    apart : (p,) int64
        Those that are cut first, ascending.
    pairs : (p, 2) int64
        For each of these, two points that it parts.
    """

    together: Ints
    apart: Ints
    pairs: Ints

    @property
    def n_parts(self) -> int:
        """The least number of clusters."""
        return len(self.apart) + 1

    def most_parts(self, n_points: int) -> int:
        """Return the largest number of clusters."""
        return n_points - len(self.together)

    def refuse_number(self, n_clusters: int, n_points: int, rows: Ints | None = None) -> None:
        """Raise ValueError where there are too few clusters, or too many.

        rows : (n,) int64, optional
            The numbers of the points, for messages.
        """
        if n_clusters < self.n_parts:
            pair = self.pairs[len(self.pairs) - n_clusters]  # of the longest edge that stays
            i, j = (int(point if rows is None else rows[point]) for point in pair)
            raise ValueError(
                f"n_clusters={n_clusters}, but what is known of the rows needs {self.n_parts} "
                f"clusters: with fewer, rows {i} and {j}, which must be apart, would be together. "
                f"Ask for at least {self.n_parts} clusters, or take back a cannot-link or label."
            )
        most = self.most_parts(n_points)
        if n_clusters > most:
            raise ValueError(
                f"n_clusters={n_clusters}, but the rows that must be together leave {most} groups "
                f"of {n_points} rows. Ask for at most {most} clusters."
            )

    def refuse_torn(self, labels: Labels, edges: Ints) -> None:
        """Raise ValueError where points that belong together have different labels.

        edges : (n - 1, 2) int64
            Of the constrained tree.
        """
        ends = labels[edges[self.together]]
        if (ends[:, 0] != ends[:, 1]).any():
            raise ValueError(
                f"There are fewer different rows than {int(labels.max()) + 1} clusters, so rows "
                "that must be together would be torn apart. Ask for fewer clusters."
            )


def constrain(tree: SpanningTree, rules: Rules) -> tuple[SpanningTree, Constraints]:
    """Return the tree in which rows that belong together are joined, and what CUT honours."""
    n_points = tree.n_points
    if len(rules.together):
        lengths = np.concatenate([np.zeros(len(rules.together)), tree.weights])
        edges, lengths = sort_edges(np.concatenate([rules.together, tree.edges]), lengths)
        # Of edges of length 0 those between rows that belong together come first.
        is_given = np.isin(_keys(edges, n_points), _keys(rules.together, n_points))
        zero = int(np.searchsorted(lengths, 0.0, side="right"))
        order = np.arange(len(edges))
        order[:zero] = np.argsort(~is_given[:zero], kind="stable")
        chosen = np.empty(n_points - 1, dtype=np.int64)
        choose_edges(edges[order], 0, len(edges), np.arange(n_points), chosen, 0)
        chosen = np.sort(order[chosen])
        tree = tree_in_order(edges[chosen], lengths[chosen], tree.engine)
        together = np.flatnonzero(is_given[chosen])
    else:
        together = np.empty(0, dtype=np.int64)
    apart, pairs = _edges_to_cut(tree, together, rules)
    return tree, Constraints(together, apart, pairs)


def _keys(edges: Ints, n_points: int) -> Ints:
    return edges[:, 0] * n_points + edges[:, 1]


class Joining(NamedTuple):
    """Disjoint sets of points, and what must not be joined; arrays are by root.

    Attributes
    ----------
    parent : (n,) int64
    label, labelled : (n,) int64
        The label of a set, or UNKNOWN, and a point that has it.
    first, last, n_links : (n,) int64
        The list of the set's cannot-links, and how many there are; -1 where it is empty.
    here, there, next_link : (2 p,) int64
        Of each link, in both directions: its ends, and the next one in the list.
    """

    parent: Ints
    label: Ints
    labelled: Ints
    first: Ints
    last: Ints
    n_links: Ints
    here: Ints
    there: Ints
    next_link: Ints


def _edges_to_cut(tree: SpanningTree, together: Ints, rules: Rules) -> tuple[Ints, Ints]:
    """Return the edges that would join what belongs apart, and two points of each."""
    n_points = tree.n_points
    if rules.only_together:
        return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    points = np.arange(n_points)
    nowhere = np.full(n_points, -1)
    both = np.concatenate([rules.apart, rules.apart[:, ::-1]])
    sets = Joining(
        points.copy(),
        rules.label.copy(),
        points.copy(),
        nowhere.copy(),
        nowhere.copy(),
        np.zeros(n_points, dtype=np.int64),
        np.ascontiguousarray(both[:, 0]),
        np.ascontiguousarray(both[:, 1]),
        np.full(len(both), -1),
    )
    pairs = np.empty((n_points - 1, 2), dtype=np.int64)
    is_cut = np.zeros(n_points - 1, dtype=np.bool_)
    join_all_but(tree.edges, together, sets, is_cut, pairs)
    cut = np.flatnonzero(is_cut)
    return cut, pairs[cut]


@kernel
def join_all_but(edges: Ints, together: Ints, sets: Joining, is_cut: Array, pairs: Ints) -> None:
    """Join points along edges, from the shortest to the longest; leave out what joins too much.

    edges : (n - 1, 2) int64, in
    together : (m,) int64, in
        The edges that are joined first.
    sets : in and out; lists are empty at first
    is_cut : (n - 1,) bool, out; False at first
        Which edges were left out.
    pairs : (n - 1, 2) int64, out
        For these, two points that must be apart.
    """
    for link in range(sets.here.shape[0]):
        append_links(sets, sets.here[link], link, link, 1)
    for t in range(together.shape[0]):
        e = together[t]
        join_sets(sets, find(sets.parent, edges[e, 0]), find(sets.parent, edges[e, 1]))
    for e in range(edges.shape[0]):
        a, b = find(sets.parent, edges[e, 0]), find(sets.parent, edges[e, 1])
        if a == b:
            continue
        if sets.n_links[a] > sets.n_links[b]:
            a, b = b, a
        if sets.label[a] >= 0 and sets.label[b] >= 0 and sets.label[a] != sets.label[b]:
            is_cut[e] = True
            pairs[e, 0], pairs[e, 1] = sets.labelled[a], sets.labelled[b]
            continue
        link = link_between(sets, a, b)
        if link >= 0:
            is_cut[e] = True
            pairs[e, 0], pairs[e, 1] = sets.here[link], sets.there[link]
        else:
            join_sets(sets, a, b)


@kernel_part
def join_sets(sets: Joining, a: int, b: int) -> None:
    """Make two sets, given by their roots, one."""
    low, high = min(a, b), max(a, b)
    sets.parent[high] = low
    if sets.label[low] < 0:
        sets.label[low] = sets.label[high]
        sets.labelled[low] = sets.labelled[high]
    if sets.first[high] >= 0:
        append_links(sets, low, sets.first[high], sets.last[high], sets.n_links[high])


@kernel_part
def append_links(sets: Joining, root: int, first: int, last: int, n_links: int) -> None:
    """Append a list of links to that of a set."""
    if sets.first[root] < 0:
        sets.first[root] = first
    else:
        sets.next_link[sets.last[root]] = first
    sets.last[root] = last
    sets.n_links[root] += n_links


@kernel_part
def link_between(sets: Joining, a: int, b: int) -> int:
    """Return a cannot-link between two sets, the first of which has fewer, or -1."""
    link = sets.first[a]
    while link >= 0:
        if find(sets.parent, sets.there[link]) == b:
            return int(link)
        link = sets.next_link[link]
    return -1
