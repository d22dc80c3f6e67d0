"""The parts that CUT makes → a binary tree of them, the dendrogram of the page.

CUT's parts are nested, so the parts for 1, 2, … m parts are the nodes of a binary tree with m
leaves. Its heights are the scores of the cuts, which never rise from one cut to the next: a
horizontal line through the dendrogram is a number of parts. The merges of the ultrametric tree
would be no picture: wherever there are outliers, each of its highest merges adds one of them.

Node 0 is the whole tree. Step j = 1, 2, … divides a node into node 2j - 1, what is left of it, and
node 2j, what is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.cut.parts import CutTree


@dataclass(frozen=True, eq=False)
class PartTree:
    """The parts for 1 … m parts, as a binary tree of 2m - 1 nodes.

    Attributes
    ----------
    part_of : (n,) int32
        The part of each point of the tree, of m parts.
    divided : (m - 1,) int64
        The node that each step divides.
    edges : (m - 1, 2) int64
        The points that the edge connects which the step cuts.
    lengths : (m - 1,) float64
        The length of that edge.
    scores : (m - 1,) float64
        Its score; see cut/score.py.
    """

    part_of: Labels
    divided: Ints
    edges: Ints
    lengths: Floats
    scores: Floats

    @classmethod
    def of_cuts(cls, cut_tree: CutTree, point_weights: Floats | None) -> PartTree:
        """Return the parts of a tree that was cut."""
        tree, cut_from = cut_tree.tree, cut_tree.cut_from
        n_parts = len(cut_from)
        part_of = cut_tree.labels(n_parts)
        node_of = np.zeros(n_parts, dtype=np.int64)  # of each part, as steps go on
        divided = np.zeros(n_parts - 1, dtype=np.int64)
        for step in range(1, n_parts):
            divided[step - 1] = node_of[cut_from[step]]
            node_of[cut_from[step]], node_of[step] = 2 * step - 1, 2 * step
        lengths = tree.heights[cut_tree.cuts]
        weights = np.bincount(part_of, point_weights, n_parts).astype(np.float64)
        scores = np.empty(n_parts - 1)
        for step in range(n_parts - 1, 0, -1):
            rest, off = weights[cut_from[step]], weights[step]
            scores[step - 1] = lengths[step - 1] * (rest * off / (rest + off))
            weights[cut_from[step]] += off
        edges = tree.spanning_tree.edges[cut_tree.cuts].reshape(-1, 2)
        return cls(part_of, divided, edges, lengths, scores)

    @property
    def n_parts(self) -> int:
        """The number of leaves."""
        return len(self.divided) + 1

    @property
    def parents(self) -> Ints:
        """The node that each node was divided from, (2m - 1,); -1 for the root."""
        return np.append(-1, np.repeat(self.divided, 2))

    def leaves(self) -> Ints:
        """Return the leaf that each part is: (m,) int64."""
        return self.nodes_of_parts(self.n_parts)

    def nodes_of_parts(self, n_clusters: int) -> Ints:
        """Return the node that each of the m parts is in, where there are fewer clusters: (m,)."""
        nodes = np.zeros(self.n_parts, dtype=np.int64)
        first = [0]  # the part that keeps the number of each node
        for step, node in enumerate(self.divided.tolist(), start=1):
            first += [first[node], step]
        part_nodes = {0: 0}
        for step in range(1, n_clusters):
            kept = first[int(self.divided[step - 1])]
            part_nodes[kept], part_nodes[step] = 2 * step - 1, 2 * step
        inside = np.arange(self.n_parts)
        for step in range(self.n_parts - 1, n_clusters - 1, -1):
            inside[inside == step] = first[int(self.divided[step - 1])]
        for part, node in part_nodes.items():
            nodes[inside == part] = node
        return nodes

    def members(self) -> Array:
        """Return whether each part is below each node: (2m - 1, m) bool."""
        members = np.zeros((2 * self.n_parts - 1, self.n_parts), dtype=bool)
        members[self.leaves(), np.arange(self.n_parts)] = True
        parents = self.parents
        for node in range(len(members) - 1, 0, -1):
            members[parents[node]] |= members[node]
        return members

    def levels(self) -> list[Ints]:
        """Return antichains that hold all nodes together: for each depth, a node for each part."""
        parents, leaves = self.parents, self.leaves()
        depth = np.zeros(len(parents), dtype=np.int64)
        for node in range(1, len(parents)):
            depth[node] = depth[parents[node]] + 1
        found = []
        for level in range(int(depth.max()) + 1):
            nodes = leaves.copy()
            while (deep := depth[nodes] > level).any():
                nodes[deep] = parents[nodes[deep]]
            found.append(nodes)
        return found
