"""must_link, cannot_link and partial_labels, against the rule applied pair by pair."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from inputs import many, points
from isthmus import TransitiveCut, TransitiveKMeans
from oracles.constraints import (
    edges_left_out,
    forbidden_pairs,
    groups_of,
    is_contradiction,
    with_zeros,
)
from oracles.dense import cut, minimax_matrix


def partition(labels):
    return sorted(
        (frozenset(np.flatnonzero(labels == a).tolist()) for a in np.unique(labels)), key=min
    )


def random_knowledge(n, rng):
    """Return must-links, cannot-links and labels, some of which may be missing."""
    must = rng.integers(0, n, (int(rng.integers(0, 4)), 2))
    cannot = rng.integers(0, n, (int(rng.integers(0, 5)), 2))
    cannot = cannot[cannot[:, 0] != cannot[:, 1]]
    labels = np.full(n, -1)
    if rng.random() < 0.5:
        known = rng.permutation(n)[: int(rng.integers(0, n))]
        labels[known] = rng.integers(0, 4, len(known)) * 7
    return must, cannot, labels


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(210, 24) if p[1] > 2])
def test_the_rule_applied_pair_by_pair(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    X = points(kind, n, d, seed) + rng.normal(size=(n, 1)) * 0.01
    must, cannot, labels = random_knowledge(n, rng)
    known = {"must_link": must, "cannot_link": cannot, "partial_labels": labels}
    groups, forbidden = groups_of(n, must, labels), forbidden_pairs(n, cannot, labels)
    if is_contradiction(groups, forbidden):
        with pytest.raises(ValueError, match="rows"):
            TransitiveCut(2).fit(X, **known)
        return
    plain = TransitiveCut(n - 1).fit(X).spanning_tree_
    model = TransitiveCut(len(groups)).fit(X, **known)
    tree = model.spanning_tree_
    # no other edges than those of the plain tree, and of what belongs together
    old = {tuple(edge) for edge in plain.edges.tolist()}
    for (i, j), weight in zip(tree.edges.tolist(), tree.weights.tolist(), strict=True):
        assert (i, j) in old or (weight == 0.0 and any({i, j} <= group for group in groups))
    expected = minimax_matrix(with_zeros(cdist(X, X), groups))
    np.testing.assert_allclose(model.tree_.matrix(), expected, rtol=1e-12, atol=1e-300)
    first = edges_left_out(tree.edges, groups, forbidden)
    never = [
        e
        for e, edge in enumerate(tree.edges.tolist())
        if any(set(edge) <= group for group in groups)
    ]
    if model._record.constraints is None:
        assert (first, never) == ([], [])
        return
    assert model._record.constraints.apart.tolist() == first
    assert model._record.constraints.together.tolist() == never
    for k in range(1, len(groups) + 1):
        if k <= len(first):
            with pytest.raises(ValueError, match=f"needs {len(first) + 1} clusters"):
                model.labels_for(k)
            continue
        found = model.labels_for(k)
        assert len(np.unique(found)) == k
        assert all(len(set(found[sorted(group)])) == 1 for group in groups)
        assert all(found[i] != found[j] for i, j in forbidden)
        try:
            parts = cut(n, tree.edges, tree.weights, k, known=(first, never))
        except ValueError:  # equal scores
            continue
        assert partition(found) == parts
    if len(groups) < n:
        with pytest.raises(ValueError, match=f"at most {len(groups)} clusters"):
            model.labels_for(len(groups) + 1)


@pytest.mark.parametrize("n_edges", [50, 300])
def test_light_edges_that_must_be_cut_are_not_contracted(n_edges, monkeypatch):
    monkeypatch.setattr("isthmus.cut.divisive._FEW", n_edges)
    X = points("blobs", 2000, 2, 0)
    plain = TransitiveCut(4).fit(X)
    light = plain.spanning_tree_.edges[[5, 900]]
    model = TransitiveCut(6).fit(X, cannot_link=light, must_link=[[0, 1], [1, 2]])
    assert (model.labels_[light[:, 0]] != model.labels_[light[:, 1]]).all()
    monkeypatch.setattr("isthmus.cut.divisive._FEW", 2000)
    again = TransitiveCut(6).fit(X, cannot_link=light, must_link=[[0, 1], [1, 2]])
    np.testing.assert_array_equal(model.labels_, again.labels_)


def test_labels_lead_each_row_along_the_shortest_hops():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 200)
    moons = np.column_stack([np.cos(angle), np.sin(angle)])
    moons[100:] = [1.0, 0.45] - moons[100:]
    moons += rng.normal(size=moons.shape) * 0.09
    labels = np.full(200, -1)
    labels[[0, 1, 2, 100, 101, 102]] = [3, 3, 3, 5, 5, 5]
    model = TransitiveCut(2).fit(moons, partial_labels=labels)
    assert len(set(model.labels_[:3])) == len(set(model.labels_[100:103])) == 1
    assert model.labels_[0] != model.labels_[100]


def test_what_is_known_stays_with_the_model(tmp_path):
    X = points("blobs", 60, 2, 1)
    known = {"must_link": [[0, 50]], "cannot_link": [[1, 2], [3, 4]]}
    model = TransitiveCut(5).fit(X, **known)
    model.save(tmp_path / "model.isthmus")
    loaded = TransitiveCut.load(tmp_path / "model.isthmus")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        for k in (3, 5, 8):
            np.testing.assert_array_equal(other.labels_for(k), model.labels_for(k))
        with pytest.raises(ValueError, match="n_clusters=1"):
            other.labels_for(1)
        np.testing.assert_array_equal(other.predict(X), model.labels_)
        assert str(other.summary_) == str(model.summary_)
        with pytest.raises(ValueError, match="extend does not know must_link"):
            other.extend(X[:2])
    assert model.path(model._record.constraints.n_parts, 6).labels[0].shape == (60,)
    with pytest.raises(ValueError, match="which must be apart"):
        model.path(1, 6)


def test_forged_constraints_are_refused(tmp_path):
    X = points("blobs", 30, 2, 1)
    model = TransitiveCut(3).fit(X, cannot_link=[[1, 2]])
    record = model._record
    for name, value, error in [
        ("apart", np.array([99]), "merges in their order"),
        ("together", np.array([3, 3]), "merges in their order"),
        ("together", record.constraints.apart, "cannot be one that must be cut"),
        ("pairs", np.array([[0, 99]]), "must be points"),
    ]:
        forged = replace(record, constraints=replace(record.constraints, **{name: value}))
        model._fitted = forged
        model.save(tmp_path / "forged.isthmus")
        with pytest.raises(ValueError, match=error):
            TransitiveCut.load(tmp_path / "forged.isthmus")


@pytest.mark.parametrize("space", ["rows", "embedding"])
@pytest.mark.parametrize("seed", range(6))
def test_kmeans_keeps_must_links_and_refuses_what_must_be_apart(space, seed):
    rng = np.random.default_rng(seed)
    X = points("blobs", 80, 2, seed)
    must = rng.integers(0, 80, (6, 2))
    for init in ("cut", "k-means++"):
        model = TransitiveKMeans(5, space=space, init=init, random_state=0).fit(X, must_link=must)
        assert (model.labels_[must[:, 0]] == model.labels_[must[:, 1]]).all()
        distances = model.tree_.matrix()
        np.testing.assert_array_equal(distances[must[:, 0], must[:, 1]], 0.0)
        # new points are attached to the tree with these edges
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        expected = np.minimum.reduce(
            [np.maximum(np.linalg.norm(X[3] + 0.1 - X[u]), distances[u]) for u in range(80)]
        )
        centres = [distances[model.labels_ == c].mean(axis=0) for c in range(5)]
        if space == "rows":
            found = model.transform(X[3:4] + 0.1)[0]
            np.testing.assert_allclose(found, [np.linalg.norm(expected - c) for c in centres])
    with pytest.raises(ValueError, match="K-means takes must_link alone"):
        model.fit(X, cannot_link=[[0, 1]])
    with pytest.raises(ValueError, match="K-means takes must_link alone"):
        model.fit(X, partial_labels=[0] + [-1] * 79)


def test_new_points_beside_must_links_on_a_kdtree():
    X = points("blobs", 1500, 2, 0)
    model = TransitiveKMeans(4).fit(X, must_link=[[0, 1], [5, 900], [7, 1200]])
    new = X[:20] + 0.05
    D = model.tree_.matrix()
    rows = [np.min(np.maximum(np.linalg.norm(x - X, axis=1)[:, None], D), axis=0) for x in new]
    centres = np.array([D[model.labels_ == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(model.transform(new), cdist(np.array(rows), centres), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:n_clusters=.*different points")
def test_fewer_different_rows_than_clusters():
    X = np.zeros((6, 2))
    X[0] = 1.0
    with pytest.raises(ValueError, match="torn apart"):
        TransitiveKMeans(4, init="random", random_state=1).fit(X, must_link=[[1, 2]])
    labels = TransitiveCut(5).fit_predict(X, must_link=[[1, 2]])
    assert labels[1] == labels[2]


def test_auto_takes_as_many_clusters_as_are_needed():
    X = points("gaussian", 100, 2, 0)
    model = TransitiveCut("auto").fit(X, partial_labels=[0, 1, 2] + [-1] * 97)
    assert model.n_clusters_ == max(3, model.suggestion_.n_clusters)
    assert len(set(model.labels_[:3])) == 3


def test_weights_neighbourhoods_and_other_metrics():
    X = points("blobs", 90, 3, 2)
    weights = np.ones(90)
    weights[[4, 40]] = 0.0
    known = {"must_link": [[0, 88]], "cannot_link": [[1, 2], [3, 89]]}
    for parameters in ({"n_neighbors": 5}, {"metric": "canberra"}, {"metric": "manhattan"}):
        labels = TransitiveCut(6, **parameters).fit(X, sample_weight=weights, **known).labels_
        assert labels[0] == labels[88]
        assert labels[1] != labels[2]
        assert labels[3] != labels[89]
    with pytest.raises(ValueError, match="Row 40 has a sample_weight of 0"):
        TransitiveCut(3).fit(X, sample_weight=weights, must_link=[[1, 40]])
    with pytest.raises(ValueError, match="below min_cluster_size=40"):
        TransitiveCut(2, min_cluster_size=40).fit(X, partial_labels=[0, 1, *[-1] * 87, 1])


def test_the_explorer_honours_them(tmp_path):
    pytest.importorskip("bokeh")
    model = TransitiveCut(3).fit(points("blobs", 60, 2, 1), cannot_link=[[1, 2]])
    model.explore(path=tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("known", "kind", "error"),
    [
        ({"must_link": [0, 1]}, ValueError, r"shape \(n_pairs, 2\); got shape \(2,\)"),
        ({"must_link": [[0.0, 1.0]]}, TypeError, "pairs of integers, got dtype float64"),
        ({"must_link": [[0, 5]]}, ValueError, "names row 5, but rows are numbered from 0 to 4"),
        ({"cannot_link": [[-1, 2]]}, ValueError, "cannot_link names row -1"),
        ({"cannot_link": [[2, 2]]}, ValueError, "puts row 2 apart from itself"),
        (
            {"must_link": [[0, 1], [1, 2]], "cannot_link": [[2, 0]]},
            ValueError,
            "cannot_link puts rows 0 and 2 apart, but must_link",
        ),
        (
            {"must_link": [[0, 1]], "partial_labels": [4, 2, -1, -1, -1]},
            ValueError,
            "must_link puts rows 0 and 1 together.* partial_labels are 4 and 2",
        ),
        (
            {"cannot_link": [[3, 4]], "partial_labels": [-1, -1, -1, 1, 1]},
            ValueError,
            "cannot_link puts rows 3 and 4 apart",
        ),
        ({"partial_labels": [0, 1]}, ValueError, r"for each of 5 rows.* got shape \(2,\)"),
        ({"partial_labels": list("abcde")}, TypeError, "must be integers"),
        ({"partial_labels": [0, 1, -1, -2, 0]}, ValueError, "row 3 has -2"),
        ({"partial_labels": [0, 1, 2, -1, -1]}, ValueError, "needs 3 clusters.* rows . and ., whi"),
    ],
)
def test_what_is_wrong_is_named(known, kind, error):
    model = TransitiveCut(2).fit(np.arange(10.0).reshape(5, 2))
    with pytest.raises(kind, match=error):
        model.fit(np.arange(10.0).reshape(5, 2) ** 2, **known)


def test_nothing_known_changes_nothing():
    X = points("blobs", 50, 2, 0)
    plain = TransitiveCut(3).fit(X)
    model = TransitiveCut(3).fit(X, must_link=[], cannot_link=[], partial_labels=[-1] * 50)
    assert model.spanning_tree_ == plain.spanning_tree_
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(TransitiveCut(3).fit(X, y=[0, 1] * 25).labels_, plain.labels_)


@pytest.mark.parametrize(
    "nothing",
    [
        {"must_link": []},
        {"cannot_link": np.empty((0, 2))},
        {"must_link": [[3, 3]]},
        {"partial_labels": [-1] * 5},
        {"must_link": [], "cannot_link": [], "partial_labels": np.full(5, -1)},
    ],
)
def test_nothing_known_is_no_constraint(nothing):
    X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    model = TransitiveCut(2, noise=0.1).fit(X, **nothing)
    np.testing.assert_array_equal(model.labels_, TransitiveCut(2, noise=0.1).fit(X).labels_)
    assert len(model.extend([[11.0]]).labels_) == 6


@pytest.mark.parametrize("name", ["must_link", "cannot_link", "partial_labels"])
def test_rows_of_several_lengths_are_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name} must"):
        TransitiveCut(2).fit([[0.0], [1.0], [2.0]], **{name: [(0, 1), (2,)]})
