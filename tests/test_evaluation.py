from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.evaluation import error_rate, match_labels


def brute_force_error(y_true, y_pred):
    """Try every way to give clusters different classes; classes beyond the true ones are wrong."""
    classes, clusters = sorted(set(y_true)), sorted(set(y_pred))
    targets = classes + [None] * len(clusters)
    fewest_wrong = min(
        sum(
            dict(zip(clusters, chosen, strict=True))[p] != t
            for t, p in zip(y_true, y_pred, strict=True)
        )
        for chosen in set(permutations(targets, len(clusters)))
    )
    return fewest_wrong / len(y_true)


pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 1)), min_size=1, max_size=25)


@given(pairs)
def test_error_rate_equals_brute_force(labels):
    y_true, y_pred = zip(*labels, strict=True)
    assert error_rate(y_true, y_pred) == pytest.approx(brute_force_error(y_true, y_pred), abs=1e-12)


@given(pairs)
def test_matched_labels_are_wrong_as_often_as_the_error_rate_says(labels):
    y_true, y_pred = map(np.array, zip(*labels, strict=True))
    renamed = match_labels(y_true, y_pred)
    assert np.mean(renamed != y_true) == pytest.approx(error_rate(y_true, y_pred), abs=1e-12)
    # the partition stays the same one
    assert np.array_equal(np.equal.outer(renamed, renamed), np.equal.outer(y_pred, y_pred))


@given(pairs)
def test_names_of_clusters_do_not_matter(labels):
    y_true, y_pred = zip(*labels, strict=True)
    named = [f"cluster {-label}" for label in y_pred]
    assert error_rate(y_true, named) == error_rate(y_true, y_pred)


def test_perfect_clusters_have_no_error():
    assert error_rate([0, 0, 1, 2], [5, 5, 9, 7]) == 0.0
    assert isinstance(error_rate([0, 1], [0, 1]), float)


def test_a_greedy_matching_would_not_do():
    # Cluster 0's largest class is "a", but "a" must go to cluster 1, which holds nothing else.
    y_true = ["a"] * 5 + ["b"] * 4 + ["a"] * 4
    y_pred = [0] * 5 + [0] * 4 + [1] * 4
    assert error_rate(y_true, y_pred) == pytest.approx(5 / 13)


def test_more_clusters_than_classes_cannot_all_be_right():
    assert error_rate([0, 0, 0, 0], [0, 1, 2, 3]) == 0.75


def test_fewer_clusters_than_classes_cannot_all_be_right():
    assert error_rate([0, 1, 2, 3], [0, 0, 0, 0]) == 0.75


@pytest.mark.parametrize(
    "y_true",
    [
        ["x", "x", "y"],
        [1.5, 1.5, 0.5],
        [True, True, False],
        np.array([(1, 2), "a", None], dtype=object)[[1, 1, 2]],
        np.array([7, 7, 9], dtype=np.uint8),
    ],
    ids=["strings", "floats", "booleans", "objects", "small integers"],
)
def test_labels_of_any_type(y_true):
    assert error_rate(y_true, [4, 4, 3]) == 0.0
    assert error_rate([4, 4, 3], y_true) == 0.0
    renamed = match_labels(y_true, [4, 4, 3])
    assert renamed.tolist() == list(y_true)
    assert renamed.dtype == np.asarray(y_true).dtype


def test_labels_from_a_data_frame():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["good", "bad", "good"])
    assert error_rate(column, [1, 0, 1]) == 0.0


@pytest.mark.parametrize(
    ("y_true", "spare_name"),
    [
        ([0, 0, 1, 1, 0], 2),
        (np.array([250, 250, 255, 255, 250], dtype=np.uint8), 256),
        ([0.5, 0.5, 1.5, 1.5, 0.5], 2.0),
        (["a", "a", "b", "b", "a"], "cluster 6"),
        (["cluster 6", "cluster 6", "b", "b", "b"], "cluster 6'"),
        ([True, True, False, False, True], "cluster 6"),
    ],
)
def test_a_cluster_without_a_class_gets_a_name_of_its_own(y_true, spare_name):
    y_pred = [4, 4, 5, 5, 6]
    renamed = match_labels(y_true, y_pred)
    assert renamed.tolist() == [*list(y_true)[:4], spare_name]


@pytest.mark.parametrize("function", [error_rate, match_labels])
def test_different_numbers_of_labels_are_refused(function):
    with pytest.raises(ValueError, match="have 3 and 2 labels"):
        function([0, 1, 1], [0, 1])


@pytest.mark.parametrize("function", [error_rate, match_labels])
@pytest.mark.parametrize("wrong", [[], 3, [[0], [1]]], ids=["none", "scalar", "column"])
def test_what_is_no_list_of_labels_is_refused(function, wrong):
    with pytest.raises(ValueError, match="y_pred must be one label per point"):
        function([0, 1], wrong)
    with pytest.raises(ValueError, match="y_true must be one label per point"):
        function(wrong, [0, 1])


def test_a_missing_label_is_refused():
    with pytest.raises(ValueError, match="y_true must not contain NaN or infinity, but point 1"):
        error_rate([0.0, float("nan"), 1.0], [0, 1, 1])


def test_far_too_many_labels_are_refused_before_memory_runs_out():
    values = np.arange(1_000_000)
    with pytest.raises(MemoryError, match="1000000 classes against 1000000 clusters"):
        error_rate(values, values)
