"""TransitiveCut of Dask: scikit-learn's conventions, predictions, and what it refuses."""

import importlib
import pickle
import sys

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import isthmus
from isthmus.dask import TransitiveCut


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = rng.random((6, 2)) * 10
    return centres[rng.integers(0, 6, 20_000)] + 0.3 * rng.normal(size=(20_000, 2))


@pytest.fixture(scope="module")
def fitted(blobs):
    return TransitiveCut(6, n_cells=7).fit(da.from_array(blobs, chunks=(3000, 2)))


def test_labels_for_any_number_and_new_rows(blobs, fitted):
    alone = isthmus.TransitiveCut(6).fit(blobs)
    np.testing.assert_array_equal(fitted.labels_.compute(), alone.labels_)
    for k in (2, 9, 40):
        np.testing.assert_array_equal(fitted.labels_for(k).compute(), alone.labels_for(k))
    new = np.random.default_rng(1).random((2000, 2)) * 10
    predicted = fitted.predict(da.from_array(new, chunks=(700, 2)))
    assert predicted.chunks == ((700, 700, 600),)
    np.testing.assert_array_equal(predicted.compute(), alone.predict(new))


def test_auto(blobs):
    alone = isthmus.TransitiveCut("auto").fit(blobs)
    model = TransitiveCut("auto", n_cells=4).fit(da.from_array(blobs, chunks=(9000, 2)))
    assert model.n_clusters_ == alone.n_clusters_
    np.testing.assert_array_equal(model.labels_.compute(), alone.labels_)


def test_a_contraction_that_is_too_coarse_is_refined(monkeypatch, blobs):
    from isthmus.dask import clusters_by_cut

    monkeypatch.setattr(clusters_by_cut, "_FEW", 2)
    monkeypatch.setattr(clusters_by_cut, "_PER_CLUSTER", 1)
    model = TransitiveCut(30, n_cells=5).fit(da.from_array(blobs, chunks=(9000, 2)))
    np.testing.assert_array_equal(
        model.labels_.compute(), isthmus.TransitiveCut(30).fit_predict(blobs)
    )


def test_clusters_that_overlap_need_many_edges_and_memory_is_checked_before(monkeypatch):
    from isthmus.dask import clusters_by_cut

    monkeypatch.setattr(clusters_by_cut, "_FEW", 2)
    monkeypatch.setattr(clusters_by_cut, "_PER_CLUSTER", 1)
    X = da.random.RandomState(0).normal(size=(5000, 2), chunks=(1000, 2))
    fitted = TransitiveCut(3, n_cells=4).fit(X)
    assert len(fitted._fitted.cutter._contraction.components) > 100  # more than at first
    monkeypatch.setattr(clusters_by_cut, "_BYTES_PER_EDGE", 1 << 60)
    with pytest.raises(MemoryError, match=r"heaviest edges needs .* available"):
        TransitiveCut(3, n_cells=4).fit(X)


def test_conventions(fitted):
    assert clone(fitted).get_params() == fitted.get_params()
    assert repr(TransitiveCut(3)) == "TransitiveCut(n_clusters=3)"
    with pytest.raises(NotFittedError):
        TransitiveCut(3).labels_  # noqa: B018
    assert fitted.n_features_in_ == 2
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.labels_.compute(), fitted.labels_.compute())
    np.testing.assert_array_equal(copied.labels_for(9).compute(), fitted.labels_for(9).compute())


def test_data_frames_of_unknown_length_and_mixed_types():
    dd = pytest.importorskip("dask.dataframe")

    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.random(500), "n": rng.integers(0, 9, 500)})
    model = TransitiveCut(3, n_cells=3).fit(dd.from_pandas(frame, npartitions=4))
    expected = isthmus.TransitiveCut(3).fit_predict(frame.to_numpy(dtype=float))
    np.testing.assert_array_equal(model.labels_.compute(), expected)
    assert model.feature_names_in_.tolist() == ["x", "n"]


def test_without_dask_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    monkeypatch.delitem(sys.modules, "isthmus.dask")
    with pytest.raises(ImportError, match=r"pip install 'isthmus\[dask\]'"):
        importlib.import_module("isthmus.dask")


def with_nan():
    X = np.ones((10, 2))
    X[7, 1] = np.nan
    return da.from_array(X, chunks=(4, 2))


@pytest.mark.parametrize(
    ("X", "parameters", "words"),
    [
        (with_nan(), {}, r"Row 7 .* row 3 of block 1 of 3 \(rows from 4 on\)"),
        (da.ones((0, 2)), {}, "no rows"),
        (da.ones((3, 2)), {"n_clusters": 4}, "n_clusters=4"),
        (da.ones((3, 2)), {"metric": "precomputed"}, "takes rows"),
        (da.ones((3, 2)), {"metric": "seuclidean"}, "give V"),
        (da.ones((3, 2)), {"n_cells": 0}, "n_cells"),
    ],
)
def test_what_is_wrong_is_said(X, parameters, words):
    with pytest.raises(ValueError, match=words):
        TransitiveCut(**({"n_clusters": 2} | parameters)).fit(X)


def test_arrays_in_memory_are_refused():
    with pytest.raises(TypeError, match=r"Dask array .* got ndarray"):
        TransitiveCut(2).fit(np.ones((3, 2)))


@pytest.mark.parametrize("weights", [np.ones(4), np.array([1.0, 0.0, 1.0])])
def test_weights_that_do_not_suit(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        TransitiveCut(2).fit(da.ones((3, 2)), sample_weight=weights)
