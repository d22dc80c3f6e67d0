"""Trees of cells → the tree of all points: the coordinator's part.

U is the minimum spanning forest of everything found so far: the trees of the cells and edges across
them. Nodes x and y of different cells are *settled* where their boxes are farther apart than the
longest edge of U that is needed to connect any of their points. The points of other pairs that are
near enough to each other are compared: one tree of them is found, and its edges between cells join
U. That goes on until all pairs are settled.

It is exact. Take any two points p and q. Edges that have been found, none of them after (p, q) in
the total order of edges, connect them: within a cell, those of its tree; if they were compared,
those of that comparison, whose edges within a cell the cell's own tree can replace; and otherwise
those of U. So Kruskal's algorithm never takes an edge that was not found. Nothing is assumed about
how points are distributed over cells.

The coordinator sees nodes and the ends of edges between cells only. What a cell's tree joins
otherwise is certain (see reduce_forest), and never leaves its worker.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.dask.boxes import (
    Boxes,
    Compared,
    Near,
    Nodes,
    Pairs,
    find_open_pairs,
    gaps_between,
    gaps_of_pairs,
    nearest_nodes,
)
from isthmus.dask.cell import (
    NO_EDGES,
    CrossEdges,
    ReducedTree,
    Summary,
    choose_points,
    compare,
    reduce_cell,
)
from isthmus.dask.executors import Executor
from isthmus.dask.forest import NEVER, Forest, grow_forest, last_edges

# Only the nearest points of a pair are compared; see Near.
_NEAREST = -1.0
# Rounds in which each node looks for the nearest point of every other cell first.
_PROBES = 2


@dataclass
class Log:
    """What it took: for tests, benchmarks, and a look at what is slow."""

    n_nodes: int = 0
    n_rounds: int = 0
    n_tasks: int = 0
    n_points_compared: int = 0
    n_cross_edges: int = 0
    n_numbers: int = 0
    points_of_rounds: list[int] = field(default_factory=list)


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
        All that were found.
    is_used : (m,) bool
        Which of them are in the tree.
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
        self.first = np.concatenate([[0], np.cumsum([len(s.inner) for s in summaries])])
        self.cell_of = np.repeat(np.arange(len(cells)), np.diff(self.first))
        self.hubs = [s.hub for s in summaries]
        self.counts = np.concatenate([np.diff(s.begin) for s in summaries])
        self.low = np.concatenate([s.boxes.low for s in summaries])
        self.high = np.concatenate([s.boxes.high for s in summaries])
        self.inner = np.concatenate([s.inner for s in summaries])
        self.cell_boxes = Boxes(
            np.minimum.reduceat(self.low, self.first[:-1]),
            np.maximum.reduceat(self.high, self.first[:-1]),
        )
        self.cross = NO_EDGES
        self.compared = Compared(np.empty(0, dtype=np.int64), np.empty(0))
        self._reduced: list[tuple[int, ReducedTree] | None] = [None] * len(cells)
        self.log.n_nodes = len(self.inner)

    def find(self) -> None:
        """Find all edges between cells that are in the tree."""
        self._update()
        if len(self.cells) == 1:
            return
        while len(np.unique(self._groups())) > 1:
            self._run(self._nearest_pairs(), _NEAREST)
        for _ in range(_PROBES):
            pairs = self._open_pairs()
            if not len(pairs.x):
                return
            self._run(self._nearest_of_each(pairs), _NEAREST)
        while len((pairs := self._open_pairs()).x):
            self._run(pairs)

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
        self.nodes = Nodes(self.low, self.high, self.inner, terminal, self._to_root(terminal))
        self.log.n_cross_edges = len(self.cross.weights)
        numbers = 5 * len(weights) + 2 * self.low.size + 3 * len(self.inner)
        self.log.n_numbers = max(self.log.n_numbers, int(numbers))

    def _reduce(self, terminals: list[Ints]) -> list[ReducedTree]:
        """Return the trees of cells between terminals; those that have not changed are known."""
        tasks = {}
        for c, of_cell in enumerate(terminals):
            known = self._reduced[c]
            if known is None or known[0] != len(of_cell):  # terminals only ever get more
                tasks[c] = self.executor.submit(
                    "reduce-cell", reduce_cell, self.cells[c], of_cell
                )
        for c, tree in zip(tasks, self.executor.gather(list(tasks.values())), strict=True):
            self._reduced[c] = len(terminals[c]), tree
        return [known[1] for known in self._reduced if known is not None]

    def _note_used(self, order: Ints, reduced: list[ReducedTree]) -> None:
        """Note which edges are in U, and which are not."""
        used = np.zeros(len(order), dtype=bool)
        ranks = self.forest.rank
        used[order[ranks[ranks != NEVER]]] = True
        self.dropped = []
        first = 0
        for tree in reduced:
            last = first + len(tree.edge)
            self.dropped.append(tree.edge[~used[first:last]])
            first = last
        self.is_used = used[first:]

    def _to_root(self, terminal: Ints) -> Floats:
        last = np.empty(len(terminal), dtype=np.int64)
        root = _roots(self.forest, terminal[:1])
        last_edges(self.forest, terminal, np.full(len(terminal), root[0]), last)
        weights = np.append(self.weights, [np.inf, 0.0])  # for NEVER, and for -1
        return weights[np.where(last == NEVER, len(weights) - 2, last)]

    def _groups(self) -> Ints:
        """Return which cells U connects: the root of each cell's first node."""
        return _roots(self.forest, self.nodes.terminal[self.first[:-1]])

    # ------------------------------------------------------------------ which pairs to compare

    def _open_pairs(self) -> Pairs:
        """Return all pairs of nodes that are not settled."""
        reach = np.maximum(self.inner, self.nodes.to_root)
        most = np.maximum.reduceat(reach, self.first[:-1])
        gaps = gaps_between(self.cell_boxes, self.cell_boxes)
        near = gaps <= np.maximum(most[:, None], most[None, :])
        found = [self._open_pairs_of(i, j) for i, j in np.argwhere(np.triu(near, 1))]
        return _joined(found)

    def _open_pairs_of(self, i: int, j: int) -> Pairs:
        """Return the pairs of two cells' nodes that are not settled."""
        nodes = self.nodes
        reach = np.maximum(nodes.inner, nodes.to_root)
        candidates = []
        for here, there in ((i, j), (j, i)):
            mine = slice(self.first[here], self.first[here + 1])
            theirs = reach[self.first[there] : self.first[there + 1]].max()
            gaps = gaps_between(Boxes(nodes.low[mine], nodes.high[mine]), self.cell_boxes[[there]])
            near = gaps[:, 0] <= np.maximum(reach[mine], theirs)
            candidates.append(self.first[here] + np.flatnonzero(near))
        both, size = np.concatenate(candidates), 1 << 10
        while True:
            found = Pairs(*(np.empty(size, dtype=np.int64) for _ in range(2)), np.empty(size))
            n_found = find_open_pairs(
                nodes, both, len(candidates[0]), self.forest, self.weights, self.compared, found
            )
            if n_found <= size:
                return Pairs(*(each[:n_found] for each in found))
            size = n_found

    def _nearest_of_each(self, pairs: Pairs) -> Pairs:
        """Return, of each node and each other cell, the pair whose boxes are nearest."""
        gaps = np.empty(len(pairs.x))
        gaps_of_pairs(self.nodes, pairs, gaps)
        chosen = []
        for node, other in ((pairs.x, pairs.y), (pairs.y, pairs.x)):
            order = np.lexsort((other, gaps, self.cell_of[other], node))
            node_cell = np.column_stack([node[order], self.cell_of[other[order]]])
            first = np.append(True, (node_cell[1:] != node_cell[:-1]).any(axis=1))
            chosen.append(order[first])
        once = np.unique(np.concatenate(chosen))
        return Pairs(*(each[once] for each in pairs))

    def _nearest_pairs(self) -> Pairs:
        """Return pairs of nodes that connect all cells: Kruskal's algorithm on boxes."""
        group = self._groups()
        gaps = gaps_between(self.cell_boxes, self.cell_boxes)
        heap: list[tuple[float, bool, int, int, int, int]] = [
            (float(gaps[i, j]), False, int(i), int(j), 0, 0)
            for i, j in np.argwhere(np.triu(group[:, None] != group[None, :], 1))
        ]
        heapq.heapify(heap)
        found, pair = [], np.empty(2, dtype=np.int64)
        while len(np.unique(group)) > 1:
            _, is_measured, i, j, x, y = heapq.heappop(heap)
            if group[i] == group[j]:
                continue
            if is_measured:
                found.append((x, y))
                group[group == group[j]] = group[i]
                continue
            nearest = nearest_nodes(self.nodes, self.first, i, j, pair)
            heapq.heappush(heap, (nearest, True, i, j, int(pair[0]), int(pair[1])))
        x, y = np.array(found).T
        return Pairs(x, y, np.full(len(x), np.inf))

    # ------------------------------------------------------------------ comparisons

    def _run(self, pairs: Pairs, limit: float | None = None) -> None:
        """Compare the points of pairs of nodes.

        In each pair of cells the one with fewer points in question sends them to the other.

        limit : float, optional
            Up to which distance; by default, as far as is necessary.
        """
        sent: defaultdict[int, list[tuple[int, Near]]] = defaultdict(list)
        kept: defaultdict[int, list[Near]] = defaultdict(list)
        cells = np.column_stack([self.cell_of[pairs.x], self.cell_of[pairs.y]])
        for (i, j), rows in _grouped(cells):
            x, y, longest = (each[rows] for each in pairs)
            sides = [self._near(i, x, y, longest, limit), self._near(j, y, x, longest, limit)]
            n_x, n_y = (int(self.counts[np.unique(each)].sum()) for each in (x, y))
            own, other = (0, 1) if n_x >= n_y else (1, 0)
            sent[(i, j)[own]].append(((i, j)[other], sides[other]))
            kept[(i, j)[own]].append(sides[own])
        tasks = []
        for own, partners in sent.items():
            others = [
                self.executor.submit("choose-points", choose_points, self.cells[c], near)
                for c, near in partners
            ]
            near = Near(*(np.concatenate(each) for each in zip(*kept[own], strict=True)))
            tasks.append(
                self.executor.submit("compare-cells", compare, self.cells[own], near, others)
            )
        results = self.executor.gather(tasks)
        self.cross = CrossEdges.joined([self.cross, *(edges for edges, _ in results)])
        if limit is None:
            self._note_compared(pairs)
        self.log.n_rounds += 1
        self.log.n_tasks += len(tasks)
        self.log.points_of_rounds.append(sum(n for _, n in results))
        self.log.n_points_compared += self.log.points_of_rounds[-1]
        self.report()
        self._update()

    def _near(self, cell: int, mine: Ints, theirs: Ints, longest: Floats, limit: float | None) -> Near:
        """Return which points of a cell's nodes are near enough to those of other nodes."""
        limits = np.maximum(longest, self.inner[theirs])
        if limit is not None:
            limits = np.full(len(mine), limit)
        return Near(mine - self.first[cell], self.low[theirs], self.high[theirs], limits)

    def _note_compared(self, pairs: Pairs) -> None:
        keys = np.concatenate([self.compared.keys, (pairs.x << 32) | pairs.y])
        limits = np.concatenate([self.compared.limits, pairs.longest])
        order = np.lexsort((-limits, keys))
        keys, limits = keys[order], limits[order]
        first = np.append(True, keys[1:] != keys[:-1])
        self.compared = Compared(keys[first], limits[first])


def _roots(forest: Forest, points: Ints) -> Ints:
    roots = np.asarray(points)
    while (forest.parent[roots] != roots).any():
        roots = forest.parent[roots]
    return roots.astype(np.int64)


def _grouped(keys: Ints) -> list[tuple[tuple[int, int], Ints]]:
    """Return the different rows of (m, 2) keys, and which rows have them."""
    different, inverse = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(inverse.ravel()))[:-1])
    return [((int(i), int(j)), rows) for (i, j), rows in zip(different, groups, strict=True)]


def _joined(parts: list[Pairs]) -> Pairs:
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return Pairs(nothing, nothing, np.empty(0))
    return Pairs(*(np.concatenate(each) for each in zip(*parts, strict=True)))
