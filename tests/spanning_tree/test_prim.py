"""minimum_spanning_tree against brute-force Kruskal and SciPy."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics.pairwise import haversine_distances

from inputs import KINDS, many, points
from isthmus import SpanningTree, minimum_spanning_tree
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.registry import resolve_metric
from oracles.dense import kruskal

VI = np.array([[2.0, 0.5, 0, 0], [0.5, 1, 0, 0.1], [0, 0, 3, 0], [0, 0.1, 0, 1]])

METRICS = [
    ("euclidean", None, "euclidean", {}),
    ("sqeuclidean", None, "sqeuclidean", {}),
    ("manhattan", None, "cityblock", {}),
    ("chebyshev", None, "chebyshev", {}),
    ("minkowski", {"p": 3}, "minkowski", {"p": 3}),
    ("minkowski", {"p": 1.5}, "minkowski", {"p": 1.5}),
    ("cosine", None, "cosine", {}),
    ("correlation", None, "correlation", {}),
    ("seuclidean", None, "seuclidean", {}),
    ("seuclidean", {"V": [1.0, 4.0, 0.5, 2.0]}, "seuclidean", {"V": [1.0, 4.0, 0.5, 2.0]}),
    ("mahalanobis", None, "mahalanobis", {}),
    ("mahalanobis", {"VI": VI}, "mahalanobis", {"VI": VI}),
    ("mahalanobis", {"V": np.linalg.inv(VI)}, "mahalanobis", {"VI": VI}),
]


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(84, largest=60))
def test_tree_is_the_first_in_the_total_order(kind, n, d, seed):
    X = points(kind, n, d, seed)
    tree = minimum_spanning_tree(X)
    # Ties are decided on what Prim compares, squared distances.
    edges, weights = kruskal(distance_matrix(X, "sqeuclidean"))
    assert sorted(map(tuple, tree.edges.tolist())) == sorted(edges)
    np.testing.assert_array_equal(tree.weights, np.sqrt(weights))


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(42))
def test_weights_are_single_linkage_heights(kind, n, d, seed):
    X = points(kind, n, d, seed)
    weights = minimum_spanning_tree(X).weights
    if n == 1:
        assert weights.shape == (0,)
        return
    np.testing.assert_allclose(weights, linkage(X, "single")[:, 2], rtol=1e-14, atol=0)


@pytest.mark.parametrize(("metric", "params", "scipy_name", "scipy_params"), METRICS)
def test_every_metric_agrees_with_scipy(metric, params, scipy_name, scipy_params):
    X = np.random.default_rng(3).normal(size=(60, 4)) + 0.3
    expected = pdist(X, scipy_name, **scipy_params)
    matrix = distance_matrix(X, metric, params)
    np.testing.assert_allclose(matrix, squareform(expected), rtol=1e-9, atol=1e-14)
    tree = minimum_spanning_tree(X, metric=metric, metric_params=params)
    np.testing.assert_allclose(tree.weights, linkage(expected, "single")[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(tree.weights, matrix[tuple(tree.edges.T)])


def test_angular_is_the_angle_in_radians():
    tree = minimum_spanning_tree([[1.0, 0.0], [0.0, 5.0], [-2.0, 0.0]], metric="angular")
    np.testing.assert_allclose(tree.weights, [np.pi / 2, np.pi / 2], rtol=1e-15)


@pytest.mark.parametrize("engine", ["prim", "kd-tree"])
def test_haversine_is_the_angle_on_the_sphere(engine):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1.57, 1.57, 300), rng.uniform(-7.0, 7.0, 300)])
    expected = linkage(squareform(haversine_distances(X), checks=False), "single")[:, 2]
    tree = minimum_spanning_tree(X, metric="haversine", engine=engine)
    np.testing.assert_allclose(tree.weights, expected, rtol=1e-10)


@pytest.mark.parametrize("engine", ["prim", "kd-tree"])
def test_hellinger_compares_rows_as_distributions(engine):
    counts = np.random.default_rng(0).integers(0, 5, size=(200, 3)) + np.eye(3)[np.arange(200) % 3]
    roots = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    expected = linkage(pdist(roots) / np.sqrt(2.0), "single")[:, 2]
    tree = minimum_spanning_tree(counts, metric="hellinger", engine=engine)
    np.testing.assert_allclose(tree.weights, expected, rtol=1e-12, atol=1e-15)
    assert tree.weights.max() <= 1.0


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
@pytest.mark.parametrize("exponent", [-900, 0, 900])
def test_standardised_metrics_do_not_see_units(metric, exponent):
    X = np.random.default_rng(0).normal(size=(80, 3))
    plain = minimum_spanning_tree(X, metric=metric)
    moved = minimum_spanning_tree(np.ldexp(X, exponent), metric=metric, engine="kd-tree")
    assert moved == plain


@pytest.mark.parametrize("engine", ["prim", "kd-tree"])
@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_features_of_very_different_size(metric, engine):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:, 2] += X[:, 0]
    plain = minimum_spanning_tree(X, metric=metric, engine=engine)
    sized = minimum_spanning_tree(X * [1e170, 1.0, 1e-8], metric=metric, engine=engine)
    np.testing.assert_allclose(sized.weights, plain.weights, rtol=1e-9)


def test_an_inverse_with_rounding_errors_is_symmetric_enough():
    covariance = 0.9 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    X = np.random.default_rng(0).normal(size=(50, 4))
    by_covariance, by_inverse = (
        minimum_spanning_tree(X, metric="mahalanobis", metric_params=params)
        for params in ({"V": covariance}, {"VI": np.linalg.inv(covariance)})
    )
    np.testing.assert_allclose(by_covariance.weights, by_inverse.weights, rtol=1e-12)


@pytest.mark.parametrize("engine", ["prim", "kd-tree"])
def test_the_largest_float32_numbers(engine):
    X = (np.random.default_rng(0).random((200, 3)) * 3e38).astype(np.float32)
    found, expected = (
        minimum_spanning_tree(points, metric="minkowski", metric_params={"p": 3}, engine=engine)
        for points in (X, X.astype(np.float64))
    )
    assert expected.weights[0] > 0
    np.testing.assert_array_equal(found.weights, expected.weights)


@pytest.mark.parametrize("kind", KINDS)
def test_precomputed_gives_the_same_tree(kind):
    X = points(kind, 50, 3, seed=1)
    tree = minimum_spanning_tree(X)
    again = minimum_spanning_tree(cdist(X, X), metric="precomputed")
    assert again.total_weight == pytest.approx(tree.total_weight, rel=1e-14)
    assert minimum_spanning_tree(distance_matrix(X), metric="precomputed") == tree


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_an_offset_costs_no_accuracy(offset):
    X = np.random.default_rng(0).integers(0, 1 << 20, size=(200, 3)) / 1024.0
    moved = minimum_spanning_tree(X + offset)  # exact: the grid is coarser than float64 there
    assert moved == minimum_spanning_tree(X)


@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
def test_any_scale(exponent):
    X = np.random.default_rng(0).normal(size=(80, 3))
    plain = minimum_spanning_tree(X)
    scaled = minimum_spanning_tree(np.ldexp(X, exponent))
    np.testing.assert_array_equal(scaled.edges, plain.edges)
    np.testing.assert_allclose(scaled.weights, np.ldexp(plain.weights, exponent), rtol=1e-15)


def test_distances_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="too large for float64"):
        minimum_spanning_tree([[1e200], [-1e200]], metric="sqeuclidean")


def test_a_large_minkowski_power_neither_overflows_nor_vanishes():
    X = np.random.default_rng(0).normal(size=(40, 3)) * 1e-8
    tree = minimum_spanning_tree(X, metric="minkowski", metric_params={"p": 80})
    chebyshev = minimum_spanning_tree(X, metric="chebyshev")
    np.testing.assert_allclose(tree.weights, chebyshev.weights, rtol=0.02)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "angular", "correlation"])
def test_float32_is_as_exact_as_its_values(metric):
    X = np.random.default_rng(0).normal(size=(150, 4)).astype(np.float32)
    doubled = minimum_spanning_tree(X.astype(np.float64), metric=metric)
    assert minimum_spanning_tree(X, metric=metric) == doubled


def test_rotated_lattices_have_the_heights_of_all_their_spanning_trees():
    """Rotation makes equal lengths differ in their last bits: weights must agree all the same."""
    rng = np.random.default_rng(0)
    lattice = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), -1).reshape(-1, 2)
    for angle in rng.uniform(0, np.pi, size=50):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        X = lattice @ turn
        again = minimum_spanning_tree(distance_matrix(X), metric="precomputed")
        np.testing.assert_array_equal(minimum_spanning_tree(X).weights, again.weights)


def test_memory_order_strides_and_read_only_input_do_not_matter():
    X = np.random.default_rng(0).normal(size=(60, 6))
    expected = minimum_spanning_tree(X[::2, ::3].copy())
    X.flags.writeable = False
    assert minimum_spanning_tree(X[::2, ::3]) == expected
    assert minimum_spanning_tree(np.asfortranarray(X[::2, ::3])) == expected


def test_progress_reaches_the_end():
    seen = []
    minimum_spanning_tree(
        np.random.default_rng(0).normal(size=(50, 2)), progress=lambda *a: seen.append(a)
    )
    assert seen[-1] == (49, 49)


def test_given_edges_are_put_in_order():
    tree = SpanningTree.from_edges([[3, 2], [1, 0], [2, 1]], [1.0, 1.0, 0.5])
    assert tree.edges.tolist() == [[1, 2], [0, 1], [2, 3]]
    assert tree.weights.tolist() == [0.5, 1.0, 1.0]
    assert tree.n_points == 4
    assert "n_points=4" in repr(tree)


@pytest.mark.parametrize(
    ("edges", "weights", "error", "words"),
    [
        ([[0, 1]], [1.0, 2.0], ValueError, "shape"),
        ([[0, 2]], [1.0], ValueError, "indices go from 0 to 1"),
        ([[0.0, 1.0]], [1.0], TypeError, "integers"),
        ([[0, 1]], [-1.0], ValueError, "not negative"),
        ([[0, 1]], [np.nan], ValueError, "not NaN"),
    ],
)
def test_wrong_edges_are_refused(edges, weights, error, words):
    with pytest.raises(error, match=words):
        SpanningTree.from_edges(edges, weights)


@pytest.mark.parametrize(
    ("edges", "weights", "error", "words"),
    [
        (np.array([[0, 1], [1, 200]]), np.array([1.0, 3.0]), ValueError, "indices go from 0 to 2"),
        (np.array([[0, 1], [1, 2]]), np.array([3.0, 1.0]), ValueError, "from_edges"),
        (np.array([[1, 0]]), np.array([1.0]), ValueError, "from_edges"),
        (np.array([[0.0, 1.0]]), np.array([1.0]), TypeError, "integers"),
        (np.array([[0, 1]]), np.array([1]), TypeError, "float64"),
    ],
)
def test_the_record_refuses_what_is_not_in_order(edges, weights, error, words):
    with pytest.raises(error, match=words):
        SpanningTree(edges, weights)


def test_the_record_leaves_the_arrays_it_was_given_alone():
    weights = np.array([1.0, 3.0])
    SpanningTree(np.array([[0, 1], [1, 2]]), weights)
    weights[0] = 2.0


def test_the_record_cannot_be_changed():
    tree = minimum_spanning_tree([[0.0], [1.0], [3.0]])
    with pytest.raises(ValueError, match="read-only"):
        tree.weights[0] = 5.0
    with pytest.raises(AttributeError):
        tree.weights = np.zeros(2)


@pytest.mark.parametrize(
    ("X", "options", "error", "words"),
    [
        ([[0.0, np.nan]], {}, ValueError, "NaN"),
        ([[np.inf], [0.0]], {}, ValueError, "infinity"),
        ([["a"], ["b"]], {}, ValueError, "convert"),
        ([[1.0], [2.0, 3.0]], {}, ValueError, "inhomogeneous|sequence"),
        (np.empty((0, 2)), {}, ValueError, "0 sample"),
        ([1.0, 2.0], {}, ValueError, "2D"),
        (np.ma.masked_array([[1.0], [2.0]], [[0], [1]]), {}, TypeError, "Masked arrays"),
        (np.array([["2020-01-01"], ["NaT"]], dtype="M8[D]"), {}, TypeError, "Dates"),
        ([[1.0]], {"metric_params": "p"}, TypeError, "dictionary"),
        ([[1.0]], {"metric_params": {1: 2}}, TypeError, "dictionary"),
        ([[1.0]], {"metric": "nonsense"}, ValueError, "Unknown metric 'nonsense'.*euclidean"),
        ([[1.0]], {"metric": None}, ValueError, "Unknown metric None"),
        ([[1.0]], {"metric": "minkowski", "metric_params": {"p": 0.5}}, ValueError, "p >= 1"),
        ([[1.0]], {"metric": "euclidean", "metric_params": {"p": 2}}, ValueError, "does not take"),
        ([[1.0]], {"n_jobs": 0}, ValueError, "must not be 0"),
        ([[1.0]], {"n_jobs": 1.5}, TypeError, "integer"),
        ([[1.0], [0.0]], {"metric": "cosine"}, ValueError, "Row 1 is zero"),
        ([[0.1, 0.1, 0.1], [1, 2, 3]], {"metric": "correlation"}, ValueError, "Row 0 is zero"),
        ([[0.1, 0.1, 0.1]], {"metric": "haversine"}, ValueError, "two features"),
        ([[0.1, 0.1], [45.0, 9.0]], {"metric": "haversine"}, ValueError, "row 1 has 45"),
        ([[0.1, 0.1], [-1.0, 2.0]], {"metric": "hellinger"}, ValueError, "row 1 has a negative"),
        ([[0.1, 0.1], [0.0, 0.0]], {"metric": "hellinger"}, ValueError, "row 1 is zero"),
        ([[0.0, 1.0], [1.0, 1.0]], {"metric": "seuclidean"}, ValueError, "Feature 1 is constant"),
        ([[0.0, 1.0]], {"metric": "seuclidean"}, ValueError, "one point has none"),
        ([[0.0, 1.0]], {"metric": "mahalanobis"}, ValueError, "one point has none"),
        (
            [[0.0, 1.0]],
            {"metric": "seuclidean", "metric_params": {"V": ["a", "b"]}},
            TypeError,
            "V of metric='seuclidean' must hold real numbers",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "mahalanobis", "metric_params": {"VI": [[np.inf, 0.0], [0.0, 1.0]]}},
            ValueError,
            "VI to be finite",
        ),
        (
            1e200 * np.eye(20, 2),
            {
                "metric": "seuclidean",
                "metric_params": {"V": [1e-300, 1.0]},
                "engine": "kd-tree",
            },
            ValueError,
            "too large for float64",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "seuclidean", "metric_params": {"V": [1.0]}},
            ValueError,
            "one variance for each of 2 features",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "seuclidean", "metric_params": {"V": [1.0, 0.0]}},
            ValueError,
            "variance above 0",
        ),
        (
            [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]],
            {"metric": "mahalanobis"},
            ValueError,
            "positive definite",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "mahalanobis", "metric_params": {"V": [1.0, 2.0]}},
            ValueError,
            "square matrix",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "mahalanobis", "metric_params": {"VI": np.eye(3)}},
            ValueError,
            r"shape \(2, 2\)",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "mahalanobis", "metric_params": {"VI": [[1.0, 0.0], [0.5, 1.0]]}},
            ValueError,
            "symmetric",
        ),
        (
            [[0.0, 1.0]],
            {"metric": "mahalanobis", "metric_params": {"V": np.eye(2), "VI": np.eye(2)}},
            ValueError,
            "not both",
        ),
        (
            [[0.0]],
            {"metric": "precomputed", "metric_params": {"p": 2}},
            ValueError,
            "does not take the parameters",
        ),
        ([[0.0, 1.0]], {"metric": "precomputed"}, ValueError, "must be square"),
        ([[0.0, 1.0], [2.0, 0.0]], {"metric": "precomputed"}, ValueError, r"symmetric.*\(0, 1\)"),
        ([[0.0, -1.0], [-1.0, 0.0]], {"metric": "precomputed"}, ValueError, "negative"),
        ([[0.0, 1.0], [1.0, 2.0]], {"metric": "precomputed"}, ValueError, r"diagonal.*\(1, 1\)"),
    ],
)
def test_wrong_input_is_refused(X, options, error, words):
    with pytest.raises(error, match=words):
        minimum_spanning_tree(X, **options)


def test_minkowski_of_simple_powers_is_the_simple_metric():
    assert resolve_metric("minkowski", {"p": 1}).name == "manhattan"
    assert resolve_metric("minkowski", {"p": 2}).name == "euclidean"
    assert resolve_metric("minkowski", {"p": np.inf}).name == "chebyshev"
