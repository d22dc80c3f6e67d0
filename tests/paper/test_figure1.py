"""Figure 1: what is counted is right, and claims can fail."""

import copy
from itertools import permutations

import numpy as np
import pytest

from isthmus.datasets import make_figure1
from isthmus.paper import Verdict
from isthmus.paper.experiment import load_experiment
from isthmus.paper.figure1 import compare_distances
from isthmus.ultrametric import transitive_distances
from paper.quick_results import check_report, quick_results

EXPERIMENT = load_experiment("figure1")


@pytest.fixture(scope="module")
def results():
    return quick_results(EXPERIMENT)


def verdicts(results):
    return [claim.verdict for claim in EXPERIMENT.claims(results)]


def changed(results, task, **values):
    other = copy.deepcopy(results)
    other[task] |= values
    return other


def test_the_theorems_hold_and_the_ratios_depend_on_the_noise(results):
    closer, ratios, ultrametric, edges = verdicts(results)
    assert closer is ultrametric is edges is Verdict.REPRODUCED
    assert ratios is Verdict.PARTLY


def test_what_the_report_shows(results):
    figures = check_report(EXPERIMENT, results)
    assert list(figures) == ["figure1_path", "figure1_orders", "figure1_ratios"]
    n_axes = [len(figure.axes) for figure in figures.values()]
    assert n_axes == [1, 7 + 1, 2]  # seven orders and their colour bar
    titles = [axes.get_title() for axes in figures["figure1_orders"].axes[:7]]
    assert titles == [f"order {k}" for k in (1, 2, 3, 4, 5, 6, 50)]


def test_the_path_joins_the_chosen_points(results):
    drawn = results["drawing"]
    assert (drawn["path"][0], drawn["path"][-1]) == (drawn["p"], drawn["q"])
    assert drawn["labels"][drawn["p"]] == drawn["labels"][drawn["q"]] != drawn["labels"][drawn["s"]]
    X = np.array(drawn["points"])
    hops = np.linalg.norm(np.diff(X[drawn["path"]], axis=0), axis=1)
    assert drawn["edge"][2] == pytest.approx(hops.max())


def test_the_first_two_orders_are_the_same(results):
    first, second, third, *_ = results["drawing"]["matrices"]
    assert first == second != third


@pytest.mark.parametrize(("share", "verdict"), [(1.0, "REPRODUCED"), (0.6, "PARTLY"), (0.4, "NOT")])
def test_closeness_is_judged_by_shares(results, share, verdict):
    found = {"D_pq": [0.1] * 10, "D_ps": [0.2] * 10, "d_pq": [2.0] * 10, "d_ps": [1.0] * 10}
    found |= {"triples": [10] * 10, "reversed": [10 * share] * 10}
    other = changed(results, "closeness", **found, gap=[0.2] * 10, smallest_between=[0.2] * 10)
    assert verdicts(other)[0] is Verdict[verdict]


def test_closeness_fails_where_the_chosen_points_do(results):
    n_sets = len(results["closeness"]["D_pq"])
    assert verdicts(changed(results, "closeness", D_pq=[9.0] * n_sets))[0] is Verdict.NOT


@pytest.mark.parametrize(
    ("other_noise", "own_noise", "verdict"),
    [(1.0, 1.0, "REPRODUCED"), (0.2, 1.0, "PARTLY"), (1.0, 0.7, "PARTLY"), (1.0, 0.2, "NOT")],
)
def test_ratios_are_judged_at_every_noise(results, other_noise, own_noise, verdict):
    other = dict(results)
    for noise, share in ((0.02, 1.0), (0.05, own_noise), (0.1, other_noise)):
        rising, falling = np.arange(1.0, 8.0), np.arange(8.0, 1.0, -1.0)
        n_rising = round(10 * share)
        of_means = [rising.tolist()] * n_rising + [falling.tolist()] * (10 - n_rising)
        other[f"ratios_noise_{noise:g}"] = {"of_means": of_means, "of_extremes": of_means}
    assert verdicts(other)[1] is Verdict[verdict]


def test_one_broken_axiom_is_enough(results):
    assert verdicts(changed(results, "theorems_grid", not_ultrametric=1))[2] is Verdict.NOT


@pytest.mark.parametrize(
    ("task", "what", "verdict"),
    [
        ("theorems_moons", "not_a_tree_edge", "NOT"),
        ("theorems_normal", "transitive_off_tree", "NOT"),
        ("theorems_moons", "equal_edges", "NOT"),
        ("theorems_grid", "transitive_off_tree", "REPRODUCED"),
    ],
)
def test_one_edge_off_the_tree_is_enough_if_no_edges_are_equal(results, task, what, verdict):
    assert verdicts(changed(results, task, **{what: 1}))[3] is Verdict[verdict]


def test_triples_are_counted_as_in_three_loops():
    X, y = make_figure1(random_state=3)
    X, y = X[::5], y[::5]
    d, D = transitive_distances(X, 2), transitive_distances(X)
    triples = [
        (p, q, s)
        for p, q, s in permutations(range(len(X)), 3)
        if y[p] == y[q] != y[s] and d[p, q] > d[p, s]
    ]
    found = compare_distances(X, y)
    assert found["triples"] == len(triples)
    assert found["reversed"] == sum(D[p, q] < D[p, s] for p, q, s in triples)
