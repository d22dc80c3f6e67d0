"""Metrics that are Python functions: of rows, of strings, of anything."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial import distance
from scipy.spatial.distance import pdist, squareform

from inputs import levenshtein, points, suited
from isthmus import KMeansDuality, TransitiveKMeans, minimum_spanning_tree
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.validation import as_objects
from isthmus.theory import transitive_distances


@pytest.mark.parametrize(
    "metric",
    ["cosine", "euclidean", "cityblock", "chebyshev", "braycurtis", "canberra", "hamming"],
)
@pytest.mark.parametrize("n", [1, 2, 3, 80])
def test_a_function_is_as_good_as_its_name(metric, n):
    X = suited(metric, "gaussian", n)
    X[::2] = X[::2].round()
    by_name = minimum_spanning_tree(X, metric=metric)
    by_function = minimum_spanning_tree(X, metric=getattr(distance, metric))
    np.testing.assert_allclose(by_function.weights, by_name.weights, rtol=1e-12, atol=1e-15)
    assert by_function.engine == "prim"
    if metric not in ("cosine", "hamming"):  # ties, and what is a tie to one of the two
        np.testing.assert_array_equal(by_function.edges, by_name.edges)


def test_matrices_of_functions():
    X = points("gaussian", 70, 3, 0)
    D = distance_matrix(X, distance.cityblock)
    np.testing.assert_allclose(D, squareform(pdist(X, "cityblock")), rtol=1e-14)
    np.testing.assert_array_equal(transitive_distances(X, 2, metric=distance.cityblock), D)
    found = KMeansDuality(3, metric=distance.cityblock, random_state=0).fit(X)
    by_name = KMeansDuality(3, metric="cityblock", random_state=0).fit(X)
    np.testing.assert_array_equal(found.labels_, by_name.labels_)


def test_it_is_called_with_rows_and_parameters():
    X = np.arange(6).reshape(3, 2)
    seen = []

    def metric(x, y, *, scale):
        seen.append((type(x), x.shape, x.dtype == X.dtype, y.shape, scale))
        return float(np.abs(x - y).sum()) * scale

    tree = minimum_spanning_tree(X, metric=metric, metric_params={"scale": 10})
    assert tree.weights.tolist() == [40.0, 40.0]
    assert set(seen) == {(np.ndarray, (2,), True, (2,), 10)}


def test_strings():
    words = ["kitten", "sitting", "mitten", "house", "mouse", "louse"]
    expected = [[levenshtein(a, b) for b in words] for a in words]
    given = minimum_spanning_tree(expected, metric="precomputed")
    arrays = (np.array(words), np.array(words, dtype=object))
    arrays += (pd.Series(words), pl.Series(words))
    for X in (words, tuple(words), *arrays):
        assert minimum_spanning_tree(X, metric=levenshtein) == given
        model = TransitiveKMeans(2, metric=levenshtein).fit(X)
        assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0]
        assert not hasattr(model, "n_features_in_")
    assert KMeansDuality(2, metric=levenshtein, random_state=0).fit(words).labels_.size == 6
    assert transitive_distances(words, 2, metric=levenshtein).tolist() == expected


def test_a_fit_of_words_forgets_the_features_of_a_fit_of_points():
    model = TransitiveKMeans(1).fit([[0.0, 1.0], [2.0, 3.0]])
    assert model.n_features_in_ == 2
    model.set_params(metric=levenshtein).fit(["a", "b"])
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("X", "is_table"),
    [
        ([[1.0, 2.0], [3, 4]], True),
        ([(1, 2), np.array([True, False])], True),
        (np.zeros((3, 2)), True),
        (np.zeros(3), True),  # and refused, as by scikit-learn
        (pl.Series([1.0, 2.0]), True),
        (pd.DataFrame({"a": ["x", "y"]}), True),
        ([[1.0], [2.0, 3.0]], False),
        ([np.zeros(3), np.zeros(4)], False),
        ([np.zeros((2, 2)), np.zeros((2, 2))], False),
        ([["a", "b"], ["c", "d"]], False),
        ([[[1], [2, 3]], [[1], [2]]], False),
        ([{1, 2}, {2}], False),
        ([{"a": 1}], False),
        ([1, 2, 3], False),
        (["a"], False),
        ([], True),
    ],
)
def test_what_is_a_table_and_what_a_list_of_objects(X, is_table):
    assert (as_objects(X) is None) == is_table


def test_sets_and_series_of_several_lengths():
    def apart(a, b):
        return len(a ^ b)

    assert minimum_spanning_tree([{1}, {1, 2}, {5}], metric=apart).weights.tolist() == [1, 2]
    series = [np.zeros(3), np.zeros(4), np.ones(7)]
    tree = minimum_spanning_tree(series, metric=lambda a, b: abs(len(a) - len(b)))
    assert tree.weights.tolist() == [1.0, 3.0]


@pytest.mark.parametrize("kind", [float, int, bool, np.float32, np.int8, Fraction, np.array])
def test_any_real_number_will_do(kind):
    def metric(x, y):
        return kind(int(x[0] != y[0]))

    tree = minimum_spanning_tree([[0.0], [0.0], [1.0]], metric=metric)
    assert tree.weights.tolist() == [0.0, 1.0]


def test_progress_and_the_number_of_calls():
    X, n = points("gaussian", 200, 2, 0), 200
    calls, seen = [], []

    def metric(x, y):
        calls.append(1)
        return np.abs(x - y).sum()

    minimum_spanning_tree(X, metric=metric, progress=lambda *step: seen.append(step))
    m = n - 1  # a step is the shorter the later it is
    steps = [(m - (m - done) ** 2 // m) / m for done in range(1, n)]
    *found, last = [done / total for done, total in seen]
    assert last == 1.0  # when the edges are in order
    np.testing.assert_allclose(found, np.array(steps) * max(found), atol=1 / m)
    assert n * (n - 1) / 2 <= len(calls) <= n * (n - 1) / 2 + 50 * 49 + 2 * n


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_it_raises_is_passed_on(error):
    def metric(x, y):
        if (x[0], y[0]) == (1.0, 4.0):
            raise error("mine")
        return abs(x[0] - y[0])

    with pytest.raises(error, match="mine") as caught:
        minimum_spanning_tree(np.arange(60.0)[:, None], metric=metric)
    assert str(caught.value) == "mine"
    notes = getattr(caught.value, "__notes__", [])
    named = ["metric=metric was called with rows 1 and 4"]
    assert notes == ([] if error is KeyboardInterrupt else named)


def test_asymmetry_is_noticed():
    X = np.arange(80.0)[:, None]
    rng = np.random.default_rng(0)

    def late(x, y):
        """Not symmetric where an edge of the tree leaves the first fifty points."""
        return abs(x[0] - y[0]) + (x[0] == 70 and y[0] == 69) / 2

    def uneven(x, y):
        return abs(x[0] - y[0]) * (1.0 if x[0] < y[0] else 2.0)

    def noisy(x, y):
        return abs(x[0] - y[0]) * (1.0 + rng.random() * 1e-12)

    words = r"not symmetric: for rows 1 and 0 it returned 2, and 1 for rows 0 and 1"
    for n in (2, 80):
        with pytest.raises(ValueError, match=words):
            minimum_spanning_tree(X[:n], metric=uneven)
    for compute in (distance_matrix, lambda X, metric: minimum_spanning_tree(X, metric=metric)):
        with pytest.raises(ValueError, match=r"not symmetric: for rows (69 and 70|70 and 69)"):
            compute(X, late)
    np.testing.assert_allclose(minimum_spanning_tree(X, metric=noisy).weights, 1.0)


def test_asymmetry_off_the_tree_is_looked_for():
    """Of points beyond the first fifty one more pair is compared for each edge."""
    X = np.arange(300.0)[:, None]

    def uneven(x, y):
        far = abs(x[0] - y[0]) > 1
        return abs(x[0] - y[0]) + (far and max(x[0], y[0]) >= 60 and x[0] > y[0]) / 2

    with pytest.raises(ValueError, match="not symmetric"):
        minimum_spanning_tree(X, metric=uneven)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (np.nan, ValueError, "returned nan for rows"),
        (np.inf, ValueError, "returned inf for rows"),
        (-1e-9, ValueError, "returned -1e-09 for rows"),
        (10**400, ValueError, "finite number"),
        (None, TypeError, "real number, but it returned None"),
        ("1.0", TypeError, "real number, but it returned '1.0'"),
        (1j, TypeError, "real number, but it returned 1j"),
        (np.ones(1), TypeError, r"real number, but it returned array\(\[1\.\]\)"),
        ([1.0, 2.0], TypeError, r"real number, but it returned \[1.0, 2.0\]"),
    ],
)
@pytest.mark.parametrize("n", [5, 80])
def test_what_is_no_distance_is_refused(value, error, words, n):
    X = np.arange(float(n))[:, None]
    last = n - 1

    def metric(x, y):
        return value if {x[0], y[0]} == {2.0, last} else abs(x[0] - y[0])

    with pytest.raises(error, match=words) as caught:
        minimum_spanning_tree(X, metric=metric)
    assert re.search(rf"rows (2 and {last}|{last} and 2)\b", str(caught.value))
    with pytest.raises(error, match=words):
        distance_matrix(X, metric)
