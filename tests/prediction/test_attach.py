"""The attachments of new points, by every search, against brute force."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from inputs import many, name_of, points
from isthmus import UltrametricTree
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.registry import resolve_metric
from isthmus.prediction import attach as module
from isthmus.prediction.attach import attach_all, attachment_search
from isthmus.prediction.attach_by_kdtree import KdTreeSearch
from isthmus.prediction.attachments import transitive_rows
from isthmus.spanning_tree.selection import find_spanning_tree
from oracles.dense import distances_of_new_point

# metric, parameters, features that it needs
FAST = [
    ("euclidean", None),
    ("sqeuclidean", None),
    ("manhattan", None),
    ("chebyshev", None),
    ("minkowski", {"p": 3.5}),
    ("euclidean", {"w": [2.0, 0.5, 1.0]}),
    ("manhattan", {"w": [2.0, 0.5, 1.0]}),
    ("chebyshev", {"w": [2.0, 0.0, 1.0]}),
    ("minkowski", {"p": 1.5, "w": [2.0, 0.5, 1.0]}),
    ("seuclidean", None),
    ("seuclidean", {"V": [2.0, 0.5, 1.0]}),
    ("mahalanobis", None),
    ("mahalanobis", {"VI": np.diag([1.0, 2.0, 3.0]) + 0.25}),
    ("cosine", None),
    ("cosine", {"w": [2.0, 0.5, 1.0]}),
    ("angular", None),
    ("correlation", None),
    ("hellinger", None),
    ("haversine", None),
]
SLOW = [
    ("minkowski", {"p": 20.0}),
    ("braycurtis", None),
    ("canberra", None),
    ("hamming", None),
    ("jaccard", None),
    ("russellrao", None),
    ("kulsinski", None),
    ("jensenshannon", None),
    ("nan_euclidean", None),
    (lambda x, y: float(np.abs(x - y).sum()), None),
]


def split(metric, n, kind, seed):
    """Return fitted and new points that a metric takes; some new ones equal fitted ones."""
    X = points(kind, n + 40, 3, seed)
    if metric in ("hellinger", "jensenshannon", "braycurtis", "canberra"):
        X = np.abs(X) + 0.125
    if metric in ("cosine", "angular", "correlation"):
        X = X + np.array([1.0, 5.5, 1.25])  # no row without a direction
    if metric == "haversine":
        X = X[:, :2] / (2.0 * np.abs(X).max())
    if metric == "russellrao":
        X[:, 0] = 1.0
    new = np.vstack([X[n:], X[:10], X[5:15] * 1.75])
    return X[:n], new


def rows_of(search, tree, new):
    attachments = attach_all(search, new, new.shape[0])
    return attachments, transitive_rows(tree, attachments, 0, len(attachments))


@pytest.fixture
def always_on_tree(monkeypatch):
    monkeypatch.setattr(module, "_FEW_POINTS", 0)


@pytest.mark.usefixtures("always_on_tree")
@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(49, largest=150))
def test_a_kd_tree_finds_the_rows_of_all_distances(kind, n, d, seed):
    d = min(d, 3)
    X = points(kind, n + 30, d, seed)
    new = np.vstack([X[n:], X[:5], X[0] + 100.0, (X[:5] + X[-5:]) / 2.0])
    metric = ("euclidean", "manhattan", "chebyshev")[seed % 3]
    fitted = X[:n].astype(np.float32 if seed % 2 else np.float64)
    tree = UltrametricTree.from_data(fitted, metric=metric)
    search = attachment_search(fitted, tree, resolve_metric(metric, None))
    assert isinstance(search, KdTreeSearch)
    attachments, found = rows_of(search, tree, new)
    name = metric.replace("manhattan", "cityblock")
    base = np.array([distance_matrix(np.vstack([fitted, x]), metric)[-1, :-1] for x in new])
    np.testing.assert_allclose(base, cdist(new, fitted, name), rtol=1e-12)
    expected = [distances_of_new_point(row, tree.matrix()) for row in base]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(attachments.nearest, base.argmin(axis=1))
    nearest = search.prepare(new, only_nearest=True, n_jobs=1)(np.arange(len(new)))
    np.testing.assert_array_equal(nearest.point, attachments.nearest)
    np.testing.assert_array_equal(nearest.length, base.min(axis=1))


@pytest.mark.usefixtures("always_on_tree")
@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicates"])
@pytest.mark.parametrize(("metric", "params"), FAST + SLOW, ids=name_of)
def test_every_metric(metric, params, kind):
    fitted, new = split(metric, 120, kind, seed=3)
    tree = UltrametricTree.from_data(fitted, metric=metric, metric_params=params)
    search = attachment_search(fitted, tree, resolve_metric(metric, params))
    assert isinstance(search, KdTreeSearch) == ((metric, params) in FAST)
    attachments, found = rows_of(search, tree, new)
    given = params
    if metric == "seuclidean" and params is None:
        given = {"V": fitted.var(axis=0, ddof=1)}
    elif metric == "mahalanobis" and params is None:
        given = {"V": np.cov(fitted, rowvar=False)}
    both = np.vstack([fitted, new])
    base = distance_matrix(both, metric, given)[len(fitted) :, : len(fitted)]
    equal = (new[:, None] == fitted).all(axis=2)
    there = np.flatnonzero(equal.any(axis=1))
    base[there, equal[there].argmax(axis=1)] = 0.0
    expected = np.array([distances_of_new_point(row, tree.matrix()) for row in base])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
    # a row that is there already is the first one that equals it, and no other edge counts
    for i in there:
        assert attachments.point[attachments.begin[i]] == equal[i].argmax()
        assert attachments.length[attachments.begin[i]] == 0.0
        np.testing.assert_array_equal(found[i], tree.row(int(equal[i].argmax())))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "hellinger"])
def test_sparse_rows_are_as_dense_ones(metric):
    rng = np.random.default_rng(0)
    X = rng.random((150, 12)) * (rng.random((150, 12)) < 0.4)
    X[:, 0] += 0.01
    fitted, new = X[:100], np.vstack([X[100:], X[:7]])
    tree = UltrametricTree.from_data(fitted, metric=metric)
    _, dense = rows_of(attachment_search(fitted, tree, resolve_metric(metric, None)), tree, new)
    search = attachment_search(csr_array(fitted), tree, resolve_metric(metric, None))
    attachments, found = rows_of(search, tree, csr_array(new))
    np.testing.assert_allclose(found, dense, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(attachments.nearest[-7:], np.arange(7))
    np.testing.assert_array_equal(attachments.length[attachments.begin[-8:-1]], 0.0)


@pytest.mark.usefixtures("always_on_tree")
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski", "seuclidean"])
def test_points_far_away_blur_nothing(metric):
    params = {"p": 3.0} if metric == "minkowski" else None
    fitted = points("blobs", 100, 2, seed=0)
    new = np.vstack([points("blobs", 30, 2, seed=1), [[1e200, -1e200]], [[3e307, 0.0]]])
    tree = UltrametricTree.from_data(fitted, metric=metric, metric_params=params)
    search = attachment_search(fitted, tree, resolve_metric(metric, params))
    _, near = rows_of(search, tree, new[:30])
    _, found = rows_of(search, tree, new)
    np.testing.assert_array_equal(found[:30], near)
    assert (found[30:] > 1e40).all()


@pytest.mark.usefixtures("always_on_tree")
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_magnitudes(scale):
    X = points("blobs", 120, 3, seed=0)
    tree = UltrametricTree.from_data(X[:90])
    _, expected = rows_of(
        attachment_search(X[:90], tree, resolve_metric("euclidean")), tree, X[90:]
    )
    scaled = UltrametricTree.from_data(X[:90] * scale)
    search = attachment_search(X[:90] * scale, scaled, resolve_metric("euclidean"))
    _, found = rows_of(search, scaled, X[90:] * scale)
    np.testing.assert_allclose(found, expected * scale, rtol=1e-12)


@pytest.mark.usefixtures("always_on_tree")
def test_points_round_a_centre_are_more_than_a_search_keeps():
    X = np.vstack([np.eye(8), -np.eye(8)])
    tree = UltrametricTree.from_data(X)
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], size=(200, 8))
    for fitted in (X, np.unique(signs, axis=0)):
        tree = UltrametricTree.from_data(fitted)
        _, found = rows_of(
            attachment_search(fitted, tree, resolve_metric("euclidean")),
            tree,
            np.zeros((2, 8)),
        )
        expected = distances_of_new_point(np.linalg.norm(fitted, axis=1), tree.matrix())
        np.testing.assert_array_equal(found, [expected, expected])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "seuclidean"])
@pytest.mark.parametrize("n_copies", [1, 2])
def test_the_kd_tree_of_a_fit_is_searched(metric, n_copies, monkeypatch):
    fitted, new = split(metric, 1100, "gaussian", seed=3)
    fitted = np.tile(fitted, (n_copies, 1))
    found = find_spanning_tree(fitted, resolve_metric(metric), engine="kd-tree")
    assert found.index is not None
    tree = UltrametricTree.from_spanning_tree(found.tree)
    search = attachment_search(fitted, tree, resolve_metric(metric))
    expected = attach_all(search, new, len(new))
    monkeypatch.setattr("isthmus.kdtree.build.build_tree", None)
    search = attachment_search(fitted, tree, resolve_metric(metric), found.index)
    attachments = attach_all(search, new, len(new))
    np.testing.assert_array_equal(attachments.begin, expected.begin)
    np.testing.assert_array_equal(attachments.point, expected.point)
    np.testing.assert_array_equal(attachments.length, expected.length)
