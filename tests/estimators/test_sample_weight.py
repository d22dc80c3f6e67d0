"""sample_weight as a user of TransitiveKMeans meets it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, squareform
from sklearn.base import clone

from clusterers import clusterer
from inputs import many, name_of, points
from isthmus import TransitiveKMeans, UltrametricTree
from oracles.dense import distances_of_new_point, label_of_new_point

OBJECTIVES = ("rows", "embedding", "cut")
INITS = ("cut", "k-means++", "random")
METRICS = ("euclidean", "manhattan", "cosine", "seuclidean", "mahalanobis", "precomputed")


def estimator(k, seed, **parameters):
    return clusterer(n_clusters=k, n_init=2, random_state=seed, **parameters)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(56, largest=40) if p[1] > 3])
def test_whole_weights_are_repeated_rows_and_zeros_removed_ones(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    X = points(kind, n, d, seed)
    weights = rng.integers(0, 4, size=n)
    weights[:2] = 1
    is_fitted = weights > 0
    k = int(rng.integers(1, min(5, len(np.unique(X[is_fitted], axis=0))) + 1))
    given = rng.choice(np.flatnonzero(is_fitted), k, replace=False)
    firsts = (np.cumsum(weights) - weights)[is_fitted]
    for objective in OBJECTIVES:
        for init in (*INITS, given):
            by_name = isinstance(init, str)
            model = estimator(k, seed, method=objective, init=init).fit(X, sample_weight=weights)
            copies = init if by_name else (np.cumsum(weights) - weights)[init]
            repeated = estimator(k, seed, method=objective, init=copies).fit(
                np.repeat(X, weights, axis=0)
            )
            np.testing.assert_array_equal(model.labels_[is_fitted], repeated.labels_[firsts])
            assert getattr(model, "n_iter_", 0) == getattr(repeated, "n_iter_", 0)
            noise = 1e-28 * weights.sum() * (repeated.tree_.matrix() ** 2).sum()
            assert model.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12, abs=noise)
            assert model.tree_ == UltrametricTree.from_data(X[is_fitted])
            assert model.spanning_tree_.n_points == is_fitted.sum()
            places = init if by_name else (np.cumsum(is_fitted) - 1)[init]
            removed = estimator(k, seed, method=objective, init=places).fit(
                X[is_fitted], sample_weight=weights[is_fitted]
            )
            np.testing.assert_array_equal(model.labels_[is_fitted], removed.labels_)
            assert model.inertia_ == removed.inertia_


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_of_weight_zero_are_labelled_as_new_points(metric, objective):
    rng = np.random.default_rng(7)
    X = points("blobs", 90, 3, seed=2)
    weights = rng.choice([0.0, 0.5, 2.25], size=90)
    is_fitted = weights > 0
    fitted = X[is_fitted]
    name = {"manhattan": "cityblock", "precomputed": "euclidean"}.get(metric, metric)
    params = {
        "seuclidean": {"V": fitted.var(axis=0, ddof=1)},
        "mahalanobis": {"VI": np.linalg.inv(np.cov(fitted, rowvar=False))},
    }.get(metric, {})
    hops = cdist(X[~is_fitted], fitted, name, **params)
    data = cdist(X, X) if metric == "precomputed" else X
    model = clusterer(objective, 4, metric=metric)
    model.fit(data, sample_weight=weights)
    for k in (4, 7):
        labels = model.labels_for(k)
        own = labels[is_fitted]
        if objective == "cut":
            expected = own[hops.argmin(axis=1)]
        else:
            matrix = model.tree_.matrix()
            found = [
                label_of_new_point(
                    distances_of_new_point(row, matrix),
                    matrix,
                    own,
                    weights[is_fitted],
                    objective,
                )
                for row in hops
            ]
            assert min(margin for _, margin in found) > 1e-9
            expected = [label for label, _ in found]
        np.testing.assert_array_equal(labels[~is_fitted], expected)
    np.testing.assert_array_equal(model.labels_, model.labels_for(4))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("init", INITS)
def test_labels_for_and_pickles(objective, init):
    rng = np.random.default_rng(0)
    X = points("blobs", 150, 2, seed=1)
    weights = rng.choice([0.0, 1.0, 3.5], size=150)
    model = estimator(3, 0, method=objective, init=init).fit(X, sample_weight=weights)
    again = pickle.loads(pickle.dumps(model))
    for k in (1, 2, 3, 7, int(np.count_nonzero(weights))):
        expected = clone(model).set_params(n_clusters=k).fit(X, sample_weight=weights).labels_
        assert expected.shape == (150,)
        np.testing.assert_array_equal(model.labels_for(k), expected)
        np.testing.assert_array_equal(again.labels_for(k), expected)
    with pytest.raises(ValueError, match="n_clusters"):
        model.labels_for(int(np.count_nonzero(weights)) + 1)


def test_pickles_stay_small():
    rng = np.random.default_rng(0)
    X = points("blobs", 3000, 8, seed=0)
    weights = rng.uniform(size=3000) * (rng.uniform(size=3000) > 0.2)
    model = TransitiveKMeans(3).fit(X, sample_weight=weights)
    model.labels_for(5)
    # the points alone, which are needed for new ones, are 64 bytes each
    assert len(pickle.dumps(model)) < 3000 * (60 + 64)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_scaling_all_weights(objective):
    X = points("blobs", 120, 2, seed=3)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=120)
    model = clusterer(objective, 4).fit(X, sample_weight=weights)
    for factor in np.array([1e-290, 1 / 3, 1e290]):
        scaled = clusterer(objective, 4)
        scaled.fit(X, sample_weight=weights * factor)
        np.testing.assert_array_equal(scaled.labels_, model.labels_)
        with np.errstate(over="ignore", under="ignore"):
            expected = model.inertia_ * factor ** (1 if objective == "embedding" else 2)
        assert scaled.inertia_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("init", INITS)
def test_extreme_weights_give_no_nan(objective, init):
    X = points("blobs", 60, 2, seed=3)
    for weights in (
        np.full(60, 1.7e308),
        np.full(60, 5e-324),
        np.geomspace(1e300, 1e241, 60),
        np.geomspace(1e-300, 1e-241, 60),
        np.where(np.arange(60) == 30, 1e30, 1e-30),
    ):
        model = estimator(4, 0, method=objective, init=init).fit(X, sample_weight=weights)
        assert sorted(set(model.labels_.tolist())) == [0, 1, 2, 3]
        assert model.inertia_ >= 0.0  # possibly infinite, never NaN


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_number_is_the_weight_of_every_row(objective):
    X = points("blobs", 80, 2, seed=0)
    plain = clusterer(objective, 4).fit(X)
    weighted = clusterer(objective, 4).fit(X, sample_weight=3)
    np.testing.assert_array_equal(weighted.labels_, plain.labels_)
    degree = 1 if objective == "embedding" else 2
    assert weighted.inertia_ == pytest.approx(plain.inertia_ * 3.0**degree, rel=1e-12)
    ones = clusterer(objective, 4).fit(X, sample_weight=np.ones(80))
    assert ones.inertia_ == plain.inertia_


def test_fit_predict_and_kinds_of_arrays():
    X = points("gaussian", 60, 2, seed=0)
    weights = np.random.default_rng(0).integers(0, 5, size=60)
    expected = TransitiveKMeans(3).fit(X, sample_weight=weights).labels_
    assert not np.array_equal(expected, TransitiveKMeans(3).fit(X).labels_)
    for given in (
        weights.tolist(),
        pd.Series(weights),
        pl.Series(weights),
        weights.astype(np.uint8),
        weights.astype(np.float32),
    ):
        found = TransitiveKMeans(3).fit_predict(X, sample_weight=given)
        np.testing.assert_array_equal(found, expected)
    mask = TransitiveKMeans(3).fit(X, sample_weight=weights > 0)
    subset = TransitiveKMeans(3).fit(X[weights > 0])
    np.testing.assert_array_equal(mask.labels_[weights > 0], subset.labels_)


def test_far_rows_of_weight_zero_do_not_blur_the_rest():
    X = points("blobs", 80, 2, seed=0)
    weights = np.ones(80)
    weights[[3, 7, 11]] = 0.0
    near = TransitiveKMeans(3).fit_predict(X, sample_weight=weights)
    X[3] = [1e300, -1e300]
    far = TransitiveKMeans(3).fit_predict(X, sample_weight=weights)
    others = np.arange(80) != 3
    np.testing.assert_array_equal(far[others], near[others])


BAD = [
    ([-1.0], ValueError, "row 4 is -1"),
    ([np.nan], ValueError, "row 4 is nan"),
    ([np.inf], ValueError, "row 4 is inf"),
    ([1e-200], ValueError, "ranges from 1e-200 to 1"),
]


def refused(weights, error, words, monkeypatch, **parameters):
    def no_work(*args, **kwargs):
        raise AssertionError("work was done")

    monkeypatch.setattr("isthmus.estimators.fitting.find_neighborhood_tree", no_work)
    monkeypatch.setattr("isthmus.estimators.fitted_rows.distances_between", no_work)
    model = TransitiveKMeans(**{"n_clusters": 2, **parameters})
    with pytest.raises(error, match=words):
        model.fit(points("gaussian", 20, 2, seed=0), sample_weight=weights)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(("value", "error", "words"), BAD)
def test_wrong_values_are_refused_before_any_work(value, error, words, monkeypatch):
    weights = np.ones(20)
    weights[4] = value[0]
    refused(weights, error, words, monkeypatch)


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (np.ones(19), ValueError, "each of 20 rows"),
        (np.ones((20, 1)), ValueError, r"shape \(20, 1\)"),
        (np.zeros(20), ValueError, "zero for every row"),
        (0, ValueError, "zero for every row"),
        (-2.0, ValueError, "not negative"),
        ("balanced", TypeError, "real numbers"),
        (np.ones(20) * 1j, TypeError, "real numbers"),
        (np.ma.ones(20), TypeError, "Masked"),
        (pd.Series(pd.to_datetime(["2020-01-01"] * 20)), TypeError, "Dates"),
        (np.eye(20)[3], ValueError, "only 1 of 20 rows have a sample_weight above 0"),
    ],
    ids=name_of,
)
def test_wrong_weights_are_refused_before_any_work(weights, error, words, monkeypatch):
    refused(weights, error, words, monkeypatch)


def test_a_start_without_weight_is_refused(monkeypatch):
    weights = np.ones(20)
    weights[5] = 0.0
    refused(weights, ValueError, "init gives row 5", monkeypatch, init=[3, 5])


def test_rows_that_a_metric_does_not_take_are_refused_by_their_own_number(monkeypatch):
    X = points("gaussian", 20, 2, seed=0)
    weights = np.ones(20)
    weights[[2, 13]] = 0.0
    X[13] = 0.0
    with pytest.raises(ValueError, match="Row 13 is zero"):
        TransitiveKMeans(2, metric="cosine").fit(X, sample_weight=weights)


def differences(a: str, b: str) -> float:
    return sum(x != y for x, y in zip(a, b, strict=True))


class TestEveryKindOfInput:
    """Rows of weight zero, however points or distances are given, as in a square of distances."""

    def given(self, kind: str):
        """Return X, options, and the square matrix of distances."""
        rng = np.random.default_rng(5)
        if kind == "strings":
            words = ["".join(word) for word in rng.choice(list("abc"), size=(40, 8))]
            square = np.array([[differences(a, b) for b in words] for a in words])
            return words, {"metric": differences}, square
        X = rng.normal(size=(40, 3)) + 4.0 * rng.integers(0, 3, size=(40, 1))
        if kind == "sparse":
            X = X * (rng.random(X.shape) < 0.6)
            return csr_array(X), {}, cdist(X, X)
        if kind == "canberra":
            return X, {"metric": "canberra"}, cdist(X, X, "canberra")
        square = cdist(X, X)
        if kind == "condensed":
            return squareform(square, checks=False), {"metric": "precomputed"}, square
        assert kind == "graph"
        return csr_array(square), {"metric": "precomputed"}, square

    @pytest.mark.parametrize("kind", ["strings", "sparse", "canberra", "condensed", "graph"])
    @pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
    def test_as_in_a_square(self, kind, objective):
        X, options, square = self.given(kind)
        weights = np.random.default_rng(1).integers(0, 3, size=40).astype(float)
        found = clusterer(objective, 3, **options)
        found.fit(X, sample_weight=weights)
        square = (square + square.T) / 2.0
        expected = clusterer(objective, 3, metric="precomputed")
        expected.fit(square, sample_weight=weights)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert found.tree_.n_points == np.count_nonzero(weights)

    def test_a_node_that_nothing_says_where_it_belongs(self):
        graph = csr_array(([1.0, 1.0, 1.0], ([0, 1, 3], [1, 2, 4])), shape=(5, 5))
        with pytest.raises(ValueError, match="Row 3 has weight 0 and no edge"):
            TransitiveKMeans(2, metric="precomputed").fit(graph, sample_weight=[1, 1, 1, 0, 0])
        found = TransitiveKMeans(2, metric="precomputed")
        found.fit(csr_array(graph.toarray()[:3, :3]), sample_weight=[1, 1, 0])
        assert len(found.labels_) == 3
