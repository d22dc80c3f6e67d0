"""Why a cluster is one, against the definitions."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from inputs import points
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus.summary import rules
from isthmus.summary.explanation import ClusterExplanations

IRIS = load_iris(as_frame=True).data


def met_by(rule, frame):
    """The rows that meet the words of a rule."""
    meets = np.ones(len(frame), dtype=bool)
    for condition in rule.text.split(" and "):
        parts = condition.split(" < ")
        if len(parts) == 2:
            name, high = parts[1].split(" <= ")
            meets &= (frame[name] > float(parts[0])) & (frame[name] <= float(high))
        elif " <= " in condition:
            name, value = condition.split(" <= ")
            meets &= frame[name] <= float(value)
        elif " > " in condition:
            name, value = condition.split(" > ")
            meets &= frame[name] > float(value)
        else:
            assert condition == "every row"
    return meets


@pytest.mark.parametrize(
    "model", [TransitiveCut(3), TransitiveKMeans(4), TransitiveCut(3, noise=0.1)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_against_the_definitions(model, weighted):
    weights = np.random.default_rng(0).integers(0, 4, len(IRIS)) if weighted else None
    model.fit(IRIS, sample_weight=weights)
    each = np.ones(len(IRIS)) if weights is None else weights.astype(float)
    counted = (each > 0) & (model.labels_ >= 0)
    row_of = np.flatnonzero(each > 0)
    found = model.explain(n_listed=4)
    assert len(found) == model.n_clusters_
    matrix = np.full((len(IRIS), len(IRIS)), np.nan)
    matrix[np.ix_(row_of, row_of)] = model.tree_.matrix()
    for c, explanation in enumerate(found):
        own, others = counted & (model.labels_ == c), counted & (model.labels_ != c)
        assert (explanation.cluster, explanation.size) == (c, own.sum())
        mean, spread = (
            np.average(IRIS[counted], axis=0, weights=each[counted]),
            lambda middle: np.sqrt(
                np.average((IRIS[counted] - middle) ** 2, axis=0, weights=each[counted])
            ),
        )
        inside = np.average(IRIS[own], axis=0, weights=each[own])
        outside = np.average(IRIS[others], axis=0, weights=each[others])
        effects = dict(zip(IRIS.columns, (inside - outside) / spread(mean), strict=True))
        expected = sorted(effects, key=lambda name: -abs(effects[name]))
        assert [difference.name for difference in explanation.differences] == expected
        for difference in explanation.differences:
            assert difference.effect == pytest.approx(effects[difference.name])
        meets = met_by(explanation.rule, IRIS) & counted
        both = each[meets & own].sum()
        assert explanation.rule.precision == pytest.approx(both / each[meets].sum())
        assert explanation.rule.recall == pytest.approx(both / each[own].sum())
        # representatives
        sums = matrix[np.ix_(own, own)] @ each[own]
        smallest = np.sort(sums)[:4]
        position = {row: i for i, row in enumerate(np.flatnonzero(own).tolist())}
        listed = [sums[position[row]] for row in explanation.typical]
        np.testing.assert_allclose(listed, smallest, rtol=1e-9)
        assert explanation.typical[0] == model.summary_.medoids[c]
        # the bridge
        near, far = explanation.bridge.rows
        assert own[near]
        assert model.labels_[far] == explanation.bridge.cluster == model.summary_.nearest[c]
        assert explanation.bridge.hop == matrix[near, far] == matrix[np.ix_(own, others)].min()
        assert explanation.boundary[0] == near
        assert own[list(explanation.boundary)].all()
        assert len(set(explanation.boundary)) == len(explanation.boundary)


@pytest.mark.parametrize(
    ("offset", "step"),
    [(2000.0, 1.0), (20_240_101.0, 1.0), (1.7e9, 1.0), (1e15, 1.0), (-7e8, 0.5), (0.0, 1e-9)],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_rule_is_what_it_says(offset, step, sparse):
    """Also where values differ in their last digits alone, and of float32 in none."""
    rng = np.random.default_rng(0)
    steps = np.concatenate([rng.integers(0, 4, 20), rng.integers(8, 12, 20), [30, 31]])
    X = offset + step * steps[:, None]
    model = TransitiveCut(3).fit(X)
    for c, explanation in enumerate(model.explain(csr_array(X) if sparse else X)):
        own = model.labels_ == c
        meets = met_by(explanation.rule, pd.DataFrame({"x0": X[:, 0]}))
        assert explanation.rule[1:] == (1.0, 1.0)
        np.testing.assert_array_equal(meets, own)
        for _, _, inside, outside in explanation.differences:
            assert inside != outside
    lines = [line for line in str(model.explain()).splitlines() if "others" in line]
    assert lines
    for line in lines:
        inside, outside = line.split(": ")[1].split(" (")[0].split(", others ")
        assert inside != outside


def test_large_and_small_numbers():
    for unit in (1e-200, 1.0, 1e39, 1e200, 1e307):
        found = TransitiveCut(2).fit(np.array([[1.0], [2.0], [9.0]]) * unit).explain()[0]
        assert found.rule.precision == found.rule.recall == 1.0
        effect = found.differences[0].effect
        assert effect == pytest.approx((1.5 - 9.0) / np.std([1.0, 2.0, 9.0]))


def test_a_table_is_explained_by_its_numbers():
    frame = pd.DataFrame(
        {
            "a": [1, 2, 3, 50, 51, 52],
            "c": ["x", "x", "y", "z", "z", "z"],
            "d": pd.to_datetime(["2020-01-01"] * 3 + ["2024-01-01"] * 3),
        }
    )
    model = TransitiveCut(2, metric="gower").fit(frame)
    assert str(model.explain()) == str(model.explain(frame))
    assert [each.name for each in model.explain()[0].differences] == ["a"]
    texts = TransitiveCut(2, metric="gower").fit(frame[["c"]]).explain()[0]
    assert (texts.differences, texts.rule) == ((), None)


def test_rules_are_short():
    model = TransitiveCut(3).fit(IRIS)
    for depth in (1, 2, 3):
        for explanation in model.explain(max_depth=depth):
            assert explanation.rule.text.count(" and ") < depth
    assert model.explain()[1].rule == rules.Rule("petal width (cm) <= 0.8", 1.0, 1.0)


def test_a_rule_of_a_sample_is_measured_on_all_rows(monkeypatch):
    monkeypatch.setattr(rules, "_MOST_ROWS", 40)
    for explanation in (model := TransitiveCut(3).fit(IRIS)).explain():
        own, meets = model.labels_ == explanation.cluster, met_by(explanation.rule, IRIS)
        assert explanation.rule.recall == pytest.approx((own & meets).sum() / own.sum())
        assert explanation.rule.recall > 0.5


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_by_other_columns(frame):
    X = points("blobs", 60, 2, 0)
    model = TransitiveCut(2).fit(X)
    shown = frame({"age": model.labels_ * 10.0 + 20.0, "name": ["x"] * 60})
    found = model.explain(shown)[1]
    assert found.differences[0].name == "age"
    assert (found.differences[0].inside, found.differences[0].outside) == (30.0, 20.0)
    assert found.rule == rules.Rule("age > 25", 1.0, 1.0)


def test_missing_values():
    X = points("blobs", 60, 3, 0)
    X[::7, 1] = np.nan
    model = TransitiveCut(2, metric="nan_euclidean").fit(X)
    for c, explanation in enumerate(model.explain()):
        own = model.labels_ == c
        for name, _, inside, outside in explanation.differences:
            column = X[:, int(name[1:])]
            assert inside == pytest.approx(np.nanmean(column[own]))
            assert outside == pytest.approx(np.nanmean(column[~own]))


def test_sparse_rows_are_as_dense_ones():
    X = np.abs(points("blobs", 60, 3, 0)).round(1)
    dense, sparse = TransitiveCut(3).fit(X), TransitiveCut(3).fit(csr_array(X))
    for one, other in zip(dense.explain(), sparse.explain(), strict=True):
        assert one.rule == other.rule
        for a, b in zip(one.differences, other.differences, strict=True):
            assert a.name == b.name
            np.testing.assert_allclose(a[1:], b[1:], rtol=1e-9)


def test_distances_and_objects_have_rows_alone():
    words = ["kitten", "mitten", "bitten", "house", "mouse"]
    model = TransitiveCut(2, metric=lambda a, b: abs(len(a) - len(b)) + (a[-1] != b[-1]))
    first = model.fit(words).explain()[0]
    assert (first.differences, first.rule) == ((), None)
    assert first.typical == (0, 1, 2)
    assert first.bridge.cluster == 1


def test_the_date_line_is_not_within_a_cluster():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([0, 179.9], 1.0, (40, 2)), rng.normal([0, 160], 1.0, (40, 2))])
    X[:, 1] = (X[:, 1] + 180) % 360 - 180
    model = TransitiveCut(2, metric="haversine", metric_params={"unit": "degrees"}).fit(X)
    explanation = model.explain(n_listed=1)[int(model.labels_[0])]
    assert explanation.rule.precision == explanation.rule.recall == 1.0
    assert abs(explanation.differences[0].inside - 179.9) < 1.0
    assert abs(explanation.differences[0].outside - 160) < 1.0


def test_the_date_line_is_not_within_a_small_cluster_either():
    """Where the others decide where all longitudes have their mean."""
    pacific = [[-18.14, 178.44], [-16.43, 179.36], [-16.96, -179.88]]
    X = np.array(pacific + [[a, -0.816] for a in (48, 45, 50, 47, 46)])
    for unit, degree in (("degrees", 1.0), ("radians", np.pi / 180.0)):
        model = TransitiveCut(2, metric="haversine", metric_params={"unit": unit})
        found = model.fit(X * degree).explain()[1]
        longitude = next(each for each in found.differences if each.name == "x1")
        mean = np.mean([178.44, 179.36, 180.12])
        assert longitude.inside / degree % 360.0 == pytest.approx(mean)
        assert longitude.outside / degree == pytest.approx(-0.816)
        assert found.rule.precision == found.rule.recall == 1.0


def test_one_cluster():
    found = TransitiveCut(1).fit(IRIS).explain()[0]
    assert (found.differences, found.bridge, found.boundary) == ((), None, ())
    assert found.rule == rules.Rule("every row", 1.0, 1.0)
    assert "nearest" not in str(found)


def test_as_text_and_as_a_frame():
    found = TransitiveCut(3).fit(IRIS).explain(n_listed=2)
    assert isinstance(found, ClusterExplanations)
    assert repr(found) == "ClusterExplanations(n_clusters=3)"
    assert str(found).count("rule: ") == 3
    assert "nearest: cluster 2, from row 147 to row 77, 0.4123 away" in str(found[0])
    frame = found.to_frame()
    assert frame.columns.tolist() == ["cluster", "feature", "effect", "inside", "outside"]
    assert frame.cluster.tolist() == [0, 0, 1, 1, 2, 2]


def test_what_is_refused():
    model = TransitiveCut(2).fit(IRIS)
    with pytest.raises(ValueError, match="max_depth must be at least 1"):
        model.explain(max_depth=0)
    with pytest.raises(TypeError, match="n_listed must be an integer"):
        model.explain(n_listed=1.5)
    with pytest.raises(ValueError, match="X has 3 rows, but 150 rows were fitted"):
        model.explain(IRIS[:3])
    far = IRIS.assign(far=np.where(np.arange(150) == 7, np.inf, 1.0))
    for X in (far, csr_array(far)):
        with pytest.raises(ValueError, match=r"'(far|x4)' of X holds infinity, which has no mean"):
            model.explain(X)
