"""What counts failures of Proposition 1 and Theorem 2, on sets small enough to see."""

from itertools import permutations

import numpy as np

from isthmus.paper.figure1_theorems import check_theorems, count_failures, slow_minimax
from isthmus.ultrametric import transitive_distances


def test_slow_distances_are_those_over_all_paths():
    base = transitive_distances(np.random.default_rng(0).normal(size=(6, 2)), 2)
    D = slow_minimax(base)
    for i, j in permutations(range(6), 2):
        rest = [k for k in range(6) if k not in (i, j)]
        paths = ([i, *stones, j] for m in range(5) for stones in permutations(rest, m))
        assert D[i, j] == min(base[path[:-1], path[1:]].max() for path in paths)


def test_ties_put_transitive_edges_off_the_tree():
    square = check_theorems(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    assert square["transitive_edges"] == 4
    assert square["transitive_off_tree"] == 1
    assert square["not_ultrametric"] == square["not_a_tree_edge"] == square["not_as_fast"] == 0


def test_failures_are_counted():
    X = np.array([[0.0], [1.0], [3.0]])
    base = np.abs(X - X.T)
    assert count_failures(base, X) == 2  # 3 > max(1, 2), both ways
    assert count_failures(slow_minimax(base), X) == 0
    assert count_failures(slow_minimax(base), np.zeros((3, 1))) == 6  # 0 for equal points
