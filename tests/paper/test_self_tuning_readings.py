"""Self-tuning read in other ways: the first reading is ours, each other one as it says."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from isthmus.baselines import SelfTuningSpectralClustering
from isthmus.datasets import load_iris
from isthmus.evaluation import error_rate
from isthmus.paper.self_tuning_readings import FEATURES, all_readings, errors_of_readings

X, Y = load_iris(return_X_y=True)
RANKS = [1, 5]


@pytest.fixture(scope="module")
def found():
    with threadpool_limits(limits=1):
        return [
            errors_of_readings(X, Y, features=features, ranks=RANKS, n_starts=2)
            for features in FEATURES[:2]
        ]


@pytest.fixture(scope="module")
def readings(found):
    return list(all_readings(found))


def error_of(points, n_neighbors, **parameters):
    model = SelfTuningSpectralClustering(3, n_neighbors=n_neighbors, **parameters)
    return error_rate(Y, model.fit(points).labels_)


def test_the_first_reading_is_ours(readings):
    assert readings[0].changes == ()
    assert readings[0].errors == pytest.approx({5: error_of(X, 5)})


def test_a_point_that_is_its_own_neighbour_moves_the_count_by_one(readings):
    (alone,) = [r for r in readings if r.changes == ("a point is its own first neighbour",)]
    assert alone.errors == pytest.approx({n + 1: error_of(X, n) for n in RANKS})


def test_features_are_standardised(readings):
    (alone,) = [r for r in readings if r.changes == ("features standardised",)]
    points = StandardScaler().fit_transform(X)
    assert alone.errors == pytest.approx({5: error_of(points, 5)})


def test_every_combination_is_there_once(readings):
    changes = [r.changes for r in readings]
    assert len(changes) == len(set(changes)) == 2 * 2 * 2 * 2 * 3
    assert all(len(c) <= 5 for c in changes)


def test_the_last_steps_and_the_diagonal_count(found):
    """Each choice changes something somewhere: none of them is the same as ours by mistake."""
    plain = found[0]["readings"][0]
    for step in ("one descent", "kmeans"):
        assert any(
            variant[step] != variant["rotation"]
            for result in found
            for variant in result["readings"]
        )
    for variant in found[0]["readings"][1:]:
        assert not np.allclose(variant["gaps"], plain["gaps"])


def test_the_best_number_is_the_first_of_the_smallest_error(readings):
    for reading in readings:
        smallest = [n for n, e in reading.errors.items() if e == min(reading.errors.values())]
        assert reading.best == smallest[0]
