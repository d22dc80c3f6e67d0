"""Small files that are right, to be made wrong: models, trees and tables of every kind."""

from __future__ import annotations

import functools
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix

from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree


@functools.cache
def models() -> tuple[tuple[str, bytes], ...]:
    """Return the kind and the bytes of model files."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for model in _fitted():
            model.save(path)
            found.append((type(model).__name__, path.read_bytes()))
            for tree in (model.spanning_tree_, model.tree_):
                if len(found) % 5 == 0:
                    tree.save(path)
                    found.append((type(tree).__name__, path.read_bytes()))
    return tuple(found)


def _fitted():
    """Yield fitted estimators: all that a file can hold."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(6, 2)), rng.normal(size=(5, 2)) + 8.0])
    some = np.array([0, 1, 2, 0, 1, 1, 3, 0, 1, 2, 0.5])
    random = {"init": "k-means++", "n_init": 2}
    for weights in (None, some, some + 0.5):
        for k in (1, 2, 4):
            yield TransitiveCut(k).fit(X, sample_weight=weights)
            yield TransitiveKMeans(k).fit(X, sample_weight=weights)
            yield TransitiveKMeans(k, space="embedding", power=0.5).fit(X, sample_weight=weights)
        yield TransitiveCut(2, n_neighbors=3).fit(X, sample_weight=weights)
        yield TransitiveKMeans(2, n_neighbors=4, neighborhood="shared").fit(X, None, weights)
        yield TransitiveKMeans(3, random_state=5, **random).fit(X, sample_weight=weights)
        yield TransitiveCut("auto", k_max=4).fit(X, sample_weight=weights)
        yield TransitiveCut(2, metric="precomputed").fit(_square(X), sample_weight=weights)
        yield TransitiveKMeans(2, metric="canberra").fit(np.abs(X) + 1, sample_weight=weights)
    yield TransitiveKMeans(2, random_state=np.random.RandomState(3), **random).fit(X)
    yield TransitiveCut(2, metric="mahalanobis", metric_params={"V": np.eye(2)}).fit(X)
    yield TransitiveCut(2, metric="minkowski", metric_params={"p": 3.0}).fit(X)
    yield TransitiveCut(2, metric="cosine").fit(csr_matrix(X))
    yield TransitiveKMeans(2, metric="euclidean").fit(csr_array(np.where(X > 0, X, 0.0)))
    yield TransitiveCut(2, min_cluster_size=2).fit(pd.DataFrame(X, columns=["a", "b"]))
    yield TransitiveKMeans(2, init=[0, 9]).fit(X.astype(np.float32))
    graph = csr_array(np.where(_square(X) < 4.0, _square(X), 0.0))
    yield TransitiveCut(3, metric="precomputed", disconnected="join").fit(graph)
    yield TransitiveCut(1).fit(X[:1])
    for rule in ("auto", 0.2, ("score", 0.3)):
        yield TransitiveCut(2, noise=rule).fit(X, sample_weight=some)
        yield TransitiveKMeans(2, noise=rule).fit(X)


def _square(X: np.ndarray) -> np.ndarray:
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))


@functools.cache
def tables() -> tuple[tuple[str, bytes], ...]:
    """Return the name and the bytes of tables."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(7, 2)).round(3)
    rows = [",".join(map(str, row)) for row in numbers.tolist()]
    named = "\n".join(f"n{i},{row}" for i, row in enumerate(rows))
    texts = {
        "plain.csv": "\n".join(rows) + "\n",
        "named.csv": "name,x,y\n" + named + "\n",
        "quoted.csv": 'name,"x ""1""",y\r\n'
        + "\r\n".join(f'"a, {i}",{r}' for i, r in enumerate(rows)),
        "table.tsv": ("x\ty\n" + "\n".join(rows) + "\n").replace(",", "\t"),
        "wide.csv": "\ufeffa;b\n" + "\n".join(r.replace(",", ";") for r in rows) + "\n",
    }
    found = [(name, text.encode()) for name, text in texts.items()]
    arrays = {
        "float.npy": numbers,
        "small.npy": numbers.astype(np.float32),
        "integers.npy": rng.integers(0, 9, size=(6, 3)),
        "flat.npy": numbers[:, 0],
        "fortran.npy": np.asfortranarray(numbers),
    }
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        found.append((name, stream.getvalue()))
    stream = io.BytesIO()
    frame = pd.DataFrame({"x": numbers[:, 0], "y": numbers[:, 1], "name": list("abcdefg")})
    frame.to_parquet(stream)
    found.append(("frame.parquet", stream.getvalue()))
    return tuple(found)


def tree_of_file(kind: str) -> bool:
    """Whether a file of this kind holds a tree."""
    return kind in ("SpanningTree", UltrametricTree.__name__)
