"""Proposition 1 and Theorem 2, checked on point sets: every failure is counted.

Proposition 1: the transitive distance is an ultrametric. Theorem 2: transitive edges lie on the
minimum spanning tree. Both are checked against distances that are computed without a tree, and
without a tolerance.
"""

from __future__ import annotations

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.datasets import load_iris, make_two_moons
from isthmus.paper.experiment import Claim, Result, Results, Table, Task, Verdict
from isthmus.spanning_tree import minimum_spanning_tree
from isthmus.ultrametric import UltrametricTree, transitive_distances

FAMILIES = {
    "moons": "two moons",
    "normal": "normal, 5 features",
    "grid": "integers, many ties",
    "iris": "Iris",
}
_WITH_TIES = ("grid", "iris")


def tasks(n_sets: int) -> list[Task]:
    """Return a task for each family of sets."""
    return [
        Task(_name(f), theorems, {"family": f, "n_sets": n_sets, "n_points": 50}) for f in FAMILIES
    ]


def theorems(family: str, n_sets: int, n_points: int) -> Result:
    """Return the numbers of :func:`check_theorems`, summed over many sets."""
    found = [
        check_theorems(points_of(family, n_points, seed))
        for seed in range(1 if family == "iris" else n_sets)
    ]
    return {"sets": len(found)} | {name: sum(one[name] for one in found) for name in found[0]}


def _name(family: str) -> str:
    return f"theorems_{family}"


def points_of(family: str, n_points: int, seed: int) -> Floats:
    """Return one set of a family; Iris always has the same points."""
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
    """Return how many things were checked in one set, and how many were wrong.

    An edge is a transitive one if it is as long as the transitive distance of some pair; if no two
    edges are equally long, there is only one such edge for the pair.
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
    """Return transitive distances without a tree: each point in turn may be an intermediate one."""
    D = base.copy()
    for between in range(len(D)):
        D = np.minimum(D, np.maximum(D[:, between, None], D[between]))
    return D


def count_failures(D: Floats, X: Floats) -> int:
    """Return how many pairs and triples violate an axiom of ultrametrics."""
    equal = (X[:, None] == X).all(axis=2)
    wrong = np.count_nonzero((D == 0.0) != equal) + np.count_nonzero(D < 0.0)
    wrong += np.count_nonzero(D != D.T)
    for k in range(len(D)):
        wrong += np.count_nonzero(~(np.maximum(D[:, k, None], D[k]) >= D))
    return int(wrong)


def claims(results: Results) -> list[Claim]:
    """Return Proposition 1 and Theorem 2."""
    return [_ultrametric(results), _tree_edges(results)]


def _total(results: Results, name: str, *, ties: bool | None = None) -> int:
    """Return the sum of a number over all families, or over those with or without ties."""
    chosen = [f for f in FAMILIES if ties is None or (f in _WITH_TIES) == ties]
    return sum(results[_name(f)][name] for f in chosen)


def _ultrametric(results: Results) -> Claim:
    wrong = _total(results, "not_ultrametric")
    return Claim(
        "Proposition 1: the transitive distance is an ultrametric.",
        "proof omitted",
        f"{wrong} failures in {_total(results, 'triples'):,} triples of "
        f"{_total(results, 'sets')} sets",
        Verdict.of(wrong == 0, False),
        "All axioms were checked without a tolerance, on distances computed without a tree. A "
        "maximum of given numbers is one of them, so nothing is rounded; the tree's distances "
        f"differ from these for {_total(results, 'not_as_fast')} pairs.",
    )


def _tree_edges(results: Results) -> Claim:
    """Only sets without equal edges decide."""
    off = _total(results, "not_a_tree_edge", ties=False)
    off += _total(results, "transitive_off_tree", ties=False)
    equal = _total(results, "equal_edges", ties=False)
    return Claim(
        "Theorem 2: if no two edges are equally long, every transitive edge lies on the minimum "
        "spanning tree.",
        "proved",
        f"{off} edges off the tree, of {_total(results, 'pairs', ties=False):,} pairs",
        Verdict.of(off + equal == 0, False),
        "The transitive edge of each pair was found without the tree, by its length; the sets have "
        f"{equal} equal edges. The condition is needed: in the sets with ties "
        f"{_total(results, 'transitive_off_tree', ties=True):,} edges as long as a transitive "
        "distance are not on the tree. Even there every distance is the length of a tree edge, "
        f"with {_total(results, 'not_a_tree_edge', ties=True)} exceptions.",
    )


def table(results: Results) -> Table:
    """Return what was counted, by family."""
    columns = {
        "sets": "sets",
        "triples": "triples",
        "not_ultrametric": "axioms violated",
        "pairs": "pairs",
        "equal_edges": "equal edges",
        "not_a_tree_edge": "distances that no tree edge has",
        "transitive_off_tree": "transitive edges off the tree",
    }
    rows = [
        [name, *(f"{results[_name(family)][key]:,}" for key in columns)]
        for family, name in FAMILIES.items()
    ]
    return Table(
        "Proposition 1 and Theorem 2, counted over all triples and pairs.",
        ["points", *columns.values()],
        rows,
    )
