"""Complexity: exponents and ratios from made-up times; the methods find the same clusters."""

import numpy as np
import pytest

from isthmus.datasets import make_bars
from isthmus.evaluation import error_rate
from isthmus.paper import Verdict
from isthmus.paper.complexity import exponent_of, measure, times_as_long, upper_half
from isthmus.paper.experiment import load_experiment
from isthmus.paper.store import plain
from isthmus.paper.timed_methods import TIMED_METHODS, njw, njw_by_all_eigenvectors, njw_by_lanczos
from paper.quick_results import check_report

EXPERIMENT = load_experiment("complexity")

EXPONENTS = {
    "paper": 2.0,
    "njw": 3.0,
    "self_tuning": 3.0,
    "all_vectors": 3.0,
    "lanczos": 2.0,
    "tree": 1.0,
}


def made_up(sizes=(100, 200, 400, 800), first=1.0, **exponents):
    """Results as if times were exact powers; all methods take the same time at the first size."""
    return {
        f"{method}_{n}": {
            "method": method,
            "n_points": n,
            "seconds": first * (n / sizes[0]) ** exponent,
            "stages": {"first": 1.0, "second": 3.0} if method == "paper" else {},
            "error": 0.0,
        }
        for method, exponent in (EXPONENTS | exponents).items()
        for n in sizes
    }


def verdicts(results):
    return [claim.verdict for claim in EXPERIMENT.claims(results)]


@pytest.fixture(scope="module")
def measured():
    """Every method, at sizes that take no time."""
    return {
        f"{method}_{n}": plain(measure(method, n, 0.0))
        for method in TIMED_METHODS
        for n in (150, 180, 210)
    }


def test_every_method_is_measured_and_finds_the_bars(measured):
    for result in measured.values():
        assert result["seconds"] == min(result["runs"]) > 0
        assert len(result["runs"]) == 3
        assert result["error"] == 0.0
        assert sum(result["stages"].values()) <= result["seconds"]
    assert set(measured["paper_150"]["stages"]) == {
        "distances",
        "spanning tree",
        "transitive distances",
        "K-means on rows",
    }


def test_what_the_report_shows(measured):
    figures = check_report(EXPERIMENT, measured)
    assert list(figures) == ["complexity"]
    left, right = figures["complexity"].axes
    assert len(left.lines) == len(TIMED_METHODS) + 3  # and three slopes
    assert len(right.lines) == len(TIMED_METHODS)


def test_short_runs_are_repeated_until_it_is_enough():
    assert len(measure("tree", 60, 1e6)["runs"]) == 10


@pytest.mark.parametrize("quick", [True, False])
def test_tasks_measure_alone_and_share_sizes(quick):
    tasks = EXPERIMENT.tasks(quick)
    assert all(task.alone for task in tasks)
    assert len({task.name for task in tasks}) == len(tasks)
    sizes = {method: set() for method in TIMED_METHODS}
    for task in tasks:
        sizes[task.parameters["method"]].add(task.parameters["n_points"])
    assert sizes["njw"] == sizes["self_tuning"] == sizes["paper"]
    assert max(sizes["paper"]) in sizes["tree"]  # the claims compare them there


def test_exponents_are_found():
    results = made_up(paper=2.25, tree=1.1)
    for method, exponent in (EXPONENTS | {"paper": 2.25, "tree": 1.1}).items():
        assert exponent_of(results, method) == pytest.approx(exponent)


def test_only_the_upper_half_counts():
    sizes = np.arange(7.0)
    assert upper_half(sizes, sizes)[0].tolist() == [3.0, 4.0, 5.0, 6.0]
    results = made_up()
    results["paper_100"]["seconds"] = results["paper_200"]["seconds"] = 1e-9
    assert exponent_of(results, "paper") == pytest.approx(2.0)


def test_ratios_at_common_sizes():
    results = made_up()
    del results["tree_800"]
    assert times_as_long(results, "njw") == pytest.approx({100: 1.0, 200: 2.0, 400: 4.0, 800: 8.0})
    assert times_as_long(results, "tree") == pytest.approx({100: 1.0, 200: 0.5, 400: 0.25})


@pytest.mark.parametrize(
    ("exponents", "expected"),
    [
        ({}, ["REPRODUCED", "PARTLY", "REPRODUCED"]),
        ({"lanczos": 2.8}, ["REPRODUCED", "REPRODUCED", "REPRODUCED"]),
        ({"njw": 2.5}, ["REPRODUCED", "NOT", "REPRODUCED"]),
        ({"self_tuning": 2.5}, ["REPRODUCED", "NOT", "REPRODUCED"]),
        ({"paper": 2.29}, ["REPRODUCED", "PARTLY", "REPRODUCED"]),
        ({"paper": 2.5}, ["PARTLY", "PARTLY", "REPRODUCED"]),
        ({"paper": 3.1}, ["NOT", "PARTLY", "NOT"]),
    ],
)
def test_verdicts(exponents, expected):
    assert verdicts(made_up(**exponents)) == [Verdict[name] for name in expected]


def test_faster_at_the_largest_size_only_is_partly():
    results = made_up()
    results["njw_400"]["seconds"] = 0.5 * results["paper_400"]["seconds"]
    assert verdicts(results)[2] is Verdict.PARTLY


def test_three_ways_to_the_same_eigenvectors():
    X, _ = make_bars(150, random_state=2)
    labels = [run(X)[0] for run in (njw, njw_by_all_eigenvectors, njw_by_lanczos)]
    assert error_rate(labels[0], labels[1]) == error_rate(labels[0], labels[2]) == 0.0
