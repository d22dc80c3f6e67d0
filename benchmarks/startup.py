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
    "isthmus.TransitiveClustering(3).fit(X); print(time.perf_counter() - begin)"
)


def run() -> Table:
    table = Table(
        "startup",
        "Before the first result",
        "Seconds, best of 5 new processes. The first fit of a new installation compiles; later "
        "ones load compiled code from the cache.",
    )
    sklearn_alone = _best("import sklearn.cluster")
    both = _best("import sklearn.cluster; from isthmus import TransitiveClustering")
    with tempfile.TemporaryDirectory() as empty:
        first = _seconds(_FIT, NUMBA_CACHE_DIR=empty)
        later = min(_seconds(_FIT, NUMBA_CACHE_DIR=empty) for _ in range(5))
    table.rows = [
        {"what": "import sklearn.cluster", "seconds": sklearn_alone},
        {
            "what": "from isthmus import TransitiveClustering, on top of it",
            "seconds": both - sklearn_alone,
        },
        {"what": "first fit on Iris, nothing compiled", "seconds": first},
        {"what": "first fit on Iris in a process, compiled before", "seconds": later},
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
