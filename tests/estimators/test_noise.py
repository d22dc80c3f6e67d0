"""Rows that are noise: labels, other numbers of clusters, new points, figures, files."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, silhouette_samples, silhouette_score

from inputs import points
from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree, outlier_scores
from isthmus.datasets import make_two_moons
from isthmus.model_selection import transitive_silhouette
from isthmus.outliers import find_reference_groups, scores_of_new_points
from isthmus.prediction.attachments import attach_by_distances, transitive_rows

MODELS = (TransitiveCut, TransitiveKMeans)
SPELLINGS = ("auto", 0.15, ("score", 0.6))


def noisy_moons(seed=0, n_noise=60):
    moons, y = make_two_moons(300, random_state=seed)
    rng = np.random.default_rng(seed)
    X = np.vstack([moons, rng.uniform([-2.0, -1.5], [3.0, 2.0], size=(n_noise, 2))])
    return X, np.append(y, np.full(n_noise, -1))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("noise", SPELLINGS)
def test_labels(model, noise):
    X, _ = noisy_moons()
    fitted = model(2, noise=noise).fit(X)
    threshold = fitted.noise_threshold_
    scores = outlier_scores(UltrametricTree.from_data(X))
    np.testing.assert_array_equal(fitted.outlier_scores_, scores)
    np.testing.assert_array_equal(fitted.labels_ == -1, scores > threshold)
    assert set(fitted.labels_) == {-1, 0, 1}
    assert fitted.n_clusters_ == 2
    np.testing.assert_array_equal(fitted.fit_predict(X), fitted.labels_)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    if noise == ("score", 0.6):
        assert threshold == 0.6
    if noise == 0.15:
        assert (fitted.labels_ == -1).sum() == 54


def test_the_moons_are_found():
    for seed in range(3):
        X, y = noisy_moons(seed, 120)
        labels = TransitiveCut(2, noise="auto").fit_predict(X)
        moons = y >= 0
        assert adjusted_rand_score(y[moons], labels[moons]) > 0.95
        assert (labels[~moons] == -1).mean() > 0.6


def test_without_noise_nothing_changes():
    X, _ = noisy_moons()
    for model in MODELS:
        plain = model(2).fit(X)
        assert not hasattr(plain, "noise_threshold_")
        assert plain.labels_.min() == 0
        assert plain.summary_.n_noise is None
        # nothing is beyond this threshold
        empty = model(2, noise=("score", 0.9999)).fit(X)
        np.testing.assert_array_equal(empty.labels_, plain.labels_)
        np.testing.assert_array_equal(empty.transform(X[:9]), plain.transform(X[:9]))
        assert empty.inertia_ == plain.inertia_
        assert empty.summary_.n_noise == 0


def test_no_cluster_is_spent_on_noise():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([x, 0.0], size=(60, 2)) for x in (0.0, 12.0)] + [[[900.0, 0.0]]])
    for model in MODELS:
        labels = model(2, noise="auto").fit_predict(X)
        assert labels[-1] == -1
        assert adjusted_rand_score(labels[:120] == -1, np.zeros(120)) == 1.0
        assert adjusted_rand_score(labels[:120], np.repeat([0, 1], 60)) == 1.0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "canberra"])
def test_new_points(model, metric):
    """By the definition: scores from rows of distances, else the cluster as if nothing was new."""
    X, _ = noisy_moons()
    X = X + 5.0
    fitted = model(2, noise="auto", metric=metric).fit(X)
    new = np.random.default_rng(1).uniform([2.0, 3.0], [9.0, 8.0], size=(80, 2))
    distances = cdist(new, X, {"manhattan": "cityblock"}.get(metric, metric))
    tree = fitted.tree_
    attachments = attach_by_distances(tree, 80, [(np.arange(80), distances)])
    rows = transitive_rows(tree, attachments, 0, 80)
    is_noise = scores_of_new_points(rows, find_reference_groups(tree)) > fitted.noise_threshold_
    found = fitted.predict(new)
    np.testing.assert_array_equal(found == -1, is_noise)
    assert 0 < is_noise.sum() < 80
    kept = fitted.labels_ >= 0
    # the centre of a cluster, in the space of distances to the rows that are not noise
    matrix = tree.matrix()
    centres = np.array([matrix[fitted.labels_ == c][:, kept].mean(axis=0) for c in (0, 1)])
    to_centres = np.linalg.norm(rows[:, None, kept] - centres[None], axis=2)
    np.testing.assert_allclose(fitted.transform(new), to_centres, rtol=1e-9)
    if model is TransitiveKMeans:
        expected = to_centres.argmin(axis=1)
    else:
        owners = np.where(kept, np.arange(len(X)), -1)
        for i in np.flatnonzero(~kept):  # noise belongs to the nearest kept rows, all in one
            nearest = kept & (matrix[i] == matrix[i, kept].min())
            clusters = set(fitted.labels_[nearest].tolist())
            owners[i] = np.flatnonzero(nearest)[0] if len(clusters) == 1 else -1
        owner = owners[distances.argmin(axis=1)]
        is_noise |= owner < 0
        expected = fitted.labels_[owner]
    np.testing.assert_array_equal(found[~is_noise], expected[~is_noise])


def test_many_new_points_by_the_kd_tree():
    """Above a thousand points another search serves: it must agree with rows of distances."""
    X = np.vstack([noisy_moons(seed)[0] for seed in range(4)])
    new = np.random.default_rng(1).uniform([-2.0, -1.5], [3.0, 2.0], size=(300, 2))
    fitted = TransitiveCut(2, noise="auto").fit(X)
    tree = fitted.tree_
    attachments = attach_by_distances(tree, 300, [(np.arange(300), cdist(new, X))])
    known = find_reference_groups(tree)
    scores = scores_of_new_points(transitive_rows(tree, attachments, 0, 300), known)
    np.testing.assert_array_equal(fitted.predict(new) == -1, scores > fitted.noise_threshold_)
    np.testing.assert_array_equal(
        TransitiveCut(2, noise="auto", n_jobs=2).fit(X).predict(new), fitted.predict(new)
    )


@pytest.mark.parametrize("model", MODELS)
def test_other_numbers(model):
    X, _ = noisy_moons()
    fitted = model(2, noise="auto").fit(X)
    is_noise = fitted.labels_ == -1
    path = fitted.path(1, 5)
    for k in range(1, 6):
        again = model(k, noise="auto").fit(X)
        np.testing.assert_array_equal(fitted.labels_for(k), again.labels_)
        np.testing.assert_array_equal(path.labels_for(k), again.labels_)
        np.testing.assert_array_equal(again.labels_ == -1, is_noise)
        np.testing.assert_allclose(path.inertia[k - 1], again.inertia_, rtol=1e-12)
        assert path.sizes[k - 1].tolist() == np.bincount(again.labels_[~is_noise]).tolist()
        if k > 1:
            matrix = fitted.tree_.matrix()[np.ix_(~is_noise, ~is_noise)]
            expected = silhouette_score(matrix, again.labels_[~is_noise], metric="precomputed")
            np.testing.assert_allclose(path.silhouette[k - 1], expected, rtol=0, atol=1e-9)
    most = int((~is_noise).sum())
    with pytest.raises(ValueError, match=f"n_samples={most} should be >= n_clusters"):
        fitted.labels_for(most + 1)


def test_the_number_of_clusters_is_of_what_is_not_noise():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(centre, size=(100, 2)) for centre in ([0, 0], [15, 0], [0, 15])]
    X = np.vstack([*clouds, rng.uniform(-10, 25, size=(40, 2))])
    fitted = TransitiveCut("auto", noise="auto").fit(X)
    assert fitted.n_clusters_ == 3
    assert (fitted.labels_ == -1).sum() > 20
    np.testing.assert_array_equal(fitted.suggestion_.labels == -1, fitted.labels_ == -1)


@pytest.mark.parametrize("model", MODELS)
def test_weights(model):
    X, _ = noisy_moons(n_noise=40)
    weights = np.random.default_rng(0).integers(1, 4, size=len(X))
    fitted = model(2, noise="auto").fit(X, sample_weight=weights)
    copies = np.repeat(np.arange(len(X)), weights)
    expected = model(2, noise="auto").fit(X[copies])
    assert abs(fitted.noise_threshold_ - expected.noise_threshold_) < 1e-9
    np.testing.assert_array_equal(fitted.labels_[copies], expected.labels_)
    # rows of weight 0 are labelled as new points are
    weights = np.where(np.arange(len(X)) % 3, 1.0, 0.0)
    fitted.fit(X, sample_weight=weights)
    left_out = model(2, noise="auto").fit(X[weights > 0])
    np.testing.assert_array_equal(fitted.labels_, left_out.predict(X))
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    assert (fitted.labels_[weights == 0] == -1).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_summary(weighted):
    X, _ = noisy_moons()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X)) if weighted else None
    fitted = TransitiveCut(2, noise="auto").fit(X, sample_weight=weights)
    labels, found = fitted.labels_, fitted.summary_
    each = np.ones(len(X)) if weights is None else weights
    assert found.n_noise == (labels == -1).sum() > 0
    assert found.sizes.tolist() == np.bincount(labels[labels >= 0]).tolist()
    matrix = fitted.tree_.matrix()
    for c in (0, 1):
        own, other = labels == c, labels == 1 - c
        np.testing.assert_allclose(found.shares[c], each[own].sum() / each.sum())
        np.testing.assert_allclose(
            found.feature_means[c], np.average(X[own], axis=0, weights=each[own])
        )
        assert found.widest_gaps[c] == matrix[np.ix_(own, own)].max()
        assert found.distances[c] == matrix[np.ix_(own, other)].min()
        assert labels[found.medoids[c]] == c
        sums = matrix[:, own] @ each[own]
        np.testing.assert_allclose(sums[found.medoids[c]], sums[own].min())
    assert str(found).splitlines()[0].endswith(f"; {found.n_noise} rows of noise")
    assert f"{found.n_noise} rows of noise" in found._repr_html_()
    assert f"n_noise={found.n_noise}" in repr(found)


@pytest.mark.parametrize("noise", SPELLINGS)
@pytest.mark.parametrize("model", MODELS)
def test_files(model, noise, tmp_path):
    X, _ = noisy_moons()
    new = X[::7] + 0.1
    fitted = model(2, noise=noise).fit(X, sample_weight=np.arange(len(X)) % 5 + 0.0)
    fitted.save(tmp_path / "model")
    loaded = model.load(tmp_path / "model")
    for found in (loaded, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(found.labels_, fitted.labels_)
        np.testing.assert_array_equal(found.predict(new), fitted.predict(new))
        np.testing.assert_array_equal(found.labels_for(3), fitted.labels_for(3))
        np.testing.assert_array_equal(found.transform(new), fitted.transform(new))
        assert found.noise_threshold_ == fitted.noise_threshold_
        assert found.noise == noise
        assert found.summary_.n_noise == fitted.summary_.n_noise


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("threshold", np.nan, "threshold of noise must be from 0 to 1; got nan"),
        ("threshold", 1.5, "threshold of noise must be from 0 to 1; got 1.5"),
        ("threshold", -0.1, "threshold of noise must be from 0 to 1"),
        ("threshold", 1, "threshold of noise must be from 0 to 1; got 1"),
        ("is_noise", np.zeros(5, dtype=bool), "is_noise"),
        ("is_noise", np.zeros((360, 2), dtype=bool), "is_noise"),
        ("is_noise", np.zeros(360, dtype=np.int8), "is_noise"),
        ("is_noise", np.ones(360, dtype=bool), "no cluster without a row .* not noise"),
    ],
)
def test_forged_noise_is_refused(name, value, error, tmp_path):
    X, _ = noisy_moons()
    model = TransitiveCut(2, noise="auto").fit(X)
    model._fitted = replace(model._record, noise=replace(model._record.noise, **{name: value}))
    model.save(tmp_path / "forged")
    with pytest.raises(ValueError, match=error):
        TransitiveCut.load(tmp_path / "forged")


def test_a_parameter_that_no_fit_takes_is_refused_by_the_next_one(tmp_path):
    X, _ = noisy_moons()
    model = TransitiveCut(2, noise=0.1).fit(X).set_params(noise=1.5)
    model.save(tmp_path / "model")
    loaded = TransitiveCut.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)  # the fit is what it was
    with pytest.raises(ValueError, match=r"a number between 0 and 1.*got 1\.5"):
        loaded.fit(X)


def test_given_rows():
    X, _ = noisy_moons()
    fitted = TransitiveKMeans(2, noise="auto", init=[250, 20]).fit(X)
    assert fitted.labels_[[250, 20]].tolist() == [0, 1]
    outlier = int(fitted.outlier_scores_.argmax())
    with pytest.raises(ValueError, match="init begins cluster 1 with a row that is noise"):
        TransitiveKMeans(2, noise="auto", init=[250, outlier]).fit(X)


def test_sizes_count_what_is_not_noise():
    X, _ = noisy_moons()
    labels = TransitiveCut(3, noise="auto", min_cluster_size=70).fit_predict(X)
    assert np.bincount(labels[labels >= 0]).min() >= 70


def test_what_is_refused():
    X = points("blobs", 30, 2, 0)
    for model in MODELS:
        with pytest.raises(ValueError, match="noise must be None, 'auto', the largest share"):
            model(2, noise="much").fit(X)
        with pytest.raises(ValueError, match=r"n_clusters=25, but only 1\d of 30 rows are not noi"):
            model(25, noise=("score", 0.0)).fit(X)
        with pytest.raises(AttributeError, match="after a fit with noise"):
            _ = model(2).fit(X).noise_threshold_


@pytest.mark.parametrize("weighted", [False, True])
def test_silhouettes_leave_noise_out(weighted):
    X, _ = noisy_moons()
    fitted = TransitiveCut(3, noise="auto").fit(X)
    labels, kept = fitted.labels_, fitted.labels_ >= 0
    matrix = fitted.tree_.matrix()[np.ix_(kept, kept)]
    weights = np.random.default_rng(0).integers(1, 4, size=len(X)) if weighted else None
    copies = (
        np.arange(kept.sum()) if weights is None else np.repeat(range(kept.sum()), weights[kept])
    )
    expected = silhouette_samples(
        matrix[np.ix_(copies, copies)], labels[kept][copies], metric="precomputed"
    )
    options = {"sample_weight": weights, "noise_label": -1}
    mean = transitive_silhouette(fitted.tree_, labels, **options)
    np.testing.assert_allclose(mean, expected.mean(), rtol=0, atol=1e-9)
    each = transitive_silhouette(fitted.tree_, labels, per_point=True, **options)
    assert np.isnan(each[~kept]).all()
    np.testing.assert_allclose(each[kept][copies], expected, rtol=0, atol=1e-9)
    # by default, as in scikit-learn, -1 is a cluster
    plain = silhouette_score(fitted.tree_.matrix(), labels, metric="precomputed")
    assert abs(transitive_silhouette(fitted.tree_, labels) - plain) < 1e-9
    with pytest.raises(ValueError, match="all points are noise"):
        transitive_silhouette(fitted.tree_, np.full(len(X), -1), noise_label=-1)


@pytest.mark.parametrize("match_labels", [False, True])
def test_extended_fits(match_labels):
    X, _ = noisy_moons()
    fitted = TransitiveCut(2, noise="auto").fit(X[:330])
    fitted.extend(X[330:], match_labels=match_labels)
    expected = TransitiveCut(2, noise="auto").fit(X)
    assert fitted.noise_threshold_ == expected.noise_threshold_
    np.testing.assert_array_equal(fitted.labels_ == -1, expected.labels_ == -1)
    kept = expected.labels_ >= 0
    assert adjusted_rand_score(fitted.labels_[kept], expected.labels_[kept]) == 1.0
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


def test_what_is_known_of_rows_excludes_noise():
    X, _ = noisy_moons()
    with pytest.raises(ValueError, match="noise cannot be combined with what is known of rows"):
        TransitiveCut(2, noise="auto").fit(X, must_link=[[0, 1]])


@pytest.mark.parametrize("model", MODELS)
def test_fewer_different_points_than_clusters(model):
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    with pytest.warns(
        UserWarning, match="n_clusters=4 is more than the number of different points, 3"
    ):
        labels = model(4).fit_predict(X)
    assert len(np.unique(labels)) == 4
    model(3).fit(X)  # no warning
