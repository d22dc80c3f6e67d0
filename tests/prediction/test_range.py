"""New points beside fitted ones that span more orders of magnitude than squares can hold."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree
from isthmus.metrics.registry import resolve_metric
from isthmus.prediction import attach
from isthmus.prediction.attach_by_kdtree import KdTreeSearch
from isthmus.prediction.attach_by_rows import KernelSearch
from isthmus.prediction.attachments import transitive_rows
from oracles.exact import exact_distances
from spanning_tree.test_range import KINDS, wide


def assert_nearest(fitted, new, labels, found):
    """Check that each new point has the label of a nearest fitted one, within rounding."""
    distances = exact_distances(np.vstack([fitted, new]), "euclidean")
    rows = [row[: len(fitted)] for row in distances[len(fitted) :]]
    for row, label in zip(rows, found, strict=True):
        nearest = min(d for d, own in zip(row, labels, strict=True) if own == label)
        assert nearest <= min(row) * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("search", ["rows", "kd-tree", "sparse"])
def test_predictions_are_exact(kind, search, monkeypatch):
    if search == "kd-tree":
        monkeypatch.setattr(attach, "_FEW_POINTS", 0)
    as_given = csr_array if search == "sparse" else np.asarray
    X = wide(kind, 100, 2, seed=3)
    X = X[np.random.default_rng(0).permutation(100)]
    fitted, new = X[:60], X[60:]
    model = TransitiveCut(30).fit(as_given(fitted))
    found = model.predict(as_given(new)).tolist()
    assert_nearest(fitted, new, model.labels_, found)
    assert [int(model.predict(as_given(new[i : i + 1]))[0]) for i in range(40)] == found


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_a_far_row_changes_no_other(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * 1e-80
    new = rng.normal(size=(20, 4)) * 1e-80
    model = TransitiveCut(20).fit(layout(X))
    expected = model.predict(layout(new))
    distances = model.transform(layout(new))
    for far in (1e18, 1e99, 1e200):
        batch = np.vstack([new, np.full((1, 4), far)])
        np.testing.assert_array_equal(model.predict(layout(batch))[:20], expected)
        np.testing.assert_array_equal(model.transform(layout(batch))[:20], distances)


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis"])
@pytest.mark.parametrize(
    "model", [TransitiveCut(3), TransitiveKMeans(3), TransitiveKMeans(3, space="embedding")]
)
def test_distances_to_centres_grow_with_the_distance(metric, model):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = clone(model).set_params(metric=metric).fit(X)
    at_1e30 = model.transform([[1e30, -2e30]])
    for factor in (1e20, 1e70, 1e110, 1e200, 1e275):
        found = model.transform([[1e30 * factor, -2e30 * factor]])
        np.testing.assert_allclose(found / factor, at_1e30, rtol=1e-12)
    assert model.score([[1e200, 0.0]]) == -np.inf


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis"])
def test_distances_that_float64_cannot_hold(metric):
    X = np.random.default_rng(0).normal(size=(60, 2)) * 1e-200
    model = TransitiveCut(3, metric=metric).fit(X)
    new = [[1e-200, 0.0], [1.5e308, 1.5e308]]
    with pytest.raises(ValueError, match="too large for float64"):
        model.transform(new)
    with pytest.raises(ValueError, match="too large for float64"):
        model.predict(new)
    assert np.isinf(TransitiveCut(3).fit(X).transform([[1.7e308, 0.0]])).all()


def transitive_distances(X, new, metric, params):
    """Those of new points found by the kd-tree, and those of their definition."""
    resolved = resolve_metric(metric, params or None)
    tree = UltrametricTree.from_data(X, metric=metric, metric_params=params or None)
    searches = [cls(X, tree, resolved) for cls in (KdTreeSearch, KernelSearch)]
    numbers = np.arange(len(new))
    attachments = [
        search.prepare(new, only_nearest=False, n_jobs=1)(numbers) for search in searches
    ]
    found, expected = (transitive_rows(tree, each, 0, len(new)) for each in attachments)
    return found, expected


METRICS = [
    ("euclidean", {}),
    ("sqeuclidean", {}),
    ("manhattan", {}),
    ("chebyshev", {}),
    ("minkowski", {"p": 1.5}),
    ("minkowski", {"p": 8}),
]


@pytest.mark.parametrize(("metric", "params"), METRICS)
@pytest.mark.parametrize("far", [600.0, 1e6, 1e9, 1e17])
def test_points_far_away_prune_none_nearby(metric, params, far):
    """In one node with (2.5, 0.001) are points so far away that rounding makes them equally near
    to the new point and to the origin."""
    rng = np.random.default_rng(0)
    left = np.column_stack([-(rng.uniform(0, 0.5, 1504) ** 2), -rng.uniform(0, 0.5, 1504)])
    left[0] = 0.0
    away = np.column_stack([np.full(7, 2.5), far * np.linspace(1, 1.2, 7)])
    X = np.vstack([left, [[2.5, 0.001]], away])
    found, expected = transitive_distances(X, np.array([[1.0, 0.0]]), metric, params)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(("metric", "params"), METRICS)
@pytest.mark.parametrize(("n", "d", "seed"), [(50, 1, 0), (300, 2, 1), (1500, 3, 2), (300, 6, 3)])
def test_points_of_many_scales(metric, params, n, d, seed):
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.integers(-40 if params else -150, 3, size=(n + 40, 1))
    points = rng.normal(size=(n + 40, d)) * scales
    found, expected = transitive_distances(points[:n], points[n:], metric, params)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("few", [1000, 0])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("far", [1.0, 1e100, 4.6e148, 1e200])
def test_a_scale_for_the_largest_loses_no_small_numbers(metric, far, few, monkeypatch):
    monkeypatch.setattr(attach, "_FEW_POINTS", few)
    X = np.array([[far], [2e-230], [9e-230], [-far], [0.0]])
    model = TransitiveCut(5, metric=metric).fit(X)
    found = model.predict(np.array([[8e-230], [3e-230], [-0.0], [0.8e-230]]))
    np.testing.assert_array_equal(found, model.labels_[[2, 1, 4, 4]])
