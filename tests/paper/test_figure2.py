"""Figure 2: hulls in two spaces, judged without the certificate, and claims that can fail."""

import copy

import numpy as np
import pytest

from isthmus.paper import Verdict
from isthmus.paper.experiment import load_experiment
from isthmus.paper.figure2 import hulls_intersect, varying_direction
from paper.quick_results import check_report, quick_results

EXPERIMENT = load_experiment("figure2")


@pytest.fixture(scope="module")
def results():
    return quick_results(EXPERIMENT)


def verdicts(results):
    return [claim.verdict for claim in EXPERIMENT.claims(results)]


def with_one(results, key, value, labelling="clusters"):
    """The results with one set's property changed."""
    other = copy.deepcopy(results)
    other["hulls_0"]["labellings"][labelling][key][0] = value
    return other


def test_the_theorem_and_the_lemma_hold(results):
    assert verdicts(results) == [Verdict.REPRODUCED, Verdict.REPRODUCED]


def test_what_the_report_shows(results):
    figures = check_report(EXPERIMENT, results)
    assert [len(figure.axes) for figure in figures.values()] == [3]


def test_labels_that_are_not_consistent_are_apart_too_but_barely(results):
    found = results["hulls_0"]["labellings"]
    assert all(found["random"]["certified"])
    assert not any(found["random"]["consistent"])
    assert max(found["random"]["margin"]) < 0.1 < 0.9 < min(found["clusters"]["margin"])


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("meet_in_embedding", True, "NOT"),
        ("certified", False, "NOT"),
        ("meet_in_plane", False, "PARTLY"),
        ("consistent", False, "PARTLY"),
    ],
)
def test_one_set_is_enough_against_the_theorem(results, key, value, verdict):
    assert verdicts(with_one(results, key, value))[0] is Verdict[verdict]


def test_other_labellings_do_not_count(results):
    other = with_one(results, "meet_in_embedding", True, "random")
    assert verdicts(other)[0] is Verdict.REPRODUCED


def test_an_error_above_rounding_is_enough_against_the_lemma(results):
    other = copy.deepcopy(results)
    other["isometry"]["errors"][0] = 1e-9
    assert verdicts(other)[1] is Verdict.NOT


def test_the_parts_of_a_run_are_joined(results):
    other = results | {"hulls_1": results["hulls_0"]}
    claim, _ = EXPERIMENT.claims(other)
    assert claim.ours.startswith("consistent and intersecting in the plane in 20 of 20 sets")


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_hulls_in_the_plane(shift):
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    labels = np.repeat([0, 1], 4)
    crossing = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]) + shift
    assert hulls_intersect(crossing, np.array([0, 0, 1, 1]))  # neither holds an end of the other
    assert hulls_intersect(np.concatenate([square, 0.4 + 0.2 * square]) + shift, labels)
    assert hulls_intersect(np.concatenate([square, square + 0.5]) + shift, labels)
    assert not hulls_intersect(np.concatenate([square, square + 1.5]) + shift, labels)


def test_the_drawing_shows_the_gap(results):
    drawn = results["drawing"]
    along, labels = np.array(drawn["along"]), np.array(drawn["labels"])
    gap = along[labels == 0].min() - along[labels == 1].max()
    assert gap == pytest.approx(drawn["margin"])


def test_the_direction_of_the_drawing_varies_in_each_cluster():
    images = np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    direction = varying_direction(images, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(np.abs(direction), [np.sqrt(0.5), np.sqrt(0.5), 0.0], atol=1e-12)
