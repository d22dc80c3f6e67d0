import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans

from isthmus import TransitiveClustering
from isthmus.datasets import make_multi_scale, make_two_moons
from isthmus.evaluation import error_rate

GENERATORS = [make_two_moons, make_multi_scale]


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n_samples", [3, 4, 5, 10, 101, 300])
def test_as_many_points_as_asked_for(make, n_samples):
    X, y = make(n_samples, random_state=0)
    assert X.shape == (n_samples, 2)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    n_clusters = 2 if make is make_two_moons else 3
    assert np.unique(y).tolist() == list(range(n_clusters))


@pytest.mark.parametrize("make", GENERATORS)
def test_a_seed_gives_the_same_points_and_another_seed_others(make):
    X, y = make(random_state=3)
    again, labels = make(random_state=np.random.RandomState(3))
    assert np.array_equal(X, again)
    assert np.array_equal(y, labels)
    assert not np.array_equal(X, make(random_state=4)[0])


@pytest.mark.parametrize("make", GENERATORS)
def test_a_generator_is_drawn_from(make):
    source = np.random.default_rng(3)
    first, second = make(random_state=source)[0], make(random_state=source)[0]
    assert np.array_equal(first, make(random_state=np.random.default_rng(3))[0])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("make", GENERATORS)
def test_what_is_no_random_state_is_refused(make):
    with pytest.raises(ValueError, match="cannot be used to seed"):
        make(random_state="seed")


@pytest.mark.parametrize(("make", "minimum"), [(make_two_moons, 2), (make_multi_scale, 3)])
def test_a_wrong_number_of_points_is_refused(make, minimum):
    make(minimum, random_state=0)
    with pytest.raises(ValueError, match=f"n_samples must be at least {minimum}"):
        make(minimum - 1)
    with pytest.raises(TypeError, match="n_samples must be a whole number"):
        make(10.5)


@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf")])
def test_a_wrong_noise_is_refused(noise):
    with pytest.raises(ValueError, match="noise must be a finite number"):
        make_two_moons(noise=noise)


def test_moons_without_noise_are_half_circles():
    X, y = make_two_moons(101, noise=0, random_state=0)
    assert np.bincount(y).tolist() == [51, 50]
    upper, lower = X[y == 0], X[y == 1]
    assert np.allclose(np.hypot(*upper.T), 1.0)
    assert np.allclose(np.hypot(*(lower - [1.0, 0.5]).T), 1.0)
    assert upper[:, 1].min() > -1e-12
    assert lower[:, 1].max() < 0.5 + 1e-12


def test_noise_has_the_standard_deviation_asked_for():
    clean, _ = make_two_moons(20_000, noise=0, random_state=0)
    noisy, _ = make_two_moons(20_000, noise=0.3, random_state=0)
    assert np.std(noisy - clean) == pytest.approx(0.3, rel=0.02)


def test_multi_scale_lies_inside_the_unit_square_at_three_scales():
    X, y = make_multi_scale(20_000, random_state=0)
    assert X.min() > 0
    assert X.max() < 1
    widths = [np.ptp(X[y == cluster], axis=0).max() for cluster in range(3)]
    assert widths[0] > 5 * widths[1]
    assert widths[1] > 2 * widths[2]
    assert np.bincount(y).tolist() == [5000, 8000, 7000]


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("seed", range(10))
def test_the_defaults_find_the_clusters_and_kmeans_does_not(make, seed):
    X, y = make(random_state=seed)
    n_clusters = len(np.unique(y))
    assert error_rate(y, TransitiveClustering(n_clusters).fit(X).labels_) == 0
    kmeans = KMeans(n_clusters, n_init=10, random_state=0).fit(X)
    assert error_rate(y, kmeans.labels_) > 0.2


@pytest.mark.parametrize("n_samples", [150, 300, 2000])
@pytest.mark.parametrize("seed", range(5))
def test_single_linkage_does_not_find_the_multi_scale_clusters(n_samples, seed):
    X, y = make_multi_scale(n_samples, random_state=seed)
    labels = fcluster(linkage(X, "single"), 3, criterion="maxclust")
    assert error_rate(y, labels) > 0.3
