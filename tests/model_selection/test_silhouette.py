"""The silhouette by the tree against scikit-learn's on the dense matrix."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples, silhouette_score

from inputs import KINDS, many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.model_selection.silhouette import Silhouette, transitive_silhouette


def labellings(tree, seed):
    """Labels of 2 to n clusters: branches of the tree, random ones, single points."""
    return [labels for labels in any_labellings(tree, seed) if labels.min() < labels.max()]


def any_labellings(tree, seed):
    rng = np.random.default_rng(seed)
    n = tree.n_points
    yield np.arange(n)
    yield (np.arange(n) == rng.integers(n)).astype(int)
    for k in (2, 3, 9):
        yield rng.integers(0, k, size=n)
    for node in rng.integers(0, 2 * n - 2, size=3):
        inside = np.zeros(n, dtype=int)
        inside[tree.members(int(node))] = 1
        yield inside
    for height in rng.choice(tree.heights, size=3):
        yield (tree.matrix() <= height).argmax(axis=1)


def dense(D, labels):
    """scikit-learn's values; it refuses as many clusters as points, all of whose values are 0."""
    if len(np.unique(labels)) == len(labels):
        return np.zeros(len(labels))
    return silhouette_samples(D, labels, metric="precomputed")


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(70) if p[1] > 1])
def test_values_are_scikit_learns(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    D = tree.matrix()
    for labels in labellings(tree, seed):
        expected = dense(D, labels)
        found = transitive_silhouette(tree, labels, per_point=True)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert transitive_silhouette(tree, labels) == pytest.approx(expected.mean(), abs=1e-12)


def test_the_mean_is_scikit_learns_score():
    tree = UltrametricTree.from_data(points("blobs", 200, 2, 0))
    labels = np.random.default_rng(0).integers(0, 5, size=200)
    expected = silhouette_score(tree.matrix(), labels, metric="precomputed")
    assert transitive_silhouette(tree, labels) == pytest.approx(expected, abs=1e-14)


def test_a_few_clusters_at_a_time_give_the_same():
    """On a path nearly every node is divided, so that sums are made for few clusters at once."""
    n = 301
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    weights = np.random.default_rng(0).permutation(n - 1) + 1.0
    weights[::7] = 3.0
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
    labels = np.random.default_rng(1).integers(0, 23, size=n)
    codes = labels.astype(np.int32)
    together = Silhouette(tree).of_points(codes, 23)
    np.testing.assert_array_equal(Silhouette(tree, at_once=1).of_points(codes, 23), together)
    expected = silhouette_samples(tree.matrix(), labels, metric="precomputed")
    np.testing.assert_allclose(together, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_whole_weights_count_as_copies(kind, seed):
    rng = np.random.default_rng(seed)
    X = points(kind, 40, 2, seed)
    weights = rng.integers(1, 5, size=40)
    labels = rng.integers(0, 4, size=40)
    labels[:4] = [4, 5, 6, 6]  # clusters of one row and of two
    copies = np.repeat(np.arange(40), weights)
    tree, of_copies = UltrametricTree.from_data(X), UltrametricTree.from_data(X[copies])
    expected = transitive_silhouette(of_copies, labels[copies], per_point=True)
    found = transitive_silhouette(tree, labels, sample_weight=weights, per_point=True)
    np.testing.assert_allclose(found[copies], expected, rtol=0, atol=1e-12)
    mean = transitive_silhouette(tree, labels, sample_weight=weights)
    assert mean == pytest.approx(expected.mean(), abs=1e-12)
    equal = transitive_silhouette(tree, labels, sample_weight=np.full(40, 3), per_point=True)
    thrice = np.repeat(np.arange(40), 3)
    expected = transitive_silhouette(
        UltrametricTree.from_data(X[thrice]), labels[thrice], per_point=True
    )
    np.testing.assert_allclose(equal[thrice], expected, rtol=0, atol=1e-12)


def by_definition(D, labels, weights):
    """Weighted silhouettes word by word: copies of a point beyond the first are others to it."""
    values = np.zeros(len(D))
    for i in range(len(D)):
        own = (labels == labels[i]) & (np.arange(len(D)) != i)
        others = weights[own].sum() + max(weights[i] - 1.0, 0.0)
        if others == 0.0:
            continue
        a = (D[i, own] * weights[own]).sum() / others
        b = min(
            (D[i] * weights)[labels == c].sum() / weights[labels == c].sum()
            for c in set(labels) - {labels[i]}
        )
        values[i] = (b - a) / max(a, b) if max(a, b) > 0.0 else 0.0
    return values


@pytest.mark.parametrize("seed", range(6))
def test_any_weights_by_definition(seed):
    rng = np.random.default_rng(seed)
    tree = UltrametricTree.from_data(points(KINDS[seed], 60, 2, seed))
    weights = 10.0 ** rng.uniform(-3, 2, size=60)
    labels = rng.integers(0, 6, size=60)
    expected = by_definition(tree.matrix(), labels, weights)
    found = transitive_silhouette(tree, labels, sample_weight=weights, per_point=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    mean = transitive_silhouette(tree, labels, sample_weight=weights)
    assert mean == pytest.approx(np.average(expected, weights=weights), abs=1e-12)


def test_a_weight_that_is_almost_all_of_its_cluster():
    tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    weights = np.array([1.0, 1e-30, 1.0, 1.0])
    found = transitive_silhouette(tree, [0, 0, 1, 1], sample_weight=weights, per_point=True)
    np.testing.assert_allclose(found, [0.75, 0.75, 0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("seed", range(8))
def test_infinite_distances_are_the_limit_of_large_ones(seed):
    rng = np.random.default_rng(seed)
    n = 30
    edges = np.column_stack([[int(rng.integers(i)) for i in range(1, n)], np.arange(1, n)])
    weights = rng.uniform(0.1, 1.0, size=n - 1)
    far = rng.permutation(n - 1)[: 1 + seed % 4]
    trees = []
    for distance in (np.inf, 1e9):
        weights[far] = distance
        spanning_tree = SpanningTree.from_edges(edges, weights)
        trees.append(UltrametricTree.from_spanning_tree(spanning_tree))
    for labels in labellings(trees[1], seed):
        found = transitive_silhouette(trees[0], labels, per_point=True)
        expected = transitive_silhouette(trees[1], labels, per_point=True)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
        assert transitive_silhouette(trees[0], labels) == pytest.approx(found.mean(), abs=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_changes_nothing(scale):
    tree = UltrametricTree.from_data(points("blobs", 80, 2, 1))
    labels = np.random.default_rng(0).integers(0, 5, size=80)
    weights = np.random.default_rng(0).uniform(1.0, 3.0, size=80)
    values = transitive_silhouette(tree, labels, sample_weight=weights, per_point=True)
    scaled = tree.with_heights(lambda heights: heights * scale)
    np.testing.assert_allclose(
        transitive_silhouette(scaled, labels, sample_weight=weights, per_point=True),
        values,
        rtol=1e-12,
    )
    mean = transitive_silhouette(scaled, labels, sample_weight=weights)
    assert mean == pytest.approx(np.average(values, weights=weights), abs=1e-12)
    heavy = transitive_silhouette(scaled, labels, sample_weight=weights * 1e290, per_point=True)
    assert np.isfinite(heavy).all()


def test_an_outlier_does_not_blur_the_others():
    """Sums within clusters are added up, never subtracted from the sum over all points."""
    X = np.append(points("blobs", 60, 1, 3), [[1e17]], axis=0)
    labels = np.append(np.arange(60) % 3, 3)
    tree = UltrametricTree.from_data(X)
    expected = silhouette_samples(tree.matrix(), labels, metric="precomputed")
    found = transitive_silhouette(tree, labels, per_point=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert transitive_silhouette(tree, labels) == pytest.approx(expected.mean(), abs=1e-12)


def test_names_of_clusters_do_not_matter():
    tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    numbers = transitive_silhouette(tree, [7, 7, -2, -2])
    assert numbers == transitive_silhouette(tree, ["b", "b", "a", "a"]) == 0.625


def test_one_object_serves_many_labellings():
    tree = UltrametricTree.from_data(points("blobs", 50, 2, 0))
    ready = Silhouette(tree)
    for k in (2, 3, 50):
        labels = (np.arange(50) % k).astype(np.int32)
        expected = transitive_silhouette(tree, labels, per_point=True)
        np.testing.assert_array_equal(ready.of_points(labels, k), expected)


@pytest.mark.parametrize(
    ("labels", "weights", "error", "message"),
    [
        ([0, 0, 0, 0], None, ValueError, "at least two clusters"),
        ([0, 1], None, ValueError, "one label for each of 4 points"),
        ([0, 1, 0, np.nan], None, ValueError, "NaN"),
        ([0, 0, 1, 1], [1, 1, 0, 1], ValueError, "that of point 2 is 0"),
        ([0, 0, 1, 1], [1, 1], ValueError, "one number for each of 4 rows"),
        ([0, 0, 1, 1], [1, 1, -1, 1], ValueError, "not negative"),
    ],
)
def test_errors(labels, weights, error, message):
    tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    with pytest.raises(error, match=message):
        transitive_silhouette(tree, labels, sample_weight=weights)


def test_points_are_no_tree():
    with pytest.raises(TypeError, match=r"UltrametricTree\.from_data"):
        transitive_silhouette([[0.0], [1.0]], [0, 1])
