"""The summary of a clustering against the dense matrix, and how it is shown."""

import pickle
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from inputs import many, points
from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree, outlier_scores
from isthmus.summary import feature_means as feature_means_module
from isthmus.summary.feature_means import feature_means
from isthmus.theory import consistency
from isthmus.ultrametric.separation import sums_within_clusters


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(70, largest=50))
def test_sums_are_those_of_the_matrix(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, int(rng.integers(1, 6)), size=n)
    matrix = tree.matrix()
    for point_weights in (None, rng.uniform(0.1, 3.0, size=n)):
        weights = np.ones(n) if point_weights is None else point_weights
        expected = np.array([(matrix[i] * weights)[codes == codes[i]].sum() for i in range(n)])
        found = sums_within_clusters(tree, codes, point_weights)
        # in a unit of their own
        unit = expected.sum() / found.sum() if found.sum() else 1.0
        np.testing.assert_allclose(found * unit, expected, rtol=1e-12, atol=0)


def first_medoid(matrix, members, weights):
    sums = matrix[np.ix_(members, members)] @ weights[members]
    return members[np.flatnonzero(sums <= sums.min() * (1 + 1e-12))[0]]


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(63, largest=60) if p[1] > 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_those_of_the_matrix(kind, n, d, seed, weighted):
    X = points(kind, n, d, seed)
    rng = np.random.default_rng(seed)
    weights = np.ones(n)
    if weighted:
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=n)
        weights[:3] = 1.0
    on_tree = np.flatnonzero(weights)
    k = min(4, len(on_tree))
    model = TransitiveCut(k)
    model.fit(X, sample_weight=weights if weighted else None)
    found = model.summary_
    matrix = np.full((n, n), np.nan)
    matrix[np.ix_(on_tree, on_tree)] = model.tree_.matrix()
    np.testing.assert_array_equal(found.sizes, np.bincount(model.labels_))
    totals = np.bincount(model.labels_, weights=weights)
    assert (found.weights is not None) == weighted
    if weighted:
        np.testing.assert_allclose(found.weights, totals)
    np.testing.assert_allclose(found.shares, totals / totals.sum())
    for a in range(k):
        own = on_tree[model.labels_[on_tree] == a]
        others = on_tree[model.labels_[on_tree] != a]
        assert found.widest_gaps[a] == matrix[np.ix_(own, own)].max()
        assert found.distances[a] == matrix[np.ix_(own, others)].min()
        near = on_tree[model.labels_[on_tree] == found.nearest[a]]
        assert found.nearest[a] != a
        assert matrix[np.ix_(own, near)].min() == found.distances[a]
        assert found.medoids[a] == first_medoid(matrix, own, weights)
        np.testing.assert_allclose(
            found.feature_means[a],
            np.average(X[own], axis=0, weights=weights[own]),
            rtol=1e-12,
            atol=1e-12,
        )
        np.testing.assert_allclose(
            found.outlier_scores[a], np.average(model.outlier_scores_[own], weights=weights[own])
        )
    report = consistency(model.tree_, model.labels_[on_tree])
    np.testing.assert_array_equal(found.margins, report.margins)
    np.testing.assert_array_equal(found.consistent, report.margins > 0)


def test_means_of_all_kinds_of_data(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 7)) * (rng.random((50, 7)) < 0.4) + 1e8 * (np.arange(7) == 3)
    labels = rng.permutation(np.arange(50, dtype=np.int32) % 4)
    point_weights = rng.uniform(0.5, 2.0, size=50)
    expected = [
        np.average(X[labels == a], axis=0, weights=point_weights[labels == a]) for a in range(4)
    ]
    for at_once in (1 << 20, 30):
        monkeypatch.setattr(feature_means_module, "_AT_ONCE", at_once)
        for data in (X, np.asfortranarray(X), csr_array(X)):
            found = feature_means(data, labels, point_weights)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    single = X.astype(np.float32)
    expected = [single[labels == a].astype(float).mean(axis=0) for a in range(4)]
    np.testing.assert_allclose(feature_means(single, labels, None), expected, atol=1e-12)
    huge = np.full((50, 1), 1.5e308)
    np.testing.assert_allclose(feature_means(huge, labels, None), 1.5e308)
    missing = np.where(rng.random((50, 7)) < 0.3, np.nan, X)
    missing[labels == 2, 1] = np.nan
    found = feature_means(missing, labels, None)
    assert np.isnan(found[2, 1])
    found[2, 1] = 0.0
    missing[labels == 2, 1] = 0.0
    expected = [np.nanmean(missing[labels == a], axis=0) for a in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(feature_means_module, "LARGEST", 27)
    assert feature_means(X, labels, None) is None


def test_what_has_no_features_has_no_means():
    X = points("blobs", 40, 2, 0)
    found = TransitiveKMeans(3, metric="precomputed").fit(cdist(X, X)).summary_
    expected = TransitiveKMeans(3).fit(X).summary_
    assert found.feature_means is None
    assert found.feature_names == ()
    np.testing.assert_array_equal(found.medoids, expected.medoids)
    assert "mean" not in str(found)
    assert list(found.to_frame().columns) == list(expected.to_frame().columns)[:-2]
    words = ["tree", "trees", "three", "blossom", "blossoms"]
    model = TransitiveKMeans(2, metric=lambda a, b: abs(len(a) - len(b)) + (a[0] != b[0]))
    assert model.fit(words).summary_.sizes.tolist() == [3, 2]


def test_components_that_are_infinitely_far_apart():
    graph = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0.0]]))
    model = TransitiveCut(2, metric="precomputed", disconnected="join").fit(graph)
    assert np.isinf(model.summary_.distances).all()
    assert "∞" in str(model.summary_)
    one = TransitiveCut(1, metric="precomputed", disconnected="join")
    found = one.fit(graph).summary_
    assert found.medoids.tolist() == [0]
    assert found.nearest.tolist() == [-1]
    assert found.to_frame()["nearest"].isna().all()
    assert found.consistent.all()


def test_frame():
    X = pd.DataFrame(points("blobs", 90, 2, 0), columns=["height", "width"])
    model = TransitiveKMeans(3).fit(X)
    frame = model.summary_.to_frame()
    assert frame.index.name == "cluster"
    assert list(frame.columns) == [
        "size", "share", "widest gap", "distance", "nearest", "margin", "consistent", "medoid",
        "outlier score", "mean height", "mean width",
    ]  # fmt: skip
    means = X.groupby(model.labels_).mean()
    np.testing.assert_allclose(frame[["mean height", "mean width"]], means)
    weighted = TransitiveKMeans(3).fit(X, sample_weight=2.0).summary_.to_frame()
    assert list(weighted.columns[:3]) == ["size", "weight", "share"]
    np.testing.assert_array_equal(weighted["weight"], 2 * weighted["size"])


def test_without_pandas(monkeypatch):
    summary = TransitiveKMeans(2).fit(points("blobs", 30, 2, 0)).summary_
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        summary.to_frame()
    assert "2 clusters of 30 rows" in str(summary)


def test_text_is_aligned_and_short():
    X = points("blobs", 60, 1, 0) @ np.ones((1, 11))
    model = TransitiveCut(24).fit(X)
    lines = str(model.summary_).splitlines()
    assert len(lines) == 1 + 1 + 20 + 2
    assert len({len(line) for line in lines[1:22]}) == 1
    assert lines[-2:] == ["… 4 more clusters", "… 3 more features"]
    assert lines[1].endswith("mean x7")
    assert repr(model.summary_).startswith("ClusterSummary(n_clusters=24, n_rows=60")


class Tags(HTMLParser):
    """Checks that tags are closed as they were opened, and keeps their names and texts."""

    def __init__(self, page):
        super().__init__()
        self.open, self.names, self.texts = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_html_of_a_summary():
    evil = "<script>alert('a')</script> & \"b\""
    X = pd.DataFrame(points("blobs", 60, 3, 0), columns=[evil, "line\nbreak", "z" * 500])
    summary = TransitiveCut(25).fit(X).summary_
    page = summary._repr_html_()
    tags = Tags(page)
    assert "script" not in tags.names
    assert "<script>alert('a')<…" in tags.texts
    assert "… 5 more clusters" in tags.texts
    assert tags.names.count("tr") == 2 + 20 + 1
    cells = re.findall(r"<tr>(.*?)</tr>", page)[2:]
    assert {row.count("<td") + row.count("<th") for row in cells} == {1 + 9 + 3}


def test_a_notebook_shows_the_diagram_and_the_summary_below():
    X = points("blobs", 60, 2, 0)
    model = TransitiveKMeans(3)
    unfitted = model._repr_html_()
    assert "isthmus-summary" not in unfitted
    assert "TransitiveKMeans" in unfitted
    model.fit(X)
    table = model.summary_._repr_html_()
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert page.endswith(table)
        assert "sk-top-container" in page
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    assert "isthmus-summary" not in estimator_html_repr(make_pipeline(model))


def test_it_is_that_of_the_last_fit():
    X = points("blobs", 60, 2, 0)
    model = TransitiveKMeans(3)
    with pytest.raises(NotFittedError):
        model.summary_  # noqa: B018
    assert not hasattr(model, "summary_")
    first = model.fit(X).summary_
    assert model.summary_ is first
    again = pickle.loads(pickle.dumps(model)).summary_
    assert str(again) == str(first)
    assert len(model.set_params(n_clusters=4).fit(X).summary_) == 4
    np.testing.assert_array_equal(model.outlier_scores_, outlier_scores(model.tree_))
