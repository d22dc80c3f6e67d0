"""What labels of some rows, and pairs of rows, add: adjusted Rand index of all other rows."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from benchmarks.harness import Table
from benchmarks.labelled_sets import SETS, metric_of
from isthmus import SpanningTree, TransitiveCut, minimum_spanning_tree
from isthmus.cut.constraints import constrain
from isthmus.estimators.constraint_input import check_rules

SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)
SEEDS = range(3)
# Neighbourhoods as docs/embeddings.md recommends them: for images, and for texts and tables.
IMAGES, OTHERS = (20, "shared"), (30, "mean")
CHOSEN = {
    "digits": IMAGES,
    "USPS": IMAGES,
    "banking77": OTHERS,
    "AG News": OTHERS,
    "wine, standardised": OTHERS,
    "breast cancer, standardised": OTHERS,
}
PEERS: dict[str, Callable[[], object]] = {
    "LabelSpreading": lambda: LabelSpreading(kernel="knn", max_iter=200),
    "LabelPropagation": lambda: LabelPropagation(kernel="knn", max_iter=1000),
    "nearest labelled row": lambda: KNeighborsClassifier(1),
}


class Case(NamedTuple):
    """A set with its classes from 0, and how it is clustered."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    parameters: dict[str, object]
    tree: SpanningTree


def load_case(name: str, folder: str) -> Case:
    X, classes = SETS[name]()
    y = np.unique(classes, return_inverse=True)[1]
    n_neighbors, neighborhood = CHOSEN[name]
    metric = metric_of(name)
    parameters = {"metric": metric, "n_neighbors": n_neighbors, "neighborhood": neighborhood}
    tree = minimum_spanning_tree(X, **parameters)
    return Case(X, y, int(y.max()) + 1, parameters | {"memory": folder}, tree)


def known_labels(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the labels of a share of rows, one of each class at least; -1 for all others."""
    order = rng.permutation(len(y))
    first_of_class = order[np.unique(y[order], return_index=True)[1]]
    rest = np.setdiff1d(order, first_of_class, assume_unique=True)
    n_more = max(0, round(share * len(y)) - len(first_of_class))
    chosen = np.append(first_of_class, rng.permutation(rest)[:n_more])
    labels = np.full(len(y), -1)
    labels[chosen] = y[chosen]
    return labels


def known_pairs(
    y: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs, as many as a share of the rows: half of one class, half of two."""
    n_pairs = max(2, round(share * len(y)))
    pairs: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    wanted = {True: n_pairs // 2, False: n_pairs - n_pairs // 2}
    while any(len(pairs[same]) < wanted[same] for same in pairs):
        i, j = rng.integers(len(y), size=2).tolist()
        same = bool(y[i] == y[j])
        if i != j and len(pairs[same]) < wanted[same]:
            pairs[same].append((i, j))
    return np.array(pairs[True]), np.array(pairs[False])


def run(shares: tuple[float, ...] = SHARES) -> Table:
    table = Table(
        "constraints",
        "What is known of some rows",
        "Adjusted Rand index with the classes, of the rows of which nothing is known; means of "
        f"{len(SEEDS)} choices of known rows, and of {len(CHOSEN)} sets. Labels: those of a share "
        "of rows, one of each class at least. Pairs: as many, half of them must-links and half "
        "cannot-links. TransitiveCut has neighbourhoods, 20 shared for images and means of 30 for "
        "the others, and as many clusters as there are classes; with pairs, as many as these need, "
        "if that is more. Beside “with labels” stands the same fit without them, on the same rows. "
        "Peers: scikit-learn's LabelSpreading and LabelPropagation on the graph of 7 neighbours "
        "(kernel='knn'), their default, and the label of the nearest labelled row; the "
        "neighbourhoods of TransitiveCut were recommended after trials on these sets.",
    )
    found: dict[float, list[dict[str, float]]] = {share: [] for share in shares}
    with tempfile.TemporaryDirectory() as folder:
        for name in CHOSEN:
            case = load_case(name, folder)
            alone = TransitiveCut(case.n_classes, **case.parameters).fit_predict(case.X)
            for share in shares:
                means = _mean(_figures(case, alone, share))
                found[share].append(means)
                row = {"known": f"{share:.0%}", "data": f"{name}, {case.n_classes} classes"}
                table.rows.append(row | _shown(means))
                print(table.rows[-1], flush=True)
    of_all = [
        {"known": f"{share:.0%}", "data": "mean of all"} | _shown(_mean(iter(found[share])))
        for share in shares
    ]
    table.rows = of_all + table.rows
    return table


def _mean(figures: Iterator[dict[str, float]]) -> dict[str, float]:
    all_figures = list(figures)
    return {name: float(np.mean([each[name] for each in all_figures])) for name in all_figures[0]}


def _shown(means: dict[str, float]) -> dict[str, str]:
    names = ("without labels", "with labels", *PEERS, "without pairs", "with pairs", "clusters ÷ k")
    return {name: f"{means[name]:.3f}" if name in means else "–" for name in names}


def _figures(case: Case, alone: np.ndarray, share: float) -> Iterator[dict[str, float]]:
    if share == 0.0:
        index = adjusted_rand_score(case.y, alone)
        yield {"without labels": index, "without pairs": index}
        return
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        yield _with_labels(case, alone, known_labels(case.y, share, rng)) | _with_pairs(
            case, alone, *known_pairs(case.y, share, rng)
        )


def _with_labels(case: Case, alone: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    model = TransitiveCut(case.n_classes, **case.parameters)
    answers = {
        "without labels": alone,
        "with labels": model.fit_predict(case.X, partial_labels=labels),
    }
    is_known = labels >= 0
    for name, make in PEERS.items():
        peer: object = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows that no label reaches
            if isinstance(peer, KNeighborsClassifier):
                answers[name] = peer.fit(case.X[is_known], labels[is_known]).predict(case.X)
            else:
                answers[name] = peer.fit(case.X, labels).transduction_
    return {
        name: float(adjusted_rand_score(case.y[~is_known], answer[~is_known]))
        for name, answer in answers.items()
    }


def _with_pairs(
    case: Case, alone: np.ndarray, together: np.ndarray, apart: np.ndarray
) -> dict[str, float]:
    rules = check_rules(together, apart, None, len(case.y))
    assert rules is not None
    k = max(case.n_classes, constrain(case.tree, rules)[1].n_parts)
    model = TransitiveCut(k, **case.parameters)
    labels = model.fit_predict(case.X, must_link=together, cannot_link=apart)
    others = np.setdiff1d(np.arange(len(case.y)), np.concatenate([together, apart]).ravel())
    return {
        "without pairs": float(adjusted_rand_score(case.y[others], alone[others])),
        "with pairs": float(adjusted_rand_score(case.y[others], labels[others])),
        "clusters ÷ k": k / case.n_classes,
    }
