"""Theorem 1: certificates against linear programs, and consistency against Definition 2."""

import doctest

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.spatial.distance import cdist

from inputs import KINDS, many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.theory import convex_hull_certificate, convex_hulls
from oracles.hulls import distance_of_hulls, hulls_intersect
from oracles.theory import is_consistent

INPUTS = [p for p in many(105, largest=50) if p[1] >= 2]


def consistent_labels(tree, rng):
    """Labels by nodes strictly below their parents, at heights of all sorts, in random order."""
    n = len(tree)
    heights = np.concatenate([np.zeros(n), tree.heights])
    labels = np.empty(n, dtype=int)
    stack, n_found = [(2 * n - 2, np.inf)], 0
    while stack:
        v, above = stack.pop()
        if heights[v] == 0.0 or (heights[v] < above < np.inf and rng.random() < 0.3):
            labels[tree.members(v)] = n_found
            n_found += 1
        else:
            stack.extend((int(child), heights[v]) for child in tree.children[v - n])
    return rng.permutation(n_found)[labels]


def assert_certified(certificate, tree, labels):
    """Check all hyperplanes at every point of both clusters, in the embedded space."""
    sides = (certificate.normals @ tree.embedding().T).toarray() - certificate.offsets[:, None]
    first, second = certificate.clusters[certificate.pairs].T[:, :, None]
    expected = certificate.margins[:, None] / 2
    assert (expected > 0).all()
    # every point of the pair lies on its end of the gap: the potentials are held there
    assert (np.abs(np.where(labels == first, sides - expected, 0.0)) <= 1e-9 * expected).all()
    assert (np.abs(np.where(labels == second, sides + expected, 0.0)) <= 1e-9 * expected).all()


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
def test_theorem_1_holds_for_consistent_labels(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    labels = consistent_labels(tree, np.random.default_rng(seed))
    certificate = convex_hull_certificate(tree, labels)
    assert certificate.consistent
    assert certificate.separated
    assert len(certificate.intersecting) == 0
    k = labels.max() + 1
    assert len(certificate.pairs) == k * (k - 1) // 2
    assert_certified(certificate, tree, labels)
    lengths = certificate.normals.multiply(certificate.normals).sum(axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)
    # what consistency promises: a gap that three heights bound from below
    for (a, b), margin in list(zip(certificate.pairs, certificate.margins, strict=True))[:10]:
        points_a, points_b = np.flatnonzero(labels == a), np.flatnonzero(labels == b)
        h = tree.distance(points_a[0], points_b[0])
        widest = [tree.distance(p[:, None], p).max() for p in (points_a, points_b)]
        assert margin**2 >= (h**2 - (widest[0] ** 2 + widest[1] ** 2) / 2) * (1 - 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_cuts_at_a_height_are_consistent(kind, seed):
    tree = UltrametricTree.from_data(points(kind, 70, 2, seed))
    for height in np.unique(tree.heights)[-2::-15]:
        labels = fcluster(tree.linkage, height, "distance")
        certificate = convex_hull_certificate(tree, labels)
        assert certificate.consistent
        assert certificate.separated


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS[::2])
def test_linear_programs_agree(kind, n, d, seed):
    """For consistent labels, and for random ones, which may divide points that coincide."""
    tree = UltrametricTree.from_data(points(kind, min(n, 30), d, seed))
    rng = np.random.default_rng(seed)
    embedding = tree.embedding().toarray()
    for labels in (consistent_labels(tree, rng), rng.integers(0, 3, size=len(tree))):
        certificate = convex_hull_certificate(tree, labels)
        for (a, b), margin in list(zip(certificate.pairs, certificate.margins, strict=True))[:3]:
            ours, others = (embedding[labels == certificate.clusters[c]] for c in (a, b))
            assert hulls_intersect(ours, others) == (margin == 0.0)


def test_inconsistent_labels_are_among_those_programs_and_some_hulls_intersect():
    found = set()
    for kind, n, d, seed in INPUTS[::2]:
        tree = UltrametricTree.from_data(points(kind, min(n, 30), d, seed))
        labels = np.random.default_rng(seed).integers(0, 3, size=len(tree))
        certificate = convex_hull_certificate(tree, labels)
        found.add((certificate.consistent, certificate.separated))
    assert {(False, True), (False, False)} <= found


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS[::3])
def test_margins_are_the_distances_of_the_hulls(kind, n, d, seed):
    """No hyperplane leaves a wider gap, whatever the labels."""
    tree = UltrametricTree.from_data(points(kind, min(n, 16), d, seed))
    rng = np.random.default_rng(seed)
    embedding = tree.embedding().toarray()
    labels = rng.integers(0, 3, size=len(tree))
    certificate = convex_hull_certificate(tree, labels)
    height = tree.heights[-1]
    for (a, b), margin in zip(certificate.pairs, certificate.margins, strict=True):
        ours, others = (embedding[labels == certificate.clusters[c]] for c in (a, b))
        expected = distance_of_hulls(ours, others)
        assert margin == pytest.approx(expected, rel=1e-5, abs=1e-5 * height)
    if certificate.separated:
        assert_certified(certificate, tree, labels)


@pytest.mark.parametrize("seed", range(60))
def test_consistency_is_that_of_definition_2(seed):
    """On lattices, full of ties, and on others; no two points coincide."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    X = np.unique(rng.integers(0, 4, size=(n, 2)), axis=0).astype(float)
    if seed % 3 == 0:
        X += rng.normal(size=X.shape)
    tree = UltrametricTree.from_data(X)
    base = cdist(X, X)
    for _ in range(10):
        labels = rng.integers(0, rng.integers(1, 4), size=len(X))
        assert convex_hull_certificate(tree, labels).consistent == is_consistent(base, labels)
    labels = consistent_labels(tree, rng)
    assert is_consistent(base, labels)


def test_both_answers_are_among_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    tree = UltrametricTree.from_data(X)
    answers = [
        convex_hull_certificate(tree, rng.integers(0, 2, size=6)).consistent for _ in range(100)
    ]
    assert 0 < sum(answers) < 100


def test_equal_points_in_different_clusters_intersect():
    tree = UltrametricTree.from_data([[0.0], [0.0], [4.0], [5.0], [9.0]])
    certificate = convex_hull_certificate(tree, np.array(["a", "b", "b", "c", "c"]))
    assert not certificate.separated
    assert not certificate.consistent
    assert certificate.intersecting.tolist() == [["a", "b"]]
    assert certificate.margins[0] == certificate.offsets[0] == certificate.normals[[0]].nnz == 0
    assert (certificate.margins[1:] > 0).all()
    # single points that coincide: Definition 2 says nothing about them, their hulls do intersect
    alone = convex_hull_certificate(tree, np.arange(5))
    assert not alone.consistent
    assert alone.intersecting.tolist() == [[0, 1]]


def test_margins_of_tiny_gaps_beside_huge_heights():
    weights = [1e-200, 1e-9, 1e-8, 1.0, 1e100]
    edges = np.column_stack([np.arange(5), np.arange(1, 6)])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
    margins = convex_hull_certificate(tree, np.arange(6)).margins
    i, j = np.triu_indices(6, 1)
    np.testing.assert_allclose(margins, tree.distance(i, j), rtol=1e-12)
    two = convex_hull_certificate(tree, [0, 1, 0, 1, 0, 1])
    assert two.separated
    assert two.margins[0] == pytest.approx(1e-200)


def test_a_consistent_normal_lives_on_the_merges_above_its_clusters():
    tree = UltrametricTree.from_data(points("blobs", 2000, 2, seed=0))
    labels = fcluster(tree.linkage, 4, "maxclust")
    certificate = convex_hull_certificate(tree, labels)
    assert certificate.consistent
    assert certificate.normals.shape == (6, 1999)
    assert (np.diff(certificate.normals.indptr) <= 3).all()
    assert_certified(certificate, tree, labels)


def test_one_cluster_and_one_point():
    tree = UltrametricTree.from_data([[0.0], [1.0], [3.0]])
    whole = convex_hull_certificate(tree, [7, 7, 7])
    assert whole.consistent
    assert whole.separated
    assert whole.normals.shape == (0, 2)
    assert whole.pairs.shape == (0, 2)
    assert "1 cluster," in repr(whole)
    one = convex_hull_certificate(UltrametricTree.from_data([[0.0]]), ["x"])
    assert one.consistent
    assert one.separated


def test_what_is_refused(monkeypatch):
    tree = UltrametricTree.from_data([[0.0], [1.0], [3.0]])
    with pytest.raises(TypeError, match="from_data"):
        convex_hull_certificate(tree.matrix(), [0, 1, 2])
    with pytest.raises(ValueError, match="one label for each of 3 points"):
        convex_hull_certificate(tree, [0, 1])
    edges = np.array([[0, 1], [1, 2]])
    apart = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, [1.0, np.inf]))
    with pytest.raises(ValueError, match="infinitely far apart"):
        convex_hull_certificate(apart, [0, 0, 1])
    monkeypatch.setattr("isthmus._utils.memory.available_memory", lambda: 10)
    with pytest.raises(MemoryError, match="labels == name"):
        convex_hull_certificate(tree, [0, 1, 2])


def test_the_examples_of_the_docstring():
    results = doctest.testmod(convex_hulls)
    assert (results.failed, results.attempted) == (0, 12)
