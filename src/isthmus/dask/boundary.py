"""Trees of cells → the tree of all points: the coordinator's part.

U is the minimum spanning forest of everything found so far: the trees of the cells and edges across
them. Nodes x and y of different cells are *settled* where their boxes are farther apart than the
longest edge of U that is needed to connect any of their points. The points of other pairs that are
near enough to each other are compared: one tree of them is found, and its edges between cells join
U. One such comparison settles all pairs: edges that join U only shorten the longest edge between
two points, so no pair would have to be compared farther than it was.

It is exact. For any two points p and q, edges that have been found, none of them after (p, q) in
the total order of edges, connect them. That is shown for one pair after the other, in this order:
within a cell, by its tree; if the points were compared, by the edges of that comparison, those
within a cell replaced by the cell's own tree; if mark_mutual pruned the pair in favour of a
nearer point r of the cell of q, by what connects p and r, which is an earlier pair, and by shorter
edges between r and q; and otherwise by U. So Kruskal's algorithm never takes an edge that was not
found. Nothing is assumed about how points are distributed over cells.

The coordinator sees nodes and the ends of edges between cells only. What a cell's tree joins
otherwise is certain (see reduce_forest), and never leaves its worker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.boxes import Boxes, gaps_between, gaps_of_pairs, safe_share
from isthmus.dask.cell import ReducedTree, Summary, reduce_cells
from isthmus.dask.comparison import (
    NO_EDGES,
    CrossEdges,
    Meeting,
    Wanted,
    choose_for_all,
    compare_all,
)
from isthmus.dask.executors import Executor, groups
from isthmus.dask.log import Log
from isthmus.dask.longest_edges import NEVER, grow_forest, last_edges, roots_of
from isthmus.dask.near_points import Near
from isthmus.dask.node_pairs import (
    Candidates,
    Known,
    LinkedPairs,
    Nodes,
    Pairs,
    connecting_pairs,
    find_nearest_open,
    find_open_pairs,
    group_nodes,
    group_rows,
    join_pairs,
    no_nearest,
)

# Only the nearest points of a pair are compared; see Near.
_NEAREST = -1.0
# Rounds in which each node looks for the nearest point of every other cell first.
_PROBES = 1


class Boundary:
    """The comparison of cells.

    Parameters
    ----------
    executor : Executor
    cells : list of handles
    summaries : list of Summary
    report : callable
        Called after each round.

    Attributes
    ----------
    cross : CrossEdges
        Those that were found and are in the tree of all that was found.
    dropped : list of (k,) int64
        For each cell, the edges of its tree that are not.
    """

    def __init__(
        self,
        executor: Executor,
        cells: list[Any],
        summaries: list[Summary],
        report: Callable[[], None],
    ) -> None:
        self.executor = executor
        self.cells = cells
        self.report = report
        self.log = Log()
        self.longest = max(summary.longest for summary in summaries)
        self.cell_boxes = Boxes(
            np.array([summary.boxes.low.min(axis=0) for summary in summaries]),
            np.array([summary.boxes.high.max(axis=0) for summary in summaries]),
        )
        self.cross = NO_EDGES
        self._reduced: list[tuple[Ints, ReducedTree] | None] = [None] * len(cells)
        self._take_nodes(summaries, np.inf)

    def _take_nodes(self, summaries: list[Summary], reach: float) -> None:
        """Note the nodes of all cells that are as near to another cell as this, squared."""
        chosen = [self._is_near(c, summary.boxes, reach) for c, summary in enumerate(summaries)]
        both = list(zip(summaries, chosen, strict=True))
        self.number = [np.flatnonzero(near) for near in chosen]
        self.first = np.concatenate([[0], np.cumsum([len(each) for each in self.number])])
        self.cell_of = np.repeat(np.arange(len(both)), np.diff(self.first))
        self.hubs = [s.hub[near] for s, near in both]
        self.counts = np.concatenate([np.diff(s.begin)[near] for s, near in both])
        low = np.concatenate([s.boxes.low[near] for s, near in both])
        high = np.concatenate([s.boxes.high[near] for s, near in both])
        inner = np.concatenate([s.inner[near] for s, near in both])
        terminal = np.zeros(len(inner), dtype=np.int64)
        self.nodes = Nodes(low, high, inner, terminal, np.full(len(inner), np.inf))
        self._count_numbers(0)

    def _is_near(self, cell: int, boxes: Boxes, reach: float) -> Array:
        """Return which boxes of a cell are as near to another cell as this."""
        near = np.zeros(len(boxes.low), dtype=bool)
        if reach == np.inf:
            return ~near
        for other in range(len(self.cells)):
            if other != cell:
                near |= gaps_between(boxes, self.cell_boxes.take([other]))[:, 0] <= reach
        return near

    def find(self, summaries: list[Summary]) -> None:
        """Find all edges between cells that are in the tree."""
        if len(self.cells) == 1:
            self.dropped = [np.empty(0, dtype=np.int64)]
            return
        self._run(connecting_pairs(self.nodes, self.first, self.cell_boxes), _NEAREST)
        # Some of these edges, and the cells' own, connect everything: no other need be longer.
        self._take_nodes(summaries, max(self.longest, self._longest_across()))
        summaries.clear()
        self._update()
        for _ in range(_PROBES):
            pairs = self._keep_open(self._pairs(self._nearest_pairs_of))
            if not len(pairs.x):
                return
            self._run(pairs, _NEAREST)
            self._update()
        pairs = self._keep_open(self._pairs(self._open_pairs_of))
        if len(pairs.x):
            self._run(pairs)
            # No node is needed any more: the last forest is of the ends of edges alone.
            self._keep_open(join_pairs([]))
            self._update()

    def _longest_across(self) -> float:
        """Return the longest of those edges between cells that connect all cells: Kruskal's."""
        order = np.argsort(self.cross.weights, kind="stable")
        ranks = grow_forest(len(self.cells), *self.cross.cells[order].T).rank
        return float(self.cross.weights[order][ranks[ranks != NEVER].max()])

    def _keep_open(self, pairs: Pairs) -> Pairs:
        """Forget nodes that are in none of the open pairs; return these, numbered anew.

        U connects points by ever shorter edges, so what is settled remains so.
        """
        keep = np.unique(np.concatenate([pairs.x, pairs.y]))
        new = np.full(len(self.cell_of), -1)
        new[keep] = np.arange(len(keep))
        cuts = np.searchsorted(keep, self.first)
        for c, (begin, end) in enumerate(pairwise(cuts)):
            chosen = keep[begin:end] - self.first[c]
            self.number[c], self.hubs[c] = self.number[c][chosen], self.hubs[c][chosen]
        self.first, self.cell_of, self.counts = cuts, self.cell_of[keep], self.counts[keep]
        self.nodes = Nodes._make(each[keep] for each in self.nodes)
        return Pairs(new[pairs.x], new[pairs.y], pairs.longest)

    # ------------------------------------------------------------------ what is known

    def _update(self) -> None:
        """Find U anew, from what cells tell of the terminals: hubs and ends."""
        terminals = []
        for c, hub in enumerate(self.hubs):
            ends = self.cross.positions[self.cross.cells == c]
            terminals.append(np.unique(np.concatenate([hub, ends])))
        reduced = self._reduce(terminals)
        offsets = np.concatenate([[0], np.cumsum([len(t) for t in terminals])])
        number = np.empty(self.cross.cells.shape, dtype=np.int64)
        for c, of_cell in enumerate(terminals):
            here = self.cross.cells == c
            number[here] = offsets[c] + np.searchsorted(of_cell, self.cross.positions[here])
        a = np.concatenate([*(offsets[c] + r.a for c, r in enumerate(reduced)), number[:, 0]])
        b = np.concatenate([*(offsets[c] + r.b for c, r in enumerate(reduced)), number[:, 1]])
        weights, i, j = (
            np.concatenate([*(getattr(r, name) for r in reduced), getattr(self.cross, name)])
            for name in ("weights", "i", "j")
        )
        order = np.lexsort((j, i, weights))
        self.forest = grow_forest(int(offsets[-1]), a[order], b[order])
        self.weights = weights[order]
        self._note_used(order, reduced)
        terminal = np.concatenate(
            [offsets[c] + np.searchsorted(t, self.hubs[c]) for c, t in enumerate(terminals)]
        )
        self.nodes = self.nodes._replace(terminal=terminal, to_root=self._to_root(terminal))
        self._count_numbers(len(weights))

    def _count_numbers(self, n_edges: int) -> None:
        """Note how many numbers are held at most."""
        numbers = 5 * n_edges + 2 * self.nodes.low.size + 5 * len(self.nodes.inner)
        self.log.n_numbers = max(self.log.n_numbers, int(numbers))
        self.log.n_nodes = max(self.log.n_nodes, len(self.nodes.inner))
        self.log.n_cross_edges = len(self.cross.weights)

    def _reduce(self, terminals: list[Ints]) -> list[ReducedTree]:
        """Return the trees of cells between terminals; those that have not changed are known."""
        changed = []
        for c, of_cell in enumerate(terminals):
            known = self._reduced[c]
            if known is None or not np.array_equal(known[0], of_cell):
                changed.append(c)
        tasks = []
        for g, group in enumerate(groups(len(self.cells), self.executor)):
            chosen = [c for c in group if c in changed]
            if chosen:
                cells, of_cells = [self.cells[c] for c in chosen], [terminals[c] for c in chosen]
                tasks.append(
                    self.executor.submit("reduce-cells", reduce_cells, cells, of_cells, where=g)
                )
        trees = [tree for found in self.executor.gather(tasks) for tree in found]
        for c, tree in zip(changed, trees, strict=True):
            self._reduced[c] = terminals[c], tree
        return [known[1] for known in self._reduced if known is not None]

    def _note_used(self, order: Ints, reduced: list[ReducedTree]) -> None:
        """Note which edges are not in U; those between cells are forgotten: they never will be."""
        used = np.zeros(len(order), dtype=bool)
        ranks = self.forest.rank
        used[order[ranks[ranks != NEVER]]] = True
        self.dropped = []
        first = 0
        for tree in reduced:
            last = first + len(tree.edge)
            self.dropped.append(tree.edge[~used[first:last]])
            first = last
        self.cross = CrossEdges._make(each[used[first:]] for each in self.cross)

    def _to_root(self, terminal: Ints) -> Floats:
        if not len(terminal):
            return np.empty(0)
        root = roots_of(self.forest, terminal[:1])
        return self._longest_between(terminal, np.full(len(terminal), root[0]))

    def _longest_between(self, terminals: Ints, others: Ints) -> Floats:
        """Return the longest edges of U between terminals; infinite where nothing connects them."""
        last = np.empty(len(terminals), dtype=np.int64)
        last_edges(self.forest, terminals, others, last)
        weights = np.append(self.weights, [np.inf, 0.0])  # for NEVER, and for -1
        return weights[np.where(last == NEVER, len(weights) - 2, last)]

    # ------------------------------------------------------------------ which pairs to compare

    def _pairs(self, find: Callable[[Candidates, Candidates], Pairs]) -> Pairs:
        """Return pairs of nodes that are not settled, found for each two cells."""
        nodes = self.nodes
        reach = np.maximum(nodes.inner, nodes.to_root)
        most = np.zeros(len(self.cells))
        np.maximum.at(most, self.cell_of, reach)
        gaps = gaps_between(self.cell_boxes, self.cell_boxes)
        found = []
        for i, j in np.argwhere(np.triu(gaps <= np.maximum(most[:, None], most), 1)):
            chosen = []
            for here, there in ((i, j), (j, i)):
                mine = slice(self.first[here], self.first[here + 1])
                boxes = Boxes(nodes.low[mine], nodes.high[mine])
                apart = gaps_between(boxes, self.cell_boxes.take([there]))[:, 0]
                near = np.flatnonzero(apart <= np.maximum(reach[mine], most[there]))
                chosen.append(self.first[here] + near[np.argsort(apart[near], kind="stable")])
            if len(chosen[0]) and len(chosen[1]):
                reference = nodes.terminal[chosen[0][0]]  # of the node that is nearest to cell j
                found.append(find(*(self._candidates(np.sort(c), reference) for c in chosen)))
        return join_pairs(found)

    def _candidates(self, nodes: Ints, reference: int) -> Candidates:
        """Return nodes of a cell, which ascend, in groups."""
        terminal = self.nodes.terminal[nodes]
        link = self._longest_between(terminal, np.full(len(nodes), reference))
        return group_nodes(self.nodes, nodes, link)

    @property
    def _known(self) -> Known:
        share = safe_share(self.nodes.low.shape[1])
        return Known(self.forest, self.weights, share)

    def _open_pairs_of(self, first: Candidates, second: Candidates) -> Pairs:
        """Return the pairs of two cells' nodes that are not settled."""
        size = 1 << 14
        while True:
            x, y = np.empty((2, size), dtype=np.int64)
            found = Pairs(x, y, np.empty(size))
            n_found = find_open_pairs(self.nodes, first, second, self._known, found)
            if n_found <= size:
                return Pairs._make(each[:n_found] for each in found)
            size = n_found

    def _nearest_pairs_of(self, first: Candidates, second: Candidates) -> Pairs:
        """Return, for each node of two cells, the nearest of the other that it is open with."""
        of_first, of_second = no_nearest(len(first.node)), no_nearest(len(second.node))
        find_nearest_open(self.nodes, first, second, self._known, of_first, of_second)
        has, has_too = of_first.gap < np.inf, of_second.gap < np.inf
        x = np.concatenate([first.node[has], of_second.node[has_too]])
        y = np.concatenate([of_first.node[has], second.node[has_too]])
        longest = np.concatenate([of_first.longest[has], of_second.longest[has_too]])
        _, once = np.unique((x << 32) | y, return_index=True)
        return Pairs(x[once], y[once], longest[once])

    # ------------------------------------------------------------------ comparisons

    def _run(self, pairs: Pairs, limit: float | None = None) -> None:
        """Compare the points of pairs of nodes.

        In each pair of cells the one with fewer points in question sends them to the other.

        limit : float, optional
            Up to which distance; by default, as far as is necessary.
        """
        meetings: defaultdict[int, list[Meeting]] = defaultdict(list)
        wanted: defaultdict[int, list[Wanted]] = defaultdict(list)
        cells = np.column_stack([self.cell_of[pairs.x], self.cell_of[pairs.y]])
        for both, rows in group_rows(cells):
            x, y, longest = pairs.x[rows], pairs.y[rows], pairs.longest[rows]
            n_x, n_y = (int(self.counts[np.unique(each)].sum()) for each in (x, y))
            (i, x), (j, y) = [(both[0], x), (both[1], y)][:: 1 if n_x >= n_y else -1]
            own, other = (self._near(x, y, longest, limit), self._near(y, x, longest, limit))
            links = longest, longest
            if limit is None:
                links = self._links(y, x), self._links(x, y)
            meetings[i].append(Meeting(j, own, LinkedPairs(own.node, other.node, longest, *links)))
            wanted[j].append(Wanted(i, other))
        tasks = self._submit_comparisons(meetings, wanted)
        results = [found for of_group in self.executor.gather(tasks) for found in of_group]
        self.cross = CrossEdges.joined([self.cross, *(edges for edges, _ in results)])
        self.log.n_rounds += 1
        self.log.n_tasks += len(tasks)
        self.log.points_of_rounds.append(sum(n for _, n in results))
        self.log.n_points_compared += self.log.points_of_rounds[-1]
        self.report()

    def _submit_comparisons(
        self, meetings: dict[int, list[Meeting]], wanted: dict[int, list[Wanted]]
    ) -> list[Any]:
        """Return handles of what the cells of each group find when they meet others.

        What a group sends to another is one result.
        """
        in_groups = groups(len(self.cells), self.executor)
        tasks = []
        for g, group in enumerate(in_groups):
            here = [c for c in group if c in meetings]
            own: tuple[list[Any], list[list[Wanted]]] = [], []
            sent = []
            for h, senders in enumerate(in_groups):
                asked = {j: [w for w in wanted.get(j, []) if w.cell in group] for j in senders}
                asked = {j: of_cell for j, of_cell in asked.items() if of_cell}
                args = [self.cells[j] for j in asked], list(asked.values())
                if h == g:
                    own = args
                elif asked:
                    sent.append(self.executor.submit("choose", choose_for_all, *args, where=h))
            if here:
                both = [self.cells[i] for i in here], [meetings[i] for i in here]
                tasks.append(
                    self.executor.submit("compare", compare_all, *both, *own, sent, where=g)
                )
        return tasks

    def _near(self, mine: Ints, theirs: Ints, longest: Floats, limit: float | None) -> Near:
        """Return which points of nodes are near enough to those of others."""
        nodes = self.nodes
        limits = np.maximum(longest, nodes.inner[theirs])
        if limit is not None:
            limits = np.full(len(mine), limit)
        cell = self.cell_of[mine[0]]
        numbers = self.number[cell][mine - self.first[cell]].astype(np.int32)
        different, box = np.unique(theirs, return_inverse=True)
        low, high = nodes.low[different], nodes.high[different]
        return Near(numbers, box.astype(np.int32), limits, low, high)

    def _links(self, nodes: Ints, others: Ints) -> Floats:
        """Return what connects the others of pairs with the nearest other of the same node."""
        boxes = Boxes(self.nodes.low, self.nodes.high)
        order = np.lexsort((gaps_of_pairs(boxes, nodes, boxes, others), nodes))
        is_first = np.append(True, np.diff(nodes[order]) != 0)
        reference = np.empty_like(others)
        reference[order] = others[order][is_first][np.cumsum(is_first) - 1]
        terminal = self.nodes.terminal
        return self._longest_between(terminal[others], terminal[reference])
