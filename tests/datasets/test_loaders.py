import sys
from importlib.resources import files

import numpy as np
import pytest
import sklearn.datasets

from isthmus.datasets import load_ionosphere, load_iris


def test_ionosphere_has_the_published_shape_and_classes():
    bunch = load_ionosphere()
    assert bunch.data.shape == (351, 34)
    assert bunch.data.dtype == np.float64
    assert np.issubdtype(bunch.target.dtype, np.integer)
    assert np.bincount(bunch.target).tolist() == [126, 225]
    assert bunch.target_names.tolist() == ["bad", "good"]
    assert np.abs(bunch.data).max() == 1.0


def test_ionosphere_rows_are_those_of_the_file():
    text = files("isthmus.datasets").joinpath("data", "ionosphere.csv").read_text()
    bunch = load_ionosphere()
    for i, line in enumerate(text.splitlines()):
        *numbers, letter = line.split(",")
        assert bunch.data[i].tolist() == [float(number) for number in numbers]
        assert bunch.target_names[bunch.target[i]].startswith(letter)


def test_what_the_description_says_of_ionosphere_is_true():
    bunch = load_ionosphere()
    assert "rows 102 and 248 (counted from 0) are equal" in bunch.DESCR
    rows, counts = np.unique(bunch.data, axis=0, return_counts=True)
    assert counts.max() == 2
    equal = np.flatnonzero((bunch.data == rows[counts.argmax()]).all(axis=1))
    assert equal.tolist() == [102, 248]
    assert "index 1,\npulse_0_imag, is 0" in bunch.DESCR
    assert np.flatnonzero((bunch.data == bunch.data[0]).all(axis=0)).tolist() == [1]
    assert (bunch.data[:, 1] == 0).all()
    assert bunch.feature_names[1] == "pulse_0_imag"


@pytest.mark.parametrize("credit", ["Sigillito", "Wing", "Hutton", "Baker", "C5W01B", "CC BY 4.0"])
def test_ionosphere_is_attributed(credit):
    assert credit in load_ionosphere().DESCR
    readme = files("isthmus.datasets").joinpath("data", "README.md").read_text("utf-8")
    assert credit in readme


def test_ionosphere_pair_equals_the_bunch():
    X, y = load_ionosphere(return_X_y=True)
    bunch = load_ionosphere()
    assert np.array_equal(X, bunch.data)
    assert np.array_equal(y, bunch.target)
    assert bunch.frame is None


def test_ionosphere_can_be_changed_without_changing_the_next_one():
    first = load_ionosphere()
    first.data[:] = 7.0
    first.feature_names.clear()
    second = load_ionosphere()
    assert not (second.data == 7.0).any()
    assert len(set(second.feature_names)) == 34


def test_ionosphere_as_frame():
    pandas = pytest.importorskip("pandas")
    bunch = load_ionosphere(as_frame=True)
    plain = load_ionosphere()
    assert isinstance(bunch.data, pandas.DataFrame)
    assert isinstance(bunch.target, pandas.Series)
    assert list(bunch.data.columns) == plain.feature_names
    assert list(bunch.frame.columns) == [*plain.feature_names, "target"]
    assert np.array_equal(bunch.data.to_numpy(), plain.data)
    X, y = load_ionosphere(return_X_y=True, as_frame=True)
    assert X.equals(bunch.data)
    assert y.equals(bunch.target)


def test_ionosphere_as_frame_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        load_ionosphere(as_frame=True)


def test_iris_is_the_one_of_scikit_learn():
    theirs = sklearn.datasets.load_iris()
    X, y = load_iris(return_X_y=True)
    assert np.array_equal(X, theirs.data)
    assert np.array_equal(y, theirs.target)
    assert load_iris().feature_names == theirs.feature_names
