"""Estimators of neighbourhoods: what they find, predict, save and refuse."""

import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import numba
from inputs import points
from isthmus import (
    NeighborMean,
    TransitiveCut,
    TransitiveEmbedding,
    TransitiveKMeans,
    UltrametricTree,
    minimum_spanning_tree,
    nearest_neighbors,
)
from isthmus.metrics.pairwise import distance_matrix
from isthmus.prediction import attach_with_neighbors
from oracles.neighbors import shared_of_new

BY_ROWS = "rows count once in neighbourhoods, whatever their weights"
KINDS = ("mean", "shared")


@parametrize_with_checks(
    [
        TransitiveCut(n_neighbors=3),
        TransitiveCut(n_neighbors=3, neighborhood="shared"),
        TransitiveKMeans(n_neighbors=3),
        TransitiveEmbedding(n_neighbors=3, neighborhood="shared"),
        NeighborMean(n_neighbors=3),
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": BY_ROWS,
        "check_sample_weight_equivalence_on_sparse_data": BY_ROWS,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_images_and_tables_gain():
    """The figures that the documentation states."""
    X, y = load_digits(return_X_y=True)
    found = TransitiveCut(10, n_neighbors=20, neighborhood="shared").fit_predict(X)
    assert round(adjusted_rand_score(y, found), 2) == 0.89
    for load, k, plain, gained in ((load_wine, 3, 0.74, 0.91), (load_breast_cancer, 2, 0.43, 0.80)):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        assert round(adjusted_rand_score(y, TransitiveCut(k).fit_predict(X)), 2) == plain
        found = TransitiveCut(k, n_neighbors=30).fit_predict(X)
        assert round(adjusted_rand_score(y, found), 2) == gained


@pytest.mark.parametrize("estimator", [TransitiveCut, TransitiveKMeans])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 12])
def test_a_fit_is_that_of_the_tree(estimator, kind, d):
    X = points("blobs", 200, d, 0)
    model = estimator(4, n_neighbors=8, neighborhood=kind, n_jobs=2).fit(X)
    tree = minimum_spanning_tree(X, n_neighbors=8, neighborhood=kind)
    assert model.spanning_tree_ == tree
    assert model.tree_ == UltrametricTree.from_spanning_tree(tree)
    assert model.summary_.sizes.sum() == 200
    assert len(model.outlier_scores_) == 200
    assert model.path(2, 5).labels[2].shape == (200,)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.fit_transform(X))


@pytest.mark.parametrize("n", [150, 3000])
@pytest.mark.parametrize("d", [2, 12])
def test_new_points_have_means_of_their_own(n, d):
    X, new = points("blobs", n, d, 1), points("blobs", 60, d, 2)
    model = TransitiveCut(5, n_neighbors=7).fit(X)
    means = NeighborMean(7).fit_transform(X)
    for x, label in zip(new, model.predict(new), strict=True):
        nearest = np.argsort(((X - x) ** 2).sum(axis=1), kind="stable")[:6]
        mean = (x + X[nearest].sum(axis=0)) / 7
        distances = np.linalg.norm(means - mean, axis=1)
        assert distances[model.labels_ == label].min() == pytest.approx(distances.min(), rel=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "canberra"])
@pytest.mark.parametrize("estimator", [TransitiveCut, TransitiveKMeans])
def test_new_points_share_neighborhoods(metric, estimator):
    X, new = points("blobs", 120, 3, 1), points("blobs", 50, 3, 2)
    new[0] = X[17]
    options = {"metric": metric, "n_neighbors": 7, "neighborhood": "shared"}
    model = estimator(4, **options).fit(X)
    neighbors = nearest_neighbors(X, 7, metric=metric).indices
    both = distance_matrix(np.vstack([X, new]), metric)
    distances = shared_of_new(both[120:, :120], neighbors)
    # D(x, v) = min over u of max(d(x, u), D(u, v))
    transitive = model.tree_.matrix()
    rows = np.array([np.maximum(row[:, None], transitive).min(axis=0) for row in distances])
    if estimator is TransitiveCut:
        expected = model.labels_[distances.argmin(axis=1)]
        np.testing.assert_array_equal(model.predict(new), expected)
    centres = np.array([transitive[model.labels_ == c].mean(axis=0) for c in range(4)])
    expected = np.linalg.norm(rows[:, None, :] - centres[None], axis=2)
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 12])
def test_rows_of_weight_zero_are_new_points(kind, d):
    X = points("blobs", 240, d, 3)
    weights = np.ones(240)
    weights[::3] = 0.0
    parameters = {"n_clusters": 4, "n_neighbors": 9, "neighborhood": kind}
    model = TransitiveCut(**parameters).fit(X, sample_weight=weights)
    of_the_others = TransitiveCut(**parameters).fit(X[weights > 0])
    np.testing.assert_array_equal(model.labels_[weights > 0], of_the_others.labels_)
    np.testing.assert_array_equal(model.labels_[::3], of_the_others.predict(X[::3]))


def test_precomputed_distances_share_neighborhoods():
    X, new = points("blobs", 100, 3, 3), points("blobs", 30, 3, 4)
    parameters = {"n_clusters": 4, "n_neighbors": 9, "neighborhood": "shared"}
    by_points = TransitiveCut(**parameters).fit(X)
    model = TransitiveCut(metric="precomputed", **parameters).fit(distance_matrix(X))
    np.testing.assert_array_equal(model.labels_, by_points.labels_)
    between = distance_matrix(np.vstack([X, new]))[100:, :100]
    np.testing.assert_array_equal(model.predict(between), by_points.predict(new))
    weights = np.ones(100)
    weights[:10] = 0.0
    model.fit(distance_matrix(X), sample_weight=weights)
    by_points.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, by_points.labels_)
    few = csr_array(between * (between <= np.sort(between, axis=1)[:, 3:4]))
    with pytest.raises(ValueError, match=r"finite distances; the neighbourhoods of the fit take 8"):
        TransitiveCut(metric="precomputed", **parameters).fit(distance_matrix(X)).predict(few)


@pytest.mark.parametrize("estimator", [TransitiveCut, TransitiveKMeans])
@pytest.mark.parametrize("kind", KINDS)
def test_files_and_pickles_hold_neighborhoods(estimator, kind, tmp_path):
    X, new = points("blobs", 150, 4, 3), points("blobs", 40, 4, 5)
    model = estimator(4, n_neighbors=6, neighborhood=kind).fit(X)
    model.save(tmp_path / "model.isthmus")
    for copy in (estimator.load(tmp_path / "model.isthmus"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(new), model.predict(new))
        np.testing.assert_array_equal(copy.transform(new), model.transform(new))
        np.testing.assert_array_equal(copy.labels_for(3), model.labels_for(3))
        assert copy.get_params() == model.get_params()


@pytest.mark.parametrize(
    "forge",
    [
        lambda lists: lists + 1,
        lambda lists: lists[:, :1],
        lambda lists: np.where(lists == 3, 4, lists).astype(np.int32),
        lambda lists: lists[:, ::-1].copy(),
        lambda lists: lists.astype(np.int64),
        lambda lists: lists[:-1],
    ],
)
def test_forged_neighbors_are_refused(forge, tmp_path):
    model = TransitiveCut(3, n_neighbors=5).fit(points("blobs", 40, 2, 0))
    object.__setattr__(model._fitted, "neighbors", forge(model._fitted.neighbors))
    model.save(tmp_path / "forged.isthmus")
    with pytest.raises(ValueError, match="neighbors"):
        TransitiveCut.load(tmp_path / "forged.isthmus")


@pytest.mark.parametrize("kind", KINDS)
def test_kept_trees_are_of_one_neighborhood(kind, tmp_path):
    X, new = points("blobs", 150, 3, 3), points("blobs", 40, 3, 5)
    for size in (6, 7):
        plain = TransitiveCut(4, n_neighbors=size, neighborhood=kind).fit(X)
        for _ in range(2):
            kept = TransitiveCut(4, n_neighbors=size, neighborhood=kind, memory=tmp_path).fit(X)
            assert kept.spanning_tree_ == plain.spanning_tree_
            np.testing.assert_array_equal(kept.predict(new), plain.predict(new))


def test_searches_for_new_points_agree(monkeypatch):
    X, new = points("blobs", 2500, 3, 3), points("blobs", 100, 3, 5)
    model = TransitiveCut(6, n_neighbors=10).fit(X)
    by_tree = model.predict(new)
    monkeypatch.setattr(attach_with_neighbors, "_FEW_POINTS", 10_000)
    np.testing.assert_array_equal(TransitiveCut(6, n_neighbors=10).fit(X).predict(new), by_tree)


def test_means_in_a_pipeline():
    X = points("blobs", 150, 4, 3)
    pipeline = make_pipeline(NeighborMean(10), TransitiveCut(4)).fit(X)
    model = TransitiveCut(4, n_neighbors=10).fit(X)
    np.testing.assert_array_equal(pipeline[-1].labels_, model.labels_)
    new = points("blobs", 40, 4, 5)
    np.testing.assert_array_equal(pipeline.predict(new), model.predict(new))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_transform_of_the_fitted_points_is_fit_transform(metric):
    X = points("duplicates", 150, 4, 3) + 0.1
    for form in (X, csr_array(X)):
        step = NeighborMean(12, metric=metric)
        means, again = step.fit_transform(form), step.transform(form)
        if form is not X:
            means, again = means.toarray(), again.toarray()
        np.testing.assert_allclose(again, means, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"n_neighbors": 0}, ValueError, "at least 1"),
        ({"n_neighbors": 51}, ValueError, "n_samples=50 should be >= n_neighbors=51"),
        ({"n_neighbors": "some"}, TypeError, "integer, or None"),
        ({"neighborhood": "median"}, ValueError, "'mean', 'shared'"),
        ({"n_neighbors": 5, "metric": "hamming"}, ValueError, "averages points"),
        ({"engine": "fast"}, ValueError, "engine must be one of"),
    ],
)
@pytest.mark.parametrize("estimator", [TransitiveCut, TransitiveKMeans])
def test_wrong_parameters_are_refused_before_any_work(estimator, parameters, error, words):
    model = estimator(3, **parameters)
    with pytest.raises(error, match=words):
        model.fit(points("gaussian", 50, 3, 0))
    assert not hasattr(model, "labels_")


class DescentByBruteForce:
    """Exact neighbours by the interface of pynndescent's index, as strict as that is."""

    def __init__(self, data, *, metric, n_neighbors, random_state, n_jobs):
        assert data.dtype == np.float32
        assert metric == "euclidean"
        assert isinstance(random_state, int)
        assert 1 <= n_jobs <= numba.config.NUMBA_NUM_THREADS
        search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(data)
        distances, indices = search.kneighbors(data)
        self.neighbor_graph = indices, distances


class TestApproximate:
    """The engine that must be asked for."""

    @pytest.mark.parametrize("neighbors", [None, 10])
    @pytest.mark.parametrize("kind", KINDS)
    def test_with_all_neighbors_it_is_exact(self, neighbors, kind):
        X = points("gaussian", 120, 5, 0)
        given = nearest_neighbors(X, 120).indices
        options = {"n_neighbors": neighbors, "neighborhood": kind}
        found = minimum_spanning_tree(X, engine="approximate", neighbors=given, **options)
        exact = minimum_spanning_tree(X, **options)
        assert found.engine == "approximate"
        np.testing.assert_allclose(found.weights, exact.weights, rtol=1e-12)

    def test_components_are_joined_by_short_edges(self):
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(6, 8)) * 20
        X = centres[rng.integers(6, size=600)] + rng.normal(size=(600, 8))
        graph = kneighbors_graph(X, 10, mode="distance")
        found = minimum_spanning_tree(X, engine="approximate", neighbors=graph)
        exact = minimum_spanning_tree(X)
        assert exact.total_weight <= found.total_weight <= 1.01 * exact.total_weight
        # each of the long edges is a true distance between points
        a, b = found.edges[-1]
        assert found.weights[-1] == pytest.approx(np.linalg.norm(X[a] - X[b]), rel=1e-12)
        labels = TransitiveCut(6, engine="approximate").fit(X, neighbors=graph).labels_
        assert adjusted_rand_score(TransitiveCut(6).fit_predict(X), labels) == 1.0

    @pytest.mark.parametrize(
        ("neighbors", "error", "words"),
        [
            ([[0, 1]], ValueError, "a row for each of the 30 points"),
            (np.full((30, 3), 30), ValueError, "indices from 0 to 29"),
            (np.zeros((30, 3)), TypeError, "integers"),
            (np.arange(30), ValueError, "a row for each"),
        ],
    )
    def test_wrong_neighbors_are_refused(self, neighbors, error, words):
        X = points("gaussian", 30, 5, 0)
        with pytest.raises(error, match=words):
            TransitiveCut(2, engine="approximate").fit(X, neighbors=neighbors)

    def test_neighbors_are_for_it_alone(self):
        X = points("gaussian", 30, 5, 0)
        with pytest.raises(ValueError, match="neighbors= is for engine='approximate'"):
            TransitiveCut(2).fit(X, neighbors=np.zeros((30, 2), dtype=int))
        with pytest.raises(ValueError, match="only 3 neighbours of point 0"):
            TransitiveCut(2, engine="approximate", n_neighbors=9).fit(
                X, neighbors=nearest_neighbors(X, 3)
            )
        with pytest.raises(ValueError, match="dense points, and metrics"):
            TransitiveCut(2, engine="approximate", metric="canberra").fit(
                X, neighbors=nearest_neighbors(X, 3)
            )

    def test_one_sentence_where_pynndescent_is_missing(self):
        code = (
            "import sys; sys.modules['pynndescent'] = None; import numpy as np; import isthmus;"
            "isthmus.minimum_spanning_tree(np.eye(5), engine='approximate')"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert "ImportError" in result.stderr
        assert "pip install 'isthmus[approximate]'" in result.stderr

    @pytest.fixture(params=["brute force", pytest.param("pynndescent", marks=pytest.mark.slow)])
    def descent(self, request, monkeypatch):
        """pynndescent, which takes minutes to compile, or another search by its interface."""
        if request.param == "brute force":
            module = SimpleNamespace(NNDescent=DescentByBruteForce)
            monkeypatch.setitem(sys.modules, "pynndescent", module)

    @pytest.mark.usefixtures("descent")
    def test_neighbors_are_found(self):
        X = points("gaussian", 2000, 12, 0)
        found = minimum_spanning_tree(X, engine="approximate")
        exact = minimum_spanning_tree(X)
        assert exact.total_weight <= found.total_weight <= 1.02 * exact.total_weight
        assert found == minimum_spanning_tree(X, engine="approximate")

    @pytest.mark.usefixtures("descent")
    def test_units_and_offsets_cost_nothing(self):
        X = points("gaussian", 400, 12, 0)
        weight = minimum_spanning_tree(X, engine="approximate").total_weight
        for other, scale in ((X * 1e50, 1e50), (X * 1e-50, 1e-50), (X + 1e9, 1.0)):
            found = minimum_spanning_tree(other, engine="approximate", n_jobs=64)
            assert found.total_weight / scale == pytest.approx(weight, rel=1e-3)

    def test_components_far_apart_are_joined(self):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(size=(10, 3)), rng.normal(size=(30, 3)) + 50]) * 1e20
        given = nearest_neighbors(X, 4)
        found = minimum_spanning_tree(X, engine="approximate", neighbors=given)
        assert found.weights[-1] == pytest.approx(minimum_spanning_tree(X).weights[-1])

    def test_pairs_in_any_order(self):
        X = points("gaussian", 60, 3, 0)
        found = nearest_neighbors(X, 8)
        trees = [
            minimum_spanning_tree(X, engine="approximate", neighbors=given)
            for given in (found.indices, tuple(found), (found.distances, found.indices))
        ]
        assert trees[0] == trees[1] == trees[2]


def test_equal_neighborhoods_have_equal_means():
    X = points("gaussian", 12, 3, 0)
    assert len(np.unique(NeighborMean(12).fit_transform(X), axis=0)) == 1


@pytest.mark.parametrize("metric", ["correlation", "hellinger", "cosine"])
def test_means_do_not_depend_on_what_the_metric_does_not_see(metric):
    X = np.abs(points("blobs", 150, 6, 0)) + 0.1
    scaled = X * np.random.default_rng(0).uniform(0.01, 100, size=(150, 1))
    labels = [
        TransitiveCut(4, metric=metric, n_neighbors=10).fit_predict(each) for each in (X, scaled)
    ]
    assert adjusted_rand_score(*labels) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_of_the_fit_are_recognised(kind):
    X = csr_array(points("lattice", 200, 12, 3) * (points("gaussian", 200, 12, 4) > 0))
    model = TransitiveKMeans(5, n_neighbors=8, neighborhood=kind).fit(X)
    distances = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), distances, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3, 30])
def test_progress_reaches_the_end(kind, d):
    calls = []
    X = points("blobs", 3000, d, 0)
    model = TransitiveCut(3, n_neighbors=6, neighborhood=kind, n_jobs=2)
    model.set_params(verbose=lambda *call: calls.append(call)).fit(X)
    done, total = [call[1:] for call in calls if call[0] == "spanning tree"][-1]
    assert done == total


def test_a_refused_refit_of_means_changes_nothing():
    X = points("gaussian", 40, 4, 0)
    step = NeighborMean(5).fit(X)
    before = step.transform(X[:3])
    with pytest.raises(ValueError, match="n_neighbors"):
        step.fit(X[:3, :2])
    np.testing.assert_array_equal(step.set_params(metric="cosine").transform(X[:3]), before)


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("metric", ["cosine", "angular"])
def test_neighbours_that_cancel_out(metric, layout):
    X = np.array([[1.0, 2.0], [-1.0, -2.0]])
    with pytest.raises(ValueError, match="neighbours of row 0 point in opposite directions"):
        TransitiveCut(2, metric=metric, n_neighbors=2).fit(layout(X))


def test_neighbours_that_cancel_out_after_a_map():
    with pytest.raises(ValueError, match="neighbours of row 0 point in opposite directions"):
        NeighborMean(2, metric="correlation").fit_transform([[1.0, 2.0, 4.0], [-1.0, -2.0, -4.0]])
    with pytest.raises(ValueError, match="neighbours of row 0 point in opposite directions"):
        NeighborMean(2, metric="haversine").fit_transform([[0.0, 0.0], [0.0, np.pi]])


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_variances_are_those_of_the_points_and_not_of_the_means(metric, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1.0, 30.0, 0.1]
    X[:40, 0] += 6.0
    new = rng.normal(size=(10, 3)) * [1.0, 30.0, 0.1]
    given = X.var(axis=0, ddof=1) if metric == "seuclidean" else np.cov(X, rowvar=False)
    plain = TransitiveCut(3, metric=metric, n_neighbors=6).fit(X)
    told = TransitiveCut(3, metric=metric, metric_params={"V": given}, n_neighbors=6).fit(X)
    np.testing.assert_allclose(plain.spanning_tree_.weights, told.spanning_tree_.weights, rtol=1e-9)
    np.testing.assert_allclose(plain.transform(new), told.transform(new), rtol=1e-9)
    plain.save(tmp_path / "model")
    loaded = TransitiveCut.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(new), plain.transform(new))


@pytest.mark.parametrize("kind", ["mean", "shared", None])
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_new_rows_are_counted_from_zero(kind, layout):
    X = np.random.default_rng(0).normal(size=(30, 2))
    n_neighbors = None if kind is None else 3
    model = TransitiveCut(2, metric="cosine", n_neighbors=n_neighbors, neighborhood=kind or "mean")
    model.fit(layout(X))
    with pytest.raises(ValueError, match="Row 2 is zero"):
        model.predict(layout(np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])))
    if kind == "mean":
        with pytest.raises(ValueError, match="Row 2 is zero"):
            NeighborMean(3, metric="cosine").fit(layout(X)).transform(
                layout(np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]]))
            )


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_new_rows_of_other_metrics_are_counted_from_zero(n_neighbors):
    X = np.random.default_rng(0).random(size=(30, 2)) + 1.0
    new = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])
    parameters = {"n_neighbors": n_neighbors, "neighborhood": "shared"}

    def distance(a, b):
        return np.nan if not a.any() or not b.any() else float(np.abs(a - b).sum())

    model = TransitiveCut(2, metric=distance, **parameters).fit(X)
    with pytest.raises(ValueError, match="new row 2 and row 0 of the fit"):
        model.predict(new)
    weights = {"metric": "cosine", "metric_params": {"w": [1.0, 2.0]}, **parameters}
    with pytest.raises(ValueError, match="Row 2 is zero"):
        TransitiveCut(2, **weights).fit(X).predict(new)


def test_a_memory_limit_reaches_the_approximate_engine():
    X = np.random.default_rng(0).normal(size=(500, 4))
    parameters = {"engine": "approximate", "n_neighbors": 5}
    with pytest.raises(MemoryError, match="approximate spanning tree of 500 points needs about"):
        minimum_spanning_tree(X, memory_limit="1MB", **parameters)
    with pytest.raises(MemoryError, match="memory_limit is"):
        TransitiveCut(2, memory_limit="1MB", **parameters).fit(X)
    neighbors = nearest_neighbors(X, 8).indices
    given = minimum_spanning_tree(X, neighbors=neighbors, memory_limit="50MB", **parameters)
    assert given.n_points == 500
