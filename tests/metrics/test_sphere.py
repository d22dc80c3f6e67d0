"""Positions in degrees, distances in kilometres."""

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.metrics.pairwise import haversine_distances

from isthmus import TransitiveCut, TransitiveKMeans, minimum_spanning_tree, nearest_neighbors
from isthmus.estimators import NeighborMean
from isthmus.metrics.registry import resolve_metric
from isthmus.metrics.sphere import EARTH_RADIUS, unit_of

DEGREES = {"metric": "haversine", "metric_params": {"unit": "degrees"}}


def positions(n_points, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-90, 90, n_points), rng.uniform(-180, 360, n_points)])


@pytest.mark.parametrize("engine", ["prim", "kd-tree", "blocked"])
def test_distances_are_kilometres(engine):
    X = positions(300)
    kilometres = EARTH_RADIUS * haversine_distances(np.radians(X))
    expected = linkage(squareform(kilometres, checks=False), "single")[:, 2]
    tree = minimum_spanning_tree(X, engine=engine, **DEGREES)
    np.testing.assert_allclose(tree.weights, expected, rtol=1e-9)


@pytest.mark.parametrize("model", [TransitiveCut, TransitiveKMeans])
@pytest.mark.parametrize("n_points", [200, 1500])
def test_everything_but_the_unit_is_as_with_radians(model, n_points, tmp_path):
    X, new = positions(n_points), positions(50, 1)
    found = model(4, **DEGREES).fit(X)
    expected = model(4, metric="haversine").fit(np.radians(X))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.predict(new), expected.predict(np.radians(new)))
    np.testing.assert_allclose(
        found.transform(new), expected.transform(np.radians(new)) * EARTH_RADIUS, rtol=1e-6
    )
    np.testing.assert_allclose(
        found.summary_.widest_gaps, expected.summary_.widest_gaps * EARTH_RADIUS, rtol=1e-9
    )
    np.testing.assert_allclose(
        found.summary_.feature_means, np.degrees(expected.summary_.feature_means), rtol=1e-9
    )
    found.save(tmp_path / "model")
    for again in (model.load(tmp_path / "model"), pickle.loads(pickle.dumps(found))):
        np.testing.assert_array_equal(again.predict(new), found.predict(new))
        np.testing.assert_array_equal(again.transform(new), found.transform(new))


def test_neighbours():
    X = positions(100)
    found = nearest_neighbors(X, 4, **DEGREES)
    expected = nearest_neighbors(np.radians(X), 4, metric="haversine")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances * EARTH_RADIUS, rtol=1e-9)
    means = NeighborMean(5, **DEGREES).fit_transform(X)
    expected = NeighborMean(5, metric="haversine").fit_transform(np.radians(X))
    np.testing.assert_allclose(means, np.degrees(expected), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", ["degrees", "radians"])
def test_means_of_clusters_are_those_on_the_sphere(unit, weighted):
    """By the definition: the direction of the mean of vectors; longitudes jump at the date line."""
    rng = np.random.default_rng(0)
    centres = np.array([[10.0, 179.5], [60.0, -100.0], [-85.0, 20.0]])
    X = np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 2))
    X[:, 1] = (X[:, 1] + 180) % 360 - 180
    weights = rng.uniform(0.5, 2.0, 90) if weighted else None
    turn = np.degrees if unit == "radians" else np.asarray
    model = TransitiveCut(3, metric="haversine", metric_params={"unit": unit})
    model.fit(X if unit == "degrees" else np.radians(X), sample_weight=weights)
    found = turn(model.summary_.feature_means)
    for c in range(3):
        own = model.labels_ == c
        latitude, longitude = np.radians(X[own]).T
        vectors = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude)]
        x, y, z = np.average(
            [*vectors, np.sin(latitude)], axis=1, weights=None if weights is None else weights[own]
        )
        expected = [np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]
        np.testing.assert_allclose(found[c], np.degrees(expected), rtol=1e-9)


def test_opposite_places_have_no_mean():
    model = TransitiveCut(1, **DEGREES).fit([[0.0, 0.0], [0.0, 180.0]])
    assert np.isnan(model.summary_.feature_means).all()


def test_a_metric_travels():
    metric = resolve_metric("haversine", {"unit": "degrees"})
    assert unit_of(pickle.loads(pickle.dumps(metric)).prepare) == "degrees"
    assert unit_of(resolve_metric("haversine").prepare) == "radians"


SWAPPED, DEGREES_MEANT = "columns look swapped", r"pass metric_params={'unit': 'degrees'}"


@pytest.mark.parametrize(
    ("X", "unit", "expected", "not_expected"),
    [
        ([[120.0, 30.0], [121.0, 31.0]], "degrees", [SWAPPED, "row 1 has 121"], [DEGREES_MEANT]),
        ([[120.0, 95.0], [121.0, 31.0]], "degrees", ["from -90 to 90, in degrees"], [SWAPPED]),
        ([[45.0, 9.0], [46.0, 120.0]], "radians", [DEGREES_MEANT, "row 1 has 46"], [SWAPPED]),
        ([[120.0, 30.0], [0.0, 0.0]], "radians", [DEGREES_MEANT, SWAPPED], []),
        ([[2.0, 0.5], [3.0, 0.6]], "radians", [SWAPPED, "row 1 has 3"], [DEGREES_MEANT]),
        ([[2.0, 2.5], [3.0, 0.6]], "radians", ["from -π/2 to π/2"], [SWAPPED, DEGREES_MEANT]),
    ],
)  # fmt: skip
def test_latitudes_out_of_range(X, unit, expected, not_expected):
    with pytest.raises(ValueError, match="needs latitudes from") as raised:
        TransitiveCut(2, metric="haversine", metric_params={"unit": unit}).fit(X)
    for words in expected:
        assert words in str(raised.value)
    for words in not_expected:
        assert words not in str(raised.value)


@pytest.mark.parametrize("unit", ["degree", 1, None, True, "km"])
def test_other_units_are_refused(unit):
    with pytest.raises(ValueError, match="takes the unit 'radians', by default, or 'degrees'"):
        resolve_metric("haversine", {"unit": unit})
    with pytest.raises(ValueError, match="does not take the parameters"):
        resolve_metric("euclidean", {"unit": "degrees"})
