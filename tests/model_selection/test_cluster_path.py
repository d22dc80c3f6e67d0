"""Many numbers of clusters from one fit against one fit for each."""

import pickle
import sys

import numpy as np
import pytest
from scipy.sparse import coo_array

from clusterers import clusterer
from inputs import points
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus.cut import api as cut_api
from isthmus.kmeans.api import KMeansClusterer
from isthmus.model_selection import transitive_silhouette
from isthmus.theory import consistency

SETTINGS = [
    {},
    {"method": "cut"},
    {"method": "embedding"},
    {"power": 0.5},
    {"init": "k-means++", "n_init": 3, "random_state": 0},
    {"init": "random", "n_init": 3, "random_state": 1, "method": "embedding"},
]


def assert_is_what_fits_give(path, X, sample_weight, settings, low, high):
    assert path.n_clusters.tolist() == list(range(low, high + 1))
    assert path.labels.dtype == np.int32
    for i, k in enumerate(range(low, high + 1)):
        model = clusterer(n_clusters=k, **settings).fit(X, sample_weight=sample_weight)
        np.testing.assert_array_equal(path.labels[i], model.labels_)
        np.testing.assert_array_equal(path.labels_for(k), model.labels_)
        assert path.inertia[i] == model.inertia_
        assert path.sizes[i].tolist() == np.bincount(model.labels_, minlength=k).tolist()
        fitted, weights = model.labels_, sample_weight
        if weights is not None:
            fitted, weights = fitted[weights > 0], weights[weights > 0]
        assert path.margin[i] == consistency(model.tree_, fitted).margins.min()
        if k == 1:
            assert np.isnan(path.silhouette[i])
        else:
            expected = transitive_silhouette(model.tree_, fitted, sample_weight=weights)
            assert path.silhouette[i] == expected


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", ["blobs", "lattice", "duplicates"])
def test_every_number_is_a_fit(settings, kind):
    X = points(kind, 60, 2, 0)
    path = clusterer(n_clusters=4, **settings).fit(X).path(1, 9)
    assert_is_what_fits_give(path, X, None, settings, 1, 9)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_weights(settings):
    X = points("blobs", 60, 2, 1)
    weights = np.random.default_rng(0).integers(0, 4, size=60) * 0.7
    path = clusterer(n_clusters=3, **settings).fit(X, sample_weight=weights).path(2, 7)
    assert_is_what_fits_give(path, X, weights, settings, 2, 7)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_many_points(settings):
    """Enough of them for the lazy algorithm."""
    X = points("blobs", 1200, 2, 2)
    model = clusterer(n_clusters=3, **settings).fit(X)
    path = model.path(5, 8)
    for k in range(5, 9):
        np.testing.assert_array_equal(path.labels_for(k), model.labels_for(k))
    assert_is_what_fits_give(path, X, None, settings, 5, 8)


@pytest.mark.parametrize("random_state", [0, None])
def test_threads_change_nothing(random_state):
    X = points("blobs", 300, 2, 0)
    for init in ("cut", "random"):
        paths = []
        for n_jobs in (1, 2, 3):
            np.random.seed(0)  # noqa: NPY002 – what None stands for
            model = TransitiveKMeans(
                2, init=init, n_init=2, random_state=random_state, n_jobs=n_jobs
            ).fit(X)
            paths += [model.path(2, 8), model.path(2, 8, n_jobs=2)][: 2 if random_state == 0 else 1]
        for path in paths[1:]:
            np.testing.assert_array_equal(path.labels, paths[0].labels)
            np.testing.assert_array_equal(path.inertia, paths[0].inertia)
            np.testing.assert_array_equal(path.silhouette, paths[0].silhouette)


def test_cuts_are_made_once(monkeypatch):
    asked = []
    made = cut_api.cut_spanning_tree

    def counted(tree, k, *args, **options):
        asked.append(k)
        return made(tree, k, *args, **options)

    monkeypatch.setattr(cut_api, "cut_spanning_tree", counted)
    model = TransitiveKMeans(3).fit(points("blobs", 80, 2, 0))
    model.path(2, 12, n_jobs=3)
    model.labels_for(7)
    assert asked == [3, 12]


def test_after_a_journey_through_a_file():
    model = TransitiveKMeans(3).fit(points("blobs", 80, 2, 0))
    loaded = pickle.loads(pickle.dumps(model)).path(2, 5)
    np.testing.assert_array_equal(loaded.labels, model.path(2, 5).labels)
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.labels, loaded.labels)


def test_components_that_are_infinitely_far_apart():
    edges = [(0, 1, 1.0), (1, 2, 2.0), (3, 4, 1.0), (5, 6, 3.0)]
    i, j, d = zip(*edges, strict=True)
    graph = coo_array((d, (i, j)), (7, 7))
    model = TransitiveCut(2, metric="precomputed", disconnected="join").fit(graph + graph.T)
    path = model.path(1, 7)
    assert np.isinf(path.inertia).tolist() == [True, True, False, False, False, False, False]
    assert np.isfinite(path.silhouette[1:]).all()
    assert np.nanargmax(path.silhouette) == 2
    assert path.margin[2] == np.inf
    assert path.sizes[2].tolist() == [3, 2, 2]


def test_given_rows_serve_their_own_number_alone():
    X = points("blobs", 50, 2, 0)
    model = TransitiveKMeans(3, init=[0, 1, 2]).fit(X)
    np.testing.assert_array_equal(model.path(3, 3).labels[0], model.labels_)
    for low, high in ((2, 3), (3, 4)):
        with pytest.raises(ValueError, match="began with 3 given rows"):
            model.path(low, high)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 3), ValueError, "k_min must be at least 1"),
        ((2, 51), ValueError, "k_max=51, but no more clusters than points .* 50"),
        ((4, 3), ValueError, "k_min=4 and k_max=3"),
        ((2.0, 3), TypeError, "k_min must be an integer"),
        ((2, True), TypeError, "k_max must be an integer"),
    ],
)
def test_errors(arguments, error, message):
    model = TransitiveKMeans(3).fit(points("blobs", 50, 2, 0))
    with pytest.raises(error, match=message):
        model.path(*arguments)


def test_n_jobs_is_checked():
    model = TransitiveKMeans(3).fit(points("blobs", 50, 2, 0))
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        model.path(2, 3, n_jobs=0)


def test_a_number_that_is_not_on_the_path():
    path = TransitiveKMeans(3).fit(points("blobs", 50, 2, 0)).path(2, 4)
    with pytest.raises(ValueError, match="from 2 to 4 clusters, and does not hold 5"):
        path.labels_for(5)


def test_the_table():
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.2]]
    path = TransitiveKMeans(2).fit(X).path(1, 7)
    assert len(path) == 7
    lines = repr(path).splitlines()
    assert lines[0] == "ClusterPath(7 rows, 1 to 7 clusters)"
    assert lines[1].split() == ["k", "silhouette", "margin", "inertia", "sizes"]
    assert lines[2].split() == ["1", "nan", "inf", "228.1", "7"]
    assert lines[4].split() == ["3", "0.9691", "3.7", "0.07", "3,", "2,", "2"]
    assert lines[8].endswith("1, 1, 1, 1, 1, 1, …")


def test_a_long_table_is_cut():
    path = TransitiveKMeans(2).fit(points("blobs", 60, 2, 0)).path(2, 60)
    lines = repr(path).splitlines()
    assert len(lines) == 2 + 40 + 1
    assert lines[-1] == "… and 19 more"


def test_frame():
    pytest.importorskip("pandas")
    path = TransitiveKMeans(2).fit(points("blobs", 60, 2, 0)).path(2, 5)
    frame = path.to_frame()
    assert frame.index.tolist() == [2, 3, 4, 5]
    np.testing.assert_array_equal(frame["silhouette"], path.silhouette)
    np.testing.assert_array_equal(frame["margin"], path.margin)
    np.testing.assert_array_equal(frame["inertia"], path.inertia)
    assert frame.loc[3, "largest"] == path.sizes[1].max()
    assert frame.loc[3, "smallest"] == path.sizes[1].min()


def test_frame_without_pandas_says_what_to_install(monkeypatch):
    path = TransitiveKMeans(2).fit(points("blobs", 60, 2, 0)).path(2, 3)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        path.to_frame()


def test_progress():
    told = []
    model = TransitiveKMeans(2, verbose=lambda *stage: told.append(stage))
    model.fit(points("blobs", 60, 2, 0))
    told.clear()
    model.path(2, 6, n_jobs=2)
    assert told == [("clusters", i, 5) for i in range(1, 6)]


def test_before_a_fit():
    from sklearn.exceptions import NotFittedError

    for model in (TransitiveCut(2), TransitiveKMeans(2)):
        with pytest.raises(NotFittedError):
            model.path()


def test_ctrl_c_ends_it(monkeypatch):
    model = TransitiveKMeans(2).fit(points("blobs", 60, 2, 0))
    asked = []
    run = KMeansClusterer.run

    def interrupted(clusterer, settings, *args):
        asked.append(settings.n_clusters)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return run(clusterer, settings, *args)

    monkeypatch.setattr(KMeansClusterer, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.path(2, 30)
    assert len(asked) == 2


def test_no_cluster_of_the_path_is_too_small():
    X = np.concatenate([points("blobs", 80, 2, 0), [[1e3, 0.0], [0.0, 1e3]]])
    model = TransitiveKMeans(2, min_cluster_size=5).fit(X)
    path = model.path(2, 4)
    assert min(sizes.min() for sizes in path.sizes) >= 5
    for k, labels in zip(path.n_clusters, path.labels, strict=True):
        again = TransitiveKMeans(k, min_cluster_size=5).fit(X)
        np.testing.assert_array_equal(labels, again.labels_)
    with pytest.raises(ValueError, match="min_cluster_size=5"):
        model.path(2, 60)
