"""extend: the model after it is that of a fit on all rows, to the last bit."""

import pickle
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import dask_inputs
from clusterers import METHODS, clusterer
from inputs import BOOLEAN, CityBlock, levenshtein, many, points, suited
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus.estimators import extension
from isthmus.estimators.extension import matched_numbers
from isthmus.prediction import extend_by_kdtree


def assert_same_model(model, fresh):
    np.testing.assert_array_equal(model.spanning_tree_.edges, fresh.spanning_tree_.edges)
    np.testing.assert_array_equal(model.spanning_tree_.weights, fresh.spanning_tree_.weights)
    np.testing.assert_array_equal(model.labels_, fresh.labels_)
    assert model.n_clusters_ == fresh.n_clusters_
    assert model.inertia_ == fresh.inertia_


@pytest.fixture
def searched(monkeypatch):
    """Let few points be searched for as many would; return what the searches have answered."""
    monkeypatch.setattr(extend_by_kdtree, "is_quick", lambda _: False)
    monkeypatch.setattr(extend_by_kdtree, "is_by_index", lambda _: True)
    monkeypatch.setattr(extend_by_kdtree, "_MOST_NEW", 10.0)
    answers = []

    def spy(name):
        function = getattr(extension, name)

        def search(*args):
            answers.append(function(*args))
            return answers[-1]

        monkeypatch.setattr(extension, name, search)

    spy("extended_by_kdtree")
    spy("extended_by_rows")
    return answers


@pytest.mark.parametrize("kind", dask_inputs.KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_kdtree_of_the_old_points_finds_the_tree_of_all(kind, seed, searched):
    rng = np.random.default_rng(seed)
    X = dask_inputs.points(kind, rng, 500)[:, :2]
    metric = ("euclidean", "manhattan", "chebyshev", "cosine")[seed]
    if metric == "cosine":
        X = X + X.dtype.type(3.3)
    n_new = int(rng.integers(1, max(2, len(X) // 2)))
    if seed % 2:  # some new points are old ones
        X[-n_new:][: n_new // 2 + 1] = X[rng.integers(0, len(X) - n_new, n_new // 2 + 1)]
    if len(X) - n_new < 2:
        return
    model = TransitiveCut(2, metric=metric).fit(X[:-n_new])
    assert_same_model(model.extend(X[-n_new:]), TransitiveCut(2, metric=metric).fit(X))
    assert kind == "scales" or searched[-1] is not None


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("most_new", [0.2, 10.0])
def test_again_and_again(metric, most_new, searched, monkeypatch):
    """The kd-tree of the first rows is used again, until the others are too many."""
    monkeypatch.setattr(extend_by_kdtree, "_MOST_NEW", most_new)
    rng = np.random.default_rng(0)
    X = points("blobs", 700, 2, 0)
    X[400:] = X[rng.integers(0, 700, 300)] + rng.choice([0.0, 0.1], size=(300, 1))
    model, n_old = TransitiveCut(3, metric=metric).fit(X[:400]), 400
    for n in (401, 430, 500, 560, 561, 640, 700):
        model.extend(X[n_old:n])
        assert_same_model(model, TransitiveCut(3, metric=metric).fit(X[:n]))
        first = model._record.first_index
        assert len(first.prepared.points) in ({400} if most_new > 1 else {400, 500, 640})
        assert np.shares_memory(first.prepared.points, model._record.points)
        n_old = n
    assert all(found is not None for found in searched)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_old_points_at_another_scale(metric, searched):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) * 1e-250
    new = np.vstack([rng.normal(size=(20, 2)) * 1e-250, [[1.0, 1.0]]])
    model = TransitiveCut(2, metric=metric, engine="kd-tree").fit(X).extend(new)
    fresh = TransitiveCut(2, metric=metric, engine="kd-tree").fit(np.vstack([X, new]))
    assert_same_model(model, fresh)
    assert searched[-1] is not None


@pytest.mark.parametrize("too_many", [False, True])
def test_many_candidates_on_several_threads(too_many, searched, monkeypatch):
    if too_many:
        candidates = "isthmus.prediction.kdtree_candidates.MOST_CANDIDATES"
        monkeypatch.setattr(candidates, 3)
    monkeypatch.setattr(extend_by_kdtree, "_TOGETHER", 16)
    X = points("blobs", 1500, 2, 0).round(1 if too_many else 6)
    model = TransitiveCut(3, n_jobs=2).fit(X[:1300]).extend(X[1300:])
    assert_same_model(model, TransitiveCut(3).fit(X))
    assert searched[-1] is not None


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(42, 60) if p[1] > 2])
@pytest.mark.parametrize("method", METHODS)
def test_any_points_weights_and_method(kind, n, d, seed, method):
    rng = np.random.default_rng(seed)
    X = points(kind, n, d, seed)
    n_new = int(rng.integers(1, n - 1))
    k = int(rng.integers(1, min(n - n_new, 4) + 1))
    weights = [rng.integers(1, 4, size).astype(float) for size in (n - n_new, n_new)]
    given = [w if rng.random() < 0.6 else None for w in weights]
    model = clusterer(method, k, random_state=seed, init="k-means++", n_init=2)
    fresh = clusterer(method, k, random_state=seed, init="k-means++", n_init=2)
    if len(np.unique(X, axis=0)) < k:
        return
    model.fit(X[:-n_new], sample_weight=given[0]).extend(X[-n_new:], given[1])
    ones = [np.ones(len(w)) for w in weights]
    both = [one if w is None else w for one, w in zip(ones, given, strict=True)]
    all_weights = None if all(w is None for w in given) else np.concatenate(both)
    assert_same_model(model, fresh.fit(X, sample_weight=all_weights))


@pytest.mark.parametrize(
    "metric",
    ["braycurtis", "canberra", "hamming", "jensenshannon", "nan_euclidean", *sorted(BOOLEAN)],
)
def test_metrics_by_rows(metric, searched):
    X = suited(metric, "blobs", 80)
    model = TransitiveCut(3, metric=metric).fit(X[:60])
    model.extend(X[60:63]).extend(X[63:])
    assert_same_model(model, TransitiveCut(3, metric=metric).fit(X))
    assert (searched[-1] is None) == (metric == "jensenshannon")


def test_objects_and_functions(searched):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), rng.integers(1, 7))) for _ in range(60)]
    model = TransitiveCut(3, metric=levenshtein).fit(words[:50]).extend(words[50:])
    assert_same_model(model, TransitiveCut(3, metric=levenshtein).fit(words))
    X = rng.normal(size=(40, 3))
    model = TransitiveCut(2, metric=CityBlock()).fit(X[:39]).extend(X[39:])
    assert_same_model(model, TransitiveCut(2, metric=CityBlock()).fit(X))
    assert all(tree is not None for tree in searched)
    assert len(searched) == 2


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "seuclidean"},
        {"metric": "mahalanobis"},
        {"metric": "minkowski", "metric_params": {"p": 3}},
        {"metric": "correlation"},
        {"metric": "cosine"},
        {"n_neighbors": 5},
        {"n_neighbors": 5, "neighborhood": "shared"},
        {"engine": "kd-tree"},
        {"engine": "blocked"},
        {"n_clusters": "auto"},
        {"min_cluster_size": 10},
        {"memory_limit": "1GB"},
    ],
)
def test_whatever_the_parameters(parameters):
    X = points("blobs", 300, 4, 1)
    parameters = {"n_clusters": 3} | parameters
    model = TransitiveCut(**parameters).fit(X[:250])
    assert_same_model(model.extend(X[250:]), TransitiveCut(**parameters).fit(X))


def test_sparse_rows_and_many_features():
    X = points("blobs", 120, 30, 1)
    X[np.abs(X) < 3.0] = 0.0
    model = TransitiveCut(3).fit(csr_array(X[:100])).extend(csr_array(X[100:]))
    assert_same_model(model, TransitiveCut(3).fit(csr_array(X)))
    assert_same_model(TransitiveCut(3).fit(X[:100]).extend(X[100:]), TransitiveCut(3).fit(X))


def test_float32_stays_and_a_changed_metric_counts():
    X = points("gaussian", 60, 2, 0).astype(np.float32)
    model = TransitiveCut(2).fit(X[:50]).extend(X[50:])
    assert model._record.points.dtype == np.float32
    model = TransitiveCut(2).fit(X[:50]).set_params(metric="manhattan").extend(X[50:])
    assert_same_model(model, TransitiveCut(2, metric="manhattan").fit(X))


def test_rows_one_by_one_after_a_file_and_a_pickle(tmp_path, searched):
    X = points("blobs", 200, 2, 3)
    model = TransitiveCut(4).fit(X[:190])
    model.save(tmp_path / "model.isthmus")
    for grown in (
        TransitiveCut.load(tmp_path / "model.isthmus"),
        pickle.loads(pickle.dumps(model)),
    ):
        for i in range(190, 200):
            grown.extend(X[i : i + 1])
        assert_same_model(grown, TransitiveCut(4).fit(X))
        np.testing.assert_array_equal(grown.predict(X), grown.labels_)
    assert all(tree is not None for tree in searched)


def test_column_names_are_checked_and_kept():
    X = pd.DataFrame(points("blobs", 50, 2, 3), columns=["width", "height"])
    model = TransitiveCut(2).fit(X[:40]).extend(X[40:])
    assert model.feature_names_in_.tolist() == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        model.extend(X[40:].rename(columns={"width": "depth"}))


def test_new_rows_of_weight_zero():
    X = points("blobs", 60, 2, 5)
    weights = np.ones(60)
    weights[55:] = 0.0
    model = TransitiveCut(3).fit(X[:50]).extend(X[50:], weights[50:])
    assert_same_model(model, TransitiveCut(3).fit(X, sample_weight=weights))
    with pytest.raises(ValueError, match="5 of 60 rows had a sample_weight of 0"):
        model.extend(X[:2])


def test_precomputed_distances_are_refused():
    D = cdist(*[points("gaussian", 10, 2, 0)] * 2)
    model = TransitiveCut(2, metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="of precomputed ones a fit keeps none"):
        model.extend(D[:2])


@pytest.mark.parametrize(
    ("change", "new", "weight", "error"),
    [
        ({}, [[1.0, np.nan]], None, "NaN"),
        ({}, [[1.0, 2.0, 3.0]], None, "3 features"),
        ({}, np.empty((0, 2)), None, "0 sample"),
        ({}, [[1.0, 2.0]], [-1.0], "sample_weight"),
        ({"n_clusters": 99}, [[1.0, 2.0]], None, "n_clusters=99"),
        ({"metric": "no such"}, [[1.0, 2.0]], None, "metric"),
    ],
)
def test_a_model_stays_as_it_was_where_extend_fails(change, new, weight, error):
    X = points("blobs", 30, 2, 0)
    model = TransitiveCut(2).fit(X)
    before, labels = model._record, model.labels_.copy()
    model.set_params(**change)
    with pytest.raises(ValueError, match=error):
        model.extend(new, weight)
    assert model._record is before
    np.testing.assert_array_equal(model.labels_, labels)
    with pytest.raises(TypeError, match="match_labels must be True or False, got 'yes'"):
        model.extend([[1.0, 2.0]], match_labels="yes")


def test_extend_needs_a_fit():
    with pytest.raises(AttributeError, match="not fitted"):
        TransitiveCut(2).extend([[1.0, 2.0]])


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(20))
def test_matched_labels_keep_as_many_numbers_as_any_renumbering(seed, noise):
    rng = np.random.default_rng(seed)
    old = rng.integers(0, rng.integers(1, 5), 30)
    old = np.unique(old, return_inverse=True)[1].astype(np.int32)
    k = int(rng.integers(1, 5))
    new = np.concatenate([np.arange(k), rng.integers(0, k, 30 - k)]).astype(np.int32)
    rng.shuffle(new)
    old[rng.random(30) < noise], new[rng.random(30) < noise] = -1, -1
    numbers = matched_numbers(old, new, k)
    assert sorted(numbers) == list(range(k))
    counted = (old >= 0) & (new >= 0)

    def n_kept(numbers):
        return np.sum((np.asarray(numbers)[new] == old)[counted])

    assert n_kept(numbers) == max(map(n_kept, permutations(range(k))))


@pytest.mark.parametrize("seed", range(20))
def test_noise_has_no_say_in_which_numbers_are_kept(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(rng.integers(0, 3, (12, 1)) * 7.0, 2.0)
    model = TransitiveCut(3, noise=0.4).fit(X[:10])
    old = model.labels_
    new = model.extend(X[10:], match_labels=True).labels_[:10]
    counted = (old >= 0) & (new >= 0)

    def n_kept(numbers):
        return np.sum((np.asarray(numbers)[new] == old)[counted])

    assert n_kept(range(3)) == max(map(n_kept, permutations(range(3))))


@pytest.mark.parametrize("cls", [TransitiveCut, TransitiveKMeans])
def test_clusters_keep_their_numbers_where_asked(cls):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(20, 1, (20, 2))])
    new = rng.normal(20, 1, (40, 2))
    plain, matched = cls(2).fit(X).extend(new), cls(2).fit(X).extend(new, match_labels=True)
    assert plain.labels_[:50].tolist() == [1] * 30 + [0] * 20  # the largest comes first
    assert matched.labels_.tolist() == [0] * 30 + [1] * 60
    np.testing.assert_array_equal(matched.predict(X), matched.labels_[:50])
    assert matched.summary_.sizes.tolist() == [30, 60]
    np.testing.assert_array_equal(matched.labels_for(2), matched.labels_)


def test_new_rows_of_weight_zero_alone():
    model = TransitiveCut(2).fit([[0.0], [1.0], [9.0], [10.0]]).extend([[5.0]], sample_weight=0)
    again = TransitiveCut(2).fit(
        [[0.0], [1.0], [9.0], [10.0], [5.0]], sample_weight=[1, 1, 1, 1, 0]
    )
    np.testing.assert_array_equal(model.labels_, again.labels_)
    assert model.spanning_tree_ == again.spanning_tree_
    assert model.score([[0.0], [3.0]], sample_weight=0) == 0.0


def test_errors_say_among_which_rows_they_count():
    place = {"metric": "haversine", "metric_params": {"unit": "degrees"}}
    model = TransitiveCut(2, **place).fit([[0.0, 0.0], [1.0, 1.0], [40.0, 40.0]])
    with pytest.raises(ValueError, match="row 3 has 95") as caught:
        model.extend([[95.0, 0.0]])
    assert caught.value.__notes__ == ["Rows are counted over all, the 3 rows of the fit first."]
    X = [[0.0, 0.0], [1.0, 1.0], [np.nan, 1.0], [2.0, np.nan], [3.0, 3.0]]
    with pytest.raises(ValueError, match="rows 0 and 1") as caught:
        TransitiveCut(2, metric="nan_euclidean").fit(X, sample_weight=[0, 0, 1, 1, 1])
    assert caught.value.__notes__ == ["Rows are counted among those with a sample_weight above 0."]
