"""TransitiveKMeans as a scikit-learn user meets it."""

import pickle
import sys
import threading
from collections import Counter
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist, cityblock
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from clusterers import clusterer
from inputs import CityBlock, points
from isthmus import KMeansDuality, SpanningTree, TransitiveCut, TransitiveKMeans, UltrametricTree
from isthmus.datasets import load_ionosphere
from isthmus.evaluation import error_rate

ESTIMATORS = [
    TransitiveKMeans(),
    TransitiveKMeans(space="embedding", power=0.5),
    TransitiveCut(),
    TransitiveKMeans(init="k-means++", random_state=0, n_jobs=2),
    TransitiveKMeans(metric=CityBlock()),
    KMeansDuality(random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_iris_and_ionosphere_give_the_errors_of_the_paper():
    for (X, y), k, error in (
        (load_iris(return_X_y=True), 3, 0.073),
        (load_ionosphere(return_X_y=True), 2, 0.151),
    ):
        model = TransitiveKMeans(k).fit(X)
        assert round(error_rate(y, model.labels_), 3) == error


def test_luck_of_random_starts_on_iris():
    """The facts that the documentation states."""
    X, y = load_iris(return_X_y=True)
    model = TransitiveKMeans(3, init="random", n_init=1)
    found = []
    for seed in range(200):
        model.set_params(random_state=seed).fit(X)
        found.append((round(error_rate(y, model.labels_), 3), round(model.inertia_, 2)))
    counts = Counter(found)
    assert counts.most_common(4) == [
        ((0.073, 107.56), 78),
        ((0.307, 69.16), 55),
        ((0.427, 120.53), 46),
        ((0.333, 70.47), 8),
    ]
    assert min(found, key=lambda pair: pair[1]) == (0.307, 69.16)


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
def test_nothing_is_random_by_default(objective):
    X = points("blobs", 400, 2, seed=0)
    first, second = (clusterer(objective, 4).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert first.inertia_ == second.inertia_


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_a_seed_decides_whatever_the_threads(init):
    X = points("gaussian", 300, 2, seed=0)
    fits = [
        TransitiveKMeans(5, init=init, random_state=7, n_jobs=jobs).fit(X)
        for jobs in (None, 1, 2, 4, -1)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)
        assert fit.inertia_ == fits[0].inertia_


def test_fitted_attributes():
    X = points("blobs", 60, 3, seed=0)
    model = TransitiveKMeans(3).fit(X)
    assert model.labels_.shape == (60,)
    assert isinstance(model.tree_, UltrametricTree)
    assert isinstance(model.spanning_tree_, SpanningTree)
    assert model.tree_.spanning_tree is model.spanning_tree_
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert np.issubdtype(model.labels_.dtype, np.integer)
    assert isinstance(model.inertia_, float)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(frame):
    X = points("blobs", 60, 2, seed=0)
    model = TransitiveKMeans(3).fit(frame({"a": X[:, 0], "b": X[:, 1]}))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.labels_, TransitiveKMeans(3).fit_predict(X))


def test_precomputed_distances():
    X = points("blobs", 80, 3, seed=0)
    expected = TransitiveKMeans(4).fit(X)
    found = TransitiveKMeans(4, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
@pytest.mark.parametrize("init", ["cut", "k-means++"])
def test_labels_for_another_k_are_those_of_a_new_fit(objective, init):
    X = points("blobs", 200, 2, seed=1)
    model = clusterer(objective, 3, init=init, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model))
    for k in (1, 2, 3, 7, 200):
        expected = clone(model).set_params(n_clusters=k).fit(X).labels_
        np.testing.assert_array_equal(model.labels_for(k), expected)
        np.testing.assert_array_equal(again.labels_for(k), expected)
    model.labels_for(3)[:] = -1
    assert model.labels_.min() == 0
    for wrong, error in ((0, ValueError), (201, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="n_clusters"):
            model.labels_for(wrong)


def test_a_fit_that_is_refused_leaves_the_last_one_in_place():
    X = points("blobs", 50, 3, seed=0)
    model = TransitiveKMeans(3).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    before = dict(vars(model))
    for data, words in ((X[:2, :2], "n_clusters"), (pd.DataFrame({"x": [1.0, np.nan]}), "NaN")):
        with pytest.raises(ValueError, match=words):
            model.fit(data)
        assert vars(model) == before
    with pytest.raises(ValueError, match="NaN"):
        (new := TransitiveKMeans(3)).fit([[np.nan]])
    with pytest.raises(NotFittedError):
        check_is_fitted(new)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_fit_that_does_not_come_to_its_end_leaves_none(monkeypatch, error):
    X = points("blobs", 50, 2, seed=0)
    model = TransitiveKMeans(3).fit(X)
    new = TransitiveKMeans(3)

    def fail(*args, **kwargs):
        raise error("on the way")

    monkeypatch.setattr("isthmus.estimators.fitting.run_clusterer", fail)
    for estimator in (model, new):
        with pytest.raises(error):
            estimator.fit(X[:20])
        with pytest.raises(NotFittedError):
            check_is_fitted(estimator)
        assert set(vars(estimator)) == set(estimator.get_params())


def test_a_progress_bar_where_it_was_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(
        "isthmus._utils.progress.ProgressBar",
        lambda what, begun: lambda done, total: sys.stderr.write(f"{what} {done}/{total}\n"),
    )
    TransitiveKMeans(2, verbose=1).fit(points("blobs", 50, 2, seed=0))
    told = capsys.readouterr().err
    assert "spanning tree 49/49" in told
    assert told.endswith("merges 0/1\nmerges 1/1\nclusters 1/1\n")
    TransitiveKMeans(2).fit(points("blobs", 50, 2, seed=0))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_function_is_told_how_far_every_stage_is(n_jobs):
    told = []
    threads = set()

    def listen(stage, done, total):
        told.append((stage, done, total))
        threads.add(threading.get_ident())

    TransitiveKMeans(3, init="random", n_init=6, random_state=0, n_jobs=n_jobs, verbose=listen).fit(
        points("blobs", 80, 2, seed=0)
    )
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == [
        "spanning tree",
        "merges",
        "clusters",
    ]
    for stage, total in (("spanning tree", 79), ("merges", 1), ("clusters", 6)):
        done = [call[1] for call in told if call[0] == stage]
        assert done == sorted(done)
        assert done[-1] == total
        assert {call[2] for call in told if call[0] == stage} == {total}
    assert n_jobs > 1 or [call[1] for call in told if call[0] == "clusters"] == [1, 2, 3, 4, 5, 6]
    assert threads == {threading.get_ident()}


def test_what_a_listener_raises_ends_the_fit():
    class EnoughError(Exception):
        pass

    def listen(stage, done, total):
        raise EnoughError(stage)

    model = TransitiveKMeans(3, verbose=listen)
    with pytest.raises(EnoughError, match="spanning tree"):
        model.fit(points("blobs", 80, 2, seed=0))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_labels_for_needs_a_fit_and_a_start_that_fits():
    with pytest.raises(NotFittedError):
        TransitiveKMeans().labels_for(3)
    model = TransitiveKMeans(2, init=[0, 1]).fit(points("blobs", 20, 2, seed=0))
    with pytest.raises(ValueError, match="2 given rows"):
        model.labels_for(3)


def test_pickles_hold_the_tree_once():
    X = points("blobs", 5000, 2, seed=0)
    model = TransitiveKMeans(3).fit(X)
    model.labels_for(5)
    model.tree_.distance(0, 1)
    size = len(pickle.dumps(model))
    assert size < 5000 * (40 + 16)  # edges, weights and labels: 28 bytes a point; the points 16
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_


def test_input_and_parameters_are_never_changed():
    X = points("blobs", 50, 2, seed=0)
    copy = X.copy()
    init = np.array([0, 10, 20])
    model = TransitiveKMeans(3, init=init, metric="minkowski", metric_params={"p": 3})
    before = {name: repr(value) for name, value in model.get_params().items()}
    model.fit(X)
    np.testing.assert_array_equal(X, copy)
    assert {name: repr(value) for name, value in model.get_params().items()} == before


def test_in_a_pipeline():
    X = points("blobs", 60, 2, seed=0)
    labels = make_pipeline(StandardScaler(), TransitiveKMeans(3)).fit_predict(X)
    assert len(np.unique(labels)) == 3


def test_power_weakens_outliers():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8, [[60.0, 0.0]]])
    sizes = [
        np.bincount(TransitiveKMeans(2, power=power).fit_predict(X)).tolist()
        for power in (4.0, 0.25)
    ]
    assert sizes[0] == [120, 1]
    assert sizes[1] in ([61, 60], [60, 61])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, bool])
def test_other_types_of_numbers(dtype):
    X = (points("blobs", 60, 2, seed=0) * 3).astype(np.int8).clip(0, 100).astype(dtype)
    expected = TransitiveKMeans(3).fit(X.astype(float))
    found = TransitiveKMeans(3).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


BAD = [
    ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1"),
    ({"n_clusters": -2}, ValueError, "n_clusters must be at least 1"),
    ({"n_clusters": 21}, ValueError, "n_samples=20 should be >= n_clusters=21"),
    ({"n_clusters": 2.0}, TypeError, "integer"),
    ({"n_clusters": True}, TypeError, "integer"),
    ({"n_clusters": "3"}, TypeError, "integer"),
    ({"space": "columns"}, ValueError, "space must be one of 'rows'"),
    ({"init": "luck"}, ValueError, "init must be one of 'cut'"),
    ({"init": [0, 1, 2]}, ValueError, "2"),
    ({"init": [0, 0]}, ValueError, "different"),
    ({"init": [0, 20]}, ValueError, "from 0 to 19"),
    ({"init": [0.5, 1.5]}, ValueError, "row indices"),
    ({"init": None}, ValueError, "row indices"),
    ({"n_init": 0}, ValueError, "n_init must be at least 1"),
    ({"n_init": "many"}, TypeError, "n_init"),
    ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
    ({"power": 0.0}, ValueError, "power must be above 0"),
    ({"power": np.inf}, ValueError, "power must be above 0"),
    ({"power": "half"}, TypeError, "power must be a number"),
    ({"metric": "nope"}, ValueError, "Unknown metric 'nope'"),
    ({"metric": 3}, ValueError, "Unknown metric 3"),
    ({"random_state": "seed"}, ValueError, "seed"),
    ({"n_jobs": 0}, ValueError, "must not be 0"),
    ({"verbose": "loud"}, TypeError, "verbose must be 0, 1 or a function"),
    ({"memory": 3}, ValueError, "memory"),
    ({"memory": "cache", "metric": cityblock}, ValueError, "what a function computes"),
    ({"memory_limit": "2 gallons"}, ValueError, "'2GB'"),
    ({"memory_limit": 0}, ValueError, "memory_limit must be above 0"),
    ({"memory_limit": 1.5}, TypeError, "integer number of bytes"),
    ({"memory_limit": 1}, MemoryError, "needs about 1.0 MiB .*memory_limit is 1 bytes"),
]


@pytest.mark.parametrize(("parameters", "error", "words"), BAD)
def test_wrong_parameters_are_refused_before_any_work(parameters, error, words, monkeypatch):
    def no_work(*args, **kwargs):
        raise AssertionError("work was done")

    monkeypatch.setattr("isthmus.estimators.fitting.find_neighborhood_tree", no_work)
    model = TransitiveKMeans(**{"n_clusters": 2, **parameters})
    with pytest.raises(error, match=words):
        model.fit(points("gaussian", 20, 2, seed=0))
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0.0, np.nan], [1.0, 1.0]], "NaN"),
        ([[0.0, np.inf], [1.0, 1.0]], "infinity"),
        ([["a", "b"], ["c", "d"]], "convert"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        ([[1.0], [2.0, 3.0]], "inhomogeneous|sequence"),
        (np.zeros((2, 2, 2)), "dim 3|3 dim"),
        (np.array([[1 + 2j], [3j]]), "Complex"),
    ],
)
def test_wrong_data_are_refused(X, words):
    with pytest.raises(ValueError, match=words):
        TransitiveKMeans(2).fit(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("estimator", [TransitiveKMeans(2), KMeansDuality(2)])
def test_dates_are_refused(frame, estimator):
    days = [datetime(2020, 1, day) for day in (1, 2, 9)]
    with pytest.raises(TypeError, match="Dates and durations"):
        estimator.fit(frame({"x": [1.0, 2.0, 3.0], "day": days}))
