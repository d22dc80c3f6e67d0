"""SelfTuningSpectralClustering: its affinities, its rotation, its clusters."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score

from inputs import points
from isthmus.baselines import SelfTuningSpectralClustering
from isthmus.baselines.affinities import local_scales
from isthmus.baselines.rotation import (
    align_incrementally,
    alignment_cost,
    best_number,
    cost_gradient,
    givens_product,
    minimise_cost,
    orthogonal_rows,
)
from isthmus.datasets import make_multi_scale, make_two_moons


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def noisy_indicators(n, k, noise, seed):
    """Orthonormal columns near to the indicators of k clusters."""
    rng = np.random.default_rng(seed)
    labels = np.append(np.arange(k), rng.integers(0, k, size=n - k))
    return np.linalg.qr(np.eye(k)[labels] + noise * rng.normal(size=(n, k)))[0], labels


def rotation_of(angles, k):
    """A product of Givens rotations, each a matrix of its own: the plain way."""
    product, angles = np.eye(k), iter(angles)
    for a in range(k):
        for b in range(a + 1, k):
            theta = next(angles)
            factor = np.eye(k)
            factor[[a, b], [a, b]] = np.cos(theta)
            factor[a, b], factor[b, a] = np.sin(theta), -np.sin(theta)
            product = product @ factor
    return product


@pytest.mark.parametrize("n_neighbors", [1, 7, 100])
def test_affinities_by_brute_force(n_neighbors):
    X = points("blobs", 40, 3, seed=0)
    model = SelfTuningSpectralClustering(2, n_neighbors=n_neighbors).fit(X)
    distances = cdist(X, X)
    scale = [sorted(row)[min(n_neighbors, 39)] for row in distances]
    for i in range(40):
        for j in range(40):
            expected = 0.0 if i == j else np.exp(-(distances[i, j] ** 2) / (scale[i] * scale[j]))
            assert model.affinity_matrix_[i, j] == pytest.approx(expected, rel=1e-10)


def test_scales_of_duplicates():
    X = np.array([[0.0], [0.0], [0.0], [2.0], [7.0]])
    assert local_scales(cdist(X, X), 2).tolist() == [2.0, 2.0, 2.0, 2.0, 7.0]
    assert local_scales(np.zeros((3, 3)), 1).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_givens_rotations_and_the_gradient_of_the_cost(k):
    rng = np.random.default_rng(k)
    upper = np.triu_indices(k, 1)
    angles = np.zeros((k, k))
    angles[upper] = rng.normal(size=len(upper[0]))
    np.testing.assert_allclose(givens_product(angles), rotation_of(angles[upper], k), atol=1e-14)
    rows = unit(rng.normal(size=(50, k)))
    gradient = cost_gradient(rows)
    for a, b in zip(*upper, strict=True):
        step = np.zeros((k, k))
        step[a, b] = 1e-6
        ahead, behind = (alignment_cost(rows @ givens_product(s * step)) for s in (1, -1))
        assert gradient[a, b] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_two_eigenvectors_against_every_angle(seed):
    vectors, _ = noisy_indicators(60, 2, 0.4, seed)
    rows = unit(vectors)

    def cost(angle):
        turned = rows @ rotation_of([angle], 2)
        return np.mean(1.0 / np.max(turned**2, axis=1))

    grid = np.linspace(0.0, np.pi / 2, 721)
    start = grid[np.argmin([cost(angle) for angle in grid])]
    best = minimize_scalar(cost, bounds=(start - 0.01, start + 0.01), method="bounded")
    assert align_incrementally(vectors)[1][-1] == pytest.approx(best.fun, abs=1e-6)


@pytest.mark.parametrize("k", [3, 4])
def test_more_eigenvectors_against_scipys_minimisation(k):
    """From the same start, and from many others: nothing better is found."""
    vectors, _ = noisy_indicators(80, k, 0.2, seed=k)
    rows = unit(vectors)

    def cost(angles):
        turned = rows @ rotation_of(angles, k)
        return np.mean(1.0 / np.max(turned**2, axis=1))

    n_angles = k * (k - 1) // 2
    starts = np.vstack(
        [np.zeros(n_angles), np.random.default_rng(0).uniform(0, np.pi, size=(8, n_angles))]
    )
    found = [minimize(cost, start, method="L-BFGS-B").fun for start in starts]
    assert minimise_cost(rows, np.eye(k))[1] == pytest.approx(found[0], abs=1e-5)
    assert align_incrementally(vectors)[1][-1] <= min(found) + 1e-6


@pytest.mark.parametrize("k", [2, 3, 6, 10])
def test_rotated_indicators_are_recovered_exactly(k):
    indicators, labels = noisy_indicators(100, k, 0.0, seed=k)
    for seed in range(4):
        vectors = indicators @ ortho_group.rvs(k, random_state=seed)
        rotations, costs = align_incrementally(vectors)
        turned = unit(vectors) @ rotations[-1]
        assert costs[-1] == pytest.approx(1.0, abs=1e-9)
        assert adjusted_rand_score(labels, np.abs(turned).argmax(axis=1)) == 1.0
        np.testing.assert_allclose(rotations[-1].T @ rotations[-1], np.eye(k), atol=1e-12)


def test_both_starts_are_needed():
    """Few points in most of nine groups: from one eigenvector to the next it gets lost."""
    sizes = np.array([52, 14, 6, 2, 1, 2, 1, 1, 1])
    indicators = np.eye(9)[np.repeat(np.arange(9), sizes)] / np.sqrt(sizes)
    for seed in (6, 10):
        costs = align_incrementally(indicators @ ortho_group.rvs(9, random_state=seed))[1]
        assert costs[-1] == pytest.approx(1.0, abs=1e-9)
    gains = []
    for seed in range(3):
        vectors, _ = noisy_indicators(60, 5, 0.5, seed)
        alone = minimise_cost(unit(vectors), orthogonal_rows(unit(vectors)))[1]
        gains.append(alone - align_incrementally(vectors)[1][-1])
    assert min(gains) > -1e-12
    assert max(gains) > 1e-3


def test_groups_that_know_nothing_of_each_other():
    """Affinities between them underflow: an exactly block-diagonal matrix, and "auto" counts."""
    X, y = make_blobs(120, centers=5, cluster_std=0.01, random_state=0)
    for n_clusters in (5, "auto"):
        model = SelfTuningSpectralClustering(n_clusters).fit(X)
        across = y[:, None] != y
        assert not model.affinity_matrix_[across].any()
        assert model.n_clusters_ == 5
        assert adjusted_rand_score(y, model.labels_) == 1.0
        assert model.alignment_costs_[4] == pytest.approx(1.0, abs=1e-6)


def test_the_largest_of_equally_good_numbers():
    assert best_number(np.array([1.0, 1.00003, 1.00001, 1.2])) == 3
    assert best_number(np.array([1.0, 1.001, 1.1])) == 2
    assert best_number(np.array([1.0])) == 1


@pytest.mark.parametrize("alignment", ["rotation", "kmeans"])
@pytest.mark.parametrize("shape", ["moons", "rings", "several scales"])
def test_shapes_of_the_literature(shape, alignment):
    if shape == "moons":
        X, y = make_two_moons(300, noise=0.05, random_state=0)
    elif shape == "rings":
        X, y = make_circles(300, noise=0.03, factor=0.4, random_state=0)
    else:  # clusters a hundred times narrower than others, which no single scale serves
        X, y = make_blobs(
            300, centers=[[0, 0], [30, 0], [31, 0]], cluster_std=[5, 0.05, 0.05], random_state=0
        )
    k = len(np.unique(y))
    model = SelfTuningSpectralClustering(k, alignment=alignment, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98


@pytest.mark.parametrize("alignment", ["rotation", "kmeans"])
def test_order_and_scale_do_not_matter(alignment):
    X, _ = make_multi_scale(random_state=0)
    X = X[::3]
    order = np.random.default_rng(0).permutation(len(X))
    model = SelfTuningSpectralClustering(3, alignment=alignment, random_state=0)
    labels = model.fit_predict(X)
    assert adjusted_rand_score(labels[order], model.fit_predict(X[order])) == 1.0
    for factor in (2.0**-400, 1e-5, 1e150):
        assert adjusted_rand_score(labels, model.fit_predict(factor * X)) == 1.0


@pytest.mark.parametrize("kind", ["duplicates", "all equal", "lattice", "line"])
@pytest.mark.parametrize("alignment", ["rotation", "kmeans"])
def test_hard_points(kind, alignment):
    for n_points in (1, 2, 3, 40):
        X = points(kind, n_points, 2, seed=0)
        for n_clusters in (1, min(n_points, 3), "auto"):
            model = SelfTuningSpectralClustering(n_clusters, alignment=alignment, random_state=0)
            labels = model.fit_predict(X)
            assert set(labels) <= set(range(model.n_clusters_))
            assert np.isfinite(model.embedding_).all()


def test_costs_of_an_earlier_fit_are_forgotten():
    X = points("gaussian", 30, 2, seed=0)
    model = SelfTuningSpectralClustering(3, random_state=0).fit(X)
    assert model.alignment_costs_.shape == (3,)
    assert not hasattr(model.set_params(alignment="kmeans").fit(X), "alignment_costs_")


def test_an_outlier_is_no_obstacle():
    X, y = make_blobs(60, centers=2, cluster_std=0.1, random_state=0)
    X = np.vstack([X, [[1e8, 0.0]]])
    model = SelfTuningSpectralClustering(2).fit(X)
    assert not model.affinity_matrix_[-1].any()
    assert adjusted_rand_score(y, model.labels_[:-1]) == 1.0


def test_bad_input():
    X = points("gaussian", 30, 2, seed=0)
    for parameters, error, words in (
        ({"n_clusters": 31}, ValueError, "n_samples=30"),
        ({"n_clusters": "many"}, ValueError, "n_clusters must be one of 'auto'"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"n_neighbors": 2.5}, TypeError, "n_neighbors must be an integer"),
        ({"alignment": "none"}, ValueError, "alignment must be one of"),
        ({"max_clusters": 1}, ValueError, "max_clusters"),
        ({"n_init": "ten"}, TypeError, "n_init"),
    ):
        with pytest.raises(error, match=words):
            SelfTuningSpectralClustering(**{"n_clusters": 2, **parameters}).fit(X)
