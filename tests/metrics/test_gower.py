"""Gower's distance of tables: against two loops, in fits, for new rows and from files."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus import TransitiveCut, TransitiveKMeans, minimum_spanning_tree, suggest_n_clusters
from isthmus.estimators import TransitiveEmbedding, extension
from isthmus.metrics.gower import GowerMetric, gower_by_rows, table_metric
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.rowwise import RowMetric
from isthmus.metrics.table_columns import TableColumns, check_codes, learn_columns
from isthmus.prediction.extend_by_rows import extended_by_rows
from oracles.gower import gower_matrix

DAY = dt.datetime(2024, 1, 1)
NUMBERS = st.integers(-40, 40).map(lambda x: x / 8)
CATEGORIES = st.sampled_from(["red", "green", "blue"])
KINDS = ["number", "category", "category", "number"]


def tables(*, gaps):
    def maybe(values):
        return st.one_of(st.none(), values) if gaps else values

    row = st.tuples(
        maybe(NUMBERS), maybe(CATEGORIES), maybe(st.booleans()), maybe(st.integers(0, 9))
    )
    return st.lists(row, min_size=2, max_size=9)


def as_frame(rows):
    """Return rows as a frame: a number, a category, a boolean and a date."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pd.DataFrame(
        {
            "size": pd.array(columns[0], dtype="Float64"),
            "colour": pd.array(columns[1], dtype="object"),
            "old": pd.array(columns[2], dtype="boolean"),
            "day": pd.to_datetime(
                [None if day is None else DAY + dt.timedelta(days=day) for day in columns[3]]
            ),
        }
    )


def ranges_of(rows):
    present = [[x for x in column if x is not None] for column in zip(*rows, strict=True)]
    return [
        max(column) - min(column) if kind == "number" and column else 0.0
        for column, kind in zip(present, KINDS, strict=True)
    ]


def expected_matrix(rows, others, fitted, weights=(1, 1, 1, 1)):
    return np.array(gower_matrix(rows, others, KINDS, ranges_of(fitted), weights))


WEIGHTS = st.sampled_from([None, [1, 2, 0.5, 3], [0, 1, 1, 1], {"day": 4, "old": 0}])


def as_list(w):
    if isinstance(w, dict):
        return [w.get(name, 1) for name in ("size", "colour", "old", "day")]
    return w or [1, 1, 1, 1]


@settings(max_examples=60, deadline=None)
@given(tables(gaps=False), WEIGHTS)
def test_mapped_rows_against_two_loops(rows, w):
    table = GowerMetric(w).learn(as_frame(rows))
    assert isinstance(table.metric, MappedMetric)
    expected = expected_matrix(rows, rows, rows, as_list(w))
    assert distance_matrix(table.points, table.metric) == pytest.approx(expected, abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(tables(gaps=True), WEIGHTS)
def test_rows_with_gaps_against_two_loops(rows, w):
    table = GowerMetric(w).learn(as_frame(rows))
    metric = gower_by_rows(table.columns, table.weights)
    expected = expected_matrix(rows, rows, rows, as_list(w))
    prepared, out = metric.prepare(table.points), np.empty((1, len(rows)))
    for i in range(len(rows)):
        metric.fill(prepared[i : i + 1], prepared, out)
        assert out[0] == pytest.approx(expected[i], abs=1e-14, nan_ok=True)


@settings(max_examples=25, deadline=None)
@given(tables(gaps=True))
def test_trees_against_precomputed_distances(rows):
    expected = expected_matrix(rows, rows, rows)
    frame = as_frame(rows)
    if np.isnan(expected).any():
        with pytest.raises(ValueError, match=r"no column of which both have a value"):
            minimum_spanning_tree(frame, metric="gower")
        return
    tree = minimum_spanning_tree(frame, metric="gower")
    by_matrix = minimum_spanning_tree(expected, metric="precomputed")
    assert np.sort(tree.weights) == pytest.approx(np.sort(by_matrix.weights), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(tables(gaps=False), tables(gaps=True))
def test_new_rows_go_to_the_nearest(rows, new):
    new = [
        (None if x is None else 3 * x, "grey" if colour == "blue" else colour, *others)
        for x, colour, *others in new
        if x is not None or colour is not None
    ]
    if not new:
        return
    fitted = expected_matrix(rows, rows, rows)
    if len(np.unique(np.round(fitted, 9))) < 3:
        return
    model = TransitiveCut(2, metric="gower").fit(as_frame(rows))
    distances = expected_matrix(new, rows, rows)
    labels = model.predict(as_frame(new))
    for row, label in zip(distances, labels, strict=True):
        nearest = np.flatnonzero(row <= row.min() + 1e-12)
        assert label in model.labels_[nearest]


def test_frames_arrays_and_lists_agree():
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=40).round(2),
        "colour": rng.choice(["red", "green", "blue"], 40),
        "old": rng.random(40) < 0.5,
        "day": np.datetime64("2024-01-01") + rng.integers(0, 90, 40).astype("timedelta64[D]"),
    }
    frame = pd.DataFrame(columns)
    frame["old"] = frame["old"].astype(bool)
    tree = minimum_spanning_tree(frame, metric="gower")
    categories = frame.assign(colour=frame["colour"].astype("category"))
    objects = frame.astype(object).to_numpy()
    polars = pl.DataFrame({name: list(frame[name]) for name in frame})
    for other in (categories, objects, objects.tolist(), polars):
        found = minimum_spanning_tree(other, metric="gower")
        assert np.array_equal(found.edges, tree.edges)
        assert np.array_equal(found.weights, tree.weights)


def test_kinds_of_columns():
    frame = pd.DataFrame(
        {
            "number": [1, 2, 3],
            "size": pd.Categorical(["S", "L", None], ["S", "M", "L"], ordered=True),
            "code": pd.Categorical([10, 20, 10]),
            "zone": pd.to_datetime(["2024-01-01", None, "2024-01-03"]).tz_localize("UTC"),
            "lasts": pd.to_timedelta(["1 days", "12 hours", None]),
            "mixed": [dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)],
            "empty": [None, None, None],
            "constant": [7.0, 7.0, 7.0],
        }
    )
    columns, points = learn_columns(frame)
    kinds = {column.name: column.kind for column in columns.columns}
    assert kinds == {
        "number": "number",
        "size": "ordered category",
        "code": "category",
        "zone": "date",
        "lasts": "duration",
        "mixed": "date",
        "empty": "empty",
        "constant": "number",
    }
    assert points[:, 1].tolist()[:2] == [0.0, 2.0]
    assert points[0, 4] == 1.0
    assert points[1, 4] == 0.5
    new = frame.assign(
        size=pd.Categorical(["L", "S", "M"], ["M", "S", "L"], ordered=True), empty=["a", "b", "c"]
    )
    assert columns.encode(new)[:, 1].tolist() == [2.0, 0.0, 1.0]  # by the ranks of the fit
    with pytest.raises(ValueError, match="'XL', which was no category of the fit"):
        columns.encode(frame.assign(size=pd.Categorical(["XL", "S", "S"], ordered=True)))


def test_a_constant_column_tells_new_rows_apart():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0], "same": [5.0, 5.0, 5.0]})
    columns, points = learn_columns(frame)
    new = columns.encode(pd.DataFrame({"x": [0.0], "same": [6.0]}))
    mapped, by_rows = table_metric(columns, None, points), gower_by_rows(columns, np.ones(2))
    both = np.concatenate([points, new])
    assert distance_matrix(both, mapped)[3].tolist() == [0.5, 0.75, 1.0, 0.0]
    assert distance_matrix(both, by_rows)[3].tolist() == [0.5, 0.75, 1.0, 0.0]


def test_many_categories_are_compared_by_rows():
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(300)], "x": np.arange(300.0)})
    table = GowerMetric().learn(frame)
    assert isinstance(table.metric, RowMetric)
    assert minimum_spanning_tree(frame, metric="gower").weights == pytest.approx(0.5 + 0.5 / 299)


PEOPLE = pd.DataFrame(
    {
        "age": [20, 22, 21, 70, 72, 71],
        "city": ["Rome", "Rome", "Oslo", "Lima", "Lima", "Lima"],
        "member": [True, True, False, False, False, False],
    }
)


@pytest.mark.parametrize("estimator", [TransitiveCut, TransitiveKMeans])
@pytest.mark.parametrize("with_gaps", [False, True])
def test_models_predict_and_are_saved(tmp_path, estimator, with_gaps):
    frame = PEOPLE.copy()
    if with_gaps:
        frame.loc[1, "city"] = None
    model = estimator(2, metric="gower", metric_params={"w": {"age": 2.0}}).fit(frame)
    young, old = model.labels_[[0, 3]]
    assert young != old
    assert model.labels_.tolist() == [young] * 3 + [old] * 3
    assert model.feature_names_in_.tolist() == list(frame.columns)
    new = {"age": [25, 65, 66], "city": ["Rome", "Bonn", None], "member": [True, False, False]}
    new = pd.DataFrame(new)
    assert model.predict(new).tolist() == [young, old, old]
    assert model.predict(frame).tolist() == model.labels_.tolist()
    assert model.transform(new).shape == (3, 2)
    model.save(tmp_path / "model")
    loaded = estimator.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(new), model.predict(new))
    assert np.array_equal(loaded.transform(new), model.transform(new))
    assert loaded.summary_.feature_names == ("age",)


def test_weights_of_rows_and_neighbourhoods():
    weights = [1, 1, 0, 1, 1, 0]
    params = {"w": {"age": 2.0}}
    model = TransitiveCut(2, metric="gower", metric_params=params)
    labels = model.fit(PEOPLE, sample_weight=weights).labels_
    assert labels.tolist() == [labels[0]] * 3 + [1 - labels[0]] * 3
    model = TransitiveCut(2, metric="gower", n_neighbors=2).fit(PEOPLE)
    assert model.predict(PEOPLE).tolist() == model.labels_.tolist()
    with pytest.raises(ValueError, match="new ones must not have missing values"):
        model.predict(PEOPLE.assign(city=[None] * 6))
    shared = TransitiveCut(2, metric="gower", n_neighbors=2, neighborhood="shared").fit(PEOPLE)
    assert len(shared.predict(PEOPLE.assign(city=[None] * 6))) == 6
    assert suggest_n_clusters(PEOPLE, metric="gower").n_clusters >= 1


@pytest.mark.parametrize(
    ("X", "options", "error", "message"),
    [
        (PEOPLE, {"w": [1, 2]}, ValueError, "one weight for each of 3 columns"),
        (PEOPLE, {"w": {"height": 1}}, ValueError, "weighs the column 'height', which is not"),
        (PEOPLE, {"w": [0, 0, 0]}, ValueError, "not all of them 0"),
        (PEOPLE, {"w": [1, -1, 1]}, ValueError, "none below 0"),
        (PEOPLE, {"w": ["a", "b", "c"]}, TypeError, "w of metric='gower' must be one real number"),
        (PEOPLE, {"w": "abc"}, TypeError, "for each of 3 columns, or a mapping .* got 'abc'"),
        (PEOPLE, {"w": [1j, 1, 1]}, TypeError, r"w of metric='gower' .* got \[1j, 1, 1\]"),
        (PEOPLE, {"w": [[1], [2, 3], 1]}, TypeError, r"w of metric='gower' .* got \[\[1\], "),
        (PEOPLE, {"w": {"age": "x"}}, TypeError, "w of metric='gower' .* got {'age': 'x'}"),
        (PEOPLE, {"w": [10**5000, 1, 1]}, ValueError, "needs w to be finite"),
        (PEOPLE.iloc[:, :1], {"w": {"0": 1}}, ValueError, "weighs the column '0', which is not"),
        (pd.DataFrame({0: [1.0]}), {"w": {0: 1, "0": 2}}, ValueError, "the column '0' twice"),
        (PEOPLE, {"v": 1}, ValueError, r"does not take the parameters \['v'\]"),
        (PEOPLE.assign(age=np.inf), {}, ValueError, "Column 'age' holds infinity"),
        (PEOPLE.assign(city=[1, "a", 2, 3, 4, 5]), {}, TypeError, "types int, str; expected"),
        (PEOPLE.assign(city=[(1,)] * 6), {}, TypeError, "Column 'city' holds .* tuple"),
        (PEOPLE[:0], {}, ValueError, "0 sample"),
        (PEOPLE["age"].to_numpy(), {}, ValueError, "Expected 2D array"),
        (np.ma.masked_array([[1.0], [2.0]]), {}, TypeError, "Masked arrays"),
        (pd.DataFrame({"x": [1.0, None], "y": [None, "a"]}), {}, ValueError, "both have a value"),
    ],
)
def test_wrong_tables_and_weights(X, options, error, message):
    with pytest.raises(error, match=message):
        TransitiveCut(2, metric="gower", metric_params=options).fit(X)


LARGE = [2**60, 2**60 + 1, 2**60 + 2]
WITH_A_GAP = [None, *LARGE]


@pytest.mark.parametrize(
    "values",
    [
        pd.array(LARGE),
        pd.array(WITH_A_GAP, dtype="Int64"),
        pd.array(LARGE, dtype="uint64"),
        pd.array(WITH_A_GAP, dtype=pd.ArrowDtype(pa.int64())),
        pd.array(LARGE, dtype=object),
        pd.arrays.SparseArray(LARGE),
        pl.Series(WITH_A_GAP),
        pl.Series([None, *map(Decimal, LARGE)], dtype=pl.Decimal(38, 0)),
        pd.array([*map(Decimal, LARGE), None], dtype=object),
    ],
    ids=lambda values: f"{type(values).__name__} {values.dtype}",
)
def test_integers_that_would_be_rounded_are_refused(values):
    frame = pl.DataFrame if isinstance(values, pl.Series) else pd.DataFrame
    words = "Column 'a' holds the integer 1152921504606846977, which float64 rounds to .*6976"
    table = frame({"a": values, "c": ["x"] * len(values)})
    with pytest.raises(ValueError, match=words):
        TransitiveCut(2, metric="gower").fit(table)
    with pytest.raises(ValueError, match=words):
        minimum_spanning_tree(table, metric="gower")
    model = TransitiveCut(2, metric="gower").fit(frame({"a": [1.0, 2.0], "c": ["x", "y"]}))
    for method in (model.predict, model.extend):
        with pytest.raises(ValueError, match=words):
            method(table)


def test_integers_of_arrays_and_lists_that_would_be_rounded_are_refused():
    rows = [[number] for number in LARGE]
    objects = np.array([[np.int64(number), "x"] for number in LARGE], dtype=object)
    mixed = objects.tolist()
    for X in (rows, np.array(rows), np.array(rows, dtype=np.uint64), objects, mixed):
        with pytest.raises(ValueError, match="Column 'x0' holds the integer 1152921504606846977"):
            TransitiveCut(2, metric="gower").fit(X)
    for number in (10**400, 10**5000, -(10**400)):
        with pytest.raises(ValueError, match=r"Column 'x0' holds a number beyond 1\.8e308"):
            TransitiveCut(2, metric="gower").fit([[number, "a"], [1, "b"]])


def test_large_numbers_that_float64_holds_are_served():
    for column in ([2**60, 2**61, 0], [-(2**63), 2**62, 0], [1e300, 2e300, 2.0**60]):
        for X in (
            [[x, "a"] for x in column],
            np.array(column)[:, None],
            pl.DataFrame({"a": column}),
        ):
            _, points = learn_columns(X)
            assert points[:, 0].tolist() == [float(x) for x in column]
    columns, _ = learn_columns(pd.DataFrame({"name": pd.Categorical(LARGE)}))
    assert columns.columns[0].categories == tuple(sorted(map(str, LARGE)))


@pytest.mark.parametrize(
    ("dtype", "day"),
    [
        (pa.date32(), dt.date),
        (pa.date64(), dt.date),
        (pa.timestamp("ns"), dt.datetime),
        (pa.timestamp("us", "UTC"), dt.datetime),
    ],
)
def test_dates_of_arrow_with_missing_values(dtype, day):
    days = pd.Series([day(1970, 1, 3), None, day(1971, 1, 1)], dtype=pd.ArrowDtype(dtype))
    columns, points = learn_columns(pd.DataFrame({"d": days}))
    assert columns.columns[0].kind == "date"
    assert points[:, 0] == pytest.approx([2.0, np.nan, 365.0], nan_ok=True)
    lasts = pd.Series([dt.timedelta(1), None], dtype=pd.ArrowDtype(pa.duration("s")))
    columns, points = learn_columns(pd.DataFrame({"d": lasts}))
    assert columns.columns[0].kind == "duration"
    assert points[:, 0] == pytest.approx([1.0, np.nan], nan_ok=True)


def test_dates_and_durations_of_numpy():
    days = np.array([["1970-01-03"], ["NaT"]], dtype="datetime64[ns]")
    hours = np.array([[36], [12]], dtype="timedelta64[h]")
    mixed_units = np.array([[np.timedelta64(36, "h")], [np.timedelta64(1, "D")]], dtype=object)
    for X, kind, expected in (
        (days, "date", [2.0, np.nan]),
        (hours, "duration", [1.5, 0.5]),
        (mixed_units, "duration", [1.5, 1.0]),
    ):
        columns, points = learn_columns(X)
        assert columns.columns[0].kind == kind
        assert points[:, 0] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("factor", [2.0**-1070, 2.0**-900, 2.0**1000, 2.0**1023])
@pytest.mark.parametrize("with_gaps", [False, True])
def test_only_ratios_of_weights_matter(factor, with_gaps):
    frame = PEOPLE.assign(age=[20, None if with_gaps else 22, 21, 70, 72, 71])
    extreme = minimum_spanning_tree(frame, metric="gower", metric_params={"w": [factor] * 3})
    equal = minimum_spanning_tree(frame, metric="gower")
    assert np.array_equal(extreme.edges, equal.edges)
    assert np.array_equal(extreme.weights, equal.weights)


def test_weights_by_labels_that_are_numbers():
    frame = pd.DataFrame({0: [1, 2, 9.0], 1: [1, 2, 3]})
    by_order = minimum_spanning_tree(frame, metric="gower", metric_params={"w": [2.0, 1.0]})
    for label in (0, np.int64(0), "0"):
        tree = minimum_spanning_tree(frame, metric="gower", metric_params={"w": {label: 2.0}})
        assert np.array_equal(tree.weights, by_order.weights)


def test_dates_and_durations_are_two_kinds(tmp_path):
    dates = pd.DataFrame({"d": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-09-01"])})
    durations = pd.DataFrame({"d": pd.to_timedelta([1, 2, 90], unit="D")})
    for fitted, new, words in (
        (dates, durations, "'d' held dates in the fit, and holds durations now"),
        (durations, dates, "'d' held durations in the fit, and holds dates now"),
    ):
        TransitiveCut(2, metric="gower").fit(fitted).save(tmp_path / "m")
        model = TransitiveCut.load(tmp_path / "m")
        assert model.predict(fitted).tolist() == model.labels_.tolist()
        for method in (model.predict, model.extend):
            with pytest.raises(TypeError, match=words):
                method(new)
        assert model.extend(fitted[:1]).labels_.tolist() == [*model.labels_[:3], model.labels_[0]]
    with pytest.raises(TypeError, match=r"types Timestamp, timedelta; expected .* durations"):
        TransitiveCut(2, metric="gower").fit([[pd.Timestamp("2024-01-01")], [dt.timedelta(1)]])


def test_booleans_and_texts_are_two_kinds(tmp_path):
    TransitiveCut(2, metric="gower").fit(PEOPLE).save(tmp_path / "m")
    model = TransitiveCut.load(tmp_path / "m")
    texts = PEOPLE["member"].map(str)
    for values in (texts, texts.astype("category"), texts.astype(object)):
        with pytest.raises(TypeError, match="'member' held booleans in the fit, and holds categ"):
            model.predict(PEOPLE.assign(member=values))
    with pytest.raises(TypeError, match="'city' held categories in the fit, and holds booleans"):
        model.predict(PEOPLE.assign(city=True))
    for same in ("boolean", "category", object):
        frame = PEOPLE.assign(member=PEOPLE["member"].astype(same))
        assert model.predict(frame).tolist() == model.labels_.tolist()
    for empty in (None, pd.Categorical([None] * len(PEOPLE))):
        assert len(model.predict(PEOPLE.assign(member=empty))) == len(PEOPLE)


def test_decimals_are_numbers():
    numbers = [Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), None, Decimal(4)]
    expected = [1.5, np.nan, np.nan, np.nan, 4.0]
    without = [None if number is None or number.is_nan() else number for number in numbers]
    cents = [None if number is None else number.quantize(Decimal("0.01")) for number in without]
    arrow = pd.array(without, dtype=pd.ArrowDtype(pa.decimal128(10, 2)))
    for X in (
        [[number, "a"] for number in numbers],
        pd.DataFrame({"x": pd.Series(numbers, dtype=object)}),
        pd.DataFrame({"x": arrow}),
        pl.DataFrame({"x": pl.Series(cents, dtype=pl.Decimal(10, 2))}),
    ):
        columns, points = learn_columns(X)
        assert columns.columns[0].kind == "number"
        assert points[:, 0] == pytest.approx(expected, nan_ok=True)
    with pytest.raises(ValueError, match="holds infinity"):
        learn_columns([[Decimal("inf")], [1]])


def test_wrong_new_rows():
    model = TransitiveCut(2, metric="gower").fit(PEOPLE)
    with pytest.raises(TypeError, match="Column 'age' held numbers in the fit, and holds categ"):
        model.predict(PEOPLE.assign(age="old"))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(PEOPLE.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(PEOPLE[:0])
    with pytest.raises(ValueError, match="memory= does not serve metric='gower'"):
        TransitiveCut(2, metric="gower", memory="cache").fit(PEOPLE)
    with pytest.raises(TypeError, match="is served by TransitiveCut, TransitiveKMeans"):
        TransitiveEmbedding(metric="gower").fit(PEOPLE)
    with pytest.raises(ValueError, match=r"give it once more, explore\(X\)"):
        model.explore()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "canberra", "nan_euclidean"])
@pytest.mark.parametrize("frame", [PEOPLE, pl.DataFrame(PEOPLE.to_dict("list"))])
def test_other_metrics_name_the_columns_of_text_and_the_ways_out(metric, frame):
    for fit in (
        lambda: TransitiveCut(2, metric=metric).fit(frame),
        lambda: minimum_spanning_tree(frame, metric=metric),
    ):
        with pytest.raises(ValueError, match="Column 'city' holds text") as error:
            fit()
        for way in ("metric='gower'", "OneHotEncoder", "X.drop(columns=['city'])"):
            assert way in str(error.value)
    two = PEOPLE.assign(name="x")
    with pytest.raises(ValueError, match="The columns 'city', 'name' hold text"):
        TransitiveCut(2).fit(two)


def test_numbers_in_columns_of_objects_are_still_numbers():
    frame = pd.DataFrame({"x": ["1", "2.5", "9"], "y": [1, 2, 9]}, dtype=object)
    assert len(TransitiveCut(2).fit(frame).labels_) == 3


@pytest.mark.parametrize("fit", [TransitiveCut(2).fit, minimum_spanning_tree])
def test_missing_values_are_advised_of_what_serves_them(fit):
    with pytest.raises(ValueError, match="contains NaN") as error:
        fit(np.array([[1.0], [np.nan], [2.0]]))
    for way in ("metric='nan_euclidean'", "metric='gower'", "SimpleImputer"):
        assert way in str(error.value)
    assert "GradientBoosting" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "colour"},
        {"name": 1},
        {"categories": []},
        {"categories": ["Lima", "Lima"]},
        {"categories": [None, "Lima"]},
        {"low": 1},
        {"low": 2.0, "high": 1.0},
        {"high": float("inf")},
        {"more": 1},
        {"kind": "number"},
        {"kind": "empty"},
    ],
)
def test_forged_columns_are_refused(change):
    columns, points = learn_columns(PEOPLE)
    content = columns.to_content()
    assert TableColumns.from_content(content, 3).to_content() == content
    check_codes(points, columns)
    with pytest.raises(ValueError):  # noqa: PT011 - each in its words
        TableColumns.from_content([content[0], content[1] | change, content[2]], 3)
    with pytest.raises(ValueError, match="must have its 2 columns"):
        TableColumns.from_content(content, 2)


@pytest.mark.parametrize("code", [-1.0, 0.5, 3.0])
def test_forged_codes_are_refused(code):
    columns, points = learn_columns(PEOPLE)
    points[2, 1] = code
    with pytest.raises(ValueError, match="must hold numbers of its categories"):
        check_codes(points, columns)


class TestExtend:
    @pytest.mark.parametrize("gaps", [False, True])
    @settings(max_examples=60, deadline=None)
    @given(data=st.data(), w=st.sampled_from([None, {"size": 3.0}, {"colour": 0.0, "day": 0.5}]))
    def test_rows_are_added_to_a_table(self, gaps, data, w):
        rows = data.draw(tables(gaps=gaps))
        n_old = data.draw(st.integers(1, len(rows) - 1))
        old, frame = as_frame(rows[:n_old]), as_frame(rows)
        parameters = {"metric": "gower", "metric_params": None if w is None else {"w": w}}
        try:
            model = TransitiveCut(1, **parameters).fit(old)
            fresh = TransitiveCut(1, **parameters).fit(frame)
        except ValueError:  # two rows without a column in common
            return
        model.extend(frame[n_old:])
        assert_same_tables(model, fresh)

    def test_old_distances_are_taken_where_ranges_stay(self, monkeypatch):
        rng = np.random.default_rng(0)
        values = rng.normal(size=(60, 3)).round(1)
        values[0], values[1] = values.min(axis=0), values.max(axis=0)
        values[5:50:7, 0] = np.nan
        frame = pd.DataFrame(values, columns=["x", "y", "z"]).assign(
            kind=rng.choice(["a", "b", "c"], 60)
        )
        frame.loc[58:, "kind"] = "d"  # it moves no old row
        searched = []
        monkeypatch.setattr(
            extension,
            "extended_by_rows",
            lambda *args: searched.append(extended_by_rows(*args)) or searched[-1],
        )
        model = TransitiveCut(3, metric="gower").fit(frame[:50]).extend(frame[50:])
        assert_same_tables(model, TransitiveCut(3, metric="gower").fit(frame))
        assert len(searched) == 1
        wider = frame.assign(kind="e", x=frame["x"] + 9.0)  # it moves old rows together
        model.extend(wider[:10])
        assert_same_tables(
            model, TransitiveCut(3, metric="gower").fit(pd.concat([frame, wider[:10]]))
        )
        assert len(searched) == 1

    def test_empty_columns_and_saved_models(self, tmp_path):
        frame = pd.DataFrame({"a": [1.0, 5.0, 2.0, 6.0], "b": [None, None, "x", "y"]})
        frame["c"] = pd.Series([None, None, None, True], dtype=object)
        TransitiveCut(2, metric="gower").fit(frame[:2]).save(tmp_path / "m")
        model = TransitiveCut.load(tmp_path / "m").extend(frame[2:3]).extend(frame[3:])
        assert_same_tables(model, TransitiveCut(2, metric="gower").fit(frame))
        model.save(tmp_path / "m")
        assert_same_tables(TransitiveCut.load(tmp_path / "m"), model)

    def test_weights_neighbourhoods_and_numbers(self):
        frame = pd.concat([PEOPLE] * 4).reset_index(drop=True).assign(n=np.arange(4 * len(PEOPLE)))
        frame = frame.drop(columns=[name for name in frame if frame[name].isna().any()])
        n_old = len(frame) - 3
        new = frame[n_old:].assign(n=[0, 90, 45])
        both = pd.concat([frame[:n_old], new])
        for options in ({"n_neighbors": 3}, {"n_neighbors": 3, "neighborhood": "shared"}, {}):
            model = TransitiveKMeans(2, metric="gower", **options)
            model.fit(frame[:n_old], sample_weight=np.full(n_old, 2.0)).extend(new)
            weights = np.append(np.full(n_old, 2.0), np.ones(3))
            fresh = TransitiveKMeans(2, metric="gower", **options)
            assert_same_tables(model, fresh.fit(both, sample_weight=weights))

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"age": "old"}, TypeError, "'age' held numbers in the fit, and holds categories now"),
            ({"age": np.inf}, ValueError, "'age' contains infinity"),
            ({"town": True}, TypeError, "'town' held categories in the fit, and holds booleans"),
            ({"age": 1.7e308, "n": 1}, ValueError, "feature names"),
        ],
    )
    def test_wrong_rows_leave_the_model_as_it_was(self, change, error, message):
        frame = pd.DataFrame({"age": [1.0, 2.0, 9.0], "town": ["a", "b", "b"]})
        model = TransitiveCut(2, metric="gower").fit(frame)
        before = model._record
        with pytest.raises(error, match=message):
            model.extend(frame[:1].assign(**change))
        assert model._record is before

    @pytest.mark.parametrize("size", [1.5, 9.0])  # within the range, and beyond it
    def test_rows_without_a_column_in_common(self, size):
        frame = pd.DataFrame({"size": [1.0, 2.0, None], "town": ["a", "b", "c"]})
        model = TransitiveCut(2, metric="gower").fit(frame)
        before = model._record
        with pytest.raises(ValueError, match="There is no column of which both have a value"):
            model.extend(pd.DataFrame({"size": [size], "town": [None]}))
        assert model._record is before

    def test_numbers_too_far_apart_and_another_metric(self):
        model = TransitiveCut(2, metric="gower").fit([[-1e308], [0.0], [1.0]])
        with pytest.raises(ValueError, match="too far apart"):
            model.extend([[1e308]])
        model.set_params(metric="euclidean")
        with pytest.raises(ValueError, match="metric is 'euclidean' now"):
            model.extend([[1.0]])


def assert_same_tables(model, fresh):
    """Compare models to the last bit, and what they know of their tables."""
    np.testing.assert_array_equal(model.spanning_tree_.edges, fresh.spanning_tree_.edges)
    np.testing.assert_array_equal(model.spanning_tree_.weights, fresh.spanning_tree_.weights)
    np.testing.assert_array_equal(model.labels_, fresh.labels_)
    np.testing.assert_array_equal(model._record.points, fresh._record.points)
    assert model._record.columns.to_content() == fresh._record.columns.to_content()
