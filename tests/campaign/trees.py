"""Part (a): spanning trees and neighbours of every engine, against long double."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from campaign import exact
from campaign.metrics import PLAIN, ROW_METRICS, SPARSE, suited, tolerance
from campaign.point_sets import EXACT_KINDS, KINDS, LAYOUTS, SPARSE_LAYOUTS, points, stored
from campaign.script import Script

TREE, NEIGHBORS = (
    "from isthmus import minimum_spanning_tree",
    "from isthmus import nearest_neighbors",
)
# Features: one of each size that kernels are compiled for would take minutes to compile.
FEATURES = (1, 2, 2, 2, 3, 3, 6, 12, 40)
# What a refusal of numbers that float64 cannot hold says.
RANGE_WORDS = ("too large for float64", "beyond 2**53")


@dataclass(frozen=True)
class Case:
    """Points, how they are stored, and what is asked about them."""

    X: np.ndarray
    kind: str
    metric: str
    params: dict
    layout: str
    n_jobs: int
    n_neighbors: int
    asks: str

    def smaller(self) -> Iterator[Case]:
        """Yield the case with fewer points, then with fewer features."""
        n, d = self.X.shape
        size = n // 2
        while size:
            for start in range(0, n, size):
                rows = np.r_[0:start, min(start + size, n) : n]
                if len(rows) > 1:
                    yield replace(
                        self, X=self.X[rows], n_neighbors=min(self.n_neighbors, len(rows))
                    )
            size //= 2
        if not self.params and self.metric in PLAIN:
            for column in range(d if d > 1 else 0):
                yield replace(self, X=np.delete(self.X, column, axis=1))


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    n = int(rng.choice([rng.integers(1, 12), rng.integers(2, 70), rng.integers(2, 200)]))
    if rng.random() < 0.004:
        n = int(rng.integers(1000, 3001))
    d = int(rng.choice(FEATURES))
    kind = str(rng.choice(KINDS))
    metric = str(rng.choice([*PLAIN * 4, *exact.METRICS]))
    asks = str(rng.choice(["tree"] * 7 + ["neighbors", "shared", "mean", "distances", "graph"]))
    if asks in ("shared", "mean"):
        kind, metric = str(rng.choice(EXACT_KINDS)), str(rng.choice(PLAIN[:4]))
    if metric in ROW_METRICS:
        n = min(n, 60)
    if n > 500:  # long doubles take their time
        d = min(d, 6 if metric in PLAIN else 2)
    if kind == "large integers":
        metric = str(rng.choice(PLAIN))
    X, params = suited(rng, points(rng, kind, n, d), metric)
    if metric in PLAIN:
        X = stored(rng, X)
    layout = str(rng.choice([*LAYOUTS, "as it is", "as it is", "as it is"]))
    if metric in SPARSE and X.dtype != np.float16 and rng.random() < 0.25:
        layout = str(rng.choice(list(SPARSE_LAYOUTS)))
    return Case(
        X,
        kind,
        metric,
        params,
        layout,
        n_jobs=int(rng.integers(2, 5)),
        n_neighbors=int(rng.integers(1, min(len(X), 12) + 1)),
        asks=asks,
    )


def check(case: Case, counts: Counter[str]) -> None:
    """Compare all engines with the definition, and with one another."""
    matrix = exact.distances(case.X, case.X, case.metric, case.params)
    if not np.isfinite(matrix).all():
        return  # the metric is not defined for these
    counts["inputs"] += 1
    {"neighbors": _check_neighbors, "distances": _check_given, "graph": _check_graph}.get(
        case.asks, _check_trees
    )(case, matrix, counts)


def _script(case: Case, line: str) -> tuple[Script, str]:
    """Return a script with the points, and its arguments for the metric."""
    script = Script(line)
    script.given(X=case.X.copy())
    store = (LAYOUTS | SPARSE_LAYOUTS)[case.layout]
    if store:
        script.run(store)
    arguments = f"metric={case.metric!r}"
    if case.params:
        script.given(params=case.params)
        arguments += ", metric_params=params"
    return script, arguments


def engines_for(case: Case) -> list[str]:
    """Return the engines to ask: those that serve the points, and of others none."""
    d = case.X.shape[1]
    if case.layout in SPARSE_LAYOUTS:
        return ["auto", "blocked"]
    if case.metric in ROW_METRICS:
        return ["auto", "prim"]
    squares = case.metric not in ("manhattan", "chebyshev", "minkowski")
    few = d <= 2 or (d in (3, 6) and squares)  # each takes seconds to compile
    named = {"kd-tree": few, "blocked": squares, "sort": d == 1 and case.metric in PLAIN}
    return ["auto", "prim", *(name for name, serves in named.items() if serves)]


def _check_trees(case: Case, matrix: np.ndarray, counts: Counter[str]) -> None:
    slack = tolerance(case, matrix)
    neighborhood = ""
    if case.asks in ("shared", "mean") and 1 < case.n_neighbors <= len(matrix):
        neighborhood = f", n_neighbors={case.n_neighbors}, neighborhood={case.asks!r}"
        lists = exact.nearest(matrix, case.n_neighbors)
        if case.asks == "shared":
            matrix = exact.shared(matrix, lists)
        else:
            means = np.asarray(case.X, dtype=exact.Real)[lists].mean(axis=1)
            matrix = exact.distances(means, means, case.metric, case.params)
            slack = _with_rounded_points(case, slack)
    expected = exact.tree_weights(matrix)
    first = None
    for engine in engines_for(case):
        for n_jobs in (1, case.n_jobs):
            script, arguments = _script(case, TREE)
            arguments += f"{neighborhood}, engine={engine!r}"
            error = script.attempt(
                f"tree = minimum_spanning_tree(X, {arguments}, n_jobs={n_jobs})", ValueError
            )
            if error is not None:
                _check_refusal(script, error, case, matrix, counts)
                break
            counts["trees"] += 1
            tree = script.names["tree"]
            _check_shape(script, len(matrix))
            lengths = matrix[tree.edges[:, 0], tree.edges[:, 1]]
            _check_weights(script, expected, lengths, slack)
            if n_jobs == 1:
                alone, first = tree, first or tree
                if not np.array_equal(tree.weights, first.weights):
                    with_auto = arguments.replace(f"engine={engine!r}", "engine='auto'")
                    script.run(f"other = minimum_spanning_tree(X, {with_auto})")
                    _check_engines_agree(script, slack)
                continue
            counts["comparisons of threads"] += 1
            if tree != alone:
                script.run(f"alone = minimum_spanning_tree(X, {arguments}, n_jobs=1)")
                script.check("tree == alone", "threads change the tree", "tree.edges")


def _with_rounded_points(case: Case, slack):
    """Return the tolerance where coordinates are means, which are rounded."""
    # of both ends
    digits = 2.5e-7 if np.can_cast(case.X.dtype, np.float32) else 2e-15
    moved = exact.Real(digits) * np.abs(case.X.astype(float)).max(initial=0.0) * case.X.shape[1]
    if case.metric == "sqeuclidean":
        return lambda w: slack(w) + 2 * moved * np.sqrt(w) + moved**2
    return lambda w: slack(w) + 2 * moved


def _check_shape(script: Script, n: int) -> None:
    script.check(
        f"tree.edges.shape == ({n - 1}, 2) and tree.weights.shape == ({n - 1},)", "wrong shape"
    )
    script.check("(tree.edges[:, 0] < tree.edges[:, 1]).all()", "ends are not in order")
    if not exact.is_tree(script.names["tree"].edges, n):
        script.run("from scipy.sparse import coo_array")
        script.run("from scipy.sparse.csgraph import connected_components")
        script.run(f"graph = coo_array((np.ones({n - 1}), tree.edges.T), shape=({n}, {n}))")
        script.check("connected_components(graph)[0] == 1", "the edges are no tree", "tree.edges")
    in_order = "np.lexsort((*tree.edges.T[::-1], tree.weights)) == np.arange(len(tree.weights))"
    script.check(f"({in_order}).all()", "edges are not in their total order")


def _check_weights(script: Script, expected, lengths, slack) -> None:
    """Compare the weights with those of the lightest tree, and each with the edge's own length."""
    for what, values in (("not the lightest tree", expected), ("a wrong weight", lengths)):
        found = script.names["tree"].weights
        allowed = slack(values)
        with np.errstate(invalid="ignore"):
            good = (found == values) | (np.abs(found - values) <= allowed)
        if not good.all():
            script.given(expected=values, tolerance=allowed)
            script.check(
                "((tree.weights == expected) | (abs(tree.weights - expected) <= tolerance)).all()",
                what,
                "(tree.weights, expected)",
            )
            script.fail(what, "by less than float64 shows")


def _check_engines_agree(script: Script, slack) -> None:
    """Engines find the same weights, up to the last bits where sums are taken in another order."""
    tree, other = script.names["tree"], script.names["other"]
    if not (np.abs(tree.weights - other.weights) <= 2 * slack(other.weights)).all():
        script.check("(tree.weights == other.weights).all()", "engines differ", "tree.weights")


def _check_refusal(script: Script, error, case: Case, matrix, counts) -> None:
    """Numbers that float64 cannot hold may be refused; nothing else."""
    words = str(error)
    in_words = any(phrase in words for phrase in RANGE_WORDS)
    if in_words and is_out_of_range(case, matrix):
        counts["refused: out of range"] += 1
        return
    if "does not serve" in words:
        counts["refused: not served"] += 1
        return
    script.fail("ValueError", words[:300])


def is_out_of_range(case: Case, matrix: np.ndarray) -> bool:
    """Whether some distance is more than float64 can hold, or it would round an integer."""
    if case.X.dtype.kind in "iu" and (case.X.astype(np.float64).astype(exact.Real) != case.X).any():
        return True
    return matrix.max(initial=0.0) > 1.7e308


def _check_neighbors(case: Case, matrix: np.ndarray, counts: Counter[str]) -> None:
    script, arguments = _script(case, NEIGHBORS)
    error = script.attempt(
        f"found = nearest_neighbors(X, {case.n_neighbors}, {arguments})", ValueError
    )
    if error is not None:
        _check_refusal(script, error, case, matrix, counts)
        return
    counts["neighbour lists"] += len(matrix)
    found = script.names["found"]
    n = len(matrix)
    script.check(f"found.indices.shape == ({n}, {case.n_neighbors})", "wrong shape")
    script.check("(found.indices[:, 0] == np.arange(len(found.indices))).all()", "not itself first")
    script.check("all(len(set(row)) == len(row) for row in found.indices.tolist())", "a repetition")
    script.check("(np.diff(found.distances) >= 0).all()", "distances are not in order")
    sorted_rows = np.take_along_axis(matrix, exact.nearest(matrix, case.n_neighbors), axis=1)
    own = np.take_along_axis(matrix, found.indices.astype(np.int64), axis=1)
    slack = tolerance(case, matrix)
    for what, values in (("not the nearest", sorted_rows), ("a wrong distance", own)):
        if not (np.abs(found.distances - values) <= slack(values)).all():
            script.given(expected=values, tolerance=slack(values))
            script.check(
                "(abs(found.distances - expected) <= tolerance).all()", what, "found.distances"
            )
    if case.kind == "lattice" and case.metric in PLAIN[:4]:
        script.given(expected=exact.nearest(matrix, case.n_neighbors))
        script.check("(found.indices == expected).all()", "not by (distance, index)", "found")


def _check_given(case: Case, matrix: np.ndarray, counts: Counter[str]) -> None:
    """Distances that are given: a square matrix and a condensed one."""
    square = matrix.astype(np.float64)
    if not np.isfinite(square).all():
        return
    expected = exact.tree_weights(square)
    upper = np.triu_indices(len(square), 1)
    forms = {"square": square, "condensed": square[upper], "float32": square.astype(np.float32)}
    for form, data in forms.items():
        if not np.isfinite(data).all() or (form == "condensed" and len(square) < 2):
            continue
        script = Script(TREE)
        script.given(X=data)
        script.run("tree = minimum_spanning_tree(X, metric='precomputed')")
        counts["trees"] += 1
        _check_shape(script, len(square))
        wanted = exact.tree_weights(data.astype(np.float64)) if form == "float32" else expected
        script.given(expected=wanted)
        script.check("(tree.weights == expected).all()", "wrong weights", "tree.weights")


def _check_graph(case: Case, matrix: np.ndarray, counts: Counter[str]) -> None:
    """A sparse graph, perhaps of several components."""
    square = matrix.astype(np.float64)
    n = len(square)
    if not np.isfinite(square).all():
        return
    lists = exact.nearest(matrix, min(case.n_neighbors + 1, n))
    there = np.zeros((n, n), dtype=bool)
    np.put_along_axis(there, lists, True, axis=1)
    there |= there.T
    np.fill_diagonal(there, False)
    script = Script(TREE, "from scipy.sparse import coo_array")
    i, j = np.nonzero(there)
    script.given(i=i, j=j, lengths=square[i, j], n=n)
    script.run("X = coo_array((lengths, (i, j)), shape=(n, n))")
    script.run("tree = minimum_spanning_tree(X, metric='precomputed', disconnected='join')")
    counts["trees"] += 1
    _check_shape(script, n)
    script.given(expected=exact.tree_weights(np.where(there, square, np.inf)))
    script.check("(tree.weights == expected).all()", "wrong weights", "tree.weights")
