"""How many clusters there are: how often that is right, and what it must not depend on."""

import math
import sys

import numpy as np
import pytest
from benchmarks.known_numbers import clear_sets, plain_sets

from isthmus import UltrametricTree
from isthmus.datasets import load_iris, make_bars, make_multi_scale, make_two_moons
from isthmus.model_selection.evidence import CLEAR, WEAK, Evidence, expected_by_chance
from isthmus.model_selection.gaps import find_gaps
from isthmus.model_selection.suggestion import NONE, suggest

# Not the seed of the benchmark, nor one that thresholds were chosen by.
SEED = 7


def suggested(X, k_max=20):
    return suggest(UltrametricTree.from_data(X), k_max)


def assert_same_evidence(first, second, **tolerance):
    assert first.n_clusters == second.n_clusters
    assert first.confidence == second.confidence
    assert first.verdicts == second.verdicts
    np.testing.assert_array_equal(first.ranking, second.ranking)
    np.testing.assert_allclose(first.strength, second.strength, **tolerance)


def test_finds_the_number_of_clear_clusters():
    right = [
        suggested(known.points).n_clusters == known.n_clusters for known in clear_sets(40, SEED)
    ]
    assert np.mean(right) >= 0.85


def test_says_where_there_is_no_structure():
    right = [suggested(known.points).confidence == NONE for known in plain_sets(40, SEED)]
    assert np.mean(right) >= 0.95


def test_the_groups_are_the_clusters():
    X, y = make_multi_scale(random_state=0)
    found = suggested(X)
    assert (found.n_clusters, found.confidence) == (3, CLEAR)
    # from the largest to the smallest: 120 points of the disc, 105 of the tiny one, the ring
    np.testing.assert_array_equal(found.labels, np.array([2, 0, 1])[y])
    assert [sizes.tolist() for sizes in found.sizes[:3]] == [[300], [180, 120], [120, 105, 75]]


def test_iris_has_two_groups_with_a_gap_between_them():
    found = suggested(load_iris().data)
    assert (found.n_clusters, found.confidence) == (2, CLEAR)
    assert found.ranking[:2].tolist() == [2, 1]


@pytest.mark.parametrize("make", [make_two_moons, make_multi_scale])
def test_order_of_rows_units_offsets_and_axes_do_not_matter(make):
    X, _ = make(400, random_state=3)
    rng = np.random.default_rng(0)
    found = suggested(X)
    order = rng.permutation(len(X))
    permuted = suggested(X[order])
    assert_same_evidence(permuted, found, rtol=1e-9)
    np.testing.assert_array_equal(permuted.labels, found.labels[order])
    for changed in (1e-9 * X, 1e200 * X, X + 50.0, X @ [[0.6, -0.8], [0.8, 0.6]]):
        assert_same_evidence(suggested(changed), found, rtol=1e-6, atol=1e-6)


def test_copies_of_rows_do_not_matter():
    X, _ = make_two_moons(150, random_state=1)
    copies = np.repeat(np.arange(150), np.random.default_rng(0).integers(1, 5, 150))
    found, copied = suggested(X), suggested(X[copies])
    assert_same_evidence(copied, found, rtol=1e-9)
    np.testing.assert_array_equal(copied.labels, found.labels[copies])


def test_an_outlier_is_no_cluster():
    X, _ = make_two_moons(200, random_state=0)
    far = np.array([[40.0, 40.0], [41.0, 40.0], [-30.0, 5.0]])
    assert suggested(np.concatenate([X, far])).n_clusters == 2
    uniform = np.random.default_rng(0).uniform(size=(300, 2))
    assert suggested(np.concatenate([uniform, far])).confidence == NONE


def test_a_lattice_has_no_clusters_and_two_have_two():
    x, y = np.meshgrid(np.arange(12.0), np.arange(12.0))
    lattice = np.column_stack([x.ravel(), y.ravel()])
    assert suggested(lattice).confidence == NONE
    assert suggested(np.concatenate([lattice, lattice + 15.0])).n_clusters == 2


@pytest.mark.parametrize(
    "X", [[[1.0]], [[1.0], [2.0]], [[0.0], [1.0], [9.0]], np.ones((50, 2)), np.arange(6.0)[:, None]]
)
def test_too_few_points_to_tell(X):
    found = suggested(X)
    assert (found.n_clusters, found.confidence) == (1, NONE)
    assert (found.labels == 0).all()
    assert "Too few different points to tell" in str(found)
    assert found.numbers.tolist() == list(range(1, min(len(X), 20) + 1))
    assert found.ranking.tolist() == found.numbers.tolist()
    assert np.isnan(found.chance).all()


def test_more_clusters_than_were_asked_for():
    X, _ = make_bars(400, n_bars=6, width=0.02, random_state=0)
    assert suggested(X).n_clusters == 6
    found = suggested(X, k_max=4)
    assert (found.n_clusters, found.confidence) == (4, WEAK)
    assert "raise k_max, which is 4" in str(found)
    assert len(found.numbers) == len(found.chance) == len(found.sizes) == len(found.reasons) == 4


def test_only_more_clusters_than_were_asked_for():
    """Of the three clusters no two together are a group that their own edges would speak for."""
    found = suggested(make_multi_scale(random_state=0)[0], k_max=2)
    assert (found.n_clusters, found.confidence) == (1, WEAK)
    assert "The gaps support 3 clusters as well: raise k_max, which is 2." in str(found)


def test_k_max_does_not_change_the_evidence():
    X, _ = make_multi_scale(random_state=0)
    few, more = suggested(X, 5), suggested(X, 12)
    np.testing.assert_array_equal(few.strength, more.strength[:5])
    np.testing.assert_array_equal(few.labels, more.labels)


@pytest.mark.parametrize("d", [1.0, 2.0, 5.0])
def test_chance_is_the_number_of_longer_edges(d):
    """Of edges with P(edge > x) = exp(-x^d) the n-th part of one is longer than log(n)^(1 / d)."""
    n = 1000
    short, wide = (-math.log(1 - q) for q in (0.1, 0.9))
    x = np.array([1.0, 5.0, math.log(n), 20.0])
    strength = np.log(x / wide) / np.log(wide / short)  # the same for every d
    in_lengths = np.log(x ** (1 / d) / wide ** (1 / d)) / np.log((wide / short) ** (1 / d))
    np.testing.assert_allclose(in_lengths, strength)
    np.testing.assert_allclose(expected_by_chance(in_lengths, n), n * np.exp(-x), rtol=1e-9)


def test_what_chance_allows_on_a_line():
    """Of uniform points the largest gap is, in the mean, one that is expected once."""
    rng = np.random.default_rng(0)
    chances = []
    for _ in range(60):
        edges = np.sort(np.log(rng.exponential(size=500)))
        short, wide = np.quantile(edges, [0.1, 0.9])
        chances.append(expected_by_chance((edges[-1:] - wide) / (wide - short), 500)[0])
    assert 0.3 < np.median(chances) < 1.5
    assert np.mean(np.array(chances) <= 0.01) <= 0.05


def test_clouds_with_fringes_are_found_by_the_drop():
    """Where gaps are no wider than the fringes, but of another kind than all others."""
    rng = np.random.default_rng(3)
    centres = np.array([[x, y] for x in range(3) for y in range(3)]) * 6.3
    X = np.repeat(centres, 600, axis=0) + rng.normal(size=(5400, 2))
    found = suggested(X)
    assert (found.n_clusters, found.confidence, found.decided_by) == (9, CLEAR, "scores")
    assert found.chance[8] > 0.01
    assert found.drop[8] < 1e-6
    assert "stands out" in found.reasons[8]
    assert Evidence.of_gaps(find_gaps(UltrametricTree.from_data(X), 20)).verdicts[8] == WEAK


def test_ranking_and_reasons():
    X, _ = make_bars(400, n_bars=4, width=0.02, random_state=0)
    found = suggested(X)
    assert sorted(found.ranking) == found.numbers.tolist() == list(range(1, 21))
    assert found.ranking[0] == found.n_clusters == 4
    supported = [k for k in found.ranking if found.verdicts[k - 1]]
    assert supported == sorted(supported, reverse=True)
    assert found.ranking[len(supported)] == 1
    rest = found.ranking[len(supported) + 1 :] - 1
    by_drop, by_chance = (
        rest[~np.isnan(found.score_drop[rest])],
        rest[np.isnan(found.score_drop[rest])],
    )
    np.testing.assert_array_equal(rest, np.concatenate([by_drop, by_chance]))
    assert (np.diff(found.score_drop[by_drop]) <= 0).all()
    chances = found.chance[by_chance]
    assert (np.diff(chances[~np.isnan(chances)]) >= 0).all()
    for k, verdict, reason in zip(found.numbers, found.verdicts, found.reasons, strict=True):
        assert (verdict == CLEAR) == (found.chance[k - 1] <= 0.01)
        assert (verdict == CLEAR) == bool(found.strength[k - 1] >= found.clear_from)
        assert f"{k - 1} gaps" in reason or k <= 2 or "No gap is left" in reason


def test_as_text():
    found = suggested(make_two_moons(random_state=0)[0])
    assert repr(found) == "Suggestion(n_clusters=2, confidence='clear')"
    first, second, empty, header, best, *_ = str(found).splitlines()
    assert first == "2 clusters (clear)."
    assert second.startswith("The gap is 3.95 times the 90th percentile of the edges beside it;")
    assert empty == ""
    assert " ".join(header.split()) == "k gap ratio chance score drop silhouette verdict sizes"
    assert best.split()[0] == "2"
    assert best.endswith("clear  100, 100")


def test_as_a_frame(monkeypatch):
    found = suggested(make_two_moons(random_state=0)[0])
    frame = found.to_frame()
    assert frame.index.name == "n_clusters"
    assert frame.index.tolist() == found.ranking.tolist()
    assert frame.loc[2, "chance"] == found.chance[1]
    assert frame.loc[2, "smallest"] == 100
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        found.to_frame()


def test_silhouettes_are_those_of_the_groups():
    from isthmus.model_selection import transitive_silhouette

    X, _ = make_multi_scale(random_state=0)
    tree = UltrametricTree.from_data(X)
    found = suggest(tree, 6)
    assert found.silhouette[2] == transitive_silhouette(tree, found.labels)
    assert math.isnan(found.silhouette[0])
