"""Integers beyond 2**53, such as times in nanoseconds, are not rounded without a word."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from isthmus import TransitiveCut, minimum_spanning_tree
from isthmus.metrics.integers import first_rounded

LARGE = np.array([[0], [2**53], [2**53 + 1], [2**53 + 2]])
FORMS = {
    "array": LARGE,
    "list": LARGE.tolist(),
    "unsigned": LARGE.astype(np.uint64),
    "objects": LARGE.astype(object),
    "sparse": csr_array(LARGE),
    "pandas": pd.DataFrame(LARGE),
    "nullable": pd.DataFrame(LARGE).astype("Int64"),
    "polars": pl.DataFrame({"a": LARGE[:, 0]}),
    "negative": -LARGE,
}


@pytest.mark.parametrize("form", FORMS)
def test_refused(form):
    words = r"integer -?9007199254740993, which float64 rounds.*Subtract"
    with pytest.raises(ValueError, match=words):
        minimum_spanning_tree(FORMS[form])
    with pytest.raises(ValueError, match=words):
        TransitiveCut(2).fit(FORMS[form])
    model = TransitiveCut(2).fit([[0.0], [1.0]])
    if isinstance(FORMS[form], np.ndarray):
        with pytest.raises(ValueError, match=words):
            model.predict(FORMS[form])


def test_after_the_advice():
    times = np.array([[1_700_000_000_000_000_001], [1_700_000_000_000_000_003], [1]])[:2]
    assert minimum_spanning_tree(times - times.min(axis=0)).weights.tolist() == [2.0]


def test_distances():
    with pytest.raises(ValueError, match="9007199254740993, which float64 rounds"):
        minimum_spanning_tree(LARGE[1:, 0], metric="precomputed")


def test_a_function_sees_integers_as_they_are():
    tree = minimum_spanning_tree(LARGE, metric=lambda a, b: float(abs(int(a[0]) - int(b[0]))))
    assert tree.weights.tolist() == [1.0, 1.0, 2.0**53]


def test_large_integers_that_float64_holds_are_served():
    held = np.array([[2**62], [-(2**63)], [2**53], [3 * 2**60]])
    assert first_rounded(held) is None
    assert minimum_spanning_tree(held).n_points == 4
    assert first_rounded(np.array([2**64 - 1], dtype=np.uint64)) == 2**64 - 1
    assert first_rounded(np.array([-(2**63) + 1])) == -(2**63) + 1
    rng = np.random.default_rng(0)
    numbers = rng.integers(-(2**63), 2**63 - 1, size=1000) >> rng.integers(0, 20, size=1000)
    for number in numbers.tolist():
        assert (first_rounded(np.array([number])) is None) == (int(float(number)) == number)
