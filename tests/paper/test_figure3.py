"""Figure 3: K-means and its dual on generated sets, and claims that can fail."""

import copy

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from isthmus.datasets import make_clouds, make_figure3
from isthmus.paper import Verdict
from isthmus.paper.experiment import load_experiment
from isthmus.paper.figure3 import STARTS, differing_shares, drawing, sets, shares_of
from paper.quick_results import quick_results

EXPERIMENT = load_experiment("figure3")

MAIN = "side20_elongation3_separation2"
ANYWHERE = "side20_elongation3_separation0"
FARTHEST = "side20_elongation3_separation3"


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As when the experiments are run: threads over so few points wait more than they work."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def results():
    return quick_results(EXPERIMENT)


def with_shares(results, name, by_start, n_sets=30):
    """Return results of which one kind of sets has given shares, the same for each set."""
    other = copy.deepcopy(results)
    other[name]["clouds"] = {
        str(k): {start: [by_start.get(start, 0.0)] * n_sets for start in STARTS}
        for k in (2, 3, 4, 5)
    }
    return other


def verdicts(results):
    return [claim.verdict for claim in EXPERIMENT.claims(results)]


def test_names_of_tasks_differ():
    for quick in (True, False):
        names = [task.name for task in EXPERIMENT.tasks(quick)]
        assert len(set(names)) == len(names)
        assert {MAIN, ANYWHERE, "ideal", "drawing"} <= set(names)


def test_a_full_run_has_more_than_100_sets():
    (main,) = [task for task in EXPERIMENT.tasks(False) if task.name == MAIN]
    assert 4 * main.parameters["n_sets"] > 100


def test_the_main_sets_are_those_of_make_figure3():
    (main,) = [task for task in EXPERIMENT.tasks(False) if task.name == MAIN]
    kind = {name: main.parameters[name] for name in ("side", "elongation", "separation")}
    for seed in range(3):
        X, _ = make_clouds(200, n_clouds=4, random_state=seed, **kind)
        assert np.array_equal(X, make_figure3(n_clouds=4, random_state=seed)[0])


def test_a_share_counts_labels_that_differ():
    # One crowd cut in two: rows and points are not cut in the same place.
    X = np.random.default_rng(0).normal(size=(200, 2))
    shares = differing_shares(X, 2, 0)
    assert set(shares) == set(STARTS)
    assert 0 < shares["best"] < 0.5
    counts = np.array(list(shares.values())) * 200
    assert np.allclose(counts, np.rint(counts))


def test_far_clouds_do_not_differ_once_both_sides_have_found_them():
    found = sets(side=20.0, elongation=1.0, separation=3.0, n_sets=2, spread=0.01, n_starts=50)
    assert not shares_of(found).any()
    assert not shares_of(found, "continued").any()
    assert len(shares_of(found, clouds=[2, 3])) == 4


def test_the_drawing_is_one_sample_off_or_as_near_as_possible():
    found = drawing(n_clouds=3, n_tries=10)
    labels, dual = np.array(found["labels"]), np.array(found["dual_labels"])
    assert np.flatnonzero(labels != dual).tolist() == list(found["differing"])
    assert len(found["differing"]) == 1
    assert drawing(n_clouds=3, n_tries=1)["seed"] == 0


def test_claims_of_a_quick_run(results):
    found = verdicts(results)
    assert len(found) == 4
    assert found[0] is not Verdict.REPRODUCED  # too few sets
    assert "too few" in EXPERIMENT.claims(results)[0].reason


@pytest.mark.parametrize(
    ("share", "n_sets", "verdict"),
    [
        (0.0, 30, "REPRODUCED"),
        (0.01, 30, "REPRODUCED"),
        (0.01, 24, "PARTLY"),
        (0.015, 30, "NOT"),
        (0.2, 30, "NOT"),
    ],
)
def test_the_share_decides(results, share, n_sets, verdict):
    other = with_shares(results, MAIN, {"best": share}, n_sets)
    assert verdicts(other)[0] is Verdict[verdict]
    assert f"{share:.2%} of the labels over {4 * n_sets} sets" in EXPERIMENT.claims(other)[0].ours


def test_a_few_sets_that_differ_much_leave_a_part(results):
    other = with_shares(results, MAIN, {})
    other[MAIN]["clouds"]["5"]["best"] = [0.3] * 30
    assert verdicts(other)[0] is Verdict.PARTLY


def test_other_starts_do_not_decide(results):
    other = with_shares(results, MAIN, {"single": 0.5, "own": 0.5, "continued": 0.5})
    assert verdicts(other)[0] is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("near", "far", "verdict"),
    [(0.01, 0.0, "REPRODUCED"), (0.05, 0.0, "PARTLY"), (0.05, 0.05, "NOT")],
)
def test_every_kind_of_separate_clouds_counts(results, near, far, verdict):
    other = with_shares(results, MAIN, {"best": near})
    other = with_shares(other, FARTHEST, {"best": far})
    assert verdicts(other)[1] is Verdict[verdict]


def test_an_example_that_is_two_samples_off_is_none(results):
    other = copy.deepcopy(results)
    other["drawing"]["differing"] = [3]
    assert verdicts(other)[2] is Verdict.REPRODUCED
    other["drawing"]["differing"] = [3, 4]
    assert verdicts(other)[2] is Verdict.NOT


@pytest.mark.parametrize(
    ("path", "ideal", "verdict"),
    [
        ([0.05, 0.01, 0.0], 0.0, "REPRODUCED"),
        ([0.05, 0.01, 0.0], 0.01, "PARTLY"),
        ([0.05, 0.06, 0.0], 0.0, "PARTLY"),
        ([0.05, 0.05, 0.05], 0.0, "NOT"),
        ([0.01, 0.02, 0.05], 0.0, "NOT"),
    ],
)
def test_the_difference_must_fall_with_the_separation(results, path, ideal, verdict):
    other = with_shares(results, "ideal", {"best": ideal})
    for name, share in zip((ANYWHERE, MAIN, FARTHEST), path, strict=True):
        other = with_shares(other, name, {"best": share})
    assert verdicts(other)[3] is Verdict[verdict]


def test_tables_have_a_row_for_each_kind_of_sets(results):
    for table in EXPERIMENT.tables(results):
        assert len(table.rows) == 3
        assert {len(row) for row in table.rows} == {len(table.headings)}
        assert [row[0].endswith("(main)") for row in table.rows] == [False, True, False]


def test_pictures(results):
    example, distribution = EXPERIMENT.pictures(results)
    assert len(example.figure.axes) == len(distribution.figure.axes) == 2
    for axes in example.figure.axes:
        *clusters, circle = axes.collections
        assert len(clusters) == 3
        assert len(circle.get_offsets()) == len(results["drawing"]["differing"])
    bars = distribution.figure.axes[0].patches
    assert sum(bar.get_height() for bar in bars) == pytest.approx(2)
    for picture in (example, distribution):
        picture.figure.draw_without_rendering()
        assert picture.caption
