"""NJWSpectralClustering against independent computations of the same steps."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score

from inputs import points
from isthmus.baselines import NJWSpectralClustering, spectral
from isthmus.baselines.affinities import gaussian_exponents, normalised_affinities
from isthmus.baselines.spectral import label_rows, leading_eigenvectors, unit_rows
from isthmus.datasets import make_two_moons


def affinity(X, sigma):
    matrix = np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))
    np.fill_diagonal(matrix, 0.0)
    return matrix


def test_affinities_and_their_normalisation():
    X = points("blobs", 60, 3, seed=0)
    model = NJWSpectralClustering(3, sigma=2.0, random_state=0).fit(X)
    expected = affinity(X, 2.0)
    np.testing.assert_allclose(model.affinity_matrix_, expected, rtol=1e-12)
    roots = np.sqrt(expected.sum(axis=1))
    normalised = normalised_affinities(gaussian_exponents(cdist(X, X), 2.0))
    np.testing.assert_allclose(normalised, expected / np.outer(roots, roots), rtol=1e-10)
    np.testing.assert_array_equal(normalised, normalised.T)


def test_eigenvectors_are_those_of_scikit_learn():
    """Its embedding is the eigenvectors of the Laplacian, divided by the roots of the degrees."""
    X, _ = make_blobs(80, centers=3, cluster_std=1.5, random_state=3)
    matrix = affinity(X, 1.5)
    embedding = spectral_embedding(
        matrix, n_components=3, eigen_solver="arpack", random_state=0, drop_first=False
    )
    expected = embedding * np.sqrt(matrix.sum(axis=1))[:, None]
    expected /= np.linalg.norm(expected, axis=0)
    normalised = normalised_affinities(gaussian_exponents(cdist(X, X), 1.5))
    found, _ = leading_eigenvectors(normalised, 3)
    np.testing.assert_allclose(np.abs(found.T @ expected), np.eye(3), atol=1e-6)


def test_labels_are_those_of_k_means_on_unit_rows():
    X = points("gaussian", 120, 2, seed=1)
    matrix = affinity(X, 0.8)
    roots = np.sqrt(matrix.sum(axis=1))
    vectors = np.linalg.eigh(matrix / np.outer(roots, roots))[1][:, -4:]
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = KMeans(4, n_init=50, random_state=0).fit(rows)
    model = NJWSpectralClustering(4, sigma=0.8, n_init=50, random_state=0).fit(X)
    # up to signs and the order of columns the rows are the same
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, rows @ rows.T, atol=1e-8)
    assert adjusted_rand_score(expected.labels_, model.labels_) == 1.0


def test_separated_clusters_as_scikit_learn_finds_them():
    X, y = make_blobs(150, centers=4, cluster_std=0.5, random_state=0, center_box=(-20, 20))
    other = SpectralClustering(4, affinity="precomputed", assign_labels="kmeans", random_state=0)
    expected = other.fit_predict(affinity(X, 2.0))
    labels = NJWSpectralClustering(4, sigma=2.0, random_state=0).fit_predict(X)
    assert adjusted_rand_score(expected, labels) == 1.0 == adjusted_rand_score(y, labels)


def test_the_gap_says_whether_eigenvectors_are_determined():
    X = points("gaussian", 50, 2, seed=0)
    matrix = affinity(X, 0.5)
    roots = np.sqrt(matrix.sum(axis=1))
    values = np.linalg.eigvalsh(matrix / np.outer(roots, roots))
    model = NJWSpectralClustering(4, sigma=0.5, random_state=0).fit(X)
    assert model.eigengap_ == pytest.approx(values[-4] - values[-5], abs=1e-12)
    assert abs(model.set_params(sigma=1e-3).fit(X).eigengap_) < 1e-12
    assert NJWSpectralClustering(50, random_state=0).fit(X).eigengap_ == np.inf


@pytest.mark.parametrize("shape", ["moons", "rings"])
def test_shapes_that_k_means_cannot_separate(shape):
    X, y = (
        make_two_moons(300, noise=0.05, random_state=0)
        if shape == "moons"
        else make_circles(300, noise=0.03, factor=0.4, random_state=0)
    )
    labels = NJWSpectralClustering(2, sigma=0.1, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1.0
    assert adjusted_rand_score(y, KMeans(2, n_init=3, random_state=0).fit_predict(X)) < 0.6


def test_the_order_of_rows_does_not_matter():
    X, _ = make_blobs(100, centers=3, cluster_std=1.0, random_state=5)
    order = np.random.default_rng(0).permutation(100)
    model = NJWSpectralClustering(3, sigma=1.5, random_state=0)
    assert adjusted_rand_score(model.fit_predict(X)[order], model.fit_predict(X[order])) == 1.0


@pytest.mark.parametrize("kind", ["gaussian", "duplicates", "all equal", "lattice"])
@pytest.mark.parametrize("sigma", [1e-300, 1e-3, 1e300])
def test_scales_that_suit_nothing(kind, sigma):
    """Warnings are errors in these tests, and no cluster is empty, even of equal points."""
    model = NJWSpectralClustering(3, sigma=sigma, random_state=0).fit(points(kind, 40, 2, seed=0))
    assert set(model.labels_) == {0, 1, 2}
    lengths = np.linalg.norm(model.embedding_, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0.0], 1.0)


def test_neighbours_that_affinities_lose_to_underflow_are_kept():
    """Two pairs: exp(-5000) is 0, but each point's other half is all that it has."""
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = NJWSpectralClustering(2, sigma=0.01, random_state=0).fit(X)
    assert not model.affinity_matrix_.any()
    assert model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    normalised = normalised_affinities(gaussian_exponents(cdist(X, X), 0.01))
    np.testing.assert_array_equal(normalised, np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))


def test_rows_that_vanish():
    vectors = np.array([[3.0, 4.0], [0.0, 0.0], [3e-200, -4e-200]])
    rows = unit_rows(vectors)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0], [0.6, -0.8]])
    distances = cdist([[0.0], [2.0], [3.0]], [[0.0], [2.0], [3.0]])
    labels = label_rows(rows, distances, lambda kept: np.arange(len(kept)))
    assert labels.tolist() == [0, 1, 1]


def test_bad_input(monkeypatch):
    X = points("gaussian", 30, 2, seed=0)
    for parameters, error, words in (
        ({"n_clusters": 31}, ValueError, "n_samples=30"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be at least 1"),
        ({"sigma": 0.0}, ValueError, "sigma must be above 0"),
        ({"sigma": "auto"}, TypeError, "sigma must be a number"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"random_state": "x"}, ValueError, "seed"),
    ):
        with pytest.raises(error, match=words):
            NJWSpectralClustering(**{"n_clusters": 2, **parameters}).fit(X)

    def refuse(n_bytes, what, instead):
        raise MemoryError(f"{what} needs {n_bytes}. {instead}")

    monkeypatch.setattr(spectral, "require_memory", refuse)
    with pytest.raises(MemoryError, match=r"for 30 points needs 36000\. TransitiveCut"):
        NJWSpectralClustering(2).fit(X)
