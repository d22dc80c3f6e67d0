"""Point sets → how often Proposition 1 and Theorem 2 are wrong on them, counted.

Everything is checked against distances that are found without a tree, and without a tolerance.
"""

from __future__ import annotations

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.datasets import load_iris, make_two_moons
from isthmus.spanning_tree import minimum_spanning_tree
from isthmus.ultrametric import UltrametricTree, transitive_distances

FAMILIES = {
    "moons": "two moons",
    "normal": "normal, 5 features",
    "grid": "whole numbers, many ties",
    "iris": "Iris",
}
WITH_TIES = ("grid", "iris")


def points_of(family: str, n_points: int, seed: int) -> Floats:
    """Return one set of a family; Iris has always the same points."""
    source = np.random.default_rng(seed)
    if family == "moons":
        return make_two_moons(n_points, random_state=seed)[0]
    if family == "normal":
        return source.normal(size=(n_points, 5))
    if family == "grid":
        return source.integers(0, 8, size=(n_points, 2)).astype(np.float64)
    X: Floats = load_iris(return_X_y=True)[0]
    return X


def check_theorems(X: Floats) -> dict[str, int]:
    """Return numbers of things checked and found wrong in one set, without any tolerance.

    Distances come from slow_minimax, which knows no tree. An edge is a transitive one if it is as
    long as the transitive distance of some pair; if no two edges are equally long, there is only
    one such edge for the pair.
    """
    base = transitive_distances(X, 2)
    D = slow_minimax(base)
    upper = np.triu_indices(len(X), 1)
    edges = minimum_spanning_tree(X).edges
    on_tree = np.zeros(base.shape, dtype=bool)
    on_tree[edges[:, 0], edges[:, 1]] = on_tree[edges[:, 1], edges[:, 0]] = True
    is_transitive = np.isin(base[upper], D[upper])
    return {
        "triples": len(X) ** 3,
        "not_ultrametric": count_failures(D, X),
        "pairs": len(upper[0]),
        "not_as_fast": int(np.count_nonzero(UltrametricTree.from_data(X).matrix() != D)),
        "not_a_tree_edge": int(np.count_nonzero(~np.isin(D[upper], base[on_tree]))),
        "transitive_edges": int(np.count_nonzero(is_transitive)),
        "transitive_off_tree": int(np.count_nonzero(is_transitive & ~on_tree[upper])),
        "equal_edges": len(upper[0]) - len(np.unique(base[upper])),
    }


def slow_minimax(base: Floats) -> Floats:
    """Return transitive distances the slow way: each point in turn may be a stepping stone."""
    D = base.copy()
    for stone in range(len(D)):
        D = np.minimum(D, np.maximum(D[:, stone, None], D[stone]))
    return D


def count_failures(D: Floats, X: Floats) -> int:
    """Return how many pairs and triples break one of an ultrametric's axioms."""
    equal = (X[:, None] == X).all(axis=2)
    wrong = np.count_nonzero((D == 0.0) != equal) + np.count_nonzero(D < 0.0)
    wrong += np.count_nonzero(D != D.T)
    for k in range(len(D)):
        wrong += np.count_nonzero(~(np.maximum(D[:, k, None], D[k]) >= D))
    return int(wrong)
