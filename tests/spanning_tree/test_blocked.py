"""The engine for many features, and the certificate that its neighbours rest on."""

import sys

import numpy as np
import pytest
import scipy.sparse

from hard_points import HARD, hard
from inputs import KINDS, assert_as_good, points
from isthmus import minimum_spanning_tree
from isthmus._utils.parallel import Workers
from isthmus.blocks import dense_rows, nearest
from isthmus.blocks import sparse_rows as sparse
from isthmus.metrics.mapped import prepare_points
from isthmus.metrics.registry import resolve_metric
from isthmus.metrics.validation import check_points
from isthmus.spanning_tree.by_blocks import engine, searching

SMALL = 32


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks and groups small, so that few points fill many of them."""
    monkeypatch.setattr(engine, "_BLOCK_SIZES", (SMALL,))
    monkeypatch.setattr(searching, "GROUP", 8)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 17, 40])
@pytest.mark.parametrize("kind", HARD)
def test_equals_prim(kind, d, dtype):
    if dtype == np.float32 and kind in ("tiny", "huge"):
        pytest.skip("beyond the range of float32")
    for seed, n in enumerate([2, 3, 9, 10, 33, 180]):
        X = hard(kind, n, d, seed).astype(dtype)
        found = minimum_spanning_tree(X, engine="blocked")
        assert found.engine == "blocked"
        assert_as_good(found, minimum_spanning_tree(X, engine="prim"))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", KINDS)
def test_equals_prim_on_common_inputs(kind):
    for seed, (n, d) in enumerate([(5, 1), (70, 2), (150, 5), (90, 64)]):
        X = points(kind, n, d, seed)
        expected = minimum_spanning_tree(X, engine="prim")
        assert_as_good(minimum_spanning_tree(X, engine="blocked"), expected)


@pytest.mark.parametrize("kind", HARD)
def test_equals_prim_in_blocks_of_full_size(kind):
    X = hard(kind, 1500, 20, 0)
    assert_as_good(
        minimum_spanning_tree(X, engine="blocked", n_jobs=2),
        minimum_spanning_tree(X, engine="prim"),
    )


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", HARD)
def test_threads_change_nothing(kind):
    X = hard(kind, 300, 12, 1)
    alone, *others = (minimum_spanning_tree(X, engine="blocked", n_jobs=jobs) for jobs in (1, 2, 4))
    assert all(alone == other for other in others)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "metric",
    [
        "sqeuclidean",
        "seuclidean",
        "mahalanobis",
        "cosine",
        "angular",
        "correlation",
        "hellinger",
        "haversine",
    ],
)
def test_other_metrics(metric):
    X = np.random.default_rng(0).random(size=(200, 2 if metric == "haversine" else 30))
    assert_as_good(
        minimum_spanning_tree(X, metric=metric, engine="blocked"),
        minimum_spanning_tree(X, metric=metric, engine="prim"),
    )


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int8", "int16", "uint16", "bool"])
def test_small_types_are_computed_in_float32_storage(dtype):
    X = np.random.default_rng(0).integers(0, 100, size=(60, 30)).astype(dtype)
    assert check_points(X).dtype == np.float32
    expected = minimum_spanning_tree(X.astype(np.float64), engine="prim")
    for name in ("blocked", "prim"):
        assert_as_good(minimum_spanning_tree(X, engine=name), expected)


@pytest.mark.usefixtures("small_blocks")
class TestSparse:
    def rows(self, n: int, d: int, seed: int, whole: bool) -> scipy.sparse.csr_array:
        rng = np.random.default_rng([n, d, seed])
        dense = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.2)
        if whole:
            dense = np.ceil(dense)
        dense[:, 0] += 1.0  # no row is empty but one
        dense[n // 2] = 0.0
        return scipy.sparse.csr_array(dense)

    @pytest.mark.parametrize("whole", [False, True])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_equals_dense(self, dtype, whole):
        for seed, (n, d) in enumerate([(1, 4), (2, 3), (40, 7), (150, 60), (200, 400)]):
            X = self.rows(n, d, seed, whole).astype(dtype)
            found = minimum_spanning_tree(X)
            assert_as_good(found, minimum_spanning_tree(X.toarray(), engine="prim"))
            assert found.engine == ("blocked" if n > 1 else "prim")
            assert found == minimum_spanning_tree(X, n_jobs=3)

    @pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "angular", "hellinger"])
    def test_metrics(self, metric):
        X = self.rows(120, 50, 0, whole=False)
        X = X[np.diff(X.indptr) > 0]
        found = minimum_spanning_tree(X, metric=metric)
        expected = minimum_spanning_tree(X.toarray(), metric=metric, engine="prim")
        np.testing.assert_allclose(found.weights, expected.weights, rtol=0, atol=1e-14)

    def test_input_is_left_alone(self):
        X = self.rows(50, 20, 0, whole=False)
        unsorted = scipy.sparse.csr_array(
            (
                np.concatenate([X.data[::-1], [1.0, 2.0]]),
                np.concatenate([X.indices[::-1], [3, 3]]),
                np.concatenate([[0], np.cumsum(np.diff(X.indptr)[::-1]), [len(X.data) + 2]]),
            ),
            shape=(51, 20),
        )
        before = unsorted.copy()
        found = minimum_spanning_tree(unsorted)
        assert_as_good(found, minimum_spanning_tree(unsorted.toarray(), engine="prim"))
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(unsorted, part), getattr(before, part))

    @pytest.mark.parametrize("form", ["csc", "coo", "lil", "bsr"])
    def test_every_format(self, form):
        X = self.rows(60, 20, 3, whole=False)
        assert minimum_spanning_tree(X.asformat(form)) == minimum_spanning_tree(X)

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"metric": "manhattan"}, TypeError, "Sparse points are served"),
            ({"metric": "correlation"}, TypeError, "Sparse points are served"),
            ({"metric_params": {"w": np.ones(20)}}, TypeError, "Sparse points are served"),
            ({"metric": "cosine"}, ValueError, "Row 25 is zero"),
            ({"metric": "hellinger"}, ValueError, "row 25 is zero"),
            ({"engine": "prim"}, ValueError, "takes dense points"),
            ({"engine": "kd-tree"}, ValueError, "takes dense points"),
        ],
    )
    def test_what_cannot_be_served_is_refused(self, options, error, words):
        with pytest.raises(error, match=words):
            minimum_spanning_tree(self.rows(50, 20, 0, whole=False), **options)

    def test_negative_entries_are_no_distributions(self):
        X = scipy.sparse.csr_array([[1.0, 0.0], [0.5, 0.0], [1.0, -1.0]])
        with pytest.raises(ValueError, match="row 2 has a negative entry"):
            minimum_spanning_tree(X, metric="hellinger")

    def test_rows_along_a_direction(self):
        X = self.rows(50, 20, 0, whole=False)
        direction = np.random.default_rng(0).normal(size=20)
        with Workers(1) as workers:
            found = sparse.sparse_blocks(X, workers, SMALL)
        along = found.rows.along(slice(5, 40), direction)
        expected = (X.toarray() / found.scale @ direction)[5:40]
        np.testing.assert_allclose(along, expected, rtol=0, atol=1e-5)

    @pytest.mark.parametrize("scale", [1e-160, 1e160])
    def test_extreme_values(self, scale):
        X = self.rows(60, 20, 3, whole=False)
        np.testing.assert_allclose(
            minimum_spanning_tree(X * scale).weights,
            minimum_spanning_tree(X).weights * scale,
            rtol=1e-14,
        )


def bounds_and_distances(X):
    """Return the bounds that products give for all pairs of points, and squared distances."""
    prepared = prepare_points(X, resolve_metric("euclidean")).points
    with Workers(1) as workers:
        made = sparse.sparse_blocks if scipy.sparse.issparse(X) else dense_rows.dense_blocks
        found = made(prepared, workers, SMALL)
    buffers = nearest.Buffers(found)
    n_points = found.n_points
    bounds = np.empty((n_points, n_points))
    for block in range(found.n_blocks):
        rows = found.positions(block)
        for other in range(found.n_blocks):
            columns = found.positions(other)
            separation = found.separation(rows, block, other)
            filled = buffers.products(found, rows, other, separation)
            n_columns = columns.stop - columns.start
            assert (filled.first_column, filled.n_columns) == (columns.start, n_columns)
            products = buffers.square[: len(filled.row_terms), :n_columns]
            sums = filled.row_terms[:, None] + filled.column_terms[None, :n_columns]
            bounds[rows, columns] = sums - (products + products)
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    at = dense[found.order].astype(np.longdouble) / found.scale
    distances = ((at[:, None] - at[None, :]) ** 2).sum(axis=2)
    return found, bounds, distances


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", [kind for kind in HARD if kind not in ("tiny", "huge")])
def test_bounds_are_never_above_the_distance(kind):
    for d in (3, 50, 700):
        found, bounds, distances = bounds_and_distances(hard(kind, 150, d, 0))
        assert (bounds <= distances).all()
        if found.exact:
            np.testing.assert_array_equal(bounds, distances)


@pytest.mark.usefixtures("small_blocks")
def test_bounds_lose_little_however_far_clusters_are():
    X = hard("clusters farther than float32 sees", 150, 30, 0)
    _, bounds, distances = bounds_and_distances(X)
    near = distances < 1e-12
    np.fill_diagonal(near, val=False)
    assert near.sum() > 1000
    assert (bounds[near] > 0.99 * distances[near]).all()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("whole", [False, True])
def test_bounds_of_sparse_rows(whole):
    X = TestSparse().rows(100, 300, 0, whole)
    found, bounds, distances = bounds_and_distances(X)
    assert found.exact == whole
    assert (bounds <= distances).all()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", HARD)
def test_gaps_are_never_above_a_distance(kind):
    found, _, distances = bounds_and_distances(hard(kind, 200, 10, 0))
    for block in range(found.n_blocks):
        gaps = found.gaps(block)
        for other in range(found.n_blocks):
            rows = found.positions(block)
            nearest = distances[rows, found.positions(other)].min(axis=1)
            assert gaps[other] <= nearest.min()
            if (separation := found.separation(rows, block, other)) is not None:
                assert (found.distances_along(rows, other, separation) <= nearest).all()


def test_products_pass_over_the_flags_of_the_library_below():
    """A BLAS may set flags for lanes of its vectors that hold nothing; 0 · inf stands for them."""
    rows = dense_rows.DenseRows(np.empty((2, 2)), np.array([[np.inf, 0], [0, 0]], np.float32))
    assert np.isnan(rows.along(slice(0, 2), np.zeros(2))[0])
    out = np.empty((2, 2), np.float32)
    rows.products(slice(0, 2), slice(0, 2), out, None)
    assert np.isnan(out[0, 1])


def test_where_all_is_equally_far_prim_takes_over():
    X = hard("simplex", 1200, 1200, 0)
    found = minimum_spanning_tree(X)
    assert found.engine == "prim"
    assert_as_good(found, minimum_spanning_tree(X, engine="blocked"))


def test_blocks_of_very_long_rows_are_small():
    assert dense_rows.block_size(784, 1024) == 1024
    assert dense_rows.block_size(784, 256) == 256
    assert dense_rows.block_size(100_000, 1024) == 64
    assert dense_rows.block_size(10**9, 1024) == 32


def test_every_pair_once_and_nobody_twice_a_round():
    for n in (1, 2, 3, 6, 7, 20):
        rounds = list(nearest._rounds_of_pairs(n))
        pairs = [pair for pairs in rounds for pair in pairs]
        assert sorted(pairs) == [(i, j) for i in range(n) for j in range(i, n)]
        for pairs in rounds[1:]:
            players = [player for pair in pairs for player in pair]
            assert len(set(players)) == len(players)


def test_the_order_of_blocks_is_an_order():
    X = hard("clusters far apart", 3000, 5, 0)
    order, starts = dense_rows.spatial_order(X, 100, (0, 3000))
    np.testing.assert_array_equal(np.sort(order), np.arange(3000))
    assert starts[0] == 0
    assert starts[-1] == 3000
    assert (np.diff(starts) <= 100).all()
    assert (np.diff(starts) > 0).all()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", ["blocked", "kd-tree", "prim"])
def test_progress_never_goes_back_and_reaches_the_end(name):
    seen = []
    X = hard("clusters far apart", 2000, 4, 0)
    minimum_spanning_tree(X, engine=name, progress=lambda *call: seen.append(call))
    done, totals = zip(*seen, strict=True)
    assert set(totals) == {1999}
    assert list(done) == sorted(done)
    assert done[-1] == 1999
    assert name == "prim" or len(set(done)) > 5


def test_a_progress_bar_where_it_was_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(
        "isthmus.spanning_tree.api.ProgressBar",
        lambda what: lambda done, total: sys.stderr.write(f"{what} {done}/{total}\n"),
    )
    minimum_spanning_tree(hard("sphere", 100, 4, 0), verbose=1)
    assert "spanning tree 99/99" in capsys.readouterr().err
    minimum_spanning_tree(hard("sphere", 100, 4, 0))
    assert capsys.readouterr().err == ""
