"""Figure 6: a small run of it on the stand-in, and verdicts on made-up results."""

import json

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from isthmus.paper import Verdict, figure6
from isthmus.paper.figure6 import claims, tables, tasks
from isthmus.paper.figure6_errors import (
    TEN,
    draws_of_ten,
    error_of,
    means_and_ranks,
    ten_sets,
)
from isthmus.paper.figure6_pictures import pictures
from isthmus.paper.figure6_sets import explained_share, kept_together, shuffled_sets
from isthmus.paper.methods import METHODS
from isthmus.paper.store import plain


@pytest.fixture(autouse=True)
def at_hand(monkeypatch):
    """Keep tests off the network; a test may say that the images are there."""
    monkeypatch.setattr(figure6, "usps_available", lambda seconds: False)


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(limits=1):
        patch.setattr(figure6, "usps_available", lambda seconds: False)
        return {task.name: plain(task.function(**task.parameters)) for task in tasks(True)}


def made_up(digits, kmeans, njw, self_tuning, ours, data="usps"):
    """Return a result with these errors; a smaller one of NJW's stands outside the coarse grid."""
    start = {"most_frequent": {"error": ours}, "lowest_inertia": {"error": ours}}
    return {
        "data": data,
        "digits": digits,
        "kmeans": kmeans,
        "ours": ours,
        "njw": {"values": [2.0, 2.25], "errors": [njw + 0.1, njw], "error": njw, "parameter": 2.25},
        "self_tuning": {
            "values": [7],
            "errors": [self_tuning],
            "error": self_tuning,
            "parameter": 7,
            "default": 7,
            "default_error": self_tuning,
        },
        "starts": {"ours": start, "kmeans": start},
        "ways": dict.fromkeys(
            ("embedding", "cut", "shared", "mean", "ink", "ink, cut", "balanced"), 0.1
        ),
        "together": {str(digit): 0.4 if digit == 1 else 0.9 for digit in digits},
        "sizes": [600, 400],
        "sparseness": {"clusters": 0.7, "digits": 0.1, "medians": [2.0, 3.0]},
    }


def ten(*errors, data="usps", others=0):
    """Return ten sets with the same errors of the four methods, and others with ours at 0."""
    found = {}
    for n_digits, n_first in TEN.items():
        for i, digits in enumerate(shuffled_sets(n_digits, 0)[: n_first + others]):
            name = "-".join(map(str, digits))
            if i < n_first:
                found[f"ten-{name}"] = made_up(digits, *errors, data=data)
            else:
                found[f"other-{name}"] = made_up(digits, 0.3, 0.3, 0.3, 0.0)
    return found


@pytest.mark.parametrize(
    ("errors", "best", "worst"),
    [
        ((0.3, 0.2, 0.4, 0.1), Verdict.REPRODUCED, Verdict.REPRODUCED),
        ((0.1, 0.2, 0.4, 0.3), Verdict.NOT, Verdict.NOT),
        ((0.3, 0.1, 0.4, 0.2), Verdict.NOT, Verdict.REPRODUCED),
    ],
)
def test_verdicts(errors, best, worst):
    assert [c.verdict for c in claims(ten(*errors))] == [best, worst]


def test_a_mean_without_the_rank_is_half_the_claim():
    """Ours is a little worse than NJW on nine sets, and far better on one."""
    results = ten(0.5, 0.10, 0.6, 0.11)
    first = next(iter(results))
    results[first] = made_up(results[first]["digits"], 0.9, 0.9, 0.9, 0.0)
    smallest, _ = claims(results)
    assert smallest.verdict is Verdict.PARTLY
    assert smallest.reason.startswith("Ours has the smallest mean error, NJW the smallest")


def test_other_data_reproduce_nothing():
    found = claims(ten(0.3, 0.2, 0.4, 0.1, data="digits"))
    assert [c.verdict for c in found] == [Verdict.OTHER_DATA, Verdict.OTHER_DATA]
    assert all(c.ours.startswith("scikit-learn's digits, not USPS: ") for c in found)
    assert all(c.reason.startswith("This is not the paper's data") for c in found)


def test_the_reason_names_what_our_clusters_are():
    (smallest, _) = claims(ten(0.1, 0.2, 0.4, 0.3))
    assert "On 10 of 10 sets our error is above 0.2" in smallest.reason
    assert "70% of the variance" in smallest.reason
    assert "1.50 times" in smallest.reason
    results = ten(0.1, 0.2, 0.4, 0.3)
    for result in results.values():
        result["sparseness"] = {"clusters": 0.2, "digits": 0.15, "medians": [2.0, 3.0]}
    assert "Density does not tell why" in claims(results)[0].reason
    assert "above 0.2" not in claims(ten(0.3, 0.2, 0.4, 0.1))[0].reason


def test_other_draws_of_ten():
    assert draws_of_ten(ten(0.1, 0.2, 0.3, 0.4), ["ours"]) is None
    results = ten(0.1, 0.2, 0.3, 0.4, others=3)
    means = draws_of_ten(results, ["kmeans", "ours"])
    # Each set is drawn as often as any other of its size.
    shares = sum(n * n / (n + 3) for n in TEN.values()) / 10
    np.testing.assert_allclose(means[:, 1].mean(), 0.4 * shares, rtol=0.02)
    np.testing.assert_allclose(means[:, 0].mean(), 0.1 * shares + 0.3 * (1 - shares), rtol=0.02)
    assert means[:, 1].max() <= 0.4 + 1e-12
    smallest, _ = claims(results)
    assert "The digits matter: of 10,000 draws of ten out of 19 sets" in smallest.reason


def test_comparisons_among_all_sets_use_the_grid_that_all_have():
    result = made_up([1, 2], 0.1, 0.2, 0.3, 0.4)
    assert error_of(result, "njw") == 0.2
    assert error_of(result, "njw", coarse=True) == pytest.approx(0.3)
    assert error_of(result, "ours", coarse=True) == 0.4
    assert error_of(result, "cut") == 0.1


def test_equal_errors_share_a_rank():
    errors = (0.1, 0.2, 0.2, 0.4), (0.3, 0.1, 0.2, 0.5)
    means, ranks = means_and_ranks([made_up([1, 2], *each) for each in errors])
    assert means == pytest.approx(dict(zip(METHODS, (0.2, 0.15, 0.2, 0.45), strict=True)))
    assert ranks == pytest.approx(dict(zip(METHODS, (2.0, 1.75, 2.25, 4.0), strict=True)))
    assert list(ranks) == ["njw", "kmeans", "self_tuning", "ours"]


def test_the_share_that_groups_explain():
    groups = np.array([0, 0, 1, 1])
    assert explained_share(np.array([1.0, 1.0, 3.0, 3.0]), groups) == 1.0
    assert explained_share(np.array([1.0, 3.0, 1.0, 3.0]), groups) == 0.0
    assert explained_share(np.array([0.0, 2.0, 2.0, 4.0]), groups) == 0.5
    assert explained_share(np.ones(4), groups) == 0.0


def test_digits_that_are_kept_together():
    labels, y = np.array([0, 0, 1, 2, 2, 2]), np.array([3, 3, 3, 8, 8, 8])
    assert kept_together(labels, y) == pytest.approx({"3": 2 / 3, "8": 1.0})
    (_, worst) = claims(ten(0.1, 0.2, 0.4, 0.3))
    assert "self-tuning's mean error is 0.400 with ones and 0.400 without" in worst.reason
    assert "on average 40% of them in one cluster, and 90%" in worst.reason


@pytest.mark.parametrize(("there", "data"), [(True, "usps"), (False, "digits")])
def test_tasks_say_which_images_they_use(monkeypatch, there, data):
    monkeypatch.setattr(figure6, "usps_available", lambda seconds: there)
    found = tasks(False)
    assert {task.parameters["data"] for task in found} == {data}
    names = [task.name for task in found]
    assert len(names) == len(set(names)) == 85
    assert sum(name.startswith("ten-") for name in names) == 10
    assert sum(len(task.parameters["digits"]) == 2 for task in found) == 45
    coarse = set(found[-1].parameters["sigmas"])
    assert all(coarse <= set(task.parameters["sigmas"]) for task in found)
    json.dumps([task.parameters for task in found])


def test_a_small_run(results):
    assert len(ten_sets(results)) == 10
    for result in results.values():
        k = len(result["digits"])
        assert len(result["sizes"]) == len(result["sparseness"]["medians"]) == k
        assert sum(result["sizes"]) == 150
        assert 0 <= error_of(result, "njw") <= 1 - 1 / k
    assert [c.verdict for c in claims(results)] != [Verdict.REPRODUCED] * 2
    for table in tables(results):
        assert {len(row) for row in table.rows} == {len(table.headings)}


def test_pictures_of_few_sets_and_of_many(results):
    for found, n_other in ((results, 0), (ten(0.1, 0.2, 0.3, 0.4, others=2), 2)):
        drawn = {picture.name: picture.figure for picture in pictures(found)}
        assert list(drawn) == ["figure6", "figure6_pairs", "figure6_all"]
        assert len(drawn["figure6"].axes[0].lines) == 7
        n_pairs = TEN[2] + n_other
        for axes in drawn["figure6_pairs"].axes[:3]:
            assert len(axes.texts) == n_pairs
        for figure in drawn.values():
            figure.canvas.draw()
