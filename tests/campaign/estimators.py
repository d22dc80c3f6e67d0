"""Part (b): what estimators answer, against brute force of the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from campaign import definitions, exact, noise
from campaign.metrics import PLAIN, ROW_METRICS, suited, tolerance
from campaign.point_sets import points
from campaign.script import Script

METHODS = ("cut", "rows", "embedding")
KINDS = ("gaussian", "blobs", "blobs", "lattice", "duplicates", "line", "offset")
# Kinds without ties: random numbers have none but with the chance of a wonder.
WITHOUT_TIES = ("gaussian", "blobs")
METRICS = (*PLAIN, *PLAIN, "minkowski", "cosine", "angular", "canberra", "braycurtis", "hellinger")
IMPORTS = ("from isthmus import TransitiveCut, TransitiveKMeans",)


@dataclass(frozen=True)
class Case:
    """Rows, new points, and parameters of an estimator."""

    X: np.ndarray
    new: np.ndarray
    weights: np.ndarray | None
    kind: str
    metric: str
    params: dict
    method: str
    k: int
    power: float
    n_jobs: int
    asks: tuple[str, ...]

    def smaller(self) -> Iterator[Case]:
        """Yield the case with fewer rows or new points."""
        n = len(self.X)
        size = n // 2
        while size:
            for start in range(0, n, size):
                rows = np.r_[0:start, min(start + size, n) : n]
                weights = None if self.weights is None else self.weights[rows]
                n_fitted = len(rows) if weights is None else np.count_nonzero(weights)
                if n_fitted >= max(self.k, 1):
                    yield replace(self, X=self.X[rows], weights=weights)
            size //= 2
        if len(self.new) > 1:
            for row in range(len(self.new)):
                yield replace(self, new=self.new[row : row + 1])

    @property
    def constructor(self) -> str:
        """The code of the estimator."""
        options = [str(self.k)]
        if self.metric != "euclidean":
            options.append(f"metric={self.metric!r}")
        if self.params:
            options.append(f"metric_params={self.params!r}")
        if self.method != "cut":
            options.append(f"space={self.method!r}, power={self.power}")
        if self.n_jobs > 1:
            options.append(f"n_jobs={self.n_jobs}")
        return f"Transitive{'Cut' if self.method == 'cut' else 'KMeans'}({', '.join(options)})"


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    n = int(rng.choice([rng.integers(1, 8), rng.integers(2, 30), rng.integers(10, 60)]))
    d = int(rng.choice([1, 2, 2, 3, 5]))
    kind, metric = str(rng.choice(KINDS)), str(rng.choice(METRICS))
    n_new = int(rng.integers(1, 8))
    both, params = suited(rng, points(rng, kind, n + n_new, d), metric)
    X, new = both[:n], both[n:]
    if metric in PLAIN and rng.random() < 0.2:
        new = new * 10.0 ** rng.integers(0, 150 if metric != "sqeuclidean" else 70)
    if rng.random() < 0.3:
        new[0] = X[0]
    weights = None
    if rng.random() < 0.4:
        weights = rng.integers(0, 4, size=n).astype(float)
        weights[int(rng.integers(n))] = 1.0
        if rng.random() < 0.3:
            weights *= rng.uniform(0.2, 5.0, size=n)
    n_fitted = n if weights is None else np.count_nonzero(weights)
    return Case(
        X,
        new,
        weights,
        kind,
        metric,
        params,
        method=str(rng.choice(METHODS)),
        k=int(rng.integers(1, min(n_fitted, 7) + 1)),
        power=float(rng.choice([1.0, 1.0, 0.5])),
        n_jobs=int(rng.choice([1, 1, 1, 3])),
        asks=tuple(rng.permutation(list(ASKS))[:3].tolist()),
    )


@dataclass
class Fit:
    """A fitted model in its script, and the numbers that brute force needs."""

    case: Case
    script: Script
    counts: Counter[str]
    matrix: np.ndarray  # transitive distances of the fitted rows, to the power
    plain: np.ndarray  # the same, as they are
    weights: np.ndarray  # of the fitted rows
    fitted: np.ndarray  # which rows these are
    labels: np.ndarray  # of the fitted rows

    @property
    def power(self) -> exact.Real:
        return exact.Real(1.0 if self.case.method == "cut" else self.case.power)

    @property
    def space(self) -> str:
        return "embedding" if self.case.method == "embedding" else "rows"


def check(case: Case, counts: Counter[str]) -> None:
    """Fit, and compare the answers with their definitions."""
    fit = fitted(case, counts)
    _check_labels(fit)
    _check_new_points(fit)
    for name in case.asks:
        ASKS[name](fit)


def fitted(case: Case, counts: Counter[str]) -> Fit:
    """Fit, and check the tree and the form of the labels."""
    script = Script(*IMPORTS)
    script.given(X=case.X)
    arguments = "X"
    if case.weights is not None:
        script.given(w=case.weights)
        arguments += ", sample_weight=w"
    script.run(f"model = {case.constructor}.fit({arguments})")
    counts["estimators"] += 1
    model = script.names["model"]
    weights = np.ones(len(case.X)) if case.weights is None else case.weights
    used = weights > 0
    distances = exact.distances(case.X[used], case.X[used], case.metric, case.params)
    plain = model.tree_.matrix()
    _check_close(
        script,
        "model.tree_.matrix()",
        exact.minimax(distances),
        tolerance(case, distances),
        "wrong transitive distances",
    )
    script.check(f"model.labels_.shape == ({len(case.X)},)", "wrong shape")
    script.check(f"sorted(set(model.labels_.tolist())) == list(range({case.k}))", "not k clusters")
    sizes = np.bincount(model.labels_[used], weights[used])
    if (np.diff(sizes) > 1e-9 * sizes.max()).any():
        script.given(v=weights)
        script.check(
            "(np.diff(np.bincount(model.labels_[v > 0], v[v > 0])) < 1e-9 * v.sum()).all()",
            "clusters are not numbered by size",
            "model.labels_",
        )
    power = case.power if case.method != "cut" else 1.0
    return Fit(
        case,
        script,
        counts,
        plain.astype(exact.Real) ** exact.Real(power),
        plain.astype(exact.Real),
        weights[used].astype(exact.Real),
        used,
        model.labels_[used],
    )


def _check_close(script: Script, expression: str, expected, slack: Callable, what: str) -> None:
    """Compare numbers within a tolerance that depends on them; infinity stands for too large."""
    found = np.asarray(eval(expression, script.names), dtype=exact.Real)
    allowed = np.asarray(slack(expected))
    good = (found == expected) | (np.abs(found - expected) <= allowed)
    if not (found.shape == np.shape(expected) and good.all()):
        script.given(expected=np.asarray(expected), tolerance=allowed)
        script.check(f"(np.abs({expression} - expected) <= tolerance).all()", what, expression)
        script.fail(what, "by less than float64 shows")


def _check_labels(fit: Fit) -> None:
    """Labels by CUT and Lloyd's iteration word by word, where nothing is tied; and the inertia."""
    case, script = fit.case, fit.script
    tree = script.names["model"].spanning_tree_
    lengths = tree.weights.astype(exact.Real) ** fit.power
    start = definitions.cut(tree.edges, lengths, case.k, fit.weights)
    if start is not None:
        expected = start
        if case.method != "cut":
            expected = definitions.lloyd(fit.matrix, start, fit.weights, fit.space)
        if expected is not None:
            fit.counts["labels by brute force"] += 1
            if not definitions.same_partition(expected, fit.labels):
                script.given(expected=expected, fitted=np.flatnonzero(fit.fitted))
                script.check(
                    "len(set(zip(model.labels_[fitted].tolist(), expected.tolist()))) == "
                    "model.n_clusters_",
                    f"wrong labels of {case.method}",
                    "model.labels_",
                )
    value = definitions.inertia(fit.matrix, fit.labels, fit.weights, fit.space)
    scale = (fit.matrix**2).max(initial=0) * fit.weights.sum() * max(len(fit.matrix), 1)
    scale *= fit.weights.max(initial=1)
    _check_close(
        script, "model.inertia_", value, lambda v: 1e-11 * v + 1e-12 * scale, "wrong inertia"
    )
    if case.weights is None and len(np.unique(case.X, axis=0)) == len(case.X):
        script.check("(model.predict(X) == model.labels_).all()", "fitted rows change their labels")


def _check_new_points(fit: Fit) -> None:
    """Predict and transform, by D(x, v) = min over u of max(d(x, u), D(u, v))."""
    case, script = fit.case, fit.script
    script.given(new=case.new)
    hops = exact.distances(case.new, case.X[fit.fitted], case.metric, case.params)
    equal = (case.new[:, None] == case.X[fit.fitted][None]).all(-1)
    hops[equal] = 0
    rows = definitions.transitive(hops, fit.plain) ** fit.power
    squared = definitions.squared_to_centres(rows, fit.matrix, fit.labels, fit.weights, fit.space)
    expected, sure = definitions.first_nearest(squared)
    at_zero = hops.min(axis=1) == 0
    if case.method == "cut" or at_zero.any():
        near = hops <= hops.min(axis=1, keepdims=True) * (1 + definitions.TIE)
        one_label = np.array([len(set(fit.labels[row].tolist())) == 1 for row in near])
        by_row = at_zero | (case.method == "cut")
        expected = np.where(by_row, fit.labels[hops.argmin(axis=1)], expected)
        sure = np.where(by_row, one_label, sure)
    # A point that equals a fitted one gets its label; of several, that of the first.
    is_fitted = equal.any(axis=1)
    expected = np.where(is_fitted, fit.labels[equal.argmax(axis=1)], expected)
    sure |= is_fitted
    fit.counts["new points"] += len(case.new)
    script.given(sure=np.flatnonzero(sure), expected=expected[sure])
    script.check(
        "(model.predict(new)[sure] == expected).all()",
        "wrong prediction",
        "model.predict(new)[sure], expected",
    )
    distances = np.sqrt(np.maximum(squared, 0))
    scale = np.sqrt(
        np.maximum(rows.max(axis=1), fit.matrix.max(initial=0)) ** 2
        * (fit.weights.sum() if fit.space == "rows" else 1)
    )[:, None]
    found = script.names["model"].transform(case.new)
    # Beyond what float64 can square, infinity says so.
    expected = np.where(np.isinf(found) & (distances > 1e140), np.inf, distances)
    _check_close(
        script,
        "model.transform(new)",
        expected,
        lambda v: 1e-8 * v + 1e-7 * scale,
        "wrong distances to centres",
    )


def _check_repetition(fit: Fit) -> None:
    """Integer weights are repeated rows, where no copies are torn apart."""
    case, script = fit.case, fit.script
    if case.weights is None or (case.weights != np.rint(case.weights)).any():
        return
    script.run("times = w.astype(int)")
    script.run(f"again = {case.constructor}.fit(X.repeat(times, axis=0))")
    fit.counts["estimators"] += 1
    labels = script.names["again"].labels_
    rows = np.arange(len(case.X)).repeat(case.weights.astype(int))
    torn = any(len(set(labels[rows == i].tolist())) > 1 for i in set(rows.tolist()))
    copies = len(np.unique(case.X[fit.fitted], axis=0)) < np.count_nonzero(fit.fitted)
    if not torn and not copies and case.kind in WITHOUT_TIES:
        script.check(
            "(again.labels_ == model.labels_.repeat(times)).all()",
            "weights are not repetitions",
            "again.labels_",
        )


def _check_permutation(fit: Fit) -> None:
    case, script = fit.case, fit.script
    if case.kind not in WITHOUT_TIES or case.metric in ROW_METRICS or len(case.X) < 3:
        return
    if case.X.shape[1] < 2 and case.metric in ("cosine", "angular", "hellinger"):
        return
    order = np.argsort((np.arange(len(case.X)) * 7919 + 13) % 10007)
    script.given(order=order)
    weights = ", sample_weight=w[order]" if case.weights is not None else ""
    script.run(f"other = {case.constructor}.fit(X[order]{weights})")
    fit.counts["estimators"] += 1
    fit.counts["permutations"] += 1
    tree = script.names["model"].spanning_tree_
    lengths = tree.weights.astype(exact.Real) ** fit.power
    start = definitions.cut(tree.edges, lengths, case.k, fit.weights)
    if start is None or (
        case.method != "cut"
        and definitions.lloyd(fit.matrix, start, fit.weights, fit.space) is None
    ):
        return
    # Rows of weight 0 are new points, which two clusters may be equally near.
    script.given(counted=np.flatnonzero(fit.fitted[order]))
    script.run("before, after = model.labels_[order][counted], other.labels_[counted]")
    script.check(
        "len(set(zip(before.tolist(), after.tolist()))) == model.n_clusters_",
        "the order of rows matters",
        "before, after",
    )


def _check_other_numbers(fit: Fit) -> None:
    """labels_for is a new fit, and those of CUT are nested."""
    case, script = fit.case, fit.script
    most = min(int(np.count_nonzero(fit.fitted)), 8)
    k = 1 + (case.k + 2) % most
    weights = ", sample_weight=w" if case.weights is not None else ""
    other = replace(case, k=k).constructor
    script.run(f"other = {other}.fit(X{weights})")
    fit.counts["estimators"] += 1
    script.check(
        f"(model.labels_for({k}) == other.labels_).all()",
        "labels_for is not a fit",
        f"model.labels_for({k}), other.labels_",
    )
    script.run(f"path = model.path(1, {most})")
    script.check(
        f"(path.labels_for({k}) == other.labels_).all()", "path is not a fit", "path.labels"
    )
    _check_close(
        script,
        f"path.inertia[{k - 1}]",
        exact.Real(script.names["other"].inertia_),
        lambda v: 1e-9 * v + 1e-300,
        "path has another inertia",
    )
    if case.method == "cut":
        script.check(
            f"all(len(set(zip(a.tolist(), b.tolist()))) == k + 1 for k, a, b in "
            f"zip(range(1, {most}), path.labels, path.labels[1:]))",
            "clusters are not nested",
            "path.labels",
        )
    integer = (fit.weights == np.rint(fit.weights)).all()
    for i, k_of in enumerate(script.names["path"].n_clusters.tolist()):
        if k_of > 1 and integer:
            labels = script.names["path"].labels[i][fit.fitted]
            values = definitions.silhouettes(fit.plain, labels, fit.weights)
            mean = (values * fit.weights).sum() / fit.weights.sum()
            _check_close(
                script, f"path.silhouette[{i}]", mean, lambda _: 1e-9, "a wrong silhouette"
            )


def _check_copies(fit: Fit) -> None:
    """Pickles and files hold the whole fit."""
    script = fit.script
    script.run("import os, pickle, tempfile; folder = tempfile.TemporaryDirectory()")
    script.run("path = folder.name + '/model'; copy = pickle.loads(pickle.dumps(model))")
    _check_same(script)
    script.run("model.save(path); copy = type(model).load(path)")
    fit.counts["round trips"] += 2
    _check_same(script)
    script.run("model.spanning_tree_.save(path)")
    script.check("type(model.spanning_tree_).load(path) == model.spanning_tree_", "tree file")
    script.check("os.listdir(folder.name) == ['model']", "a leftover file")
    script.names["folder"].cleanup()


def _check_same(script: Script) -> None:
    for name in ("labels_", "predict(new)", "transform(new)", "outlier_scores_", "inertia_"):
        script.check(
            f"np.array_equal(copy.{name}, model.{name}, equal_nan=True)", f"a copy has other {name}"
        )
    script.check("copy.tree_ == model.tree_", "a copy has another tree")
    script.check("str(copy.summary_) == str(model.summary_)", "a copy has another summary")


def _check_threads(fit: Fit) -> None:
    script = fit.script
    weights = ", sample_weight=w" if fit.case.weights is not None else ""
    other = replace(fit.case, n_jobs=5 - fit.case.n_jobs).constructor
    script.run(f"other = {other}.fit(X{weights})")
    fit.counts["estimators"] += 1
    fit.counts["comparisons of threads"] += 1
    script.check("(other.labels_ == model.labels_).all()", "threads change labels")
    script.check("(other.predict(new) == model.predict(new)).all()", "threads change predictions")
    script.check(
        "np.array_equal(other.transform(new), model.transform(new))", "threads change distances"
    )


def _check_figures(fit: Fit) -> None:
    """Silhouettes of points, the embedding, the hierarchy and the linkage."""
    script = fit.script
    script.run("from isthmus.model_selection import transitive_silhouette")
    script.run("from isthmus.cut import cut_hierarchy")
    n, k = len(fit.plain), fit.case.k
    script.given(labels=fit.labels)
    if k > 1:
        values = definitions.silhouettes(fit.plain, fit.labels, np.ones(n, dtype=exact.Real))
        mean = values.mean()
        _check_close(
            script,
            "transitive_silhouette(model.tree_, labels)",
            mean,
            lambda _: 1e-9,
            "a wrong silhouette",
        )
    script.run("E = model.tree_.embedding().toarray()")
    script.run("apart = np.sqrt(((E[:, None] - E[None]) ** 2).sum(-1)) - model.tree_.matrix()")
    script.check(
        f"np.abs(apart).max() <= {float(1e-7 * fit.plain.max(initial=0))!r}",
        "the embedding is not isometric",
        "apart",
    )
    if n > 1:
        script.run("hierarchy = cut_hierarchy(model.tree_)")
        script.check(
            f"len(set(hierarchy.labels_for({k}).tolist())) == {k}", "a hierarchy of other numbers"
        )
        script.check("(np.diff(hierarchy.linkage[:, 2]) >= 0).all()", "scores of joins fall")


def _check_size(fit: Fit) -> None:
    """min_cluster_size is kept to, or refused with a reason."""
    case, script = fit.case, fit.script
    least = max(1, len(case.X) // (case.k + 2))
    weights = ", sample_weight=w" if case.weights is not None else ""
    code = case.constructor[:-1] + f", min_cluster_size={least})"
    error = script.attempt(f"sized = {code}.fit(X{weights})", ValueError)
    fit.counts["estimators"] += 1
    if error is not None:
        if "min_cluster_size" not in str(error):
            script.fail("ValueError", str(error))
        script.forget()
        return
    script.given(v=np.asarray(fit.weights, dtype=float), on_tree=np.flatnonzero(fit.fitted))
    script.check(
        f"np.bincount(sized.labels_[on_tree], v).min() >= {least} * (1 - 1e-9)",
        "a cluster is too small",
        "sized.labels_",
    )


def _check_auto(fit: Fit) -> None:
    case, script = fit.case, fit.script
    weights = ", sample_weight=w" if case.weights is not None else ""
    code = case.constructor.replace(f"({case.k}", "('auto'", 1)
    script.run(f"auto = {code}.fit(X{weights})")
    fit.counts["estimators"] += 1
    script.check("len(set(auto.labels_.tolist())) == auto.n_clusters_", "another number")
    script.check("auto.suggestion_.n_clusters == auto.n_clusters_", "another suggestion")


ASKS: dict[str, Callable[[Fit], None]] = {
    "repetition": _check_repetition,
    "permutation": _check_permutation,
    "other numbers": _check_other_numbers,
    "copies": _check_copies,
    "threads": _check_threads,
    "figures": _check_figures,
    "least size": _check_size,
    "auto": _check_auto,
    "noise": noise.check_noise,
}
