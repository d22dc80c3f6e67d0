"""KMeansDuality: K-means on the rows of any distance matrix."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from inputs import points
from isthmus import KMeansDuality, TransitiveKMeans
from isthmus.theory import transitive_distances


def test_rows_of_the_distance_matrix_are_clustered():
    X = points("blobs", 100, 3, seed=0)
    found = KMeansDuality(4, random_state=3).fit(X)
    expected = KMeans(4, n_init=10, random_state=3).fit(cdist(X, X))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.inertia_ == pytest.approx(expected.inertia_)
    assert found.n_iter_ == expected.n_iter_


def test_the_observation_of_the_paper():
    """On round clusters it agrees with K-means on the points."""
    X, _ = make_blobs(200, centers=3, cluster_std=0.8, random_state=1)
    dual = KMeansDuality(3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(dual, KMeans(3, n_init=10, random_state=0).fit_predict(X)) > 0.97


def test_on_transitive_distances_it_is_the_papers_algorithm():
    X = points("blobs", 150, 2, seed=2)
    dense = KMeansDuality(4, metric="precomputed", n_init=20, random_state=0).fit(
        transitive_distances(X)
    )
    ours = TransitiveKMeans(4, init="k-means++", n_init=20, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(dense.inertia_, rel=1e-6)


def test_metrics_and_bad_input():
    X = points("gaussian", 30, 2, seed=0)
    a = KMeansDuality(2, metric="manhattan", random_state=0).fit(X)
    b = KMeansDuality(2, metric="precomputed", random_state=0).fit(cdist(X, X, "cityblock"))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    for parameters, error, words in (
        ({"metric": "nope"}, ValueError, "Unknown metric"),
        ({"init": "cut"}, ValueError, "init must be one of"),
        ({"n_clusters": 31}, ValueError, "n_samples=30"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"metric": "precomputed"}, ValueError, "square"),
    ):
        with pytest.raises(error, match=words):
            KMeansDuality(**{"n_clusters": 2, **parameters}).fit(X)
