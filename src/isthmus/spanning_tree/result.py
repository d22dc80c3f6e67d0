"""What is found: the spanning tree, and the kd-tree that was built on the way."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.files.model_file import read_file, write_file
from isthmus.metrics import PreparedPoints
from isthmus.spanning_tree.edge_order import sort_edges

if TYPE_CHECKING:  # it loads Numba
    from isthmus.kdtree.build import KdTree
    from isthmus.neighbors.sorted_lists import Neighbors


@dataclass(frozen=True, eq=False, repr=False)
class SpanningTree:
    """A minimum spanning tree: its edges, from the lightest to the heaviest.

    Edges are in one total order: by weight, then by smaller index, then by larger index. Where
    edges are equally long there may be several minimum spanning trees. All have the same weights
    and the same transitive distances; which one is found depends on the engine, never on threads.
    Where ``by_index`` is true it is the one of which every edge comes first, in that order, among
    the edges that could take its place.

    Attributes
    ----------
    edges : ndarray of shape (n_points - 1, 2), dtype int64
        The two points of each edge, the smaller index first. Read-only.
    weights : ndarray of shape (n_points - 1,), dtype float64
        The length of each edge in the metric that was asked for; not decreasing. Infinite where
        an edge joins components of a graph that nothing else connects. Read-only.
    engine : str
        What found the tree.
    by_index : bool
        Whether edges of equal length are known to have been chosen by their points' indices.

    See Also
    --------
    minimum_spanning_tree : Find it.
    UltrametricTree : The transitive distances that it implies.

    Examples
    --------
    >>> from isthmus import minimum_spanning_tree
    >>> tree = minimum_spanning_tree([[0.0], [1.0], [3.0]])
    >>> tree.edges.tolist(), tree.weights.tolist(), tree.total_weight
    ([[0, 1], [1, 2]], [1.0, 2.0], 3.0)
    """

    edges: Ints
    weights: Floats
    engine: str = "given"
    by_index: bool = False

    def __post_init__(self) -> None:
        edges, weights = np.asarray(self.edges), np.asarray(self.weights)
        _check_edges(edges, weights)
        if (weights[1:] < weights[:-1]).any() or (edges[:, 0] >= edges[:, 1]).any():
            raise ValueError(
                "The edges of a SpanningTree are ordered by weight, each with its smaller index "
                "first. SpanningTree.from_edges takes edges in any order."
            )
        self._keep(edges.astype(np.int64, copy=False), weights)

    def _keep(self, edges: Ints, weights: Floats) -> None:
        for name, array in (("edges", edges), ("weights", weights)):
            view = array.view()  # the caller's own array stays as it was
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @property
    def n_points(self) -> int:
        """The number of points that the tree spans."""
        return len(self.weights) + 1

    @property
    def total_weight(self) -> float:
        """The sum of all weights; infinite where it is too large for float64."""
        with np.errstate(over="ignore"):
            return float(self.weights.sum())

    @classmethod
    def from_edges(cls, edges: Any, weights: Any, *, engine: str = "given") -> SpanningTree:
        """Return the record of edges given in any order and direction.

        Parameters
        ----------
        edges : array-like of shape (n_points - 1, 2)
            Pairs of point indices from 0 to n_points - 1.
        weights : array-like of shape (n_points - 1,)
            Not negative. Infinite ones join components that nothing else connects.
        engine : str
            What found the tree.

        Whether the edges form a tree is checked where it is first needed, when they are merged.
        """
        pairs = np.asarray(edges)
        lengths = np.asarray(weights, dtype=np.float64)
        _check_edges(pairs, lengths)
        pairs = pairs.astype(np.int64, copy=False)
        if (pairs[:, 0] > pairs[:, 1]).any():
            pairs = np.sort(pairs, axis=1)
        return cls(*sort_edges(pairs, lengths), engine)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a file that :meth:`load` reads, and that holds no code."""
        write_file(path, "SpanningTree", self._content())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SpanningTree:
        """Return the tree that :meth:`save` wrote; ValueError where the file is damaged."""
        return read_file(path, "SpanningTree", cls._from_content)

    def _content(self) -> dict[str, Any]:
        """Return the parts of the tree, as files hold them."""
        return {
            "edges": self.edges,
            "weights": self.weights,
            "engine": self.engine,
            "by_index": self.by_index,
        }

    @classmethod
    def _from_content(cls, content: Any) -> SpanningTree:
        """Return the tree of its parts; ValueError where they make none."""
        edges, weights, engine = (content[name] for name in ("edges", "weights", "engine"))
        if not isinstance(edges, np.ndarray) or not isinstance(weights, np.ndarray):
            raise ValueError("edges and weights must be arrays.")  # noqa: TRY004
        # Older files do not say by what edges of equal length were chosen.
        tree = cls(edges, weights, str(engine), bool(content.get("by_index", False)))
        tree._refuse_cycles()
        return tree

    def _refuse_cycles(self) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ends = self.edges[:, 0], self.edges[:, 1]
        graph = coo_array((np.ones(len(self.weights)), ends), shape=2 * (self.n_points,))
        if connected_components(graph, directed=False, return_labels=False) > 1:
            raise ValueError("The edges form a cycle: they are no tree.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.edges, self.weights, self.engine, self.by_index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SpanningTree):
            return NotImplemented
        return np.array_equal(self.edges, other.edges) and np.array_equal(
            self.weights, other.weights
        )

    def __hash__(self) -> int:
        return hash((self.edges.tobytes(), self.weights.tobytes()))

    def __repr__(self) -> str:
        return (
            f"SpanningTree(n_points={self.n_points}, total_weight={self.total_weight:.6g}, "
            f"engine={self.engine!r})"
        )


@dataclass(frozen=True, eq=False)
class KdTreeIndex:
    """The kd-tree that an engine has built, for searches among the same points.

    Attributes
    ----------
    prepared : PreparedPoints
        All n points, as the metric maps them, and the map back to distances; from points in C
        order, so that ``map_for_others`` treats new points alike.
    distinct : (m,) int64 or None
        The points in the kd-tree, ascending: of equal points the first. None: all n of them.
        No two points in the kd-tree are equal.
    kdtree : KdTree
        Of ``prepared.points[distinct]``, padded to ``kdtree.dims`` coordinates;
        ``kdtree.order[position]`` is an index into ``distinct``.
    """

    prepared: PreparedPoints
    distinct: Ints | None
    kdtree: KdTree

    @property
    def rows(self) -> Ints:
        """The point at each position of the kd-tree, (m,)."""
        order = self.kdtree.order
        return order.astype(np.int64) if self.distinct is None else self.distinct[order]


@dataclass(frozen=True, eq=False)
class Found:
    """The spanning tree of some data.

    Attributes
    ----------
    tree : SpanningTree
    index : KdTreeIndex or None
        Where the kd-tree engine found the tree, of points among which it left no duplicates.
    lists : Neighbors or None
        The nearest neighbours, where they were asked for and found on the way.
    """

    tree: SpanningTree
    index: KdTreeIndex | None = None
    lists: Neighbors | None = None


@dataclass(frozen=True, eq=False)
class NeighborhoodTree:
    """The spanning tree of some data, with neighbourhoods or without.

    Attributes
    ----------
    tree : SpanningTree
    index : KdTreeIndex or None
        The kd-tree that was built on the way, of ``points`` if there are any.
    neighbors : (n, n_neighbors) int32 or None
        The neighbourhood of each point.
    points : array, CSR matrix or None
        The means that took the points' place.
    first_index : KdTreeIndex or None
        Where points were added to others: the kd-tree of the first of all.
    """

    tree: SpanningTree
    index: KdTreeIndex | None = None
    neighbors: Labels | None = None
    points: Any = None
    first_index: KdTreeIndex | None = None


def trusted_tree(
    edges: Ints, weights: Floats, engine: str, n_jobs: int = 1, *, by_index: bool = False
) -> SpanningTree:
    """Return the record of what an engine has found, in any order.

    Nothing is checked: with the edges of a kd-tree that would take a fiftieth of the time.
    """
    if (edges[:, 0] > edges[:, 1]).any():
        edges = np.sort(edges, axis=1)
    return tree_in_order(*sort_edges(edges, weights, n_jobs), engine, by_index=by_index)


def tree_in_order(
    edges: Ints, weights: Floats, engine: str, *, by_index: bool = False
) -> SpanningTree:
    """Return the record of edges in total order; nothing is checked."""
    tree = object.__new__(SpanningTree)
    tree._keep(edges, weights)
    object.__setattr__(tree, "engine", engine)
    object.__setattr__(tree, "by_index", by_index)
    return tree


def _check_edges(edges: Array, weights: Floats) -> None:
    if weights.ndim != 1 or edges.shape != (len(weights), 2):
        raise ValueError(
            "A spanning tree of n points has edges of shape (n - 1, 2) and weights of shape "
            f"(n - 1,); got {edges.shape} and {weights.shape}."
        )
    if edges.size and not np.issubdtype(edges.dtype, np.integer):
        raise TypeError(f"Edges must be pairs of integers, got dtype {edges.dtype}.")
    if edges.size and (edges.min() < 0 or edges.max() > len(weights)):
        raise ValueError(
            f"{len(weights)} edges span {len(weights) + 1} points, so indices go from 0 to "
            f"{len(weights)}; got indices from {edges.min()} to {edges.max()}."
        )
    if weights.dtype != np.float64:
        raise TypeError(f"Weights must be of dtype float64, got {weights.dtype}.")
    if not (weights >= 0).all():
        raise ValueError("The weights of a spanning tree must be not negative, and not NaN.")
