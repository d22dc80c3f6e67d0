"""The duality of K-means: two clusterings from the same starts, compared."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from isthmus.evaluation import error_rate
from isthmus.metrics.pairwise import distance_matrix
from isthmus.theory import duality_gap


def clouds(seed, n=200, k=3):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-6, 6, size=(k, 2))
    return centres[rng.integers(0, k, size=n)] + rng.normal(size=(n, 2))


@pytest.mark.parametrize("seed", range(6))
def test_the_share_is_that_of_the_best_matching(seed):
    gap = duality_gap(clouds(seed, k=4), 4, random_state=seed)
    assert gap.share == error_rate(gap.labels, gap.dual_labels)
    np.testing.assert_array_equal(gap.differing, np.flatnonzero(gap.labels != gap.dual_labels))
    assert repr(gap) == (
        f"DualityGap(share={gap.share:.4g}, differing={len(gap.differing)} of 200 points)"
    )


def test_some_points_differ_but_few_do():
    shares = [duality_gap(clouds(seed, k=2), 2, random_state=seed).share for seed in range(20)]
    assert 0 < np.mean(shares) < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_both_begin_with_the_same_points(seed):
    X = clouds(seed, k=5)
    gap = duality_gap(X, 5, random_state=seed, n_init=1)
    drawn = np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1))
    start = drawn.choice(len(X), size=5, replace=False, p=np.full(len(X), 1 / len(X)))
    for rows, labels in ((X, gap.labels), (distance_matrix(X), gap.dual_labels)):
        expected = KMeans(5, init=rows[start], n_init=1).fit(rows).labels_
        assert error_rate(expected, labels) == 0.0


def test_a_random_state_can_be_shared():
    X = clouds(0)
    source = np.random.RandomState(3)
    first, second = (duality_gap(X, 3, random_state=source, n_init=1) for _ in range(2))
    again = duality_gap(X, 3, random_state=np.random.RandomState(3), n_init=1)
    np.testing.assert_array_equal(first.labels, again.labels)
    np.testing.assert_array_equal(first.dual_labels, again.dual_labels)
    assert len(second.labels) == len(X)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n_clusters": 6}, ValueError, "n_clusters=6"),
        ({"n_clusters": 0}, ValueError, "n_clusters"),
        ({"n_clusters": 2, "n_init": 0}, ValueError, "n_init"),
        ({"n_clusters": 2, "n_init": "auto"}, TypeError, "n_init"),
    ],
)
def test_wrong_parameters_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        duality_gap(np.arange(5.0)[:, None], **arguments)
