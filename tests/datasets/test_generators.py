import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans

from isthmus import TransitiveKMeans
from isthmus.datasets import (
    make_bars,
    make_clouds,
    make_discs_in_noise,
    make_multi_scale,
    make_rings,
    make_spirals,
    make_two_moons,
)
from isthmus.evaluation import error_rate

# The smallest number of points of each, which is its default number of clusters.
GENERATORS = {
    make_bars: 3,
    make_clouds: 3,
    make_discs_in_noise: 3,
    make_multi_scale: 3,
    make_rings: 3,
    make_spirals: 2,
    make_two_moons: 2,
}
COUNTED = {make_bars: "n_bars", make_clouds: "n_clouds", make_rings: "n_rings"}
COUNTED[make_spirals] = "n_arms"


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n_samples", [3, 4, 5, 10, 101, 300])
def test_as_many_points_as_asked_for(make, n_samples):
    X, y = make(n_samples, random_state=0)
    assert X.shape == (n_samples, 2)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert np.unique(y).tolist() == list(range(GENERATORS[make]))
    assert (np.diff(y) >= 0).all()


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


@pytest.mark.parametrize(("make", "minimum"), GENERATORS.items())
def test_a_wrong_number_of_points_is_refused(make, minimum):
    make(minimum, random_state=0)
    with pytest.raises(ValueError, match=f"n_samples must be at least {minimum}"):
        make(minimum - 1)
    with pytest.raises(TypeError, match="n_samples must be an integer"):
        make(10.5)


@pytest.mark.parametrize("make", [make_rings, make_spirals, make_two_moons])
@pytest.mark.parametrize("noise", [-0.1, float("nan"), float("inf")])
def test_a_wrong_noise_is_refused(make, noise):
    with pytest.raises(ValueError, match="noise must be a finite number"):
        make(noise=noise)


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


@pytest.mark.parametrize("make", [make_two_moons, make_multi_scale])
@pytest.mark.parametrize("seed", range(10))
def test_the_defaults_find_the_clusters_and_kmeans_does_not(make, seed):
    X, y = make(random_state=seed)
    n_clusters = len(np.unique(y))
    assert error_rate(y, TransitiveKMeans(n_clusters).fit(X).labels_) == 0
    kmeans = KMeans(n_clusters, n_init=10, random_state=0).fit(X)
    assert error_rate(y, kmeans.labels_) > 0.2


@pytest.mark.parametrize("n_samples", [150, 300, 2000])
@pytest.mark.parametrize("seed", range(5))
def test_single_linkage_does_not_find_the_multi_scale_clusters(n_samples, seed):
    X, y = make_multi_scale(n_samples, random_state=seed)
    labels = fcluster(linkage(X, "single"), 3, criterion="maxclust")
    assert error_rate(y, labels) > 0.3


@pytest.mark.parametrize(("make", "name"), COUNTED.items())
@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_as_many_clusters_as_asked_for(make, name, n_clusters):
    _, y = make(5, random_state=0, **{name: n_clusters})
    assert len(np.bincount(y)) == n_clusters
    assert np.bincount(y).min() > 0


@pytest.mark.parametrize("make", [make_bars, make_clouds, make_spirals])
def test_clusters_are_equally_large_as_nearly_as_can_be(make):
    sizes = np.bincount(make(101, random_state=0)[1])
    assert np.ptp(sizes) <= 1


@pytest.mark.parametrize(("make", "name"), COUNTED.items())
def test_a_wrong_number_of_clusters_is_refused(make, name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1"):
        make(**{name: 0})
    with pytest.raises(TypeError, match=f"{name} must be an integer"):
        make(**{name: 2.5})


@pytest.mark.parametrize(
    ("make", "name"),
    [(make_bars, "width"), (make_clouds, "spread"), (make_clouds, "side"), (make_spirals, "turns")],
)
def test_a_wrong_measure_is_refused(make, name):
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        make(**{name: 0.0})
    with pytest.raises(TypeError, match=f"{name} must be a number"):
        make(**{name: "wide"})


def test_bars_that_would_touch_are_refused():
    make_bars(n_bars=4, width=0.249, random_state=0)
    with pytest.raises(ValueError, match=r"width must be below 0\.25, or 4 bars touch; got 0\.25"):
        make_bars(n_bars=4, width=0.25)


@pytest.mark.parametrize("make", [make_rings, make_spirals])
def test_noise_up_to_two_hundredths_stays_in_the_unit_square(make):
    X, _ = make(20_000, noise=0.02, random_state=0)
    assert X.min() > 0
    assert X.max() < 1


def test_rings_without_noise_have_the_radii_they_should_and_no_wide_gap():
    X, y = make_rings(600, noise=0, random_state=0)
    assert np.allclose(np.hypot(*(X - 0.5).T), 0.42 * (y + 1) / 3)
    angles = np.unwrap(np.arctan2(*(X[y == 2] - 0.5).T[::-1]))
    steps = 2 * np.pi / np.count_nonzero(y == 2)
    assert np.diff(angles).min() > 0
    assert np.diff(angles).max() < 2 * steps
    assert np.bincount(y).tolist() == [101, 199, 300]


def test_spirals_without_noise_wind_as_often_as_asked_for():
    X, y = make_spirals(4000, turns=1.5, noise=0, random_state=0)
    for arm in (0, 1):
        x, height = (X[y == arm] - 0.5).T
        radii, angles = np.hypot(x, height), np.unwrap(np.arctan2(height, x))
        assert radii[0] == pytest.approx(0.06, abs=0.001)
        assert radii[-1] == pytest.approx(0.42, abs=0.001)
        assert np.ptp(angles) == pytest.approx(1.5 * 2 * np.pi, rel=0.01)
        # The angle grows with the radius, from 0 in one arm and from half a turn in the other.
        starts = angles - 3 * np.pi * (radii - 0.06) / 0.36
        assert np.allclose(np.cos(starts), 1 - 2 * arm)


def test_noise_of_rings_has_the_standard_deviation_asked_for():
    clean, _ = make_rings(20_000, noise=0, random_state=np.random.default_rng(0))
    noisy, y = make_rings(20_000, noise=0.02, random_state=np.random.default_rng(0))
    inner = y == 0  # later rings are drawn after the first one's noise
    assert np.std((noisy - clean)[inner]) == pytest.approx(0.02, rel=0.03)
    assert np.abs((noisy - clean)[inner]).max() <= 2.9 * 0.02 + 1e-12


def test_bars_are_as_long_and_wide_as_they_should_be():
    X, y = make_bars(6000, n_bars=3, width=0.1, random_state=0)
    for number in range(3):
        (left, low), (right, high) = X[y == number].min(axis=0), X[y == number].max(axis=0)
        assert (left, right) == pytest.approx((0.05, 0.95), abs=0.001)
        middle = (number + 0.5) / 3
        assert (low, high) == pytest.approx((middle - 0.05, middle + 0.05), abs=0.001)


def test_clouds_have_the_spread_asked_for_and_centres_in_the_square():
    X, y = make_clouds(50_000, n_clouds=5, spread=0.5, side=30.0, random_state=0)
    centres = np.array([X[y == cloud].mean(axis=0) for cloud in range(5)])
    assert np.std(X - centres[y]) == pytest.approx(0.5, rel=0.01)
    assert centres.min() > 0
    assert 12 < centres.max() < 30


def test_clouds_are_as_far_apart_as_asked_for():
    for seed in range(20):
        X, y = make_clouds(
            4000, n_clouds=4, spread=0.1, side=1.0, separation=2.0, random_state=seed
        )
        centres = np.array([X[y == cloud].mean(axis=0) for cloud in range(4)])
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 9 * np.eye(4)
        assert gaps.min() > 2 * np.sqrt(2) * 0.1 - 0.02


def test_a_separation_that_clouds_have_anyway_changes_nothing():
    X, _ = make_clouds(random_state=0)
    apart, _ = make_clouds(separation=0.1, random_state=0)
    assert np.array_equal(X, apart)


def test_clouds_are_ellipses_of_the_area_of_round_ones():
    X, y = make_clouds(100_000, n_clouds=5, spread=0.5, elongation=4.0, random_state=1)
    axes = np.sqrt([np.linalg.eigvalsh(np.cov(X[y == cloud].T)) for cloud in range(5)])
    assert axes.prod(axis=1) == pytest.approx(0.25, rel=0.03)
    ratios = axes[:, 1] / axes[:, 0]
    assert ratios.max() < 4.1
    assert np.ptp(ratios) > 0.5
    # Long axes do not all lie along one direction.
    slopes = [np.linalg.eigh(np.cov(X[y == cloud].T))[1][:, 1] for cloud in range(5)]
    assert np.abs(np.array(slopes) @ slopes[0]).min() < 0.9


def test_elongation_widens_the_gap_between_clouds():
    for seed in range(20):
        X, y = make_clouds(
            4000,
            n_clouds=2,
            spread=0.1,
            separation=2.0,
            side=1.0,
            elongation=9.0,
            random_state=seed,
        )
        covariances = [np.cov(X[y == cloud].T) for cloud in range(2)]
        longest = max(np.sqrt(np.linalg.eigvalsh(c)[-1]) for c in covariances)
        gap = np.linalg.norm(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0))
        assert gap > 2 * np.sqrt(2) * longest - 0.05


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("separation", -0.1),
        ("separation", float("nan")),
        ("separation", float("inf")),
        ("elongation", 0.9),
        ("elongation", float("nan")),
        ("elongation", float("inf")),
    ],
)
def test_a_wrong_shape_of_clouds_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number from . on, got"):
        make_clouds(**{name: value})


def test_clouds_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"3 clouds do not fit .* into a square of side 12"):
        make_clouds(separation=100.0, random_state=0)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, float("nan")])
def test_a_wrong_share_of_noise_is_refused(share):
    with pytest.raises(ValueError, match="noise_share must be between 0 and 1"):
        make_discs_in_noise(noise_share=share)


def test_the_share_of_noise_is_kept():
    _, y = make_discs_in_noise(1000, noise_share=0.75, random_state=0)
    assert np.allclose(np.bincount(y), [125, 125, 750], atol=1)


def test_discs_in_noise_are_dense_and_the_noise_keeps_off_them():
    X, y = make_discs_in_noise(10_000, random_state=0)
    assert np.bincount(y).tolist() == [3000, 3000, 4000]
    for number, centre in enumerate([(0.3, 0.5), (0.7, 0.5)]):
        gaps = np.hypot(*(X - centre).T)
        assert gaps[y == number].max() <= 0.12
        assert gaps[y == 2].min() > 0.16
        assert gaps[y == 2].min() < 0.17
    noise = X[y == 2]
    assert noise.min() >= 0
    assert noise.max() < 1
    # A quarter of the noise in each quarter of the square, which hold equally much of the discs.
    quarters = np.bincount(2 * (noise[:, 0] > 0.5) + (noise[:, 1] > 0.5))
    assert np.allclose(quarters / 4000, 0.25, atol=0.03)
