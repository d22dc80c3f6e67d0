"""New points beside fitted ones that span more orders of magnitude than squares can hold."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from isthmus import TransitiveCut
from isthmus.prediction import attach
from oracles.exact import exact_distances
from spanning_tree.test_range import KINDS, wide


def assert_nearest(fitted, new, labels, found):
    """Check that each new point has the label of a nearest fitted one, within rounding."""
    distances = exact_distances(np.vstack([fitted, new]), "euclidean")
    rows = [row[: len(fitted)] for row in distances[len(fitted) :]]
    for row, label in zip(rows, found, strict=True):
        nearest = min(d for d, own in zip(row, labels, strict=True) if own == label)
        assert nearest <= min(row) * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("search", ["rows", "kd-tree", "sparse"])
def test_predictions_are_exact(kind, search, monkeypatch):
    if search == "kd-tree":
        monkeypatch.setattr(attach, "_FEW_POINTS", 0)
    as_given = csr_array if search == "sparse" else np.asarray
    X = wide(kind, 100, 2, seed=3)
    X = X[np.random.default_rng(0).permutation(100)]
    fitted, new = X[:60], X[60:]
    model = TransitiveCut(30).fit(as_given(fitted))
    found = model.predict(as_given(new)).tolist()
    assert_nearest(fitted, new, model.labels_, found)
    assert [int(model.predict(as_given(new[i : i + 1]))[0]) for i in range(40)] == found


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_a_far_row_changes_no_other(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * 1e-80
    new = rng.normal(size=(20, 4)) * 1e-80
    model = TransitiveCut(20).fit(layout(X))
    expected = model.predict(layout(new))
    distances = model.transform(layout(new))
    for far in (1e18, 1e99, 1e200):
        batch = np.vstack([new, np.full((1, 4), far)])
        np.testing.assert_array_equal(model.predict(layout(batch))[:20], expected)
        np.testing.assert_array_equal(model.transform(layout(batch))[:20], distances)
