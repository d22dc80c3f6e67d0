"""Neighbours among points that span more orders of magnitude than squares can hold."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from isthmus import nearest_neighbors
from isthmus.neighbors import selection
from oracles.exact import assert_rounded, exact_distances
from spanning_tree.test_range import KINDS, wide


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("search", ["all distances", "kd-tree", "blocks", "sparse"])
def test_neighbours_are_exact(kind, search, monkeypatch):
    if search != "all distances":
        monkeypatch.setattr(selection, "_FEW_POINTS", 0)
    X = wide(kind, 50, 12 if search == "blocks" else 3, seed=2)
    X = np.vstack([X, X[:5]])
    found = nearest_neighbors(csr_array(X) if search == "sparse" else X, 9)
    exact = exact_distances(X, "euclidean")
    for i, row in enumerate(exact):
        own = found.indices[i].tolist()
        assert own[0] == i
        assert len(set(own)) == 9
        others = sorted(d for j, d in enumerate(row) if j != i)
        assert_rounded(found.distances[i, 1:], others[:8])
        assert_rounded(found.distances[i, 1:], [row[j] for j in own[1:]])
