"""Rows of Prim's algorithm that threads compute ahead."""

import numpy as np
import pytest

from inputs import KINDS, points
from isthmus import minimum_spanning_tree
from isthmus.spanning_tree import prim_rowwise as prim_rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["canberra", "hamming", "russellrao", "nan_euclidean"])
def test_rows_ahead_change_nothing(kind, metric, monkeypatch):
    alone = [minimum_spanning_tree(points(kind, n, 3, n), metric=metric) for n in (2, 3, 20, 150)]
    monkeypatch.setattr(prim_rows, "_WORTH_NANOSECONDS", 0)
    computed = []
    compute = prim_rows._RowsAhead._compute
    monkeypatch.setattr(
        prim_rows._RowsAhead,
        "_compute",
        lambda self, state, places: (computed.append(len(places)), compute(self, state, places)),
    )
    for jobs in (2, 3):
        for tree, n in zip(alone, (2, 3, 20, 150), strict=True):
            assert minimum_spanning_tree(points(kind, n, 3, n), metric=metric, n_jobs=jobs) == tree
    assert max(computed) > 1


def test_an_undefined_distance_is_refused_by_any_thread(monkeypatch):
    monkeypatch.setattr(prim_rows, "_WORTH_NANOSECONDS", 0)
    X = np.ones((30, 2))
    X[4, 0] = X[20, 1] = np.nan
    with pytest.raises(ValueError, match="rows 4 and 20"):
        minimum_spanning_tree(X, metric="nan_euclidean", n_jobs=2)
