"""memory_limit: a fit keeps to it, or says before the work how much it needs."""

import re
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import kneighbors_graph

from clusterers import clusterer
from inputs import assert_as_good
from isthmus import TransitiveKMeans, minimum_spanning_tree
from isthmus._utils.memory import check_memory_limit
from isthmus.metrics.precomputed import check_precomputed

rng = np.random.default_rng(0)
MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    ("limit", "n_bytes"),
    [
        (None, None),
        (1000, 1000),
        (np.int64(7), 7),
        ("1000", 1000),
        ("2GB", 2 * 10**9),
        ("2 gb", 2 * 10**9),
        ("1.5 GiB", 3 << 29),
        ("512MiB", 512 << 20),
        ("10 kB", 10_000),
        ("1KiB", 1024),
        ("1 TB", 10**12),
        (" 3 B ", 3),
    ],
)
def test_limits_as_people_write_them(limit, n_bytes):
    assert check_memory_limit(limit) == n_bytes


@pytest.mark.parametrize("limit", ["", "GB", "-2GB", "2 gallons", "1e9", "0", 0, -5, "nan"])
def test_limits_that_are_none(limit):
    with pytest.raises(ValueError, match="memory_limit must be"):
        check_memory_limit(limit)


@pytest.mark.parametrize("limit", [True, 1.5, [1]])
def test_limits_of_the_wrong_type(limit):
    with pytest.raises(TypeError, match="memory_limit must be"):
        check_memory_limit(limit)


def least(work):
    """Return the least limit that a function of a limit accepts, and its result.

    Where clustering is refused, the limit that the error names is enough for it.
    """
    limit, n_refused = 1, 0
    while True:
        try:
            return limit, work(limit)
        except MemoryError as error:
            named = int(re.search(r"needs about .* \((\d+) bytes\) beside the data", str(error))[1])
            assert named > limit
            n_refused += str(error).startswith("Clustering")
            assert n_refused <= 1
            limit = named


def peak(work):
    """Return the most memory that a function held; it is warm, with nothing to compile."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = work()
        most = tracemalloc.get_traced_memory()[1] - before
        del kept
    finally:
        tracemalloc.stop()
    return most


def blobs(n, d, dtype=np.float64):
    return (rng.normal(size=(n, d)) + rng.integers(0, 3, size=(n, 1)) * 9).astype(dtype)


TREES = {
    "kd-tree, two features": (blobs(20_000, 2), {"engine": "kd-tree", "n_jobs": 2}),
    "kd-tree, float32": (blobs(20_000, 8, np.float32), {"engine": "kd-tree", "n_jobs": 2}),
    "kd-tree, duplicates": (
        blobs(5_000, 3)[rng.integers(0, 5_000, 20_000)],
        {"engine": "kd-tree"},
    ),
    "blocked": (blobs(3_000, 40), {"engine": "blocked", "n_jobs": 2}),
    "blocked, float32": (blobs(2_500, 300, np.float32), {"engine": "blocked", "n_jobs": 2}),
    "blocked, duplicates": (
        blobs(1_500, 40)[rng.integers(0, 1_500, 4_000)],
        {"engine": "blocked"},
    ),
    "sparse": (random_sparse(3_000, 2_000, 0.01, "csr", random_state=0), {"n_jobs": 2}),
    "prim": (blobs(3_000, 30), {"engine": "prim"}),
    "a map": (blobs(3_000, 30), {"engine": "prim", "metric": "cosine"}),
    "a map to the kd-tree": (blobs(20_000, 2) / 100, {"engine": "kd-tree", "metric": "haversine"}),
    "a line": (blobs(50_000, 1), {}),
    "shared neighbours, kd-tree": (
        blobs(20_000, 2),
        {"n_neighbors": 20, "neighborhood": "shared", "n_jobs": 2},
    ),
    "few shared neighbours, many edges of one length": (
        np.round(blobs(40_000, 2), 2),
        {"n_neighbors": 5, "neighborhood": "shared"},
    ),
    "shared neighbours, many features": (
        blobs(6_000, 60, np.float32),
        {"n_neighbors": 20, "neighborhood": "shared"},
    ),
    "means, kd-tree": (blobs(20_000, 2), {"n_neighbors": 20}),
    "means, many features": (blobs(6_000, 60, np.float32), {"n_neighbors": 20, "n_jobs": 2}),
    "rows": (blobs(1_000, 20), {"metric": "canberra"}),
    "rows, two threads": (np.abs(blobs(700, 60)), {"metric": "jensenshannon", "n_jobs": 2}),
    "missing values": (blobs(1_000, 20), {"metric": "nan_euclidean"}),
    "a function": (blobs(300, 1), {"metric": lambda a, b: abs(a[0] - b[0])}),
    "condensed": (check_precomputed(pdist(blobs(1_000, 2))), {"metric": "precomputed"}),
    "square": (check_precomputed(squareform(pdist(blobs(1_000, 2)))), {"metric": "precomputed"}),
    "graph": (
        check_precomputed(kneighbors_graph(blobs(20_000, 2), 8, mode="distance")),
        {"metric": "precomputed", "disconnected": 1e3},
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_a_spanning_tree_keeps_to_its_limit(name):
    X, parameters = TREES[name]
    expected = minimum_spanning_tree(X, **parameters)
    limit, found = least(lambda n: minimum_spanning_tree(X, memory_limit=n, **parameters))
    assert found.engine == expected.engine
    assert_as_good(found, expected)
    most = peak(lambda: minimum_spanning_tree(X, memory_limit=limit, **parameters))
    assert most <= limit
    assert limit - MEGABYTE <= 3 * most  # beside a megabyte for small things, no wild guess
    unlimited = peak(lambda: minimum_spanning_tree(X, **parameters))
    if "blocked" in name or name == "sparse":
        assert limit < unlimited  # smaller blocks


FITS = {
    "rows": ({}, {}),
    "embedding": ({"method": "embedding"}, {}),
    "cut": ({"method": "cut"}, {}),
    "power": ({"power": 0.5}, {}),
    "many clusters": ({"n_clusters": 40, "max_iter": 4}, {}),
    "shared neighbours": ({"n_neighbors": 15, "neighborhood": "shared"}, {}),
    "means of neighbours": ({"n_neighbors": 15}, {}),
    "point_weights": ({}, {"sample_weight": rng.integers(1, 4, 4_000)}),
    "rows of weight zero": ({}, {"sample_weight": (np.arange(4_000) % 40 > 0).astype(float)}),
    "random starts": (
        {"init": "random", "random_state": 0, "n_init": 4, "n_jobs": 3, "max_iter": 4},
        {},
    ),
    "k-means++": (
        {"init": "k-means++", "random_state": 0, "n_init": 4, "n_jobs": 3, "max_iter": 4},
        {},
    ),
    "many clusters, cut": ({"method": "cut", "n_clusters": 1_000}, {}),
    "noise": ({"noise": 0.05}, {}),
    "noise, cut": ({"method": "cut", "noise": "auto"}, {}),
    "auto": ({"method": "cut", "n_clusters": "auto"}, {}),
    "linked rows": ({"method": "cut"}, {"must_link": np.arange(600).reshape(300, 2)}),
}
# In the plane few nodes of the tree are mixed; on the path nearly all of them are; with eight
# features the kd-tree, which a fit keeps for new points, is larger than all else.
SHAPES = {
    "plane": blobs(4_000, 2),
    "path": np.cumsum(1 + np.arange(4_000) / 4_000)[:, None],
    "eight features": rng.normal(size=(4_000, 8)),
}


@pytest.mark.filterwarnings("ignore:n_clusters='auto' finds no clear structure")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FITS)
def test_a_fit_keeps_to_its_limit(name, shape):
    parameters, weights = FITS[name]
    X = SHAPES[shape]

    def fit(limit):
        model = clusterer(**{"n_clusters": 3, **parameters}, memory_limit=limit)
        return model.fit(X, **weights)

    expected = fit(None)
    limit, _ = least(fit)
    for generous in (1, 3):
        most = peak(lambda n=generous: fit(n * limit))
        assert most <= generous * limit
        if generous == 1:
            assert limit - MEGABYTE <= 3 * most
        again = fit(generous * limit)
        np.testing.assert_array_equal(again.labels_, expected.labels_)
        assert again.inertia_ == pytest.approx(expected.inertia_, rel=1e-12)  # the order of sums


@pytest.mark.filterwarnings("ignore:n_clusters='auto' finds no clear structure")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "name",
    ["rows", "embedding", "point_weights", "cut", "noise", "noise, cut", "auto", "linked rows"],
)
def test_so_does_one_of_many_points(name, shape):
    """For whom what each one takes is more than what all fits take."""
    n = 60_000
    steps = 1 + np.arange(n) / n
    if shape == "plane":
        X = blobs(n, 2)
    else:
        X = np.cumsum(steps)[:, None] if shape == "path" else rng.normal(size=(n, 8))
    parameters, given = FITS[name]
    weights = {"sample_weight": 1.0 + np.arange(n) % 3} if name == "point_weights" else given

    def fit(limit):
        model = clusterer(**{"n_clusters": 3, "max_iter": 3, **parameters}, memory_limit=limit)
        return model.fit(X, **weights)

    fit(None)
    limit, _ = least(fit)
    assert limit / 3 <= peak(lambda: fit(limit)) <= limit


def test_a_refusal_says_what_and_how_much():
    X = blobs(20_000, 3)
    with pytest.raises(
        MemoryError,
        match=r"The spanning tree of 20,000 points \(engine='kd-tree'\) needs about 3\.\d MiB "
        r"\(\d+ bytes\) beside the data, and memory_limit is 1000\.0 KiB\. Raise the limit",
    ):
        minimum_spanning_tree(X, memory_limit="1000KiB")
    with pytest.raises(MemoryError, match=r"Clustering 20,000 points into 4 clusters needs about"):
        TransitiveKMeans(4, memory_limit="5MB").fit(X)


def test_smaller_blocks_are_as_good():
    from isthmus.metrics.mapped import prepare_points
    from isthmus.metrics.registry import resolve_metric
    from isthmus.spanning_tree.by_blocks.boruvka import boruvka_on_blocks
    from isthmus.spanning_tree.result import SpanningTree

    whole = rng.integers(0, 3, size=(1_200, 12)).astype(float)  # full of ties
    for X in (whole, blobs(1_200, 12), csr_array(whole)):
        prepared = prepare_points(X, resolve_metric("euclidean", None))
        trees = [
            SpanningTree.from_edges(*boruvka_on_blocks(prepared, 2, block_size=block)[:2])
            for block in (1024, 512, 256)
        ]
        for tree in trees[1:]:
            assert_as_good(tree, trees[0])
