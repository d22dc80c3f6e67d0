"""Every metric by its name: heights, parameters, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial import distance
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import DistanceMetric, _dist_metrics
from sklearn.metrics.pairwise import (
    PAIRWISE_DISTANCE_FUNCTIONS,
    haversine_distances,
    nan_euclidean_distances,
)

from inputs import BOOLEAN, levenshtein, points, suited
from isthmus import KMeansDuality, TransitiveKMeans, UltrametricTree, minimum_spanning_tree
from isthmus.metrics import rowwise as any_metric
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.registry import CANONICAL_NAMES, METRIC_NAMES, canonical_name, resolve_metric
from isthmus.metrics.rowwise import ROW_METRIC_NAMES
from isthmus.theory import transitive_distances

NAMES = [name for name in CANONICAL_NAMES if name not in ("precomputed", "pyfunc", "gower")]
WEIGHTS = np.array([1.5, 0.25, 0.0, 3.0, 1.0])
WEIGHTED = [
    "euclidean",
    "sqeuclidean",
    "manhattan",
    "chebyshev",
    "minkowski",
    "cosine",
    "correlation",
    *(n for n in ROW_METRIC_NAMES if n not in ("jensenshannon", "nan_euclidean", "kulsinski")),
]


def params_of(metric: str, X: np.ndarray) -> dict:
    """Parameters for metrics that else depend on the points."""
    if metric == "seuclidean":
        return {"V": np.arange(1.0, X.shape[1] + 1)}
    if metric == "mahalanobis":
        return {"VI": np.eye(X.shape[1]) + 0.1}
    return {"p": 3} if metric == "minkowski" else {}


def reference(metric: str, X: np.ndarray, **params) -> np.ndarray:
    """Condensed distances by SciPy and scikit-learn, or by their definition."""
    if metric == "angular":
        return np.arccos(np.clip(1.0 - pdist(X, "cosine"), -1.0, 1.0))
    if metric == "hellinger":
        return pdist(np.sqrt(X / X.sum(1, keepdims=True))) / np.sqrt(2.0)
    if metric == "haversine":
        return squareform(haversine_distances(X), checks=False)
    if metric == "kulsinski":
        found = DistanceMetric.get_metric(metric).pairwise(X.astype(float))
        return squareform(found, checks=False)
    if metric == "nan_euclidean":
        present = (~np.isnan(X)).astype(float)
        shared = present @ present.T
        squares = np.nansum((X[:, None] - X[None]) ** 2, axis=2) * (X.shape[1] / shared)
        return squareform(np.sqrt(squares), checks=False)
    return pdist(X, {"manhattan": "cityblock"}.get(metric, metric), **params)


def single_linkage(condensed: np.ndarray) -> np.ndarray:
    return linkage(condensed, "single")[:, 2] if condensed.size else np.empty(0)


def assert_heights(metric: str, found: np.ndarray, expected: np.ndarray) -> None:
    if metric in ROW_METRIC_NAMES:
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)
    else:  # SciPy's cosines have lost the digits of small angles
        atol = 1e-7 if metric == "angular" else 1e-14
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=atol)


class TestNames:
    @pytest.mark.parametrize("metric", NAMES)
    @pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicates"])
    def test_heights_are_those_of_single_linkage(self, metric, kind):
        for n in (1, 2, 3, 7, 40):
            X = suited(metric, kind, n)
            params = params_of(metric, X)
            expected = single_linkage(reference(metric, X, **params))
            tree = minimum_spanning_tree(X, metric=metric, metric_params=params)
            assert_heights(metric, tree.weights, expected)
            model = TransitiveKMeans(min(n, 2), metric=metric, metric_params=params).fit(X)
            assert model.spanning_tree_ == tree

    @pytest.mark.parametrize("metric", ROW_METRIC_NAMES)
    def test_the_tree_is_the_first_in_the_order_of_edges(self, metric):
        """Ties included: bit for bit the tree of SciPy's matrix."""
        X = suited(metric, "duplicates", 50)
        # numbers of SciPy, which rounds jensenshannon differently from j to i
        D = distance_matrix(X, metric)
        given = minimum_spanning_tree(D, metric="precomputed")
        tree = minimum_spanning_tree(X, metric=metric, n_jobs=2)
        assert tree.engine == "prim"
        if metric == "jensenshannon":
            np.testing.assert_allclose(tree.weights, given.weights, rtol=1e-14)
        else:
            assert tree == given

    @pytest.mark.parametrize("metric", ROW_METRIC_NAMES)
    def test_matrices_and_duality(self, metric):
        X = suited(metric, "gaussian", 30)
        expected = squareform(reference(metric, X))
        D = distance_matrix(X, metric, n_jobs=2)
        np.testing.assert_allclose(D, expected, rtol=1e-14, atol=0)
        np.testing.assert_array_equal(D, D.T)
        np.testing.assert_array_equal(transitive_distances(X, 2, metric=metric), D)
        found = KMeansDuality(3, metric=metric, n_init=1, random_state=0).fit(X)
        given = KMeansDuality(3, metric="precomputed", n_init=1, random_state=0).fit(D)
        np.testing.assert_array_equal(found.labels_, given.labels_)

    def test_every_name_of_scipy_and_scikit_learn_is_known(self):
        scipy_names = {name for info in distance._METRIC_INFOS for name in info.aka}
        scipy_names -= {"kulczynski1"}  # deprecated, and gone from later versions
        sklearn_names = {*_dist_metrics.METRIC_MAPPING64, *PAIRWISE_DISTANCE_FUNCTIONS}
        assert scipy_names | sklearn_names <= set(METRIC_NAMES)
        assert len(set(METRIC_NAMES)) == len(METRIC_NAMES)

    def test_aliases_are_those_of_scipy(self):
        X = suited("jaccard", "gaussian", 30).astype(float) + points("lattice", 30, 5, 0)
        for info in distance._METRIC_INFOS:
            if info.canonical_name == "kulczynski1":
                continue
            ours = {canonical_name(alias) for alias in info.aka}
            assert len(ours) == 1
            assert resolve_metric(info.canonical_name).name in (*ours, "euclidean")
        for alias, name in (("p", "minkowski"), ("infinity", "chebyshev"), ("matching", "hamming")):
            assert minimum_spanning_tree(X, metric=alias) == minimum_spanning_tree(X, metric=name)

    @pytest.mark.parametrize("metric", sorted(BOOLEAN))
    def test_what_is_not_zero_is_true(self, metric):
        X = suited(metric, "gaussian", 40)
        numbers = np.where(X, points("gaussian", 40, 5, 9), 0.0)
        expected = minimum_spanning_tree(X, metric=metric)
        for same in (X.astype(np.int8), X.astype(np.float32), numbers):
            assert minimum_spanning_tree(same, metric=metric) == expected

    def test_float32_is_not_rounded_again(self):
        X = suited("canberra", "gaussian", 40).astype(np.float32)
        expected = minimum_spanning_tree(X.astype(np.float64), metric="canberra")
        assert minimum_spanning_tree(X, metric="canberra") == expected

    def test_points_are_left_alone(self):
        X = suited("nan_euclidean", "gaussian", 20)
        before = X.copy()
        minimum_spanning_tree(X, metric="nan_euclidean")
        minimum_spanning_tree(np.abs(X[:, :1]), metric="canberra")
        np.testing.assert_array_equal(X, before)

    @pytest.mark.parametrize("metric", ["jensenshannon", "hamming", "nan_euclidean"])
    def test_threads_share_long_rows(self, metric, monkeypatch):
        X = suited(metric, "lattice" if metric == "hamming" else "gaussian", 150)
        whole = minimum_spanning_tree(X, metric=metric)
        monkeypatch.setattr(any_metric, "_BLOCK_NANOSECONDS", 1000)
        for n_jobs in (1, 3):
            assert minimum_spanning_tree(X, metric=metric, n_jobs=n_jobs) == whole

    def test_progress_is_reported(self):
        X = suited("canberra", "gaussian", 3000)
        seen = []
        minimum_spanning_tree(X, metric="canberra", progress=lambda *step: seen.append(step))
        assert len(seen) > 3
        assert seen == sorted(seen)
        assert seen[-1] == (2999, 2999)

    def test_rows_that_are_all_but_equal(self):
        """SciPy's root of a sum that rounding made negative is NaN."""
        steps = np.random.default_rng(0).integers(-3, 4, size=(60, 6)) * 2.2e-16
        X = np.arange(1.0, 7.0) * (1.0 + steps)
        assert np.isnan(pdist(X, "jensenshannon")).any()
        weights = minimum_spanning_tree(X, metric="jensenshannon").weights
        assert (weights < 1e-7).all()

    def test_rows_too_large_to_sum(self):
        X = suited("jensenshannon", "gaussian", 20)
        expected = minimum_spanning_tree(X, metric="jensenshannon")
        assert minimum_spanning_tree(X * 2.0**1020, metric="jensenshannon") == expected


class TestParameters:
    @pytest.mark.parametrize("metric", WEIGHTED)
    def test_weights(self, metric):
        X = suited(metric, "lattice" if metric == "hamming" else "gaussian", 40)
        params = params_of(metric, X)
        expected = single_linkage(reference(metric, X, w=WEIGHTS, **params))
        params["w"] = WEIGHTS.tolist()
        tree = minimum_spanning_tree(X, metric=metric, metric_params=params)
        np.testing.assert_allclose(tree.weights, expected, rtol=1e-12, atol=1e-15)
        assert tree != minimum_spanning_tree(X, metric=metric, metric_params=params_of(metric, X))

    @pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
    def test_weights_far_from_the_origin(self, metric):
        X = points("gaussian", 60, 5, 0) + 1e8
        expected = single_linkage(reference(metric, X, w=WEIGHTS))
        params = {"w": WEIGHTS}
        tree = minimum_spanning_tree(X, metric=metric, metric_params=params)
        np.testing.assert_allclose(tree.weights, expected, rtol=1e-12)

    def test_weighted_points_have_every_engine(self):
        X = points("gaussian", 500, 2, 0)
        options = {"metric": "euclidean", "metric_params": {"w": [2.0, 0.7]}}
        trees = [minimum_spanning_tree(X, engine=e, **options) for e in ("prim", "kd-tree")]
        np.testing.assert_array_equal(trees[0].edges, trees[1].edges)
        assert trees[1].engine == "kd-tree"

    def test_base_of_the_logarithm(self):
        X = suited("jensenshannon", "gaussian", 30)
        expected = pdist(X, lambda p, q: distance.jensenshannon(p, q, base=2))
        found = minimum_spanning_tree(X, metric="js", metric_params={"base": 2})
        np.testing.assert_allclose(found.weights, single_linkage(expected), rtol=1e-13)

    def test_missing_values(self):
        X = suited("nan_euclidean", "gaussian", 40)
        expected = minimum_spanning_tree(X, metric="nan_euclidean")
        D = nan_euclidean_distances(X)
        np.testing.assert_allclose(
            expected.weights, single_linkage(squareform(D, checks=False)), rtol=1e-9
        )
        filled = np.where(np.isnan(X), -99.0, X)
        params = {"missing_values": -99}
        found = minimum_spanning_tree(filled, metric="nan_euclidean", metric_params=params)
        assert found == expected
        squared = minimum_spanning_tree(X, metric="nan_euclidean", metric_params={"squared": True})
        np.testing.assert_allclose(np.sqrt(squared.weights), expected.weights, rtol=1e-14)
        D2 = transitive_distances(X, metric="nan_euclidean")
        assert UltrametricTree.from_spanning_tree(expected).matrix().tolist() == D2.tolist()
        with pytest.raises(ValueError, match="NaN"):
            minimum_spanning_tree(X, metric="nan_euclidean", metric_params=params)

    def test_pyfunc_takes_its_function(self):
        X = points("gaussian", 20, 3, 0)
        params = {"func": distance.minkowski, "p": 3}
        found = minimum_spanning_tree(X, metric="pyfunc", metric_params=params)
        expected = minimum_spanning_tree(X, metric="minkowski", metric_params={"p": 3})
        np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-14)
        words = minimum_spanning_tree(
            ["a", "ab"], metric="pyfunc", metric_params={"func": levenshtein}
        )
        assert words.weights.tolist() == [1.0]


ZEROS = [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("X", "metric", "params", "error", "words"),
    [
        ([[0.0]], "canbera", None, ValueError, "Did you mean 'canberra'"),
        ([[0.0]], "Euclidean", None, ValueError, "Did you mean 'euclidean'"),
        ([[0.0]], "zzz", None, ValueError, "Unknown metric 'zzz'. Known metrics: 'euclidean'"),
        ([[0.0]], "canberra", {"p": 3}, ValueError, r"'canberra' does not take .*\['p'\]"),
        ([[0.0]], "kulsinski", {"w": [1.0]}, ValueError, "does not take the parameters"),
        ([[0.0]], "angular", {"w": [1.0]}, ValueError, "does not take the parameters"),
        ([[0.0]], "jensenshannon", {"w": [1.0]}, ValueError, "does not take the parameters"),
        ([[0.0]], "canberra", {"w": [-1.0]}, ValueError, "none below 0"),
        ([[0.0]], "euclidean", {"w": [np.nan]}, ValueError, "one finite weight"),
        ([[0.0]], "euclidean", {"w": [0.0]}, ValueError, "not all of them 0"),
        ([[0.0]], "euclidean", {"w": 2.0}, ValueError, "one finite weight for each"),
        ([[0.0]], "canberra", {"w": ["x"]}, TypeError, "real numbers"),
        ([[0.0]], "canberra", {"w": [1.0, 2.0]}, ValueError, "each of 1 features, got 2"),
        ([[0.0]], "euclidean", {"w": [1.0, 2.0]}, ValueError, "each of 1 features, got 2"),
        ([[1.0]], "jensenshannon", {"base": 1}, ValueError, "base=1"),
        ([[1.0]], "jensenshannon", {"base": "e"}, ValueError, "base='e'"),
        ([[1.0]], "nan_euclidean", {"missing_values": "?"}, TypeError, "missing_values"),
        ([[1.0]], "nan_euclidean", {"squared": 1}, TypeError, "squared"),
        ([[1.0]], "pyfunc", None, ValueError, "needs metric_params={'func'"),
        ([[1.0]], levenshtein, {"cost": 2}, TypeError, r"levenshtein cannot be .*\['cost'\]"),
        ([[1.0]], lambda x: 0.0, None, TypeError, "cannot be called with two points"),
        (ZEROS, "dice", None, ValueError, "rows 0 and 2 by .*'dice' is nan. Two rows of zeros"),
        (ZEROS, "sokalsneath", None, ValueError, "rows 0 and 2 by metric='sokalsneath' is nan"),
        (ZEROS, "braycurtis", None, ValueError, "rows 0 and 2 by metric='braycurtis' is nan"),
        ([[1.0, -1.0], [-1.0, 1.0]], "braycurtis", None, ValueError, "rows 0 and 1 .* is inf"),
        (ZEROS, "jensenshannon", None, ValueError, "row 0 is zero"),
        ([[1.0], [-1.0]], "jensenshannon", None, ValueError, "row 1 has a negative entry"),
        (
            [[1.0, np.nan], [1.0, 2.0], [np.nan, 2.0]],
            "nan_euclidean",
            None,
            ValueError,
            "rows 0 and 2 .* no feature in common",
        ),
        ([[np.inf]], "nan_euclidean", None, ValueError, "infinity"),
        ([[np.nan]], "canberra", None, ValueError, "NaN"),
        ([[np.nan]], levenshtein, None, ValueError, "NaN"),
        ([["a"], ["b"]], "hamming", None, ValueError, "convert string to float"),
        ([], levenshtein, None, ValueError, "Expected 2D array"),
        (np.zeros(3), levenshtein, None, ValueError, "Expected 2D array"),
    ],
)
def test_wrong_input_is_refused(X, metric, params, error, words):
    with pytest.raises(error, match=words):
        minimum_spanning_tree(X, metric=metric, metric_params=params)
    with pytest.raises(error, match=words):
        TransitiveKMeans(1, metric=metric, metric_params=params).fit(X)


@pytest.mark.parametrize("metric", ["canberra", "jensenshannon", levenshtein])
def test_parameters_are_looked_at_before_the_data(metric):
    for run in (minimum_spanning_tree, transitive_distances, distance_matrix):
        with pytest.raises((TypeError, ValueError), match=r"parameters .*'colour'"):
            run("no data", metric=metric, metric_params={"colour": 1})
    for estimator in (TransitiveKMeans, KMeansDuality):
        with pytest.raises((TypeError, ValueError), match=r"parameters .*'colour'"):
            estimator(metric=metric, metric_params={"colour": 1}).fit("no data")


@pytest.mark.parametrize("metric", ["yule", "jaccard", "rogerstanimoto", "hamming", "canberra"])
def test_rows_of_zeros_where_scipy_defines_their_distance(metric):
    X = np.array(ZEROS) > 0
    found = minimum_spanning_tree(X, metric=metric).weights
    np.testing.assert_array_equal(found, single_linkage(pdist(X, metric)))


@pytest.mark.parametrize("engine", ["kd-tree", "sort"])
@pytest.mark.parametrize("metric", ["canberra", levenshtein])
def test_engines_that_need_more_than_distances_are_refused(engine, metric):
    with pytest.raises(ValueError, match=f"{engine}.* does not serve metric=.*engine='prim'"):
        minimum_spanning_tree([[0.0], [1.0]], metric=metric, engine=engine)


def test_the_page_on_metrics_lists_them_all():
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    table = page.split("## The table")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = [re.findall(r"`(\w+)`", cell) for cell in cells]
    assert {names[0] for names in listed} == set(CANONICAL_NAMES)
    assert sorted(name for names in listed for name in names) == sorted(METRIC_NAMES)
    for name, *aliases in listed:
        assert {canonical_name(alias) for alias in aliases} <= {name}
