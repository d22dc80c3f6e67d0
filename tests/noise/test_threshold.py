"""The threshold of noise against its definition."""

import numpy as np
import pytest

from isthmus.noise.threshold import NoiseRule, check_noise, is_above, noise_threshold
from oracles.noise import threshold_between_groups, threshold_of_share


def some_scores(seed):
    """Scores of one or two groups, with ties."""
    rng = np.random.default_rng(seed)
    low = rng.beta(1, rng.uniform(2, 12), size=rng.integers(1, 80))
    high = rng.beta(rng.uniform(2, 12), 2, size=rng.integers(0, 30))
    scores = np.concatenate([low, high, np.zeros(rng.integers(0, 20))])
    return np.round(scores, 2) if seed % 2 else scores


@pytest.mark.parametrize("seed", range(20))
def test_against_the_definition(seed):
    scores = some_scores(seed)
    found = noise_threshold(scores, None, NoiseRule("auto"))
    assert found == threshold_between_groups(scores)
    for share in (0.01, 0.1, 0.25, 0.5, 0.9):
        found = noise_threshold(scores, None, NoiseRule("share", share))
        assert found == threshold_of_share(scores, share)
        assert (scores > found).mean() <= share
    assert noise_threshold(scores, None, NoiseRule("score", 0.3)) == 0.3


@pytest.mark.parametrize("rule", [NoiseRule("auto"), NoiseRule("share", 0.3)])
@pytest.mark.parametrize("seed", range(6))
def test_weights_count_as_copies(seed, rule):
    scores = some_scores(seed)
    weights = np.random.default_rng(seed).integers(1, 5, size=len(scores))
    expected = noise_threshold(np.repeat(scores, weights), None, rule)
    assert noise_threshold(scores, weights.astype(float), rule) == expected
    assert noise_threshold(scores, weights * 0.25, rule) == expected


def test_both_verdicts_occur():
    """The tests above see groups that are apart, and some that are not."""
    found = [noise_threshold(some_scores(seed), None, NoiseRule("auto")) for seed in range(20)]
    assert {value == 0.7 for value in found} == {True, False}


def test_a_share_that_is_exact():
    scores = np.arange(100) / 100
    for percent in range(1, 100):
        found = noise_threshold(scores, None, NoiseRule("share", percent / 100))
        assert (scores > found).sum() == percent


def test_one_score():
    assert noise_threshold(np.zeros(5), None, NoiseRule("auto")) == 0.7
    assert noise_threshold(np.zeros(5), None, NoiseRule("share", 0.5)) == 0.0


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (None, None),
        ("auto", ("auto", None)),
        (0.1, ("share", 0.1)),
        (np.float32(0.5), ("share", 0.5)),
        (("score", 0.7), ("score", 0.7)),
        (["score", 0], ("score", 0.0)),
    ],
)
def test_spellings(noise, expected):
    rule = check_noise(noise)
    if expected is None:
        assert rule is None
    else:
        assert rule.kind == expected[0]
        assert expected[1] is None or rule.value == expected[1]


@pytest.mark.parametrize(
    "noise",
    ["automatic", "", 0, 1, 0.0, 1.0, -0.1, 1.5, np.nan, np.inf, ("score", 1.0), ("score", -0.1),
     ("score", np.nan), ("share", 0.1), ("score",), (), ("score", 0.1, 0.2), (0.1, "score")],
)  # fmt: skip
def test_bad_values(noise):
    with pytest.raises(ValueError, match="noise must be None, 'auto', the largest share"):
        check_noise(noise)


@pytest.mark.parametrize("noise", [True, False, {"score": 0.7}, ("score", "0.7"), 1j, [[0.1]]])
def test_bad_types(noise):
    with pytest.raises((TypeError, ValueError), match="noise must be None, 'auto', the largest"):
        check_noise(noise)


@pytest.mark.parametrize("score", [2.0 / 3.0, 0.5866051454299849, 0.586605145429985, 0.3, 1e-3])
@pytest.mark.parametrize("weights", [None, np.ones(6)])
def test_scores_that_rounding_tells_apart_are_tied(score, weights):
    low, high = np.nextafter(score, 0.0), np.nextafter(score, 1.0)
    for tied in ([high, score, score, low], [score, low, low, low], [high, high, high, score]):
        scores = np.array([tied[0], 0.0, 0.0, *tied[1:]])
        threshold = noise_threshold(scores, weights, NoiseRule("share", 0.2))
        assert threshold == max(tied)  # none of the four is above it
        assert not is_above(scores, threshold).any()
        assert not is_above(scores, min(tied)).any()
        assert is_above(np.array([score + 1e-9]), threshold).all()


def test_ties_are_told_from_differences():
    scores = np.random.default_rng(0).uniform(0.1, 0.9, 20_000)
    scores = np.concatenate([scores, np.nextafter(scores, 1.0), [0.95]])
    threshold = noise_threshold(scores, None, NoiseRule("share", 0.25))
    assert 0.249 < is_above(scores, threshold).mean() <= 0.25
    pairs = is_above(scores[:-1], threshold).reshape(2, -1)
    np.testing.assert_array_equal(pairs[0], pairs[1])
