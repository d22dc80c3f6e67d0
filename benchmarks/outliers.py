"""How well outlier scores find what was added to clusters: area under the ROC curve."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.harness import Table, require
from isthmus import UltrametricTree, outlier_scores
from isthmus.datasets import load_ionosphere, make_spirals, make_two_moons

SEEDS = range(5)

# Points, and whether each is an outlier.
Labelled = tuple[np.ndarray, np.ndarray]


def _in_noise(
    rng: np.random.Generator, points: np.ndarray, n_noise: int, margin: float
) -> Labelled:
    """Put points into uniform noise, over their own range widened on each side."""
    low, high = points.min(axis=0), points.max(axis=0)
    widening = margin * (high - low)
    noise = rng.uniform(low - widening, high + widening, size=(n_noise, points.shape[1]))
    return _together(points, noise)


def _together(points: np.ndarray, outliers: np.ndarray) -> Labelled:
    return np.vstack([points, outliers]), np.repeat([False, True], [len(points), len(outliers)])


def _clouds(
    rng: np.random.Generator, n_clouds: int, n_points: int, n_features: int, apart: float
) -> np.ndarray:
    centres = rng.normal(size=(n_clouds, n_features)) * apart
    return centres[rng.integers(n_clouds, size=n_points)] + rng.normal(size=(n_points, n_features))


_SCALES = np.array([0.05, 0.3, 1.0])
_CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 8.0]])


def _three_scales(rng: np.random.Generator) -> np.ndarray:
    cloud = rng.integers(3, size=900)
    return _CENTRES[cloud] + rng.normal(size=(900, 2)) * _SCALES[cloud, None]


def _local(rng: np.random.Generator) -> Labelled:
    """Outliers 5 to 8 standard deviations from a cloud, whatever its scale."""
    cloud, angle = rng.integers(3, size=30), rng.uniform(0.0, 2.0 * np.pi, size=30)
    radius = rng.uniform(5.0, 8.0, size=30) * _SCALES[cloud]
    ring = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _together(_three_scales(rng), _CENTRES[cloud] + ring)


def _clumps(rng: np.random.Generator) -> Labelled:
    """Outliers three by three."""
    clouds = [rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) * 0.5 + [8.0, 0.0]]
    centres = np.repeat(rng.uniform([-8.0, -8.0], [14.0, 8.0], size=(10, 2)), 3, axis=0)
    return _together(np.vstack(clouds), centres + rng.normal(size=(30, 2)) * 0.05)


def _breast_cancer(rng: np.random.Generator) -> Labelled:
    """Benign tumours and 20 malignant ones."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return _together(X[y == 1], rng.permutation(X[y == 0])[:20])


def _digits(rng: np.random.Generator) -> Labelled:
    """Nine digits and 15 pictures of the tenth."""
    X, y = load_digits(return_X_y=True)
    rare = rng.integers(10)
    return _together(X[y != rare], rng.permutation(X[y == rare])[:15])


def _ionosphere(_: np.random.Generator) -> Labelled:
    X, y = load_ionosphere(return_X_y=True)
    classes, counts = np.unique(y, return_counts=True)
    return X, y == classes[counts.argmin()]


SETS: dict[str, Callable[[np.random.Generator], Labelled]] = {
    "one cloud, 15 of 515": lambda rng: _in_noise(rng, rng.normal(size=(500, 2)), 15, 1.0),
    "two moons, 50 of 550": lambda rng: _in_noise(
        rng, make_two_moons(500, random_state=rng.integers(1000))[0], 50, 0.5
    ),
    "two moons, 200 of 700": lambda rng: _in_noise(
        rng, make_two_moons(500, random_state=rng.integers(1000))[0], 200, 0.5
    ),
    "spirals, 60 of 660": lambda rng: _in_noise(
        rng, make_spirals(600, random_state=rng.integers(1000))[0], 60, 0.2
    ),
    "three scales, 60 of 960": lambda rng: _in_noise(rng, _three_scales(rng), 60, 0.5),
    "three scales, 30 local ones": _local,
    "20 clouds, 100 of 2,100": lambda rng: _in_noise(rng, _clouds(rng, 20, 2000, 2, 20), 100, 0.2),
    "10 clouds in 8 dimensions, 50 of 1,050": lambda rng: _in_noise(
        rng, _clouds(rng, 10, 1000, 8, 6), 50, 0.1
    ),
    "10 clumps of three, 30 of 630": _clumps,
    "breast cancer, 20 of 377": _breast_cancer,
    "Ionosphere, the smaller class": _ionosphere,
    "digits, 15 of a rare one": _digits,
}


def _glosh(min_cluster_size: int) -> Callable[[np.ndarray], np.ndarray]:
    def score(X: np.ndarray) -> np.ndarray:
        from hdbscan import HDBSCAN

        return np.nan_to_num(HDBSCAN(min_cluster_size=min_cluster_size).fit(X).outlier_scores_)

    return score


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "isthmus": lambda X: outlier_scores(UltrametricTree.from_data(X)),
    "LocalOutlierFactor": lambda X: -LocalOutlierFactor().fit(X).negative_outlier_factor_,
    "IsolationForest": lambda X: -IsolationForest(random_state=0).fit(X).score_samples(X),
    "GLOSH (5, default)": _glosh(5),
    "GLOSH (15)": _glosh(15),
}


def run() -> Table:
    require("hdbscan")
    table = Table(
        "outliers",
        "Outlier scores",
        f"Area under the ROC curve, mean of {len(SEEDS)} seeds; 1 is perfect, 0.5 is chance. "
        "isthmus.outlier_scores, scikit-learn's two and hdbscan's outlier_scores_ with two values "
        "of min_cluster_size; all else as it is by default.",
    )
    for name, make in SETS.items():
        areas = [_areas(*make(np.random.default_rng(seed))) for seed in SEEDS]
        table.rows.append({"data": name, **_means(areas)})
    table.rows.append({"data": "mean", **_means(table.rows)})
    return table


def _areas(X: np.ndarray, is_outlier: np.ndarray) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages
        return {name: roc_auc_score(is_outlier, score(X)) for name, score in METHODS.items()}


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([row[name] for row in rows])), 3) for name in METHODS}
