"""The embedding of Lemma 1: isometric, ordered by variance, and the space of K-means."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans

from clusterers import TreeClusterer
from inputs import KINDS, many, points
from isthmus import SpanningTree, UltrametricTree
from oracles.dense import embedded_lloyd

INPUTS = many(105, largest=200)
# Below this relative margin between the two nearest centres rounding may decide.
SAFE = 1e-9


def path(weights):
    n = len(weights) + 1
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
def test_distances_between_rows_are_transitive_distances(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    embedding = tree.embedding()
    assert embedding.shape == (n, n - 1)
    assert embedding.has_canonical_format
    dense = embedding.toarray()
    if n > 1:
        np.testing.assert_allclose(squareform(pdist(dense)), tree.matrix(), rtol=1e-12, atol=0)
    # all points lie on one sphere about the origin
    radii = np.linalg.norm(dense, axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_points(kind):
    n = 2000
    tree = UltrametricTree.from_data(points(kind, n, 2, seed=1))
    embedding = tree.embedding()
    i, j = np.random.default_rng(0).integers(0, n, size=(2, 20_000))
    i, j = np.append(i, tree.leaf_order[:-1]), np.append(j, tree.leaf_order[1:])
    differences = embedding[i] - embedding[j]
    found = np.sqrt(differences.multiply(differences).sum(axis=1))
    np.testing.assert_allclose(found, tree.distance(i, j), rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_linkages_of_other_methods_embed_too(kind):
    """Any ultrametric does: the cophenetic distances of Ward's method here."""
    from scipy.cluster.hierarchy import ward

    tree = UltrametricTree.from_linkage(ward(points(kind, 90, 3, seed=2)))
    found = squareform(pdist(tree.embedding().toarray()))
    np.testing.assert_allclose(found, tree.matrix(), rtol=1e-12, atol=0)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS[14::7])
def test_coordinates_come_by_falling_variance(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    full = tree.embedding().toarray()
    variances = full.var(axis=0)
    assert (np.diff(variances) <= 1e-12 * variances[0]).all()
    # together they are that of all pairs
    assert variances.sum() == pytest.approx((tree.matrix() ** 2).sum() / (2 * n**2), rel=1e-12)
    for m in {1, (n + 1) // 2, n - 1}:
        leading = tree.embedding(components=m)
        assert leading.shape == (n, m)
        np.testing.assert_array_equal(leading.toarray(), full[:, :m])


def test_a_point_has_a_coordinate_for_every_merge_above_it():
    tree = UltrametricTree.from_data(points("gaussian", 300, 2, seed=0))
    assert tree.embedding().nnz == tree.sizes[300:].sum()
    # merges at height 0 store nothing
    tree = UltrametricTree.from_data(points("duplicates", 300, 2, seed=0))
    assert tree.embedding().nnz == tree.sizes[300:][tree.heights > 0].sum()
    assert UltrametricTree.from_data(points("all equal", 30, 2, seed=0)).embedding().nnz == 0


def test_heights_of_any_size_neither_overflow_nor_vanish():
    weights = np.array([1e-300, 3e-300, 1e-200, 1e-5, 1.0, 1.0, 1e200, 1.5e308])
    tree = path(weights)
    dense = tree.embedding().toarray()
    i, j = np.triu_indices(len(tree), 1)
    found = np.array([np.hypot.reduce(dense[a] - dense[b]) for a, b in zip(i, j, strict=True)])
    np.testing.assert_allclose(found, tree.distance(i, j), rtol=1e-12)


def test_columns_are_filled_in_chunks(monkeypatch):
    tree = UltrametricTree.from_data(points("blobs", 200, 2, seed=0))
    expected = tree.embedding().toarray()
    monkeypatch.setattr("isthmus.ultrametric.embedding.CHUNK", 150)
    np.testing.assert_array_equal(tree.embedding().toarray(), expected)


def test_a_long_path_is_refused_in_full_but_not_in_part():
    n = 1_000_000
    tree = path(1.0 + np.arange(n - 1) / n)
    with pytest.raises(MemoryError, match=r"TiB.*components=<number>"):
        tree.embedding()
    leading = tree.embedding(components=3)
    assert leading.shape == (n, 3)
    assert leading.nnz <= 3 * n


@pytest.mark.parametrize(
    ("components", "error", "words"),
    [
        (0, ValueError, "at least 1"),
        (4, ValueError, "n_samples=4 should be > components=4"),
        (1.5, TypeError, "integer"),
        (True, TypeError, "integer"),
    ],
)
def test_wrong_numbers_of_components(components, error, words):
    tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [3.5]])
    with pytest.raises(error, match=words):
        tree.embedding(components)


def test_infinite_distances_are_refused():
    tree = path([1.0, 2.0, np.inf])
    for components in (None, 1):
        with pytest.raises(ValueError, match="infinitely far apart"):
            tree.embedding(components)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in INPUTS if p[1] >= 3])
def test_k_means_on_the_rows_is_our_objective(kind, n, d, seed):
    """scikit-learn's K-means on the embedding, from the same start, ends where ours does."""
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    rng = np.random.default_rng(seed)
    start = rng.choice(n, int(rng.integers(1, min(6, n) + 1)), replace=False)
    exact = embedded_lloyd(tree.matrix(), start)
    if exact is None or exact[3] <= SAFE:  # an empty cluster, or near-ties
        return
    ours = TreeClusterer(tree, method="embedding").solve(len(start), init=start)
    dense = tree.embedding().toarray()
    theirs = KMeans(len(start), init=dense[start], n_init=1, tol=0, max_iter=300).fit(dense)
    np.testing.assert_array_equal(theirs.labels_, ours.labels)
    assert theirs.inertia_ == pytest.approx(ours.inertia, rel=1e-9, abs=1e-12)


def test_enough_inputs_are_free_of_near_ties():
    """The comparison above is made, and not skipped, for a good part of the inputs."""
    compared = 0
    for kind, n, d, seed in INPUTS:
        if n >= 3:
            rng = np.random.default_rng(seed)
            start = rng.choice(n, int(rng.integers(1, min(6, n) + 1)), replace=False)
            matrix = UltrametricTree.from_data(points(kind, n, d, seed)).matrix()
            exact = embedded_lloyd(matrix, start)
            compared += exact is not None and exact[3] > SAFE
    assert compared > 15
