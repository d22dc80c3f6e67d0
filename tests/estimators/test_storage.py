"""Where data lie, and how models travel: files, read-only arrays, pickles, joblib, copies."""

import copy
import io
import pickle
import tracemalloc

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

from inputs import points
from isthmus import TransitiveKMeans, minimum_spanning_tree

# Data, and parameters that lead to every engine.
ENGINES = {
    "prim": (points("blobs", 300, 3, seed=0), {}),
    "kd-tree": (points("blobs", 15_000, 2, seed=0), {}),
    "blocked": (points("gaussian", 6_500, 33, seed=0), {}),
    "sort": (points("gaussian", 300, 1, seed=0), {}),
    "map": (np.abs(points("blobs", 300, 3, seed=0)), {"metric": "cosine"}),
    "rows": (np.abs(points("blobs", 300, 3, seed=0)), {"metric": "canberra"}),
    "function": (points("blobs", 60, 2, seed=0), {"metric": lambda a, b: abs(a - b).max()}),
    "square": (squareform(pdist(points("blobs", 300, 2, seed=0))), {"metric": "precomputed"}),
    "condensed": (pdist(points("blobs", 300, 2, seed=0)), {"metric": "precomputed"}),
}


def in_file(X, folder, mode):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode=mode)


def read_only(X, *_):
    X = X.copy()
    X.flags.writeable = False
    return X


def unaligned(X, *_):
    return np.frombuffer(b"." + X.tobytes(), X.dtype, offset=1).reshape(X.shape)


STORAGES = {
    "unaligned": unaligned,
    "read-only": read_only,
    "read-only, columns first": lambda X, *_: read_only(np.asfortranarray(X)),
    "in a file, read-only": lambda X, folder: in_file(X, folder, "r"),
    "in a file, copy on write": lambda X, folder: in_file(X, folder, "c"),
    "in a file, writable": lambda X, folder: in_file(X, folder, "r+"),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_takes_data_from_anywhere(engine, dtype, tmp_path):
    X, parameters = ENGINES[engine]
    X = X.astype(dtype)
    expected = TransitiveKMeans(3, **parameters).fit(X)
    if engine in ("prim", "kd-tree", "blocked", "sort"):
        assert expected.spanning_tree_.engine == engine
    for store in STORAGES.values():
        stored = store(X, tmp_path)
        model = TransitiveKMeans(3, **parameters).fit(stored)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.spanning_tree_ == expected.spanning_tree_
        np.testing.assert_array_equal(stored, X)
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), X)


def test_weights_and_starts_may_be_read_only():
    X = points("blobs", 200, 2, seed=0)
    weights, init = read_only(np.arange(200) % 3), read_only(np.array([1, 50, 100]))
    expected = TransitiveKMeans(3, init=[1, 50, 100]).fit(X, sample_weight=np.arange(200) % 3)
    found = TransitiveKMeans(3, init=init).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_sparse_rows_may_be_read_only():
    X = csr_matrix(np.round(points("blobs", 100, 5, seed=0)))
    expected = TransitiveKMeans(3).fit(X)
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(TransitiveKMeans(3).fit(X).labels_, expected.labels_)


@pytest.mark.parametrize("engine", ["square", "condensed", "blocked"])
def test_data_in_files_are_not_copied(engine, tmp_path):
    """They are larger than all that is allocated, but for the float32 copy that tiles make."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_500, 2))
    data = {
        "square": lambda: squareform(pdist(X)),
        "condensed": lambda: pdist(X),
        "blocked": lambda: rng.normal(size=(3_000, 400)),
    }[engine]()
    parameters = {"engine": "blocked"} if engine == "blocked" else {"metric": "precomputed"}
    stored = in_file(data, tmp_path, "r")
    minimum_spanning_tree(stored, **parameters)
    limit = "8MB" if engine == "blocked" else None
    tracemalloc.start()
    minimum_spanning_tree(stored, memory_limit=limit, **parameters)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < data.nbytes * (0.85 if engine == "blocked" else 0.2)


def through_joblib(model, compress):
    stream = io.BytesIO()
    joblib.dump(model, stream, compress=compress)
    stream.seek(0)
    return joblib.load(stream)


TRAVELS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "oldest pickle": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "joblib": lambda model: through_joblib(model, 0),
    "joblib, compressed": lambda model: through_joblib(model, 3),
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
}


@pytest.mark.parametrize("travel", TRAVELS)
def test_models_travel(travel):
    X = points("blobs", 120, 2, seed=0)
    weights = np.arange(120) % 3
    model = TransitiveKMeans(3, memory_limit="1GB").fit(X, sample_weight=weights)
    model.labels_for(4)
    found = TRAVELS[travel](model)
    assert found.get_params() == model.get_params()
    np.testing.assert_array_equal(found.labels_, model.labels_)
    assert found.tree_ == model.tree_
    assert found.inertia_ == model.inertia_
    np.testing.assert_array_equal(found.labels_for(5), model.labels_for(5))
    found.fit(X[:50])
    assert len(model.labels_) == 120


def test_pickles_hold_arrays_once():
    """Edges, weights and labels: 28 bytes a point; and X, which predict needs."""
    X = points("blobs", 5_000, 8, seed=0)
    model = TransitiveKMeans(3).fit(X)
    model.labels_for(5)
    model.tree_.distance(0, 1)
    model.tree_.path(0, 1)
    plain, by_joblib = io.BytesIO(), io.BytesIO()
    pickle.dump(model, plain)
    joblib.dump(model, by_joblib)
    for stream in (plain, by_joblib):
        assert stream.tell() < 5_000 * (28 + 8) + X.nbytes


def test_clones_are_not_fitted():
    model = TransitiveKMeans(3, memory_limit="1GB", memory="somewhere", verbose=print)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    model.set_params(memory=None, verbose=0).fit(points("blobs", 30, 2, seed=0))
    assert set(vars(clone(model))) == set(model.get_params())
