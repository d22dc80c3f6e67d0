"""Outlier scores of new points from their attachments, against their rows of distances."""

from itertools import pairwise

import numpy as np
import pytest

from inputs import KINDS, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.outliers import find_reference_groups, scores_of_new_points
from isthmus.prediction.attachments import Attachments, attach_by_distances, transitive_rows
from isthmus.prediction.outlier_scores import OutlierScorer


def attached(X, tree, new):
    distances = np.linalg.norm(new[:, None] - X[None], axis=2)
    return attach_by_distances(tree, len(new), [(np.arange(len(new)), distances)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_against_rows(kind, seed, weighted):
    X, rng = points(kind, 60, 2, seed), np.random.default_rng(seed)
    tree = UltrametricTree.from_data(X)
    weights = rng.uniform(0.1, 3.0, size=60) if weighted else None
    new = np.concatenate([rng.normal(size=(20, 2)) * s for s in (0.5, 3.0, 40.0)] + [X[:5]])
    attachments = attached(X, tree, new)
    for size in (None, 1.0, 3.3, 1000.0):
        known = find_reference_groups(tree, weights, reference_size=size)
        expected = scores_of_new_points(transitive_rows(tree, attachments, 0, len(new)), known)
        found = OutlierScorer(tree, known).scores(attachments)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_units(unit):
    X, rng = points("blobs", 50, 2, 0), np.random.default_rng(0)
    new = rng.normal(size=(20, 2)) * 5
    tree = UltrametricTree.from_data(X)
    plain, scaled = attached(X, tree, new), tree.with_heights(lambda heights: heights * unit)
    expected = OutlierScorer(tree, find_reference_groups(tree)).scores(plain)
    there = Attachments(plain.begin, plain.point, plain.length * unit)
    found = OutlierScorer(scaled, find_reference_groups(scaled)).scores(there)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_of_points_that_are_infinitely_far_apart():
    edges = [(i, i + 1) for i in range(11)]
    tree = UltrametricTree.from_spanning_tree(
        SpanningTree.from_edges(edges, [1.0] * 5 + [np.inf] + [2.0] * 5)
    )
    known = find_reference_groups(tree)
    attachments = Attachments(np.array([0, 1, 2]), np.array([0, 11]), np.array([3.0, 1.0]))
    expected = scores_of_new_points(transitive_rows(tree, attachments, 0, 2), known)
    np.testing.assert_array_equal(OutlierScorer(tree, known).scores(attachments), expected)


@pytest.mark.parametrize("kind", ["lattice", "blobs", "duplicates"])
@pytest.mark.parametrize("seed", range(4))
def test_rounding_breaks_no_tie(kind, seed):
    """Lengths that were equal and differ in the last digit give the scores of equal ones."""
    X, rng = points(kind, 60, 2, seed), np.random.default_rng(seed)
    tree = UltrametricTree.from_data(X)
    known = find_reference_groups(tree, rng.uniform(0.1, 3.0, size=60))
    edges = attached(X, tree, rng.uniform(-8, 8, size=(60, 2)))
    tied = Attachments(edges.begin, edges.point, np.ceil(edges.length))
    raised = np.nextafter(tied.length, np.inf)
    for start, stop in pairwise(tied.begin):  # ascending for each new point
        last = stop - rng.integers(0, stop - start, endpoint=True)
        raised[start:last] = tied.length[start:last]
    broken = Attachments(edges.begin, edges.point, raised)
    expected = OutlierScorer(tree, known).scores(tied)
    found = OutlierScorer(tree, known).scores(broken)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    rows = transitive_rows(tree, broken, 0, len(broken))
    np.testing.assert_allclose(scores_of_new_points(rows, known), expected, rtol=0, atol=1e-11)


def test_weights_and_heights_near_the_largest_numbers():
    X, new = np.array([0, 1, 2, 3, 4, 5, 6, 7, 50.0])[:, None], np.array([[2.5], [20.0], [80.0]])
    found = []
    for scale in (1.0, 2e306):
        tree = UltrametricTree.from_data(X * scale, metric="manhattan")
        known = find_reference_groups(tree, np.linspace(4, 6, 9))
        scorer = OutlierScorer(tree, known)
        blocks = [(np.arange(3), np.abs(new * scale - X.T * scale))]
        found.append(scorer.scores(attach_by_distances(tree, 3, blocks)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_none_and_one():
    tree = UltrametricTree.from_data([[0.0], [1.0], [5.0]])
    scorer = OutlierScorer(tree, find_reference_groups(tree))
    assert scorer.scores(Attachments.onto(np.empty(0, dtype=np.int64))).shape == (0,)
    alone = UltrametricTree.from_data([[1.0]])
    scorer = OutlierScorer(alone, find_reference_groups(alone))
    found = scorer.scores(Attachments(np.array([0, 1]), np.array([0]), np.array([2.0])))
    assert found.tolist() == [1.0]
