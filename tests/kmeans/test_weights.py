"""Points that stand for several: weights against repeated rows, and against dense arithmetic."""

import numpy as np
import pytest

from clusterers import TreeClusterer
from inputs import many, points
from isthmus import UltrametricTree
from isthmus._utils.rounding import in_range, product
from isthmus.cut.divisive import cut_spanning_tree
from isthmus.kmeans import TreeSpace
from isthmus.kmeans.embedding_objective import EmbeddingObjective
from isthmus.kmeans.init import random_points, spread_points
from isthmus.kmeans.rows_objective import RowsObjective
from oracles.dense import cut, embedded_lloyd, rows_lloyd

INPUTS = [p for p in many(112, largest=40) if p[1] >= 2]
SAFE = 1e-9


def real_weights(X, seed):
    """Return weights, and different rows to start with."""
    rng = np.random.default_rng(seed)
    _, firsts = np.unique(X, axis=0, return_index=True)
    k = int(rng.integers(1, min(6, len(firsts)) + 1))
    return np.exp(rng.normal(size=len(X)) * 2), rng.choice(firsts, k, replace=False)


def drawn(X, seed):
    """Return whole weights, a number of clusters and rows to start with."""
    rng = np.random.default_rng(seed)
    point_weights = rng.integers(1, 6, size=len(X))
    # copies of a row are only torn apart where clusters are more than different rows
    k = int(rng.integers(1, min(6, len(np.unique(X, axis=0))) + 1))
    return point_weights, k, rng.choice(len(X), k, replace=False)


def solutions(clusterer, k, given, seed):
    """Yield the solution of every way to start, and how it was found."""
    algorithm = ("lazy", "plain")[seed % 2]
    for init in ("cut", "k-means++", "random", given):
        if clusterer.method != "cut" or isinstance(init, np.ndarray):
            options = {"init": init, "n_init": 2, "random_state": seed, "algorithm": algorithm}
            yield clusterer.solve(k, **options)


def assert_same(found, expected, places, scale, noise):
    np.testing.assert_array_equal(found.labels, expected.labels[places])
    assert found.n_iter == expected.n_iter
    assert found.inertia == pytest.approx(scale * expected.inertia, rel=1e-12, abs=scale * noise)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
def test_whole_weights_are_repeated_rows(kind, n, d, seed):
    X = points(kind, n, d, seed)
    point_weights, k, given = drawn(X, seed)
    firsts = np.cumsum(point_weights) - point_weights
    tree = UltrametricTree.from_data(X)
    repeated = UltrametricTree.from_data(np.repeat(X, point_weights, axis=0))
    noise = 1e-28 * point_weights.sum() * (repeated.matrix() ** 2).sum()
    for objective in ("rows", "embedding", "cut"):
        power = (1.0, 0.5)[seed // 2 % 2]
        ours = TreeClusterer(
            tree, method=objective, power=power, point_weights=point_weights.astype(float)
        )
        theirs = TreeClusterer(repeated, method=objective, power=power)
        pairs = zip(
            solutions(ours, k, given, seed), solutions(theirs, k, firsts[given], seed), strict=True
        )
        for found, expected in pairs:
            assert_same(found, expected, firsts, 1.0, noise)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS[::4])
def test_only_ratios_of_weights_matter(kind, n, d, seed):
    X = points(kind, n, d, seed)
    point_weights, k, given = drawn(X, seed)
    tree = UltrametricTree.from_data(X)
    noise = 1e-28 * point_weights.sum() ** 3 * (tree.matrix() ** 2).sum()
    for objective in ("rows", "embedding", "cut"):
        for factor in (0.1, 1e7 / 3, 2.0**-900):
            degree = 1 if objective == "embedding" else 2
            found, expected = (
                TreeClusterer(tree, method=objective, point_weights=point_weights * scale)
                for scale in (factor, 1.0)
            )
            pairs = zip(
                solutions(found, k, given, seed), solutions(expected, k, given, seed), strict=True
            )
            for ours, theirs in pairs:
                assert_same(ours, theirs, slice(None), factor**degree, noise)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(77, largest=60) if p[1] > 2])
@pytest.mark.parametrize("objective", ["rows", "embedding"])
def test_real_weights_against_dense_arithmetic(kind, n, d, seed, objective):
    X = points(kind, n, d, seed)
    tree = UltrametricTree.from_data(X)
    point_weights, start = real_weights(X, seed)
    matrix = tree.matrix().astype(np.longdouble)
    oracle = rows_lloyd if objective == "rows" else embedded_lloyd
    exact = oracle(matrix, start, point_weights=point_weights.astype(np.longdouble))
    clusterer = TreeClusterer(tree, method=objective, point_weights=point_weights)
    lazy, plain = (
        clusterer.solve(len(start), init=start, algorithm=algorithm)
        for algorithm in ("lazy", "plain")
    )
    np.testing.assert_array_equal(lazy.labels, plain.labels)
    assert lazy.n_iter == plain.n_iter
    if exact is not None and exact[3] > SAFE:
        np.testing.assert_array_equal(lazy.labels, exact[0])
        assert lazy.n_iter == exact[2]
        noise = 1e-13 * float(point_weights @ matrix**2 @ point_weights)
        for solution in (lazy, plain):
            assert solution.inertia == pytest.approx(exact[1], rel=1e-9, abs=noise)


def test_enough_of_these_are_free_of_near_ties():
    margins = []
    for kind, n, d, seed in [p for p in many(77, largest=60) if p[1] > 2][::3]:
        X = points(kind, n, d, seed)
        matrix = UltrametricTree.from_data(X).matrix()
        point_weights, start = real_weights(X, seed)
        exact = rows_lloyd(matrix.astype(np.longdouble), start, point_weights=point_weights)
        margins.append(0.0 if exact is None else exact[3])
    assert np.mean(np.array(margins) > SAFE) > 0.4


@pytest.mark.parametrize("objective", ["rows", "embedding"])
@pytest.mark.parametrize("kind", ["gaussian", "duplicates"])
def test_lazy_and_plain_agree_on_larger_trees(objective, kind):
    tree = UltrametricTree.from_data(points(kind, 2500, 2, seed=11))
    # over 190 powers of two a stack may become deep
    point_weights = 2.0 ** -np.random.default_rng(0).integers(0, 190, size=2500)
    for weights in (point_weights, np.sqrt(np.sqrt(point_weights)) + 1.0):
        clusterer = TreeClusterer(tree, method=objective, point_weights=weights)
        lazy, plain = (clusterer.solve(7, algorithm=algorithm) for algorithm in ("lazy", "plain"))
        np.testing.assert_array_equal(lazy.labels, plain.labels)
        assert lazy.inertia == pytest.approx(plain.inertia, rel=1e-9)
        assert lazy.n_iter == plain.n_iter


@pytest.mark.parametrize("objective", ["rows", "embedding"])
def test_a_caterpillar_of_halving_weights(objective):
    """Each merge joins a point to all before it, twice as heavy: as deep as a stack can become."""
    n = 150
    X = np.cumsum(np.arange(1.0, n + 1))[:, None]
    point_weights = 2.0 ** np.arange(n)
    for order in (point_weights, point_weights[::-1].copy()):
        clusterer = TreeClusterer(
            UltrametricTree.from_data(X), method=objective, point_weights=order
        )
        lazy, plain = (
            clusterer.solve(5, init=[3, 40, 80, 120, 149], algorithm=algorithm)
            for algorithm in ("lazy", "plain")
        )
        np.testing.assert_array_equal(lazy.labels, plain.labels)
        assert np.isfinite(lazy.inertia)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(63, largest=20) if p[1] > 1])
def test_cut_follows_the_rule_with_weights(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    X = points(kind, n, d, seed) + rng.normal(size=(n, d)) * 0.01
    point_weights = rng.choice([0.25, 1.0, 7.0, 1e6, 1e20], size=n)
    tree = UltrametricTree.from_data(X)
    for k in range(1, min(n, 7) + 1):
        try:
            expected = cut(n, tree.spanning_tree.edges, tree.heights, k, point_weights)
        except ValueError:  # equal scores
            continue
        labels = cut_spanning_tree(tree, k, point_weights).labels(k)
        found = {frozenset(np.flatnonzero(labels == a).tolist()) for a in range(k)}
        assert found == set(expected)


def test_cut_beside_a_weight_that_swallows_the_others():
    """What is left of a part must not be what rounding leaves of a difference."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.5], [5.5], [6.5], [100.0]])
    point_weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e20])
    tree = UltrametricTree.from_data(X)
    expected = cut(8, tree.spanning_tree.edges, tree.heights, 3, point_weights)
    labels = cut_spanning_tree(tree, 3, point_weights).labels(3)
    assert labels.tolist() == [0, 0, 0, 0, 2, 2, 2, 1]
    assert [set(part) for part in expected] == [{0, 1, 2, 3}, {4, 5, 6}, {7}]


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(56))
def test_squared_distances_to_a_point(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    point_weights = np.random.default_rng(seed).uniform(0.1, 3.0, size=n)
    matrix = tree.matrix()
    point = seed % n
    for objective, expected in (
        (
            RowsObjective(tree, point_weights),
            ((matrix - matrix[point]) ** 2 * point_weights).sum(1),
        ),
        (EmbeddingObjective(tree, point_weights), matrix[point] ** 2),
    ):
        found = objective.squared_distances_to(point) * objective.unit**2
        scale = (matrix**2).sum() * point_weights.max() + 1e-300
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * scale)


@pytest.mark.parametrize("draw", [random_points, spread_points])
def test_points_are_drawn_as_their_weights_say(draw):
    tree = UltrametricTree.from_data([[0.0], [1.0], [3.0], [7.0], [7.0]])
    point_weights = np.array([1.0, 2.0, 3.0, 1.5, 2.5])
    objective = EmbeddingObjective(tree, point_weights)
    random_state = np.random.RandomState(0)
    counts = np.zeros((5, 5))
    for _ in range(6000):
        first, second = draw(objective, 2, random_state)
        counts[first, second] += 1
    weights = np.ones((5, 5)) if draw is random_points else tree.matrix() ** 2
    weights[tree.matrix() == 0.0] = 0.0  # no two that coincide
    weights *= point_weights
    expected = (
        weights / weights.sum(1, keepdims=True) * (point_weights / point_weights.sum())[:, None]
    )
    np.testing.assert_allclose(counts / 6000, expected, atol=0.025)


def test_clusters_are_numbered_by_weight():
    X = np.repeat([0.0, 10.0, 20.0], [2, 5, 3])[:, None] + np.arange(10)[:, None] * 1e-3
    point_weights = np.array([9.0, 0.4, *[1.0] * 5, *[0.1] * 3])
    tree = UltrametricTree.from_data(X)
    labels = TreeClusterer(tree, point_weights=point_weights).solve(3).labels
    assert labels.tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]
    tied = np.array([0.3, 0.2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.2, 0.2])  # to rounding
    labels = TreeClusterer(tree, point_weights=tied).solve(3).labels
    assert labels.tolist() == [1, 1, 0, 0, 0, 0, 0, 2, 2, 2]


def test_equal_weights_cost_no_memory():
    assert in_range(np.full(5, 3.0)) == (None, 3.0)
    scaled, unit = in_range(np.array([3e300, 1e300, 2e295]))
    np.testing.assert_array_equal(scaled * unit, [3e300, 1e300, 2e295])
    assert 1.0 <= scaled.max() < 2.0
    tree = UltrametricTree.from_data(points("gaussian", 50, 2, 0))
    assert RowsObjective(tree).aggregates.shape == (50, 4)
    assert TreeSpace(tree, point_weights=np.full(50, 0.1)).objective.aggregates.shape == (50, 4)


def test_products_overflow_only_as_a_whole():
    assert product([3.0, 1e200, 1e200, 1e-300, 1e-100]) == pytest.approx(3.0)
    assert product([1e200, 1e200]) == np.inf
    assert product([1e-200, 1e-200]) == 0.0


@pytest.mark.parametrize("algorithm", ["lazy", "plain"])
@pytest.mark.parametrize("seed", range(20))
def test_starts_that_coincide_are_a_tie_whatever_their_weights(algorithm, seed):
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(8, 2))
    X = places[np.arange(24) % 8]
    point_weights = rng.integers(1, 8, size=24)
    firsts = np.cumsum(point_weights) - point_weights
    given = np.array([0, 8, 16, 3])  # three rows at one place
    tree = UltrametricTree.from_data(X)
    repeated = UltrametricTree.from_data(np.repeat(X, point_weights, axis=0))
    found = TreeClusterer(tree, point_weights=point_weights.astype(float))
    expected = TreeClusterer(repeated).solve(4, init=firsts[given], algorithm=algorithm)
    for clusterer in (found, TreeClusterer(tree, point_weights=point_weights * 0.1)):
        solution = clusterer.solve(4, init=given, algorithm=algorithm)
        np.testing.assert_array_equal(solution.labels, expected.labels[firsts])
        assert solution.n_iter == expected.n_iter


def depth_of_stack(objective):
    """How deep the stack becomes if every node is opened, the lighter child first."""
    n_points = objective.n_points
    point_weights = objective.node_weights
    deepest, stack = 0, [(2 * n_points - 2, 1)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        if node >= n_points:
            heavy, light = objective.tree.children[node - n_points]
            if point_weights[heavy] < point_weights[light]:
                heavy, light = light, heavy
            stack += [(heavy, depth), (light, depth + 1)]
    return deepest


def test_stacks_are_deep_enough():
    X = np.cumsum(np.arange(1.0, 151.0))[:, None]
    point_weights = 2.0 ** np.arange(150)
    caterpillar = RowsObjective(UltrametricTree.from_data(X), point_weights)
    assert 140 < depth_of_stack(caterpillar) <= caterpillar.stack_depth
    for kind, n, d, seed in many(56):
        tree = UltrametricTree.from_data(points(kind, n, d, seed))
        weights = 2.0 ** np.random.default_rng(seed).integers(0, 190, size=n)
        for objective in (RowsObjective(tree), RowsObjective(tree, weights)):
            assert depth_of_stack(objective) <= objective.stack_depth


def test_rounding_of_weights_decides_no_tie():
    """Tenths of integers: their sums differ in the last digit, by the order of adding."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        point_weights = rng.integers(1, 4, size=30).astype(float)
        tree = UltrametricTree.from_data(rng.integers(0, 7, size=(30, 2)))
        whole, tenths = (cut_spanning_tree(tree, 11, point_weights * scale) for scale in (1.0, 0.1))
        for k in range(2, 12):
            np.testing.assert_array_equal(tenths.labels(k), whole.labels(k))
        tree = UltrametricTree.from_data(np.arange(20.0)[:, None])
        drawn_points = [
            random_points(RowsObjective(tree, np.full(20, scale)), 15, np.random.RandomState(seed))
            for scale in (1.0, 0.7)
        ]
        np.testing.assert_array_equal(*drawn_points)
