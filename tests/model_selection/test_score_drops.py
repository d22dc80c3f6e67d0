"""How much the scores of CUT drop: against the definition, and where they must say nothing."""

import numpy as np
import pytest
from scipy.sparse import lil_array
from scipy.stats import qmc

from isthmus import TransitiveCut, UltrametricTree
from isthmus.datasets import make_two_moons
from isthmus.model_selection.score_drops import OUTSTANDING, find_score_drops
from isthmus.model_selection.suggestion import NONE, suggest


def scores_by_definition(tree, n_clusters):
    """Return w a b / (a + b) of each cut, from the labels before and after it."""
    cut = find_score_drops(tree, n_clusters, 1).cut
    scores = []
    for k in range(2, n_clusters + 1):
        labels, (i, j) = cut.labels(k), tree.spanning_tree.edges[cut.cuts[k - 2]]
        a, b = np.sum(labels == labels[i]), np.sum(labels == labels[j])
        scores.append(tree.heights[cut.cuts[k - 2]] * a * b / (a + b))
    return np.array(scores)


@pytest.mark.parametrize("seed", range(8))
def test_scores_and_drops_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n_points, n_features = rng.integers(60, 300), rng.integers(1, 6)
    X = rng.normal(size=(n_points, n_features)) + 9.0 * rng.integers(3, size=(n_points, 1))
    tree = UltrametricTree.from_data(X)
    scores = scores_by_definition(tree, 13)
    found = find_score_drops(tree, 12, 1)
    np.testing.assert_allclose(found.score[1:], scores[:11], rtol=1e-12)
    assert (np.diff(scores) <= 1e-12 * scores[:-1]).all()
    drops = np.sqrt(np.arange(1, 12)) * np.log(scores[:11] / scores[1:12])
    known = ~np.isnan(found.drop[1:])
    assert known.any()
    np.testing.assert_allclose(found.drop[1:][known], drops[known], rtol=1e-9, atol=1e-11)


def test_clouds_that_touch_are_told_apart_by_scores():
    rng = np.random.default_rng(0)
    centres = np.array([[x, y] for x in range(4) for y in range(3)])
    X = np.repeat(centres, 150, axis=0) + rng.normal(0.0, 0.16, (1800, 2))
    found = suggest(UltrametricTree.from_data(X), 20)
    assert (found.n_clusters, found.decided_by) == (12, "scores")
    assert "After the 11 cuts" in found.explanation[1]
    np.testing.assert_array_equal(found.sizes[11], np.bincount(found.labels))


def on_a_line(sizes, gap, seed):
    """Return points in groups; steps within them are shorter than 1, those between them ``gap``."""
    rng = np.random.default_rng(seed)
    steps = np.concatenate([[gap, *rng.uniform(size=size - 1)] for size in sizes])
    return np.cumsum(steps)[:, None]


@pytest.mark.parametrize("seed", range(4))
def test_smaller_drops_count_where_all_further_edges_are_shorter(seed):
    sizes = [60, 34] * 4
    found = suggest(UltrametricTree.from_data(on_a_line(sizes, 1.25, seed)), 20)
    assert 1.0 <= np.nanmax(found.score_drop) < OUTSTANDING
    assert (found.n_clusters, found.confidence, found.decided_by) == (8, "weak", "scores")
    assert "12 cuts is of a shorter edge" in found.explanation[1]
    np.testing.assert_array_equal(found.sizes[7], sorted(sizes, reverse=True))
    # gaps no longer than the longest steps say nothing
    assert suggest(UltrametricTree.from_data(on_a_line(sizes, 1.0, seed)), 20).n_clusters == 1
    # four groups may be the longest of so few edges by chance
    drops = find_score_drops(UltrametricTree.from_data(on_a_line(sizes[:4], 1.25, seed)), 20, 8)
    assert drops.n_by_length == 1


def equally_spaced():
    line, side = np.arange(1024.0)[:, None], np.arange(32.0)
    yield line
    yield np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    yield line + np.random.default_rng(0).uniform(-0.01, 0.01, line.shape)
    for n_features in (1, 2, 3):
        yield qmc.Sobol(n_features, seed=0).random(1024)


@pytest.mark.parametrize("X", list(equally_spaced()))
def test_equal_spacing_is_no_structure_though_scores_halve(X):
    assert suggest(UltrametricTree.from_data(X), 20).confidence == NONE


def test_outliers_make_no_number_of_clusters():
    X, _ = make_two_moons(300, random_state=0)
    X = np.vstack([X, [[40.0, 0.0], [-40.0, 5.0]]])
    found = suggest(UltrametricTree.from_data(X), 20)
    assert found.n_clusters == 2
    assert np.isnan(found.score_drop[1:4]).all()


def test_copies_and_units_do_not_matter():
    X, _ = make_two_moons(200, random_state=1)
    found = suggest(UltrametricTree.from_data(X), 10)
    copied = suggest(UltrametricTree.from_data(np.repeat(X, 3, axis=0)), 10)
    np.testing.assert_allclose(copied.score_drop, found.score_drop, rtol=1e-9)
    scaled = suggest(UltrametricTree.from_data(1e200 * X), 10)
    np.testing.assert_allclose(scaled.score_drop, found.score_drop, rtol=1e-9)
    np.testing.assert_allclose(scaled.score, 1e200 * found.score, rtol=1e-9)


def test_infinite_edges_are_the_largest_drop():
    graph = lil_array((150, 150))
    for part in np.split(np.arange(150), 3):
        lengths = np.random.default_rng(0).uniform(1.0, 2.0, 49)
        graph[part[:-1], part[1:]] = lengths
    tree = UltrametricTree.from_data(
        (graph + graph.T).tocsr(), metric="precomputed", disconnected="join"
    )
    found = suggest(tree, 10)
    assert (found.n_clusters, found.confidence, found.decided_by) == (3, "clear", "scores")


@pytest.mark.parametrize("n_points", [1, 2, 3, 8, 20])
def test_few_points(n_points):
    X = np.random.default_rng(n_points).normal(size=(n_points, 2))
    found = suggest(UltrametricTree.from_data(X), 20)
    assert found.n_clusters == 1
    assert found.score.shape == found.score_drop.shape == (min(20, n_points),)


def test_equal_points():
    assert suggest(UltrametricTree.from_data(np.ones((50, 2))), 20).n_clusters == 1


def test_one_cluster_is_returned_with_a_warning_that_names_the_next_best_number():
    noise = np.random.default_rng(0).uniform(size=(500, 2))
    with pytest.warns(UserWarning, match="returns one cluster; the next best number is") as caught:
        model = TransitiveCut("auto").fit(noise)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.n_clusters_ == 1
    assert str(model.suggestion_.ranking[1]) in str(caught[0].message)


def test_few_sets_without_structure_have_a_drop_that_stands_out():
    rng = np.random.default_rng(11)
    largest = []
    for n_features in (1, 2, 5):
        for _ in range(40):
            X = rng.uniform(size=(rng.integers(100, 800), n_features))
            largest.append(find_score_drops(UltrametricTree.from_data(X), 20, 18).largest)
    assert np.mean(np.array(largest) >= OUTSTANDING) <= 0.02
