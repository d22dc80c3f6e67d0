"""suggest_n_clusters and n_clusters="auto", as a user meets them."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterers import clusterer
from isthmus import TransitiveKMeans, UltrametricTree, suggest_n_clusters
from isthmus.datasets import make_multi_scale, make_two_moons
from isthmus.model_selection import Suggestion

MOONS, SIDES = make_two_moons(200, random_state=0)


ignore_one_cluster = pytest.mark.filterwarnings("ignore:n_clusters='auto' finds no clear structure")


@ignore_one_cluster
@parametrize_with_checks([TransitiveKMeans("auto"), TransitiveKMeans("auto", k_max=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_data_distances_and_trees_say_the_same():
    tree = UltrametricTree.from_data(MOONS)
    found = suggest_n_clusters(tree)
    for given, metric in (
        (MOONS, "euclidean"),
        (MOONS.tolist(), "euclidean"),
        (tree.spanning_tree, "euclidean"),
        (csr_array(MOONS), "euclidean"),
        (cdist(MOONS, MOONS), "precomputed"),
        (pdist(MOONS), "precomputed"),
        (MOONS, lambda a, b: float(np.hypot(*(a - b)))),
    ):
        other = suggest_n_clusters(given, metric=metric)
        assert isinstance(other, Suggestion)
        assert other.n_clusters == found.n_clusters == 2
        np.testing.assert_allclose(other.strength, found.strength, rtol=1e-6)
        np.testing.assert_array_equal(other.labels, found.labels)


def test_the_metric_matters():
    rng = np.random.default_rng(0)
    angles = np.repeat([0.2, 1.2], 150) + rng.normal(0.0, 0.02, 300)
    X = rng.uniform(0.5, 2.0, (300, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
    assert suggest_n_clusters(X, metric="cosine").n_clusters == 2


def test_rows_of_weight_zero_are_left_out():
    bridge = np.column_stack([np.linspace(-1.0, 2.0, 100), np.full(100, 0.25)])
    X = np.concatenate([bridge, MOONS])
    weights = np.repeat([0.0, 2.0], [100, 200])
    assert suggest_n_clusters(X).n_clusters != 2
    found = suggest_n_clusters(X, sample_weight=weights)
    expected = suggest_n_clusters(MOONS)
    np.testing.assert_array_equal(found.strength, expected.strength)
    assert (found.labels[:100] == -1).all()
    np.testing.assert_array_equal(found.labels[100:], expected.labels)
    model = TransitiveKMeans("auto").fit(X, sample_weight=weights)
    assert (model.labels_ >= 0).all()
    np.testing.assert_array_equal(model.suggestion_.labels, found.labels)


def test_weights_count_as_copies():
    counts = np.random.default_rng(0).integers(1, 4, 200)
    weighted = suggest_n_clusters(MOONS, sample_weight=counts)
    copied = suggest_n_clusters(np.repeat(MOONS, counts, axis=0))
    np.testing.assert_allclose(weighted.strength, copied.strength, rtol=1e-9)
    np.testing.assert_allclose(weighted.silhouette, copied.silhouette, rtol=1e-9)
    tree = UltrametricTree.from_data(MOONS)
    np.testing.assert_array_equal(
        suggest_n_clusters(tree, sample_weight=counts).silhouette, weighted.silhouette
    )


def test_bad_parameters():
    with pytest.raises(ValueError, match="k_max must be at least 2, got 1"):
        suggest_n_clusters(MOONS, 1)
    with pytest.raises(TypeError, match=r"k_max must be an integer, got 2\.5"):
        suggest_n_clusters(MOONS, 2.5)
    with pytest.raises(ValueError, match="NaN"):
        suggest_n_clusters([[np.nan], [1.0]])
    with pytest.raises(ValueError, match="metric"):
        suggest_n_clusters(MOONS, metric="nonsense")
    with pytest.raises(TypeError, match="n_jobs"):
        suggest_n_clusters(UltrametricTree.from_data(MOONS), n_jobs="many")
    tree = UltrametricTree.from_data(MOONS)
    with pytest.raises(ValueError, match="sample_weight of point 3 is 0, but it is on the tree"):
        suggest_n_clusters(tree, sample_weight=np.arange(200.0) != 3)
    with pytest.raises(ValueError, match="one number for each of 200 rows"):
        suggest_n_clusters(tree, sample_weight=[1.0, 2.0])


def test_auto_fits_what_it_suggests():
    X, y = make_multi_scale(random_state=0)
    model = TransitiveKMeans("auto").fit(X)
    assert model.n_clusters_ == model.suggestion_.n_clusters == 3
    np.testing.assert_array_equal(model.labels_, TransitiveKMeans(3).fit_predict(X))
    np.testing.assert_array_equal(model.labels_, np.array([2, 0, 1])[y])
    assert model.n_clusters == "auto"
    np.testing.assert_array_equal(model.labels_for(2), TransitiveKMeans(3).fit(X).labels_for(2))
    again = pickle.loads(pickle.dumps(model))
    assert str(again.suggestion_) == str(model.suggestion_)
    assert clone(model).k_max == 20


@ignore_one_cluster
def test_auto_in_noise_is_one_cluster():
    X = np.random.default_rng(0).uniform(size=(300, 2))
    model = TransitiveKMeans("auto").fit(X)
    assert model.n_clusters_ == 1
    assert (model.labels_ == 0).all()
    assert model.suggestion_.confidence == "no clear structure"


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
def test_a_fit_forgets_an_earlier_suggestion(objective):
    model = clusterer(objective, "auto").fit(MOONS)
    assert model.n_clusters_ == 2
    model.set_params(n_clusters=4).fit(MOONS)
    assert model.n_clusters_ == 4
    assert not hasattr(model, "suggestion_")


def test_bad_parameters_of_auto():
    with pytest.raises(TypeError, match="n_clusters must be an integer or 'auto', got 'many'"):
        TransitiveKMeans("many").fit(MOONS)
    with pytest.raises(ValueError, match="k_max must be at least 2"):
        TransitiveKMeans("auto", k_max=0).fit(MOONS)
    with pytest.raises(ValueError, match="init gives a row for each cluster"):
        TransitiveKMeans("auto", init=[0, 150]).fit(MOONS)
    TransitiveKMeans(2, k_max=0).fit(MOONS)  # not used


def test_the_number_heeds_the_least_size():
    rng = np.random.default_rng(0)
    sizes, places = (60, 60, 25), ((0, 0), (40, 0), (0, 40))
    X = np.concatenate(
        [rng.normal(place, 1.0, (n, 2)) for n, place in zip(sizes, places, strict=True)]
    )
    assert TransitiveKMeans("auto").fit(X).n_clusters_ == 3
    for least, k in ((20, 3), (40, 2), (60, 2)):
        model = TransitiveKMeans("auto", min_cluster_size=least).fit(X)
        assert model.suggestion_.n_clusters == 3
        assert model.n_clusters_ <= k
        assert np.bincount(model.labels_).min() >= least
