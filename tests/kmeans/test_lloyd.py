"""K-means on the tree against K-means on dense rows: scikit-learn's, and an exact one."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from clusterers import TreeClusterer
from inputs import many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.kmeans.workspace import Workspace
from oracles.dense import embedded_lloyd, fractions, rows_lloyd

INPUTS = [p for p in many(140) if p[1] >= 3]
# Below this relative margin between the two nearest centres rounding may decide.
SAFE = 1e-9


def start_for(n, seed, largest=6):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, min(largest, n) + 1))
    return rng.choice(n, k, replace=False)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
def test_rows_step_for_step_as_scikit_learn(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    start = start_for(n, seed)
    matrix = tree.matrix()
    exact = rows_lloyd(matrix.astype(np.longdouble), start)
    clusterer = TreeClusterer(tree)
    solutions = [
        clusterer.solve(len(start), init=start, algorithm=algorithm)
        for algorithm in ("lazy", "plain")
    ]
    for solution in solutions:
        assert (np.bincount(solution.labels, minlength=len(start)) > 0).all()
    if exact is None:  # a cluster ran empty: scikit-learn then leaves fewer clusters
        return
    labels, inertia, n_iter, margin = exact
    for solution in solutions:
        np.testing.assert_array_equal(solution.labels, labels)
        assert solution.inertia == pytest.approx(inertia, rel=1e-9, abs=1e-12 * matrix.sum() ** 2)
        assert solution.n_iter == n_iter
    if margin > SAFE:
        theirs = KMeans(len(start), init=matrix[start], n_init=1, tol=0, max_iter=300).fit(matrix)
        np.testing.assert_array_equal(theirs.labels_, labels)
        # scikit-learn also stops, one step earlier, when the centres did not move at all
        assert theirs.n_iter_ in (n_iter - 1, n_iter)
        assert theirs.inertia_ == pytest.approx(inertia, rel=1e-7, abs=1e-9)


def test_enough_inputs_are_free_of_near_ties():
    """The comparison with scikit-learn above is made, and not skipped, for most inputs."""
    margins = []
    for kind, n, d, seed in INPUTS[::4]:
        matrix = UltrametricTree.from_data(points(kind, n, d, seed)).matrix()
        exact = rows_lloyd(matrix.astype(np.longdouble), start_for(n, seed))
        margins.append(0.0 if exact is None else exact[3])
    assert np.mean(np.array(margins) > SAFE) > 0.4


@pytest.mark.parametrize("seed", range(60))
def test_ties_are_decided_as_in_exact_arithmetic(seed):
    """Chebyshev distances of a lattice are integers: fractions then decide every tie."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 26))
    X = rng.integers(0, 7, size=(n, 2)).astype(float)
    tree = UltrametricTree.from_data(X, metric="chebyshev")
    start = start_for(n, seed, largest=4)
    exact = rows_lloyd(fractions(tree.matrix()), start)
    if exact is None:
        return
    for algorithm in ("lazy", "plain"):
        solution = TreeClusterer(tree).solve(len(start), init=start, algorithm=algorithm)
        np.testing.assert_array_equal(solution.labels, exact[0])
        assert solution.n_iter == exact[2]
        assert solution.inertia == pytest.approx(exact[1], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS[::3])
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_embedding_is_kmeans_in_isometric_coordinates(kind, n, d, seed, power):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    start = start_for(n, seed)
    matrix = tree.matrix().astype(np.longdouble) ** np.longdouble(power)
    exact = embedded_lloyd(matrix, start)
    clusterer = TreeClusterer(tree, method="embedding", power=power)
    lazy, plain = (
        clusterer.solve(len(start), init=start, algorithm=algorithm)
        for algorithm in ("lazy", "plain")
    )
    np.testing.assert_array_equal(lazy.labels, plain.labels)
    assert lazy.n_iter == plain.n_iter
    assert lazy.inertia == pytest.approx(plain.inertia, rel=1e-9, abs=1e-12)
    if exact is not None and exact[3] > SAFE:
        np.testing.assert_array_equal(lazy.labels, exact[0])
        assert lazy.inertia == pytest.approx(exact[1], rel=1e-9, abs=1e-12)
        assert lazy.n_iter == exact[2]


@pytest.mark.parametrize("objective", ["rows", "embedding"])
@pytest.mark.parametrize("kind", ["gaussian", "blobs", "lattice", "duplicates"])
@pytest.mark.parametrize("init", ["cut", "random", "k-means++"])
def test_lazy_and_plain_agree_on_larger_trees(objective, kind, init):
    tree = UltrametricTree.from_data(points(kind, 2500, 2, seed=11))
    clusterer = TreeClusterer(tree, method=objective)
    for k in (2, 7):
        lazy, plain = (
            clusterer.solve(k, init=init, n_init=3, random_state=k, algorithm=algorithm)
            for algorithm in ("lazy", "plain")
        )
        np.testing.assert_array_equal(lazy.labels, plain.labels)
        assert lazy.inertia == pytest.approx(plain.inertia, rel=1e-9)
        assert lazy.n_iter == plain.n_iter


@pytest.mark.parametrize("objective", ["rows", "embedding"])
def test_a_frontier_that_grows_too_large_gives_the_same(objective):
    tree = UltrametricTree.from_data(points("blobs", 400, 2, seed=3))
    clusterer = TreeClusterer(tree, method=objective)
    start = start_for(400, 3)
    expected = clusterer.solve(len(start), init=start, algorithm="lazy")
    clusterer.space.objective.workspace = Workspace(nodes=40)
    again = clusterer.solve(len(start), init=start, algorithm="lazy")
    np.testing.assert_array_equal(again.labels, expected.labels)
    assert again.inertia == pytest.approx(expected.inertia, rel=1e-10)


@pytest.mark.parametrize("algorithm", ["lazy", "plain"])
def test_far_away_points_cost_no_accuracy(algorithm):
    """An outlier at 1e9 times the scale of the clusters must not blur the rest."""
    X = points("blobs", 300, 2, seed=8)
    tree = UltrametricTree.from_data(np.vstack([X, [[1e10, 0.0]]]))
    start = [300, 0, 50, 120]
    exact = rows_lloyd(tree.matrix().astype(np.longdouble), start)
    solution = TreeClusterer(tree).solve(4, init=start, algorithm=algorithm)
    np.testing.assert_array_equal(solution.labels, exact[0])
    assert solution.inertia == pytest.approx(exact[1], rel=1e-9)


def test_large_nodes_of_equal_points_are_no_tie():
    """All distances equal: the two halves differ by one part in n, and that decides."""
    n = 3_000_000
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, np.ones(n - 1)))
    labels = TreeClusterer(tree).solve(2, max_iter=2).labels
    assert abs(np.bincount(labels) - n // 2).max() <= 1


@pytest.mark.parametrize("exponent", [-400, 0, 400])
def test_power_at_any_scale(exponent):
    X = points("blobs", 120, 2, seed=1)
    tree, scaled = (UltrametricTree.from_data(np.ldexp(X, e)) for e in (0, exponent))
    for power in (0.5, 4.0):
        expected = TreeClusterer(tree, power=power).solve(3).labels
        np.testing.assert_array_equal(TreeClusterer(scaled, power=power).solve(3).labels, expected)


@pytest.mark.parametrize("exponent", [-600, 600])
def test_the_best_start_wins_even_where_inertia_overflows(exponent):
    X = points("gaussian", 150, 2, seed=1)
    tree, scaled = (UltrametricTree.from_data(np.ldexp(X, e)) for e in (0, exponent))
    options = {"init": "random", "n_init": 10, "random_state": 0}
    expected = TreeClusterer(tree).solve(4, **options).labels
    np.testing.assert_array_equal(TreeClusterer(scaled).solve(4, **options).labels, expected)


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
@pytest.mark.parametrize("algorithm", ["lazy", "plain"])
@pytest.mark.parametrize("exponent", [-400, 400])
def test_any_scale(objective, algorithm, exponent):
    X = points("blobs", 120, 2, seed=1)
    plain, scaled = (
        TreeClusterer(UltrametricTree.from_data(np.ldexp(X, e)), method=objective).solve(
            3, algorithm=algorithm
        )
        for e in (0, exponent)
    )
    np.testing.assert_array_equal(plain.labels, scaled.labels)
    assert scaled.inertia == pytest.approx(np.ldexp(plain.inertia, 2 * exponent), rel=1e-9)


@pytest.mark.parametrize("objective", ["rows", "embedding"])
@pytest.mark.parametrize("algorithm", ["lazy", "plain"])
def test_max_iter_stops_early_with_matching_labels(objective, algorithm):
    tree = UltrametricTree.from_data(points("gaussian", 300, 2, seed=0))
    clusterer = TreeClusterer(tree, method=objective)
    start = [0, 1, 2, 3, 4]
    full = clusterer.solve(5, init=start, algorithm=algorithm)
    assert full.n_iter > 3
    short = clusterer.solve(5, init=start, max_iter=2, algorithm=algorithm)
    assert short.n_iter == 2
    assert short.inertia > full.inertia
    if objective == "rows":
        matrix = tree.matrix()
        theirs = KMeans(5, init=matrix[start], n_init=1, tol=0, max_iter=2).fit(matrix)
        np.testing.assert_array_equal(short.labels, theirs.labels_)
        assert short.inertia == pytest.approx(theirs.inertia_, rel=1e-9)


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
@pytest.mark.parametrize("algorithm", ["lazy", "plain"])
@pytest.mark.parametrize("init", ["cut", "random", "k-means++"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((12, 2)),
        np.repeat([[0.0], [1.0], [5.0]], 4, axis=0),
        np.arange(6.0).reshape(6, 1),
        np.array([[2.0]]),
    ],
    ids=["all equal", "three different", "evenly spaced", "one point"],
)
def test_every_number_of_clusters_is_reached_exactly(objective, algorithm, init, X):
    clusterer = TreeClusterer(UltrametricTree.from_data(X), method=objective)
    for k in range(1, len(X) + 1):
        solution = clusterer.solve(k, init=init, random_state=0, algorithm=algorithm)
        assert sorted(set(solution.labels.tolist())) == list(range(k))
        assert solution.inertia >= 0.0
        assert np.isfinite(solution.inertia)


@pytest.mark.parametrize("objective", ["rows", "embedding"])
def test_more_random_starts_are_never_worse(objective):
    clusterer = TreeClusterer(
        UltrametricTree.from_data(points("gaussian", 200, 2, seed=5)), method=objective
    )
    inertias = [
        clusterer.solve(4, init="random", n_init=n, random_state=1).inertia for n in (1, 5, 20)
    ]
    assert inertias[0] >= inertias[1] >= inertias[2]


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_threads_do_not_change_the_result(init):
    clusterer = TreeClusterer(UltrametricTree.from_data(points("blobs", 1500, 2, seed=5)))
    one, four = (
        clusterer.solve(5, init=init, n_init=8, random_state=3, n_jobs=jobs) for jobs in (1, 4)
    )
    np.testing.assert_array_equal(one.labels, four.labels)
    assert one.inertia == four.inertia


def test_clusters_are_numbered_by_size():
    X = np.repeat([0.0, 10.0, 20.0], [2, 5, 3])[:, None] + np.arange(10)[:, None] * 1e-3
    labels = TreeClusterer(UltrametricTree.from_data(X)).solve(3).labels
    assert labels.tolist() == [2, 2, 0, 0, 0, 0, 0, 1, 1, 1]
    given = TreeClusterer(UltrametricTree.from_data(X)).solve(3, init=[0, 2, 7]).labels
    assert given.tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]


def test_a_path_of_many_points():
    """A line of growing gaps: the tree is as deep as it can be."""
    n = 200_000
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    weights = 1.0 + np.arange(n - 1) / n
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
    assert tree.distance(0, n - 1) == weights[-1]
    assert tree.row(0)[-1] == weights[-1]
    for objective in ("rows", "embedding", "cut"):
        solution = TreeClusterer(tree, method=objective).solve(3, max_iter=3)
        assert np.bincount(solution.labels).min() > 0
        # contiguous parts of the line
        assert np.count_nonzero(np.diff(solution.labels)) == 2
