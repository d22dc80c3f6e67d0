"""UltrametricTree: all transitive distances of n points in O(n) memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import as_real, check_indices, check_n_jobs
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.files.model_file import read_file, write_file
from isthmus.metrics.registry import AnyMetric
from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
from isthmus.ultrametric.embedding import embed
from isthmus.ultrametric.linkage import LINKAGE, spanning_tree_of_linkage
from isthmus.ultrametric.matvec import multiply
from isthmus.ultrametric.merges import (
    gaps_of_merges,
    leaf_starts,
    merges_of_edges,
    require_finite,
)
from isthmus.ultrametric.range_max import RangeMaxima, distance_rows
from isthmus.ultrametric.rooted import RootedTree, path_between, root_tree
from isthmus.ultrametric.transitive_edge import EdgeIndex, TransitiveEdge

AnyArray = TypeVar("AnyArray", bound=Array)


@dataclass(frozen=True, eq=False, repr=False)
class UltrametricTree:
    """The transitive distances of n points, as a binary tree of merges. Immutable.

    Joining the edges of the minimum spanning tree from the lightest to the heaviest gives n - 1
    merges. The transitive distance of two points is the height of the merge that first puts them
    together. Nodes are numbered as in SciPy: points 0 … n - 1, then the merges n … 2n - 2.

    Build one with :meth:`from_data`, :meth:`from_spanning_tree`, :meth:`from_linkage` or
    :meth:`from_matrix`. Where edges have equal weights the tree's shape depends on their order,
    which is defined (by index); the distances do not. Points that only an infinite edge joins
    are at an infinite distance.

    Attributes
    ----------
    spanning_tree : SpanningTree
        The edges that were merged.
    children : ndarray of shape (n - 1, 2)
        The two nodes that each merge joins, the smaller number first. Like the arrays below, int32
        wherever that can number all nodes.
    sizes : ndarray of shape (2n - 1,)
        The number of points below each node.

    See Also
    --------
    minimum_spanning_tree : What it is made from.
    scipy.cluster.hierarchy.linkage : SciPy's form of such a tree, also the attribute ``linkage``.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
    >>> tree.distance(0, 3)
    2.0
    >>> (tree @ [1.0, 1.0, 1.0, 1.0]).tolist()
    [5.0, 5.0, 4.5, 4.5]
    """

    spanning_tree: SpanningTree
    children: Ints
    sizes: Ints

    # NumPy then leaves ``array @ tree`` to __rmatmul__.
    __array_ufunc__ = None

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        metric: str | Callable[..., float] | AnyMetric = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        disconnected: str | float = "error",
        n_jobs: int | None = None,
    ) -> UltrametricTree:
        """Return the tree of points; parameters as for :func:`isthmus.minimum_spanning_tree`."""
        return cls.from_spanning_tree(
            minimum_spanning_tree(
                X,
                metric=metric,
                metric_params=metric_params,
                disconnected=disconnected,
                n_jobs=n_jobs,
            )
        )

    @classmethod
    def from_spanning_tree(cls, spanning_tree: SpanningTree) -> UltrametricTree:
        """Return the tree of a spanning tree; raise ValueError where its edges form a cycle."""
        if not isinstance(spanning_tree, SpanningTree):
            raise TypeError(
                f"Expected a SpanningTree, got {type(spanning_tree).__name__}. "
                "SpanningTree.from_edges(edges, weights) makes one."
            )
        children, sizes = merges_of_edges(spanning_tree.edges)
        return cls(spanning_tree, _read_only(children), _read_only(sizes))

    @classmethod
    def from_linkage(cls, Z: Any) -> UltrametricTree:
        """Return the tree of SciPy's linkage matrix, of any method whose heights never fall.

        The transitive distances are the cophenetic distances of Z. A linkage does not tell which
        points a merge connected, so ``spanning_tree`` joins the smallest points of both sides, and
        ``transitive_edge`` and ``path`` raise ValueError.
        """
        return cls.from_spanning_tree(spanning_tree_of_linkage(Z))

    @classmethod
    def from_matrix(cls, matrix: Any) -> UltrametricTree:
        """Return the tree of base distances: a square matrix, a condensed one or a graph."""
        return cls.from_data(matrix, metric="precomputed")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a file that :meth:`load` reads, and that holds no code."""
        write_file(path, "UltrametricTree", {"spanning tree": self.spanning_tree._content()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> UltrametricTree:
        """Return the tree that :meth:`save` wrote; ValueError where the file is damaged."""

        def build(content: dict[str, Any]) -> UltrametricTree:
            return cls.from_spanning_tree(SpanningTree._from_content(content["spanning tree"]))

        return read_file(path, "UltrametricTree", build)

    def with_heights(self, function: Callable[[Floats], Any]) -> UltrametricTree:
        """Return the tree whose every distance is ``function`` of this one's.

        Parameters
        ----------
        function : callable
            Takes the array of heights and returns as many: finite, not negative, not decreasing
            where the heights don't. Distances between different points should stay positive.
            Infinite heights may stay so. Example: ``tree.with_heights(np.sqrt)``.
        """
        weights = as_real(function(self.heights), "What the function returns")
        if weights.shape != self.heights.shape:
            raise ValueError(
                f"The function turned {self.heights.shape} heights into {weights.shape}."
            )
        finite = np.isfinite(weights) | (weights == self.heights)
        if not finite.all() or (weights < 0).any() or (weights[1:] < weights[:-1]).any():
            raise ValueError(
                "The function must be increasing and its values finite and not negative."
            )
        edges = self.spanning_tree.edges
        mapped = SpanningTree(edges, _read_only(weights + 0.0), self.spanning_tree.engine)
        return type(self)(mapped, self.children, self.sizes)

    @property
    def heights(self) -> Floats:
        """The height of each merge, from the lowest to the highest: shape (n - 1,)."""
        return self.spanning_tree.weights

    @property
    def n_points(self) -> int:
        """The number of points (leaves)."""
        return len(self.children) + 1

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix that the tree stands for."""
        return self.n_points, self.n_points

    @cached_property
    def starts(self) -> Ints:
        """Where each node's points begin in ``leaf_order``: shape (2n - 1,).

        Node v holds ``leaf_order[starts[v] : starts[v] + sizes[v]]``.
        """
        return _read_only(leaf_starts(self.children, self.sizes))

    @cached_property
    def leaf_order(self) -> Ints:
        """The points in an order in which every node is a contiguous slice: shape (n,)."""
        order = np.empty_like(self.starts, shape=self.n_points)
        order[self.starts[: self.n_points]] = np.arange(self.n_points, dtype=order.dtype)
        return _read_only(order)

    @cached_property
    def gaps(self) -> Floats:
        """The distance of each point to the next one in ``leaf_order``: shape (n - 1,).

        The distance of any two points is the largest gap between them.
        """
        return _read_only(gaps_of_merges(self.children, self.starts, self.heights))

    @cached_property
    def _gap_maxima(self) -> RangeMaxima:
        return RangeMaxima.of(self.gaps)

    @cached_property
    def _edge_index(self) -> EdgeIndex:
        return EdgeIndex(self.spanning_tree.edges, self.heights, self.children, self.starts)

    @cached_property
    def _rooted(self) -> RootedTree:
        return root_tree(self.spanning_tree.edges)

    @property
    def linkage(self) -> Floats:
        """The merges in SciPy's format: shape (n - 1, 4)."""
        return np.column_stack(
            [self.children.astype(np.float64), self.heights, self.sizes[self.n_points :]]
        )

    def members(self, node: int) -> Ints:
        """Return the points below a node, in leaf order."""
        if isinstance(node, bool) or not isinstance(node, int | np.integer):
            raise IndexError(f"Nodes are numbered by integers, got {node!r}.")
        if not 0 <= node < len(self.sizes):
            raise IndexError(f"Nodes are numbered 0 to {len(self.sizes) - 1}, got {node}.")
        start = self.starts[node]
        return self.leaf_order[start : start + self.sizes[node]]

    def distance(self, i: Any, j: Any) -> Any:
        """Return the transitive distance of points i and j; arrays broadcast.

        O(1) per pair. The first call builds an index that is small beside the tree.
        """
        first, second = self._pairs(i, j)
        out = self._gap_maxima.between(self.starts[first.ravel()], self.starts[second.ravel()])
        return out.reshape(first.shape) if first.ndim else float(out[0])

    def row(self, i: int) -> Floats:
        """Return the transitive distances of point i to all points, in O(n)."""
        point = self._one_point(i, "row").reshape(1)
        row: Floats = distance_rows(self.gaps, self.leaf_order, self.starts, point)[0]
        return row

    def transitive_edge(self, i: Any, j: Any) -> TransitiveEdge:
        """Return the edge of the spanning tree that decides how far apart points i and j are.

        It is the longest edge on the path from i to j in the spanning tree; of several, the one
        that was merged last. Arrays broadcast, as for :meth:`distance`, and cost as much.

        Returns
        -------
        TransitiveEdge
            (a, b, length): a on i's side, b on j's, and length = ``distance(i, j)``.

        Examples
        --------
        >>> from isthmus import UltrametricTree
        >>> tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
        >>> tree.transitive_edge(3, 0)
        TransitiveEdge(a=2, b=1, length=2.0)
        """
        self._require_edges()
        return self._edge_index.between(*self._pairs(i, j))

    def path(self, i: int, j: int) -> Ints:
        """Return the points on the path from i to j in the spanning tree, both included.

        No path between them has a shorter longest edge. O(n) for the first call, then O(its
        length).

        Examples
        --------
        >>> from isthmus import UltrametricTree
        >>> tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
        >>> tree.path(3, 0).tolist()
        [3, 2, 1, 0]
        """
        self._require_edges()
        start, end = self._one_point(i, "path"), self._one_point(j, "path")
        return path_between(self._rooted, int(start), int(end))

    def matrix(self, *, n_jobs: int | None = None) -> Floats:
        """Return the dense matrix of transitive distances, if it fits in memory."""
        threads = check_n_jobs(n_jobs)
        require_memory(
            self.n_points**2 * 8,
            f"The dense matrix of {self.n_points} points",
            "Use distance(i, j), row(i) or tree @ x, which do without it.",
        )
        everything = np.arange(self.n_points)
        return distance_rows(self.gaps, self.leaf_order, self.starts, everything, threads)

    def embedding(self, components: int | None = None) -> csr_array:
        """Return points whose Euclidean distances are the transitive distances (Lemma 1).

        There is one coordinate per merge, and those of a point are zero except for the merges above
        it: O(n log n) memory on a balanced tree. All points lie on one sphere about the origin.

        Parameters
        ----------
        components : int, optional
            The number of coordinates, at most n - 1; all if None. They are ordered by variance, and
            the first ones of the full embedding are returned, in O(n components) memory. Distances
            in them are never above the transitive ones.

        Returns
        -------
        scipy.sparse.csr_array of shape (n, components)

        Examples
        --------
        >>> from isthmus import UltrametricTree
        >>> tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
        >>> tree.embedding().toarray().round(3)
        array([[ 0.911, -0.5  ,  0.   ],
               [ 0.911,  0.5  ,  0.   ],
               [-1.009,  0.   , -0.25 ],
               [-1.009,  0.   ,  0.25 ]])
        """
        return embed(
            self.children, self.heights, self.sizes, self.starts, self.leaf_order, components
        )

    def __matmul__(self, other: Any) -> Floats:
        """Return the product of the distance matrix with a vector or a block, in O(n) each."""
        block = as_real(other, "A factor of a tree")
        if block.ndim not in (1, 2) or len(block) != self.n_points:
            raise ValueError(
                f"A tree of {self.n_points} points multiplies arrays of shape "
                f"({self.n_points},) or ({self.n_points}, m); got {block.shape}."
            )
        require_finite(self.heights, "A product")
        product = multiply(self.children, self.heights, block.reshape(self.n_points, -1))
        return product.reshape(block.shape)

    def __rmatmul__(self, other: Any) -> Floats:
        return (self @ np.asarray(other).T).T  # the matrix is symmetric

    def _pairs(self, i: Any, j: Any) -> tuple[Ints, Ints]:
        """Return points as checked indices of one shape."""
        first, second = (check_indices(k, self.n_points) for k in (i, j))
        first, second = np.broadcast_arrays(first, second)
        return first, second

    def _one_point(self, i: Any, method: str) -> Ints:
        index = check_indices(i, self.n_points)
        if index.ndim:
            raise IndexError(f"{method}() takes one point, got an array of shape {index.shape}.")
        return index

    def _require_edges(self) -> None:
        if self.spanning_tree.engine == LINKAGE:
            raise ValueError(
                "This tree was built from a linkage, which does not say which two points joined "
                "two groups, so it has no edges and no paths. Build it from the points: "
                "UltrametricTree.from_data(X)."
            )

    def __len__(self) -> int:
        return self.n_points

    def __eq__(self, other: object) -> bool:
        """Whether both trees give every pair of points the same distance.

        In O(n): neighbours in one tree's leaf order must have the same distance in the other, and
        the other way round. Along such a chain no distance can be larger in the other tree.
        """
        if not isinstance(other, UltrametricTree):
            return NotImplemented
        if not np.array_equal(self.heights, other.heights):
            return False
        return all(
            np.array_equal(b.distance(a.leaf_order[:-1], a.leaf_order[1:]), a.gaps)
            for a, b in ((self, other), (other, self))
        )

    def __hash__(self) -> int:
        return hash((self.n_points, self.heights.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_spanning_tree, (self.spanning_tree,)

    def __repr__(self) -> str:
        if self.n_points == 1:
            return "UltrametricTree(n_points=1)"
        low, high = self.heights[0], self.heights[-1]
        return f"UltrametricTree(n_points={self.n_points}, heights={low:.4g} … {high:.4g})"


def _read_only(array: AnyArray) -> AnyArray:
    array.flags.writeable = False
    return array


def check_tree(tree: object) -> None:
    """Raise TypeError for anything but an ultrametric tree."""
    if not isinstance(tree, UltrametricTree):
        raise TypeError(
            f"Expected an UltrametricTree, got {type(tree).__name__}. "
            "UltrametricTree.from_data(X) makes one; a fitted estimator has one as tree_."
        )
