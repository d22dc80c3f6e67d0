"""predict, transform, fit_transform and score as a scikit-learn user meets them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from scipy.spatial.distance import cdist, jensenshannon, squareform
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterers import clusterer, method_of
from inputs import KINDS, name_of, points
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus._utils.progress import ProgressBar
from isthmus.prediction import attach as attachment_search
from oracles.dense import distances_of_new_point, label_of_new_point

OBJECTIVES = ("rows", "embedding", "cut")


def brute_force(model, hops, weights=None):
    """Return labels, their margins, and distances to centres, from distances to fitted points."""
    matrix = model.tree_.matrix().astype(np.longdouble) ** getattr(model, "power", 1.0)
    n, k = len(matrix), model.labels_.max() + 1
    fitted = np.ones(n, dtype=bool) if weights is None else weights > 0
    point_weights = np.ones(n) if weights is None else weights[fitted]
    own = model.labels_ if weights is None else model.labels_[fitted]
    space = "embedding" if method_of(model) == "embedding" else "rows"
    found = []
    for hop in hops:
        distances = distances_of_new_point(hop, model.tree_.matrix()).astype(np.longdouble)
        row = distances ** getattr(model, "power", 1.0)
        label, margin = label_of_new_point(row, matrix, own, point_weights, space)
        if method_of(model) == "cut":
            label, margin = own[row.argmin()], 1.0
        distances = []
        for a in range(k):
            share = point_weights * (own == a) / point_weights[own == a].sum()
            if space == "rows":
                squared = (point_weights * (row - matrix @ share) ** 2).sum()
            else:
                squared = row**2 @ share - share @ matrix**2 @ share / 2
            distances.append(np.sqrt(max(squared, 0)))
        found.append((label, margin, distances))
    labels, margins, distances = zip(*found, strict=True)
    return np.array(labels), np.array(margins), np.array(distances, dtype=float)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("on_tree", [False, True])
def test_predict_and_transform_equal_brute_force(kind, objective, on_tree, monkeypatch):
    if on_tree:
        monkeypatch.setattr(attachment_search, "_FEW_POINTS", 0)
    for seed in range(4):
        n, d, k = (12, 80, 150, 60)[seed], 2 + seed % 2, (2, 3, 7, 12)[seed]
        X = points(kind, n + 25, d, seed)
        new = np.vstack([X[n:], X[0] + 40.0, (X[:4] + X[n : n + 4]) / 2.0])
        model = clusterer(objective, k, power=(1.0, 0.5)[seed % 2]).fit(X[:n])
        hops = cdist(new, X[:n])
        labels, margins, distances = brute_force(model, hops)
        if objective == "cut":
            labels = model.labels_[hops.argmin(axis=1)]
        labels = np.where(hops.min(axis=1) == 0.0, model.labels_[hops.argmin(axis=1)], labels)
        found = model.predict(new)
        assert found.dtype == model.labels_.dtype
        sure = (margins > 1e-9) | (hops.min(axis=1) == 0.0)
        np.testing.assert_array_equal(found[sure], labels[sure])
        scale = 1e-7 * np.abs(distances).max() + 1e-12
        np.testing.assert_allclose(model.transform(new), distances, rtol=1e-9, atol=scale)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicates", "blobs"])
@pytest.mark.parametrize("max_iter", [1, 300])
def test_fitted_points_keep_their_labels(kind, objective, max_iter):
    X = points(kind, 1500, 2, seed=5)
    for k in (1, 4):
        model = clusterer(
            objective, k, init="random", n_init=1, random_state=0, max_iter=max_iter
        ).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.predict(X[:700]), model.labels_[:700])


def test_equal_points_that_were_torn_apart_get_the_first_ones_label():
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    model = TransitiveKMeans(5).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_[[0, 0, 0, 0, 4, 4, 4, 4]])


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("cosine", None),
        ("correlation", None),
        ("mahalanobis", None),
        ("jensenshannon", None),
        ("kulsinski", None),
        ("russellrao", None),
        ("canberra", None),
        (jensenshannon, None),
        ("minkowski", {"p": 3, "w": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}),
    ],
    ids=name_of,
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_rows_are_equal_points_whatever_rounding_does(metric, params, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.random((60, 10)).round(1) + 0.1, order=order)
    X[:, 0] *= rng.integers(0, 2, size=60)
    model = TransitiveKMeans(4, metric=metric, metric_params=params, max_iter=1).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    alone = [model.predict(X[i : i + 1])[0] for i in range(60)]
    np.testing.assert_array_equal(alone, model.labels_)
    np.testing.assert_array_equal(model.transform(X), model.fit_transform(X))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", ["points", "square", "graph"])
def test_weights_and_rows_of_weight_zero(objective, kind):
    rng = np.random.default_rng(3)
    X = points("blobs", 110, 2, seed=4)
    weights = rng.choice([0.0, 0.5, 3.0], size=80)
    fitted = weights > 0
    data, new, options = X[:80], X[80:], {}
    if kind != "points":
        data, new = cdist(X[:80], X[:80]), cdist(X[80:], X[:80])
        options = {"metric": "precomputed"}
    if kind == "graph":
        data = csr_array(data)
    model = clusterer(objective, 4, **options).fit(data, sample_weight=weights)
    hops = cdist(X[80:], X[:80])[:, fitted]
    labels, margins, distances = brute_force(model, hops, weights)
    if objective == "cut":
        labels = model.labels_[fitted][hops.argmin(axis=1)]
    assert margins.min() > 1e-9
    np.testing.assert_array_equal(model.predict(new), labels)
    np.testing.assert_allclose(model.transform(new), distances, rtol=1e-7)
    if kind != "graph":
        np.testing.assert_array_equal(model.predict(data), model.labels_)
        own = clusterer(objective, 4, **options)
        found = own.fit_transform(data, sample_weight=weights)
        np.testing.assert_array_equal(found, model.transform(data))
        if objective != "cut":
            score = model.score(data, sample_weight=weights)
            assert score == pytest.approx(-model.inertia_, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_whole_weights_are_repeated_rows_for_new_points(objective):
    rng = np.random.default_rng(0)
    X = points("blobs", 80, 2, seed=2)
    weights = rng.integers(0, 4, size=60)
    weighted = clusterer(objective, 4).fit(X[:60], sample_weight=weights)
    repeated = clusterer(objective, 4).fit(X[:60].repeat(weights, axis=0))
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-9)
    assert weighted.score(X) == pytest.approx(repeated.score(X), rel=1e-9)


def test_score_is_minus_the_inertia():
    X = points("blobs", 300, 2, seed=0)
    for objective in ("rows", "embedding"):
        model = clusterer(objective, 4).fit(X)
        assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-9)
        assert model.score(X, sample_weight=2.0) == pytest.approx(-2.0 * model.inertia_, rel=1e-9)
        nearest = model.transform(X[:50]).min(axis=1)
        assert model.score(X[:50]) == pytest.approx(-(nearest**2).sum(), rel=1e-12)


class TestDistancesThatAreGiven:
    def fitted(self, form="square", **parameters):
        X = points("blobs", 70, 2, seed=1)
        square = cdist(X[:50], X[:50])
        square = (square + square.T) / 2.0
        data = {"square": square, "condensed": squareform(square, checks=False)}.get(form)
        model = clusterer(n_clusters=3, metric="precomputed", **parameters)
        return model.fit(csr_array(square) if data is None else data), cdist(X[50:], X[:50])

    @pytest.mark.parametrize("form", ["square", "condensed", "graph"])
    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_as_points(self, form, objective):
        model, new = self.fitted(form, method=objective)
        X = points("blobs", 70, 2, seed=1)
        expected = clusterer(objective, 3).fit(X[:50])
        np.testing.assert_array_equal(model.predict(new), expected.predict(X[50:]))
        np.testing.assert_array_equal(model.predict(csr_matrix(new)), model.predict(new))
        np.testing.assert_array_equal(
            model.predict(new.astype(np.float32).tolist()), model.predict(new)
        )
        np.testing.assert_allclose(model.transform(new), expected.transform(X[50:]), rtol=1e-9)
        assert model.fit_transform(new[:, :20].T @ new[:, :20] * 0.0).shape == (20, 3)

    def test_what_is_not_stored_is_no_edge(self):
        graph = csr_array(np.array([[0, 1, 0, 0], [1, 0, 5, 0], [0, 5, 0, 1], [0, 0, 1, 0.0]]))
        model = TransitiveKMeans(2, metric="precomputed").fit(graph)
        rows, columns = [0, 0, 1, 2], [0, 3, 3, 1]
        new = coo_array(([3.0, 2.0, 9.0, 0.0], (rows, columns)), shape=(3, 4))
        found = model.predict(new)
        dense = np.full((3, 4), np.inf)
        dense[rows, columns] = [3.0, 2.0, 9.0, 0.0]
        expected = brute_force(model, dense)[2]
        np.testing.assert_allclose(model.transform(new), expected, rtol=1e-12)
        assert found[2] == model.labels_[1]
        with pytest.raises(ValueError, match="Row 1 has no distance"):
            model.predict(coo_array(([1.0], ([0], [1])), shape=(2, 4)))

    def test_components_that_are_infinitely_far_apart(self):
        square = np.zeros((6, 6))
        for i, j, d in [(0, 1, 1.0), (1, 2, 2.0), (3, 4, 1.0), (4, 5, 3.0)]:
            square[i, j] = square[j, i] = d
        model = TransitiveCut(3, metric="precomputed", disconnected="join").fit(csr_array(square))
        new = coo_array(([1.5, 4.0, 2.5, 2.0], ([0, 1, 2, 2], [2, 4, 0, 5])), shape=(3, 6))
        found = model.transform(new)
        assert model.predict(new).tolist() == model.labels_[[2, 4, 5]].tolist()
        for a in range(3):
            members = np.flatnonzero(model.labels_ == a)
            first = (members < 3).all()
            assert np.isfinite(found[0, a]) == first
            assert np.isfinite(found[1, a]) == (not first)
            assert np.isinf(found[2, a])
        # within its component all is as if there were no other
        alone = TransitiveCut(len(set(model.labels_[3:])), metric="precomputed").fit(
            csr_array(square[3:, 3:])
        )
        np.testing.assert_allclose(
            np.sort(found[1][np.isfinite(found[1])]),
            np.sort(alone.transform(coo_array(([4.0], ([0], [1])), shape=(1, 3)))[0]),
        )
        assert np.isfinite(model.fit_transform(csr_array(square))).sum() == 9
        one = TransitiveCut(1, metric="precomputed", disconnected="join")
        assert np.isinf(one.fit_transform(csr_array(square))).all()

    @pytest.mark.parametrize(
        ("new", "words"),
        [
            (np.zeros((3, 49)), "49 features, but TransitiveKMeans is expecting 50"),
            (np.zeros(50), "Reshape your data"),
            (np.full((2, 50), -1.0), r"entry \(0, 0\) is -1"),
            (np.full((2, 50), np.inf), "must be finite"),
            (np.empty((0, 50)), "0 sample"),
            (csr_array((0, 50)), "0 sample"),
            (csr_array((3, 50)), "Row 0 has no distance"),
            (csr_array(np.full((2, 50), np.nan)), "must be finite"),
        ],
        ids=name_of,
    )
    def test_wrong_ones_are_refused(self, new, words):
        model, _ = self.fitted()
        with pytest.raises(ValueError, match=words):
            model.predict(new)


def differences(a, b):
    return float(sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b)))


def test_objects():
    words = ["kitten", "mitten", "bitten", "house", "mouse"]
    model = TransitiveKMeans(2, metric=differences).fit(words)
    assert model.predict(["fitten", "louse", "kitten"]).tolist() == [0, 1, 0]
    assert model.predict(np.array(["fitten", "louse"])).tolist() == [0, 1]
    assert model.transform(words).shape == (5, 2)
    np.testing.assert_array_equal(model.transform(words), model.fit_transform(words))
    for wrong, error in ((np.zeros((3, 2)), TypeError), ([], ValueError)):
        with pytest.raises(error):
            model.predict(wrong)
    table = TransitiveKMeans(2, metric=differences).fit(np.arange(12.0).reshape(4, 3))
    with pytest.raises(TypeError, match="table of numbers"):
        table.predict(["abc"])


def test_sparse_and_dense_points_may_follow_one_another():
    rng = np.random.default_rng(0)
    X = rng.random((120, 30)) * (rng.random((120, 30)) < 0.3)
    expected = TransitiveKMeans(3).fit(X[:90]).predict(X[90:])
    for fitted in (X[:90], csr_array(X[:90]), csr_matrix(X[:90])):
        model = TransitiveKMeans(3).fit(fitted)
        for new in (X[90:], csr_array(X[90:]), csr_matrix(X[90:])):
            np.testing.assert_array_equal(model.predict(new), expected)
        np.testing.assert_array_equal(model.predict(fitted), model.labels_)
    with pytest.raises(TypeError, match="Sparse points"):
        TransitiveKMeans(3, metric="manhattan").fit(X).predict(csr_array(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64])
def test_types(dtype):
    X = (points("blobs", 1300, 2, seed=0) * 4).astype(dtype)
    exact = X.astype(np.float64)
    model, expected = TransitiveKMeans(4).fit(X), TransitiveKMeans(4).fit(exact)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new = points("blobs", 50, 2, seed=1) * 4
    np.testing.assert_array_equal(model.predict(new), expected.predict(new))
    np.testing.assert_array_equal(model.transform(new), expected.transform(new))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_threads_and_batches_change_nothing(objective):
    X = points("blobs", 4000, 3, seed=2)
    model = clusterer(objective, 6).fit(X[:1500])
    distances, labels = model.transform(X), model.predict(X)
    model.set_params(n_jobs=2)
    np.testing.assert_array_equal(model.transform(X), distances)
    np.testing.assert_array_equal(model.predict(X), labels)
    for part in (slice(7, 8), slice(100, 1700)):
        np.testing.assert_array_equal(model.transform(X[part]), distances[part])
        np.testing.assert_array_equal(model.predict(X[part]), labels[part])


def test_many_clusters_and_a_path_for_a_tree():
    """Where nearly every node is mixed, tables are made for a few clusters at a time."""
    from isthmus.prediction import centre_distances

    x = np.cumsum(np.arange(1.0, 201.0))[:, None]
    new = np.random.default_rng(0).uniform(-10.0, x.max() * 1.1, size=(40, 1))
    for objective in ("rows", "embedding"):
        model = clusterer(objective, 25, init=np.arange(25)).fit(x)
        labels, distances = model.predict(new), model.transform(new)
        again = pickle.loads(pickle.dumps(model))
        entries = centre_distances._ENTRIES
        try:
            centre_distances._ENTRIES = 1
            np.testing.assert_array_equal(again.predict(new), labels)
            np.testing.assert_array_equal(again.transform(new), distances)
            assert len(again._fitted.predictor._centres._sums._chunks) > 5
        finally:
            centre_distances._ENTRIES = entries
        expected, margins, exact = brute_force(model, np.abs(new - x.T))
        np.testing.assert_array_equal(labels[margins > 1e-9], expected[margins > 1e-9])
        np.testing.assert_allclose(distances, exact, rtol=1e-9, atol=1e-9 * exact.max())


def test_a_point_with_hundreds_of_links():
    corners = np.vstack([np.eye(150), -np.eye(150)])
    for objective in ("rows", "embedding"):
        model = clusterer(objective, 3).fit(corners)
        new = np.vstack([np.zeros(150), corners[0] * 0.25])
        _, _, distances = brute_force(model, cdist(new, corners))
        np.testing.assert_allclose(model.transform(new), distances, rtol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_pickles_hold_the_points_once(objective):
    X = points("blobs", 3000, 8, seed=0)
    model = clusterer(objective, 3).fit(X)
    new = points("blobs", 40, 8, seed=1)
    labels, distances = model.predict(new), model.transform(new)
    text = pickle.dumps(model)
    assert X.nbytes < len(text) < X.nbytes + 3000 * 60
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.predict(new), labels)
    np.testing.assert_array_equal(again.transform(new), distances)
    assert len(pickle.dumps(again)) < len(text) + 1000
    given = clusterer(objective, 3, metric="precomputed").fit(cdist(X, X))
    assert len(pickle.dumps(given)) < 3000 * 80


def test_no_copy_of_the_points_is_made():
    X = points("blobs", 200, 2, seed=0)
    assert TransitiveKMeans(3).fit(X)._fitted.points is X


def test_names_and_frames():
    X = points("blobs", 90, 2, seed=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = TransitiveKMeans(3).fit(frame)
    names = [f"transitivekmeans{a}" for a in range(3)]
    assert model.get_feature_names_out().tolist() == names
    expected = model.transform(frame)
    for kind, library in (("pandas", pd), ("polars", pl)):
        model.set_output(transform=kind)
        for found in (model.transform(frame), model.fit_transform(frame)):
            assert isinstance(found, library.DataFrame)
            assert list(found.columns) == names
            np.testing.assert_array_equal(found.to_numpy(), expected)
        assert isinstance(model.score(frame), float)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match="3 features"):
        TransitiveKMeans(3).fit(X).predict(np.zeros((2, 3)))


def test_in_pipelines_and_searches():
    X = points("blobs", 120, 2, seed=0)
    pipeline = make_pipeline(StandardScaler(), TransitiveKMeans(3)).fit(X)
    np.testing.assert_array_equal(pipeline.predict(X), pipeline[-1].labels_)
    search = GridSearchCV(TransitiveKMeans(), {"n_clusters": [2, 3]}, cv=2).fit(X)
    assert search.best_params_["n_clusters"] in (2, 3)


def test_what_is_not_fitted_predicts_nothing():
    for method in ("predict", "transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(TransitiveKMeans(), method)([[1.0]])


def test_rows_that_a_metric_does_not_take_are_named():
    X = points("gaussian", 40, 2, seed=0)
    new = X.copy()
    new[7] = 0.0
    with pytest.raises(ValueError, match="Row 7"):
        TransitiveKMeans(2, metric="cosine").fit(X).predict(new)
    missing = X.copy()
    missing[3] = np.nan
    model = TransitiveKMeans(2, metric="nan_euclidean").fit(X)
    with pytest.raises(ValueError, match="row 3 to row 0 of the fit"):
        model.predict(missing)


def test_progress_is_shown(capsys, monkeypatch):
    at_once = {"patience": 0.0, "stream": None}
    monkeypatch.setattr(ProgressBar.__init__, "__kwdefaults__", at_once)
    X = points("gaussian", 50, 2, seed=0)
    model = TransitiveKMeans(2).fit(X)
    model.predict(X)
    assert capsys.readouterr().err == ""
    model.set_params(verbose=1, n_jobs=2).predict(X)
    shown = capsys.readouterr().err
    assert "new points" in shown
    assert shown.count("100%") == 1


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
@pytest.mark.parametrize("weights", [None, np.arange(40) % 4])
def test_labels_that_a_user_changes_change_nothing_else(objective, weights, tmp_path):
    X = points("blobs", 40, 2, 0)
    model = clusterer(objective, 3).fit(X, sample_weight=weights)
    labels, table = model.labels_.copy(), str(model.path(2, 4))
    model.labels_[:] = -1
    np.testing.assert_array_equal(model.predict(X), labels)
    assert str(model.path(2, 4)) == table
    assert model.summary_.sizes.tolist() == np.bincount(labels).tolist()
    np.testing.assert_array_equal(model.labels_for(3), labels)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(type(model).load(tmp_path / "model").labels_, labels)


def test_scores_beyond_all_numbers_are_infinite_and_silent():
    X = np.array([[0.0], [1.0], [9.0], [10.0]]) * 1e160
    assert TransitiveKMeans(2).fit(X).score(X) == -np.inf
