"""min_cluster_size: CUT and K-means against slow versions, and what a user is told."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from clusterers import TreeClusterer, clusterer
from inputs import many, points
from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree
from isthmus.cut.divisive import TooFewCutsError, cut_spanning_tree
from oracles.dense import cut, guarded_lloyd

INITS = ("cut", "k-means++", "random")


def partition(labels):
    return sorted(
        (frozenset(np.flatnonzero(labels == a).tolist()) for a in np.unique(labels)), key=min
    )


def shaken(kind, n, d, seed):
    """Points without ties."""
    X = points(kind, n, d, seed)
    return X + np.random.default_rng(seed).normal(size=X.shape) * 0.01


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(63, largest=14) if p[1] > 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_those_of_the_rule(kind, n, d, seed, weighted):
    tree = UltrametricTree.from_data(shaken(kind, n, d, seed))
    rng = np.random.default_rng(seed)
    point_weights = rng.integers(1, 9, size=n) / 4 if weighted else None
    for least in (1, 2, 5.25) if weighted else (1, 2, 5):
        for k in (1, 2, 4):
            try:
                expected = cut(n, tree.spanning_tree.edges, tree.heights, k, point_weights, least)
            except ValueError:  # equal scores
                continue
            if len(expected) == k:
                assert (
                    partition(cut_spanning_tree(tree, k, point_weights, least).labels(k))
                    == expected
                )
            else:
                with pytest.raises(TooFewCutsError) as error:
                    cut_spanning_tree(tree, k, point_weights, least)
                assert error.value.n_parts == len(expected)


@pytest.mark.parametrize("kind", ["lattice", "duplicates", "blobs"])
@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
def test_every_cluster_is_large_enough_whatever_the_ties(kind, objective):
    for seed in range(4):
        X = points(kind, 60, 2, seed)
        weights = np.random.default_rng(seed).integers(0, 4, size=60)
        for k, least in ((2, 10), (3, 8), (5, 4)):
            plain = clusterer(objective, k, min_cluster_size=least).fit(X)
            assert len(np.unique(plain.labels_)) == k
            assert np.bincount(plain.labels_).min() >= least
            weighted = clusterer(objective, k, min_cluster_size=least)
            weighted.fit(X, sample_weight=weights)
            assert np.bincount(weighted.labels_, weights=weights, minlength=k).min() >= least


def test_lloyd_stops_before_a_cluster_becomes_too_small():
    n_compared = n_taken_back = 0
    for kind, n, d, seed in many(140, largest=60):
        if n < 8 or kind == "all equal":
            continue
        tree = UltrametricTree.from_data(points(kind, n, d, seed))
        rng = np.random.default_rng(seed)
        point_weights = rng.integers(1, 5, size=n).astype(float) if seed % 2 else None
        ones = np.ones(n) if point_weights is None else point_weights
        clusterer = TreeClusterer(tree, point_weights=point_weights)
        k = int(rng.integers(2, 5))
        for share in (0.5, 0.9):
            least = int(max(1, share * ones.sum() / k))
            try:
                parts = clusterer.parts(k, least)
            except ValueError:
                continue
            expected = guarded_lloyd(tree.matrix(), parts, k, least, ones)
            if expected is None or expected[3] < 1e-9:
                continue
            labels, inertia, taken_back, _ = expected
            for algorithm in ("lazy", "plain"):
                found = clusterer.solve(
                    k, min_cluster_size=least, weights=point_weights, algorithm=algorithm
                )
                assert partition(found.labels) == partition(labels)
                assert found.inertia == pytest.approx(inertia, rel=1e-9, abs=1e-12)
            n_compared += 1
            n_taken_back += taken_back
    assert n_compared > 60
    assert n_taken_back > 10


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
def test_where_no_cluster_is_too_small_nothing_changes(init, objective):
    for kind, n, d, seed in many(60, largest=150)[21::3]:
        X = points(kind, n, d, seed)
        k = min(4, n)
        parameters = {"method": objective, "init": init, "random_state": 0, "n_init": 2}
        for max_iter in (1, 300):
            free = clusterer(n_clusters=k, max_iter=max_iter, **parameters).fit(X)
            limited = {"max_iter": max_iter, "min_cluster_size": 1, **parameters}
            bound = clusterer(n_clusters=k, **limited).fit(X)
            np.testing.assert_array_equal(bound.labels_, free.labels_)
            assert bound.inertia_ == free.inertia_
            assert getattr(bound, "n_iter_", 1) == getattr(free, "n_iter_", 1)


def test_outliers_take_no_cluster_for_themselves():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(60, 2)), rng.normal([12.0, 0.0], size=(60, 2))]
    X = np.vstack([*clouds, [[900.0, 0.0]]])
    free = TransitiveKMeans(2).fit_predict(X)
    assert np.bincount(free).tolist() == [120, 1]
    for objective in ("rows", "embedding", "cut"):
        model = clusterer(objective, 2, min_cluster_size=10)
        labels = model.fit_predict(X)
        assert len(set(labels[:60])) == 1
        assert np.bincount(labels).tolist() == [61, 60]


def test_weights_are_copies():
    for seed in range(12):
        X = points("gaussian", 30, 2, seed)
        weights = np.random.default_rng(seed).integers(1, 4, size=30)
        model = TransitiveKMeans(3, min_cluster_size=12).fit(X, sample_weight=weights)
        copies = np.repeat(np.arange(30), weights)
        repeated = TransitiveKMeans(3, min_cluster_size=12).fit(X[copies])
        np.testing.assert_array_equal(model.labels_[copies], repeated.labels_)
        tenths = TransitiveKMeans(3, min_cluster_size=1.2)
        tenths.fit(X, sample_weight=weights / 10)
        np.testing.assert_array_equal(tenths.labels_, model.labels_)
        equal = TransitiveKMeans(3, min_cluster_size=14).fit(X, sample_weight=2.0)
        plain = TransitiveKMeans(3, min_cluster_size=7).fit(X)
        np.testing.assert_array_equal(equal.labels_, plain.labels_)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_random_starts_that_end_too_small_do_not_count(init):
    X = np.vstack([points("gaussian", 100, 2, 0), [[60.0, 0.0]]])
    model = TransitiveKMeans(2, init=init, n_init=20, random_state=0, min_cluster_size=5)
    with pytest.raises(ValueError, match=r"Every random start .* min_cluster_size=5; .* of 1\."):
        model.fit(X)
    Y = points("blobs", 80, 2, 0)
    for seed in range(5):
        model = TransitiveKMeans(4, init=init, random_state=seed, min_cluster_size=6)
        found = []
        for least in (None, 6):
            try:
                found.append(model.set_params(min_cluster_size=least).fit(Y).inertia_)
            except ValueError:
                break
            if least:
                assert np.bincount(model.labels_).min() >= 6
                assert found[0] <= found[1]


def test_rows_that_are_given_must_lead_to_large_clusters():
    X = np.vstack([points("gaussian", 50, 2, 0), [[60.0, 0.0]]])
    with pytest.raises(ValueError, match=r"given rows ended .* min_cluster_size=2"):
        TransitiveKMeans(2, init=[0, 50], min_cluster_size=2).fit(X)
    Y = [[0.0], [0.1], [5.0], [5.1], [5.2]]
    labels = TransitiveKMeans(2, init=[0, 2], min_cluster_size=2).fit_predict(Y)
    assert labels.tolist() == [0, 0, 1, 1, 1]


def test_how_many_clusters_are_possible():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0]])
    with pytest.raises(
        ValueError, match=r"n_clusters=3, but with min_cluster_size=2 .* into 2 only"
    ):
        TransitiveCut(3, min_cluster_size=2).fit(X[:6])
    model = TransitiveKMeans(2, min_cluster_size=3).fit(X)
    with pytest.raises(ValueError, match="Ask for at most 2 clusters"):
        model.labels_for(3)
    assert model.labels_for(1).tolist() == [0] * 7
    # equal points are adjacent to one of them: no edge divides them into two groups
    with pytest.raises(ValueError, match="Ask for at most 1 cluster, or"):
        TransitiveKMeans(2, min_cluster_size=2).fit(np.ones((9, 2)))


@pytest.mark.parametrize(
    ("least", "weights", "error", "words"),
    [
        (0, None, ValueError, "min_cluster_size must be at least 1"),
        (2.5, None, TypeError, "min_cluster_size must be an integer"),
        (True, None, TypeError, "min_cluster_size"),
        ("few", None, TypeError, "min_cluster_size"),
        (11, None, ValueError, "needs 22, but there are 20 rows"),
        (0.0, 1.5, ValueError, "min_cluster_size must be above 0"),
        (15.1, 1.5, ValueError, r"needs 30\.2, but all weights sum to 30"),
    ],
)
def test_wrong_sizes_are_refused_before_any_work(least, weights, error, words, monkeypatch):
    def no_work(*args, **kwargs):
        raise AssertionError("work was done")

    monkeypatch.setattr("isthmus.estimators.fitting.find_neighborhood_tree", no_work)
    model = TransitiveKMeans(2, min_cluster_size=least)
    with pytest.raises(error, match=words):
        model.fit(points("gaussian", 20, 2, seed=0), sample_weight=weights)


def test_inertia_is_infinite_where_a_small_component_has_no_cluster_of_its_own():
    ends = np.arange(21)
    lengths = np.where(ends == 19, 0.0, 1.0)  # 20 points in a row, and 2
    graph = csr_array((lengths[lengths > 0], (ends[lengths > 0], ends[lengths > 0] + 1)), (22, 22))
    parameters = {"metric": "precomputed", "disconnected": "join"}
    model = TransitiveCut(2, min_cluster_size=5, **parameters).fit(graph + graph.T)
    assert model.inertia_ == np.inf
    assert TransitiveCut(2, **parameters).fit(graph + graph.T).inertia_ < np.inf
