"""How well noise is told from clusters: precision and recall of noise, and what is left."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.harness import Table, data_folder, require
from isthmus import TransitiveCut
from isthmus.datasets import make_rings, make_spirals, make_two_moons

# Others than those with which the rule of noise="auto" was chosen, 100 to 303.
SEEDS = range(5)
SHARES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5)
N_POINTS = 1000
# Uniform noise fills the range of the points, widened by this share on each side.
MARGIN = 0.2

# Points and their clusters, from 0; -1 is noise.
Labelled = tuple[np.ndarray, np.ndarray]


def _clouds(rng: np.random.Generator) -> Labelled:
    """Five clouds of different scales that do not touch."""
    angles = np.arange(5) * 0.4 * np.pi + rng.uniform(0.0, np.pi)
    centres = 8.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    y = rng.integers(5, size=N_POINTS)
    return centres[y] + rng.normal(size=(N_POINTS, 2)) * rng.uniform(0.3, 0.9, 5)[y, None], y


def _one_cloud(rng: np.random.Generator) -> Labelled:
    return rng.normal(size=(N_POINTS, 2)), np.zeros(N_POINTS, dtype=int)


def _in_space(rng: np.random.Generator) -> Labelled:
    """Six clouds in five dimensions."""
    y = rng.integers(6, size=N_POINTS)
    return (rng.normal(size=(6, 5)) * 6.0)[y] + rng.normal(size=(N_POINTS, 5)), y


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1_000_000))


SHAPES: dict[str, Callable[[np.random.Generator], Labelled]] = {
    "two moons": lambda rng: make_two_moons(N_POINTS, random_state=_seed(rng)),
    "rings": lambda rng: make_rings(N_POINTS, random_state=_seed(rng)),
    "spirals": lambda rng: make_spirals(N_POINTS, random_state=_seed(rng)),
    "five clouds": _clouds,
    "one cloud": _one_cloud,
    "six clouds, five dimensions": _in_space,
}


def _in_noise(rng: np.random.Generator, points: Labelled, share: float) -> Labelled:
    """Add uniform noise, so that a share of all points is noise."""
    X, y = points
    n_noise = round(len(X) * share / (1.0 - share))
    low, high = X.min(axis=0), X.max(axis=0)
    widening = MARGIN * (high - low)
    noise = rng.uniform(low - widening, high + widening, size=(n_noise, X.shape[1]))
    return np.vstack([X, noise]), np.append(y, np.full(n_noise, -1))


def _battery() -> Iterator[Labelled]:
    """Yield the sets of the battery with noise, the label 0 of a reference."""
    folder = data_folder()
    for path in sorted(folder.glob("battery/*/*.data.gz") if folder else ()):
        base = path.name.removesuffix(".data.gz")
        for reference in sorted(path.parent.glob(f"{base}.labels*.gz")):
            y = np.loadtxt(reference, dtype=int)
            if (y == 0).any():
                yield np.loadtxt(path, ndmin=2), y - 1


def _of_the_rest(X: np.ndarray, is_noise: np.ndarray, k: int) -> np.ndarray:
    """Return CUT's clusters of what a method that finds noise alone leaves."""
    labels = np.full(len(X), -1)
    if np.count_nonzero(~is_noise) >= k:
        labels[~is_noise] = TransitiveCut(k).fit_predict(X[~is_noise])
    return labels


def _deadwood(X: np.ndarray, k: int) -> np.ndarray:
    from deadwood import Deadwood

    return _of_the_rest(X, Deadwood().fit_predict(X) < 0, k)


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    'TransitiveCut(k, noise="auto")': lambda X, k: TransitiveCut(k, noise="auto").fit_predict(X),
    'noise=("score", 0.7)': lambda X, k: TransitiveCut(k, noise=("score", 0.7)).fit_predict(X),
    "HDBSCAN (5, default)": lambda X, _: HDBSCAN(copy=True).fit_predict(X),
    "HDBSCAN (15)": lambda X, _: HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X),
    "Deadwood": _deadwood,
    "LOF": lambda X, k: _of_the_rest(X, LocalOutlierFactor().fit_predict(X) < 0, k),
}


def run() -> Table:
    require("deadwood")
    table = Table(
        "noise",
        "Noise",
        "Precision and recall of noise, and the adjusted Rand index of the points that are not "
        "(those that a method calls noise counted as one more cluster; not of the one cloud, where "
        "a single point would make it 0). Without noise: the share "
        f"of points that a method calls noise in place of both. Means of {len(SHAPES)} shapes of "
        f"{N_POINTS} points and {len(SEEDS)} seeds each, in uniform noise, of which some falls "
        "onto the shapes, where nothing can tell it; and of the sets of the battery that have "
        "noise. Everything by default, but for the number of clusters, which TransitiveCut is "
        "given, and HDBSCAN's min_cluster_size in brackets. Deadwood and LOF find noise alone: "
        "the clusters of their rest are TransitiveCut's.",
    )
    for share in SHARES:
        found = [
            _figures(*_in_noise(rng, make(rng), share))
            for make in SHAPES.values()
            for rng in map(np.random.default_rng, SEEDS)
        ]
        table.rows.append(_row(f"{share:.0%} noise", found))
        print(table.rows[-1], flush=True)
    sets = [_figures(X, y) for X, y in _battery()]
    if sets:
        table.rows.append(_row(f"battery, {len(sets)} labellings with noise", sets))
    return table


def _figures(X: np.ndarray, y: np.ndarray) -> dict[str, tuple[float, float, float]]:
    """Return precision, recall and the index of the rest for each method."""
    figures, truth = {}, y < 0
    for name, method in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages
            labels = method(X, int(y.max()) + 1)
        found = labels < 0
        both = np.count_nonzero(found & truth)
        rest = adjusted_rand_score(y[~truth], labels[~truth]) if y.max() > 0 else np.nan
        if truth.any():
            figures[name] = both / max(found.sum(), 1), both / truth.sum(), rest
        else:
            figures[name] = found.mean(), np.nan, rest
    return figures


def _row(name: str, found: list[dict[str, tuple[float, float, float]]]) -> dict[str, str]:
    row = {"data": name}
    for method in METHODS:
        three = np.array([figures[method] for figures in found])
        precision, recall = three[:, :2].mean(axis=0)
        rest = np.nanmean(three[:, 2])
        first = f"{precision:.1%} noise" if np.isnan(recall) else f"{precision:.2f} / {recall:.2f}"
        row[method] = f"{first} / {rest:.2f}"
    return row
