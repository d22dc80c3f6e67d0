"""SingleLinkage against SciPy's hierarchical clustering."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import adjusted_rand_score

from inputs import points
from isthmus.baselines import SingleLinkage


@pytest.mark.parametrize("n_clusters", [1, 2, 5, 30, 100])
def test_clusters_are_those_of_scipy(n_clusters):
    X = points("gaussian", 100, 3, seed=0)
    expected = fcluster(linkage(pdist(X), "single"), n_clusters, "maxclust")
    labels = SingleLinkage(n_clusters).fit_predict(X)
    assert adjusted_rand_score(expected, labels) == 1.0


@pytest.mark.parametrize("kind", ["lattice", "duplicates", "all equal"])
def test_ties_are_decided_and_clusters_numbered_in_order(kind):
    X = points(kind, 60, 2, seed=0)
    first = SingleLinkage(7).fit(X)
    _, places = np.unique(first.labels_, return_index=True)
    assert len(places) == 7
    assert (np.diff(places) > 0).all()
    np.testing.assert_array_equal(first.labels_, SingleLinkage(7, n_jobs=2).fit_predict(X))


def test_equally_long_edges_are_cut_from_the_end():
    assert SingleLinkage(2).fit_predict([[0.0], [1.0], [2.0], [3.0]]).tolist() == [0, 0, 0, 1]


def test_metrics_and_bad_input():
    X = points("gaussian", 30, 2, seed=0)
    np.testing.assert_array_equal(
        SingleLinkage(4, metric="manhattan").fit_predict(X),
        SingleLinkage(4, metric="precomputed").fit_predict(cdist(X, X, "cityblock")),
    )
    for parameters, error, words in (
        ({"n_clusters": 31}, ValueError, "n_samples=30"),
        ({"n_clusters": 1.5}, TypeError, "n_clusters must be an integer"),
        ({"metric": "nope"}, ValueError, "Unknown metric"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
    ):
        with pytest.raises(error, match=words):
            SingleLinkage(**{"n_clusters": 2, **parameters}).fit(X)
