"""Clusters on a tree → hyperplanes that separate their convex hulls in the embedded space.

The paper's Theorem 1: the convex hulls of consistent clusters do not intersect. In fact no convex
hulls of disjoint sets of distinct points do, since the n images are the vertices of a simplex;
what depends on the labels is how wide the gap between two hulls is. The widest gap is known in
closed form: see potentials.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import coded_labels
from isthmus._utils.tables import count
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.theory.consistency import consistency
from isthmus.theory.potentials import Potentials, UniformParts, separate, uniform_parts
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.embedding import MergeCoordinates
from isthmus.ultrametric.tree import check_tree

# A pair's own numbers and arrays, besides the coordinates of its hyperplane.
_BYTES_PER_PAIR = 512


@dataclass(frozen=True, eq=False)
class ConvexHullCertificate:
    """Hyperplanes between the convex hulls of clusters, in the coordinates of ``tree.embedding()``.

    Attributes
    ----------
    clusters : ndarray of shape (n_clusters,)
        The different labels, in ascending order.
    consistent : bool
        Whether the labels are consistent by the paper's Definition 2: however a cluster is
        divided, its parts are nearer to each other than any other point is to the cluster.
    pairs : ndarray of shape (n_pairs, 2)
        Every two clusters, as indices into ``clusters``.
    normals : csr_array of shape (n_pairs, n_points - 1)
        Unit vectors, from the second cluster of a pair towards the first. Zero where the two
        hulls intersect.
    offsets : ndarray of shape (n_pairs,)
        Hyperplane p holds all z with ``normals[p] @ z == offsets[p]``.
    margins : ndarray of shape (n_pairs,)
        The distance of the two hulls: the measured width of the gap that has the hyperplane in
        its middle and none of the points of the pair inside. 0 where they intersect.

    See Also
    --------
    convex_hull_certificate : Compute it.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [6.5]])
    >>> from isthmus.theory import convex_hull_certificate
    >>> certificate = convex_hull_certificate(tree, [0, 0, 1, 1])
    >>> certificate.separated, certificate.consistent, certificate.margins.round(3).tolist()
    (True, True, [3.897])
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
            f"ConvexHullCertificate({count(len(self.clusters), 'cluster')}, {words}, "
            f"separated={self.separated}, smallest margin: {smallest})"
        )


def convex_hull_certificate(tree: UltrametricTree, labels: Any) -> ConvexHullCertificate:
    """Return hyperplanes that separate the convex hulls of clusters in the embedded space.

    The paper's Theorem 1 for a given tree: each hyperplane is constructed from the tree and then
    checked at every point. Labels need not be consistent: convex hulls intersect only where points
    of different clusters coincide. The margins tell how far apart they are.

    Parameters
    ----------
    tree : UltrametricTree
        Its distances must be finite.
    labels : array-like of shape (n_points,)
        The cluster of each point: numbers or strings.

    Returns
    -------
    ConvexHullCertificate

    See Also
    --------
    ConvexHullCertificate : What is returned.
    isthmus.UltrametricTree.embedding : The coordinates of the hyperplanes.

    Notes
    -----
    Each pair of clusters takes time in proportion to the number of merges that join points of
    several clusters: n_clusters - 1 for consistent labels, and up to n - 1 for others.
    ``convex_hull_certificate(tree, labels == name)`` separates one cluster from all the rest.

    Different labels for points at distance 0 are not consistent: the paper's points are distinct.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> from isthmus.theory import convex_hull_certificate
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
    >>> certificate = convex_hull_certificate(tree, ["a", "a", "b", "b"])
    >>> certificate
    ConvexHullCertificate(2 clusters, consistent, separated=True, smallest margin: 1.92)
    >>> sides = (certificate.normals @ tree.embedding().T).toarray() - certificate.offsets
    >>> sides.round(3).tolist()
    [[0.96, 0.96, -0.96, -0.96]]
    """
    check_tree(tree)
    clusters, codes = coded_labels(labels, tree.n_points)
    coordinates = MergeCoordinates.of_merges(tree.children, tree.heights, tree.sizes)
    parts = uniform_parts(tree, codes, coordinates)
    n_pairs = len(clusters) * (len(clusters) - 1) // 2
    require_memory(
        n_pairs * (len(parts.merges) * 16 + _BYTES_PER_PAIR),
        f"Up to {len(parts.merges)} coordinates of {n_pairs} hyperplanes",
        "One cluster against the rest takes less: labels == name.",
    )
    pairs = np.column_stack(np.triu_indices(len(clusters), 1))
    columns = np.empty(tree.n_points - 1, dtype=np.int64)
    columns[coordinates.order] = np.arange(tree.n_points - 1)
    normals, offsets, margins = _hyperplanes(parts, pairs, columns)
    consistent = consistency(tree, codes).consistent
    return ConvexHullCertificate(clusters, consistent, pairs, normals, offsets, margins)


def _hyperplanes(
    parts: UniformParts, pairs: Ints, columns: Ints
) -> tuple[csr_array, Floats, Floats]:
    """Return, for each pair of clusters, the normal, the offset and the margin.

    columns : (n - 1,) int64
        The coordinate of each merge of the tree.
    """
    n_merges = len(parts.merges)
    net = Potentials(*np.empty((3, 2 * n_merges + 1)))
    slopes, values = np.empty(n_merges), np.empty(3)
    entries: list[tuple[Ints, Floats]] = [(np.empty(0, dtype=np.int64), np.empty(0))]
    bounds = np.zeros(len(pairs) + 1, dtype=np.int64)
    offsets, margins = np.zeros((2, len(pairs)))
    for p, (a, b) in enumerate(pairs):
        separate(parts, a, b, net, slopes, values)
        origin, lowest, highest = values.tolist()
        bounds[p + 1] = bounds[p]
        if lowest > highest:
            sloping = np.flatnonzero(slopes)
            steepest = np.abs(slopes[sloping]).max()
            normal = slopes[sloping] / steepest  # no square of it over- or underflows
            length = np.linalg.norm(normal)
            entries.append((columns[parts.merges[sloping]], normal / length))
            bounds[p + 1] += len(sloping)
            offsets[p] = (0.5 * (lowest + highest) - origin) / length / steepest
            margins[p] = (lowest - highest) / length / steepest
    indices, values = (np.concatenate(arrays) for arrays in zip(*entries, strict=True))
    normals = csr_array((values, indices, bounds), shape=(len(pairs), len(columns)))
    normals.sort_indices()
    return normals, offsets, margins
