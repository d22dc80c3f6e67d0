"""Distances between some points and others, against SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from inputs import points
from isthmus.metrics.pairwise import distances_between
from isthmus.metrics.precomputed import check_precomputed
from isthmus.metrics.registry import resolve_metric

NAMES = {"manhattan": "cityblock"}


def between(X, sources, targets, metric="euclidean", params=None):
    out = np.full((len(sources), len(targets)), np.nan)
    for places, block in distances_between(X, sources, targets, resolve_metric(metric, params)):
        assert np.isnan(out[places]).all()
        out[places] = block
    return out


@pytest.mark.parametrize(
    "metric",
    [
        "euclidean",
        "sqeuclidean",
        "manhattan",
        "chebyshev",
        "cosine",
        "correlation",
        "seuclidean",
        "mahalanobis",
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_metrics(metric, dtype):
    X = points("gaussian", 60, 3, seed=0).astype(dtype) * np.array([1.0, 1e4, 1e-3], dtype)
    sources, targets = np.arange(0, 60, 7), np.setdiff1d(np.arange(60), np.arange(0, 60, 7))
    of_targets = {}
    if metric == "seuclidean":
        of_targets = {"V": X[targets].astype(float).var(axis=0, ddof=1)}
    if metric == "mahalanobis":
        of_targets = {"VI": np.linalg.inv(np.cov(X[targets].astype(float), rowvar=False))}
    expected = cdist(X[sources], X[targets], NAMES.get(metric, metric), **of_targets)
    # SciPy's cosines are 1 less a number near 1
    atol = 1e-15 if metric in ("cosine", "correlation") else 0.0
    found = between(X, sources, targets, metric)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=atol)
    if of_targets:
        given = between(X, sources, targets, metric, of_targets)
        np.testing.assert_allclose(given, expected, rtol=1e-9)


def test_parameters_and_precomputed():
    X = points("blobs", 40, 2, seed=0)
    sources, targets = np.arange(10), np.arange(10, 40)
    expected = cdist(X[sources], X[targets], "minkowski", p=3)
    found = between(X, sources, targets, "minkowski", {"p": 3})
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    matrix = cdist(X, X)
    found = between(check_precomputed(matrix), sources, targets)
    np.testing.assert_array_equal(found, matrix[:10, 10:])


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis"])
@pytest.mark.parametrize("far", [1e8, 1e30, 1e150, 1e307])
def test_a_point_far_away_blurs_no_other(metric, far):
    X = points("gaussian", 50, 2, seed=0)
    sources, targets = np.arange(10), np.arange(10, 50)
    expected = between(X, sources, targets, metric)
    X[3] = far
    found = between(X, sources, targets, metric)
    others = sources != 3
    np.testing.assert_allclose(found[others], expected[others], rtol=1e-9)
    assert (found[3] > min(far, 1e50) / 100).all()
    assert np.isfinite(found).all()


def test_points_without_a_distance_are_refused_at_once_by_their_own_number():
    X = points("gaussian", 20, 2, seed=0)
    X[13] = 0.0
    with pytest.raises(ValueError, match="Row 13 is zero"):
        distances_between(X, np.array([13]), np.arange(10), resolve_metric("cosine"))
    matrix = cdist(X, X)
    matrix[13, 2] = -1.0
    with pytest.raises(ValueError, match="negative"):
        distances_between(
            check_precomputed(matrix), np.array([13]), np.arange(10), resolve_metric("precomputed")
        )
    with pytest.raises(ValueError, match="one point has none"):
        distances_between(X, np.array([13]), np.arange(1), resolve_metric("seuclidean"))
