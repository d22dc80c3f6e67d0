"""Clusters on a tree → hyperplanes that separate their convex hulls in the embedded space.

The paper's Theorem 1: the convex hulls of clusters that are consistent do not intersect. In fact
no convex hulls of disjoint sets of different points do, since the n images are the corners of a
simplex; what depends on the labels is how wide the gap between two hulls is.

The widest gap is known in closed form: see potentials.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isthmus._utils.memory import require_memory
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.theory.consistency import consistency
from isthmus.theory.potentials import separate
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.embedding import MergeCoordinates
from isthmus.ultrametric.tree import check_tree

# What a pair takes beside the coordinates of its hyperplane: its numbers, and two small arrays.
_BYTES_PER_PAIR = 512


@dataclass(frozen=True, eq=False)
class ConvexHullCertificate:
    """Hyperplanes between the convex hulls of clusters, in the coordinates of ``tree.embedding()``.

    Attributes
    ----------
    clusters : ndarray of shape (n_clusters,)
        The different labels, in ascending order.
    consistent : bool
        Whether the labels are consistent by the paper's Definition 2: every cluster is nearer to
        itself, however it is divided, than to any other point.
    pairs : ndarray of shape (n_pairs, 2)
        Every two clusters, as indices into ``clusters``.
    normals : csr_array of shape (n_pairs, n_points - 1)
        Unit vectors, from the second cluster of a pair towards the first. Zero where the two
        hulls intersect.
    offsets : ndarray of shape (n_pairs,)
        Hyperplane p holds all z with ``normals[p] @ z == offsets[p]``.
    margins : ndarray of shape (n_pairs,)
        The distance of the two hulls, measured: the width of the gap that holds the hyperplane in
        its middle and none of the points of the pair. 0 where they intersect.
    """

    clusters: Array
    consistent: bool
    pairs: Ints
    normals: csr_array
    offsets: Floats
    margins: Floats

    @property
    def separated(self) -> bool:
        """Whether no two convex hulls intersect."""
        return bool((self.margins > 0.0).all())

    @property
    def intersecting(self) -> Array:
        """The labels of the pairs whose convex hulls intersect: shape (…, 2)."""
        found: Array = self.clusters[self.pairs[self.margins == 0.0]]
        return found

    def __repr__(self) -> str:
        words = "consistent" if self.consistent else "not consistent"
        smallest = f"{self.margins.min():.4g}" if len(self.margins) else "none"
        return (
            f"ConvexHullCertificate({len(self.clusters)} clusters, {words}, "
            f"separated={self.separated}, smallest margin: {smallest})"
        )


def convex_hull_certificate(tree: UltrametricTree, labels: Any) -> ConvexHullCertificate:
    """Return hyperplanes that separate the convex hulls of clusters in the embedded space.

    The paper's Theorem 1, for a given tree: constructed from it, and then checked at every point.
    It takes any labels, consistent or not: convex hulls intersect only where points of different
    clusters coincide. How far they are apart is what the margins tell.

    Parameters
    ----------
    tree : UltrametricTree
        Its distances must be finite.
    labels : array-like of shape (n_points,)
        The cluster of each point: numbers or strings.

    Returns
    -------
    ConvexHullCertificate

    Notes
    -----
    Each pair of clusters takes time in proportion to the number of merges above which several
    clusters meet: as many as clusters, less one, for consistent labels, and up to n - 1 for others.
    ``convex_hull_certificate(tree, labels == name)`` separates one cluster from all the rest.

    Where points at distance 0 have different labels, these are not consistent: the paper speaks of
    different points.

    Examples
    --------
    >>> from isthmus import UltrametricTree, convex_hull_certificate
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
    >>> certificate = convex_hull_certificate(tree, ["a", "a", "b", "b"])
    >>> certificate
    ConvexHullCertificate(2 clusters, consistent, separated=True, smallest margin: 1.92)
    >>> sides = (certificate.normals @ tree.embedding().T).toarray() - certificate.offsets
    >>> sides.round(3).tolist()
    [[0.96, 0.96, -0.96, -0.96]]
    """
    check_tree(tree)
    clusters, codes = _coded(labels, tree.n_points)
    coordinates = MergeCoordinates.of_merges(tree.children, tree.heights, tree.sizes)
    parts = UniformParts.of_labels(tree, codes, coordinates)
    n_pairs = len(clusters) * (len(clusters) - 1) // 2
    require_memory(
        n_pairs * (len(parts.merges) * 16 + _BYTES_PER_PAIR),
        f"Up to {len(parts.merges)} coordinates of {n_pairs} hyperplanes",
        "One cluster against the rest takes less: labels == name.",
    )
    pairs = np.column_stack(np.triu_indices(len(clusters), 1))
    weights, offsets, margins = _hyperplanes(parts, pairs)
    columns = np.empty(tree.n_points - 1, dtype=np.int64)
    columns[coordinates.order] = np.arange(tree.n_points - 1)
    normals = _as_rows(weights, columns[parts.merges], tree.n_points - 1)
    consistent = consistency(tree, codes).consistent
    return ConvexHullCertificate(clusters, consistent, pairs, normals, offsets, margins)


@dataclass(frozen=True)
class UniformParts:
    """The top of a tree: the m merges above points of several clusters, and the m + 1 parts below.

    Each part is a node whose points are all of one cluster. Nodes are numbered as in a tree: parts
    0 … m, then the merges in ascending order.

    Attributes
    ----------
    merges : (m,) int64
        The numbers of the merges in the whole tree.
    children : (m, 2) int64
    heights : (2m + 1,) float64
    slack : (m + 1,) float64
        That of the parts, as in MergeCoordinates. Its square is the resistance between a part and
        its points, if all of these have the same potential.
    labels : (m + 1,) int64
    first, second : (m,) float64
        The coordinates of the merges, as in MergeCoordinates.
    """

    merges: Ints
    children: Ints
    heights: Floats
    slack: Floats
    labels: Ints
    first: Floats
    second: Floats

    @classmethod
    def of_labels(
        cls, tree: UltrametricTree, codes: Ints, coordinates: MergeCoordinates
    ) -> UniformParts:
        """Return the parts that labels, numbered from 0 on, divide a tree into."""
        n_points = tree.n_points
        ordered = codes[tree.leaf_order]
        slices = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
        is_mixed = slices[tree.starts] != slices[tree.starts + tree.sizes - 1]
        merges = np.flatnonzero(is_mixed[n_points:])
        below = tree.children[merges].ravel()
        parts = below[~is_mixed[below]]
        nodes = np.concatenate([parts, n_points + merges])
        number = np.empty(2 * n_points - 1, dtype=np.int64)
        number[nodes] = np.arange(len(nodes))
        return cls(
            merges,
            number[below].reshape(-1, 2),
            np.concatenate([np.zeros(n_points), tree.heights])[nodes],
            coordinates.slack[parts],
            ordered[tree.starts[parts]],
            coordinates.first[merges],
            coordinates.second[merges],
        )


def _coded(labels: Any, n_points: int) -> tuple[Array, Ints]:
    """Return the different labels and, for each point, which one it has."""
    array = np.asarray(labels)
    if array.shape != (n_points,):
        raise ValueError(
            f"labels must be one label for each of {n_points} points, got an array of shape "
            f"{array.shape}."
        )
    clusters, codes = np.unique(array, return_inverse=True)
    return clusters, codes.astype(np.int64)


def _hyperplanes(
    parts: UniformParts, pairs: Ints
) -> tuple[list[tuple[Ints, Floats]], Floats, Floats]:
    """Return, for each pair of clusters, the normal by merges, the offset and the margin.

    A normal is the indices of its non-zero entries in ``parts.merges`` and their values.
    """
    n_merges = len(parts.merges)
    reach, potential, value = np.empty((3, 2 * n_merges + 1))
    slopes, found = np.empty(n_merges), np.empty(3)
    normals: list[tuple[Ints, Floats]] = []
    offsets, margins = np.zeros((2, len(pairs)))
    for p, (a, b) in enumerate(pairs):
        apart = separate(
            parts.children,
            parts.heights,
            parts.slack,
            parts.labels,
            parts.first,
            parts.second,
            a,
            b,
            reach,
            potential,
            value,
            slopes,
            found,
        )
        origin, lowest, highest = found
        if not apart or lowest <= highest:
            normals.append((np.empty(0, dtype=np.int64), np.empty(0)))
            continue
        places = np.flatnonzero(slopes)
        steepest = np.abs(slopes[places]).max()
        normal = slopes[places] / steepest  # no square of it over- or underflows
        length = np.linalg.norm(normal)
        normals.append((places, normal / length))
        offsets[p] = (0.5 * (lowest + highest) - origin) / length / steepest
        margins[p] = (lowest - highest) / length / steepest
    return normals, offsets, margins


def _as_rows(weights: list[tuple[Ints, Floats]], columns: Ints, n_columns: int) -> csr_array:
    """Return sparse rows, given for each the indices of its entries in ``columns`` and values."""
    bounds = np.cumsum([0] + [len(places) for places, _ in weights])
    places = np.concatenate([places for places, _ in weights] or [np.empty(0, dtype=np.int64)])
    values = np.concatenate([values for _, values in weights] or [np.empty(0)])
    rows = csr_array((values, columns[places], bounds), shape=(len(weights), n_columns))
    rows.sort_indices()
    return rows
