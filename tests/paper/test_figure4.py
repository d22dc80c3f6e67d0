"""Figure 4: ours and single linkage, and a claim that can fail."""

import copy

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from isthmus.datasets import make_figure4
from isthmus.evaluation import error_rate
from isthmus.paper import Verdict
from isthmus.paper.experiment import load_experiment
from isthmus.paper.figure4 import run_linkage, shares
from paper.quick_results import check_report, quick_results

EXPERIMENT = load_experiment("figure4")


@pytest.fixture(scope="module")
def results():
    return quick_results(EXPERIMENT)


def with_errors(results, ours, linkage):
    other = copy.deepcopy(results)
    other["errors_200"] |= {"ours": ours, "linkage": linkage}
    (claim,) = EXPERIMENT.claims(other)
    return claim


def test_ours_finds_what_single_linkage_misses(results):
    (claim,) = EXPERIMENT.claims(results)
    assert claim.verdict is Verdict.REPRODUCED


def test_what_the_report_shows(results):
    figures = check_report(EXPERIMENT, results)
    assert [len(figure.axes) for figure in figures.values()] == [3]


def test_cut_edges_are_those_between_clusters(results):
    (figure,) = check_report(EXPERIMENT, results).values()
    for axes, name in zip(figure.axes, ("ours", "linkage"), strict=False):
        labels = np.array(results["drawing"][name]["labels"])
        ends = labels[np.array(results["drawing"]["edges"])]
        (cut,) = [c for c in axes.collections if c.get_linestyle()[0][1] is not None]
        assert len(cut.get_segments()) == np.count_nonzero(ends[:, 0] != ends[:, 1]) == 2


@pytest.mark.parametrize(
    ("found", "missed", "verdict"),
    [
        (10, 10, "REPRODUCED"),
        (9, 9, "REPRODUCED"),
        (7, 10, "PARTLY"),
        (10, 7, "PARTLY"),
        (4, 10, "NOT"),
        (10, 4, "NOT"),
    ],
)
def test_both_methods_count(results, found, missed, verdict):
    ours = [0.0] * found + [0.3] * (10 - found)
    linkage = [0.3] * missed + [0.0] * (10 - missed)
    assert with_errors(results, ours, linkage).verdict is Verdict[verdict]


def test_sizes_at_which_it_is_otherwise_are_told(results):
    other = copy.deepcopy(results)
    for name in ("errors_100", "errors_1000"):
        other[name] |= {"ours": [0.0] * 10, "linkage": [0.3] * 10}
    (claim,) = EXPERIMENT.claims(other)
    assert "often" not in claim.reason
    other["errors_1000"]["linkage"] = [0.0] * 10
    (claim,) = EXPERIMENT.claims(other)
    assert "With 1,000 points single linkage often succeeds" in claim.reason
    other["errors_100"]["linkage"] = [0.0] * 10
    (claim,) = EXPERIMENT.claims(other)
    assert "With 100 or 1,000 points single linkage often succeeds" in claim.reason
    assert "ours often fails" not in claim.reason
    other["errors_100"]["ours"] = [0.3] * 10
    (claim,) = EXPERIMENT.claims(other)
    assert "With 100 points ours often fails" in claim.reason


def test_shares_at_the_limits():
    assert shares({"ours": [0.0, 0.02, 0.03, 0.5], "linkage": [0.1, 0.11, 0.2, 0.3]}) == (0.5, 0.75)


def test_single_linkage_is_scipys():
    X, y = make_figure4(random_state=1)
    theirs = fcluster(linkage(X, "single"), 3, "maxclust")
    ours = run_linkage(X, y)
    assert ours["error"] == error_rate(y, theirs)
    assert ours["smallest_part"] == np.bincount(theirs)[1:].min()
