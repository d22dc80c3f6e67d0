"""What must hold for every input, on inputs that Hypothesis invents."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clusterers import TreeClusterer, clusterer
from isthmus import UltrametricTree, minimum_spanning_tree

# Sixteenths of small numbers: sums and differences are exact, and ties are many.
coordinates = st.integers(-160, 160).map(lambda i: i / 16)
clouds = st.tuples(st.integers(1, 25), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=coordinates)
)
several = settings(max_examples=60, deadline=None)


@several
@given(clouds)
def test_ultrametric_axioms(X):
    D = UltrametricTree.from_data(X).matrix()
    assert (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)
    same = (X[:, None] == X[None]).all(-1)
    np.testing.assert_array_equal(D == 0, same)
    assert (D[:, None, :] <= np.maximum(D[:, :, None], D[None])).all()


@several
@given(clouds, st.randoms(use_true_random=False))
def test_permuting_rows_permutes_distances(X, random):
    order = random.sample(range(len(X)), len(X))
    D = UltrametricTree.from_data(X).matrix()
    np.testing.assert_array_equal(
        UltrametricTree.from_data(X[order]).matrix(), D[np.ix_(order, order)]
    )


@several
@given(clouds, st.integers(-(2**30), 2**30))
def test_translating_changes_nothing(X, offset):
    assert minimum_spanning_tree(X + offset) == minimum_spanning_tree(X)


@several
@given(clouds, st.integers(-30, 30))
def test_scaling_scales_heights(X, exponent):
    tree, scaled = UltrametricTree.from_data(X), UltrametricTree.from_data(np.ldexp(X, exponent))
    np.testing.assert_array_equal(scaled.heights, np.ldexp(tree.heights, exponent))
    np.testing.assert_array_equal(scaled.children, tree.children)


@several
@given(clouds, st.data())
def test_duplicating_a_point_leaves_other_distances_alone(X, data):
    i = data.draw(st.integers(0, len(X) - 1))
    D = UltrametricTree.from_data(X).matrix()
    longer = UltrametricTree.from_data(np.vstack([X, X[i]]))
    np.testing.assert_array_equal(longer.matrix()[:-1, :-1], D)
    assert longer.distance(i, len(X)) == 0.0


@several
@given(clouds, st.data())
def test_lazy_and_plain_agree(X, data):
    k = data.draw(st.integers(1, len(X)))
    start = data.draw(st.permutations(range(len(X))))[:k]
    objective = data.draw(st.sampled_from(["rows", "embedding"]))
    clusterer = TreeClusterer(UltrametricTree.from_data(X), method=objective)
    lazy, plain = (
        clusterer.solve(k, init=start, algorithm=algorithm) for algorithm in ("lazy", "plain")
    )
    np.testing.assert_array_equal(lazy.labels, plain.labels)


@several
@given(clouds, st.data())
def test_exactly_k_clusters(X, data):
    k = data.draw(st.integers(1, len(X)))
    objective = data.draw(st.sampled_from(["rows", "embedding", "cut"]))
    labels = clusterer(objective, k).fit_predict(X)
    assert sorted(set(labels.tolist())) == list(range(k))
    sizes = np.bincount(labels)
    assert (np.diff(sizes) <= 0).all()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 60),
    st.integers(1, 4),
    st.sampled_from(["rows", "embedding", "cut"]),
    st.sampled_from(["euclidean", "manhattan", "cosine", "canberra", "precomputed"]),
    st.booleans(),
)
def test_permuting_rows_permutes_clusters_where_nothing_is_tied(
    seed, n, d, objective, metric, weighted
):
    """Random numbers have no ties but with the chance of a wonder."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d + (metric == "cosine")))
    if metric == "canberra":  # coordinates of opposite signs are all equally far apart
        X = np.abs(X)
    weights = rng.random(n) + 0.1 if weighted else None
    order = rng.permutation(n)
    permuted_weights = None if weights is None else weights[order]
    permuted_X = X[order]
    if metric == "precomputed":
        X = np.abs(X[:, None] - X[None]).sum(axis=2)
        permuted_X = X[np.ix_(order, order)]
    for k in range(1, min(n, 5) + 1):
        model = clusterer(objective, k, metric=metric)
        labels = model.fit(X, sample_weight=weights).labels_
        permuted = model.fit(permuted_X, sample_weight=permuted_weights).labels_
        if n > 2 or weighted:  # two points are each other's mirror image
            np.testing.assert_array_equal(permuted, labels[order])


@several
@given(clouds, st.sampled_from(["float32", "fortran", "strided", "read-only"]))
def test_storage_does_not_matter(X, storage):
    expected = minimum_spanning_tree(X)
    if storage == "float32":
        stored = X.astype(np.float32)  # exact: sixteenths of small numbers
    elif storage == "fortran":
        stored = np.asfortranarray(X)
    elif storage == "strided":
        stored = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    else:
        stored = X.copy()
        stored.flags.writeable = False
    assert minimum_spanning_tree(stored) == expected
