"""Missing values and scales: as scikit-learn's pipelines do it, and again for new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, RobustScaler, StandardScaler

from isthmus.metrics.preparation import MISSING, SCALES, Preparation, learn_preparation

SCALERS = {
    "none": FunctionTransformer(),
    "standard": StandardScaler(),
    "robust": RobustScaler(),
}
VALUES = st.one_of(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), st.just(np.nan))
TABLES = arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 4)), elements=VALUES)


@pytest.mark.parametrize("n", [3, 7, 10])
@pytest.mark.parametrize("value", [683.298, 0.1, -1e-300, 1e300])
def test_a_column_of_equal_numbers_has_no_spread(value, n):
    """Though the mean of equal numbers may be another one, by rounding."""
    points = np.full((n, 1), value)
    points[1] = np.nan
    learnt = learn_preparation(points, missing="mean", scale="standard")
    assert (learnt.fill.tolist(), learnt.spread.tolist()) == ([value], [1.0])
    assert (learnt.apply(points)[0] == 0.0).all()


@settings(max_examples=80, deadline=None)
@given(TABLES, TABLES, st.sampled_from(MISSING[1:]), st.sampled_from(SCALES))
def test_generated_tables_against_pipelines(points, new, missing, scale):
    columns = ~np.isnan(points).all(axis=0)
    points = points[:, columns] if columns.any() else np.zeros((3, 1))
    new = np.resize(new, (len(new), points.shape[1]))
    whole, whole_new = (~np.isnan(each).any(axis=1) for each in (points, new))
    if missing == "drop" and not whole.any():
        points, whole = np.zeros((3, 1)), np.ones(3, dtype=bool)
        new, whole_new = new[:, :1], ~np.isnan(new[:, 0])
    preparation = learn_preparation(points, missing=missing, scale=scale)
    imputer = SimpleImputer() if missing == "mean" else FunctionTransformer()
    pipeline = make_pipeline(imputer, SCALERS[scale])
    fitted = points[whole] if missing == "drop" else points
    pipeline.fit(fitted)
    for rows, is_whole in ((points, whole), (new, whole_new)):
        prepared, taken = preparation.apply(rows)
        expected = rows[is_whole] if missing == "drop" else rows
        if missing == "drop":
            assert (np.ones(len(rows), dtype=bool) if taken is None else taken).tolist() == (
                is_whole.tolist()
            )
        else:
            assert taken is None
        if len(expected):
            assert prepared == pytest.approx(pipeline.transform(expected), abs=1e-9, nan_ok=True)
    again = Preparation.from_content(preparation.to_content(), points.shape[1])
    assert np.array_equal(again.apply(new)[0], preparation.apply(new)[0], equal_nan=True)


def test_nothing_to_do_changes_nothing():
    points = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    preparation = learn_preparation(points)
    assert not preparation.changes_values
    assert preparation.apply(points)[0] is points


def test_columns_without_spread_are_not_divided():
    points = np.array([[0.1, 1.0], [0.1, 1.0], [0.1, 5.0], [0.1, 1.0]])
    for scale in ("standard", "robust"):
        prepared, _ = learn_preparation(points, scale=scale).apply(points)
        assert np.abs(prepared[:, 0]).max() < 1e-15
        assert np.isfinite(prepared).all()


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        ([[np.nan, 1.0], [np.nan, 2.0]], {"missing": "mean"}, "column 1 has no value at all"),
        ([[1.0, np.nan]], {"missing": "drop", "columns": ("x", "y")}, "column 'y' has no value"),
        ([[1.0, np.nan], [np.nan, 1.0]], {"missing": "drop"}, "every row has a missing value"),
        ([[1e308], [1.5e308], [1.6e308]], {"scale": "standard"}, "column 1 are too large"),
    ],
)
def test_wrong_tables(points, options, message):
    with pytest.raises(ValueError, match=message):
        learn_preparation(np.array(points), **options)


@pytest.mark.parametrize(
    "change",
    [
        {"missing": "median"},
        {"scale": "log"},
        {"columns": ["x"]},
        {"columns": [1, 2]},
        {"n_features": 3},
        {"n_features": True},
        {"fill": None},
        {"fill": np.zeros(3)},
        {"fill": np.array([0.0, np.nan])},
        {"spread": np.array([0.0, 1.0])},
        {"spread": None},
        {"scale": "none"},
        {"missing": "drop"},
        {"more": 1},
    ],
)
def test_forged_content_is_refused(change):
    points = np.array([[1.0, 2.0], [3.0, np.nan]])
    learnt = learn_preparation(points, missing="mean", scale="standard", columns=("x", "y"))
    with pytest.raises(ValueError):  # noqa: PT011 - each in its words
        Preparation.from_content(learnt.to_content() | change, 2)
