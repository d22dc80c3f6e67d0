"""How long a user waits before the first result: importing, and the first fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.harness import Table

_TIMED = "import time; begin = time.perf_counter(); {}; print(time.perf_counter() - begin)"
_FIT = (
    "import time; from sklearn.datasets import load_iris; import isthmus;"
    "X = load_iris().data; begin = time.perf_counter();"
    "isthmus.TransitiveKMeans(3).fit(X); print(time.perf_counter() - begin)"
)
# Twice in one process: the first fit compiles, or loads, what both need.
_LARGE = (
    "import time; import numpy as np; from isthmus import TransitiveKMeans;"
    "rng = np.random.default_rng(0);"
    "centres = rng.random((10, 2)) * 10;"
    "X = {}; begin = time.perf_counter();"
    "TransitiveKMeans(10).fit(X); middle = time.perf_counter();"
    "TransitiveKMeans(10).fit(X); end = time.perf_counter();"
    "print((middle - begin) - (end - middle))"
)
_CLUSTERED = "centres[rng.integers(10, size=300_000)] + rng.normal(0, 0.25, (300_000, 2))"
_UNIFORM = "rng.random((300_000, 2))"


def run() -> Table:
    table = Table(
        "startup",
        "Before the first result",
        "Seconds, best of 5 new processes. The first fit of a new installation compiles; later "
        "ones load compiled code from the cache.",
    )
    sklearn_alone = _best("import sklearn.cluster")
    both = _best("import sklearn.cluster; from isthmus import TransitiveKMeans")
    with tempfile.TemporaryDirectory() as empty:
        first = _seconds(_FIT, NUMBA_CACHE_DIR=empty)
        later = min(_seconds(_FIT, NUMBA_CACHE_DIR=empty) for _ in range(5))
    large = []
    for data in (_CLUSTERED, _UNIFORM):
        with tempfile.TemporaryDirectory() as empty:
            large.append(_seconds(_LARGE.format(data), NUMBA_CACHE_DIR=empty))
            warm = min(_seconds(_LARGE.format(data), NUMBA_CACHE_DIR=empty) for _ in range(5))
    table.rows = [
        {"what": "import sklearn.cluster", "seconds": sklearn_alone},
        {
            "what": "from isthmus import TransitiveKMeans, on top of it",
            "seconds": both - sklearn_alone,
        },
        {"what": "first fit on Iris, nothing compiled", "seconds": first},
        {"what": "first fit on Iris in a process, compiled before", "seconds": later},
        {
            "what": "first fit of 300,000 × 2 points, nothing compiled, less the second: clustered",
            "seconds": large[0],
        },
        {"what": "the same, uniform", "seconds": large[1]},
        {"what": "the same in a process, compiled before", "seconds": warm},
    ]
    return table


def _best(statement: str) -> float:
    return min(_seconds(_TIMED.format(statement)) for _ in range(5))


def _seconds(code: str, **environment: str) -> float:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)
