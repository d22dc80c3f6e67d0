"""What holds for the package as a whole: its front page, its import, its compiled code."""

import ast
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

import isthmus
from isthmus._numba import kernel as _compile
from isthmus._utils import memory as _memory
from isthmus._utils import parallel as _parallel
from isthmus._utils import progress as _progress

# Run in a new interpreter: a fit that needs compiled code.
FIT = (
    "import numpy as np, isthmus;"
    "X = np.random.default_rng(0).normal(size=(50, 2));"
    "print(len(isthmus.TransitiveCut(3).fit(X).labels_))"
)


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_all_is_true():
    assert sorted(isthmus.__all__) == isthmus.__all__ == dir(isthmus)
    for name in isthmus.__all__:
        assert getattr(isthmus, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        isthmus.nonsense  # noqa: B018


def test_import_loads_neither_numba_nor_optional_packages():
    code = (
        "import sys, sklearn.cluster; before = set(sys.modules);"  # it may load pandas itself
        "from isthmus import *; new = set(sys.modules) - before;"
        "names = ('numba', 'matplotlib', 'pandas', 'polars', 'pyarrow', 'bokeh');"
        "print([m for m in names if m in new])"
    )
    result = run_python(code)
    assert result.stdout.strip() == "[]", result.stderr


def imported_packages(path):
    """Return the packages that a file imports, at its head or where they are used."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [each.value for each in node.args if isinstance(each, ast.Constant)]
        yield from (name.partition(".")[0] for name in names)


def test_what_is_imported_is_declared_and_has_a_lowest_version():
    root, package = Path(__file__).parents[1], Path(isthmus.__file__).parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (names,) = re.fullmatch(r"isthmus\[(.+)\]", *extras["all"]).groups()
    optional = [each for name in names.split(",") for each in extras[name]]
    declared = {
        re.fullmatch(r"([\w-]+)>=[\d.]+(; .+)?", each).group(1)
        for each in [*project["dependencies"], *optional]
    }
    imported = {name for path in package.rglob("*.py") for name in imported_packages(path)}
    imported -= {*sys.stdlib_module_names, "compression", "isthmus"}  # Python 3.14 has compression
    assert imported == declared - {"scikit-learn"} | {"sklearn"}


def test_no_place_for_the_cache_breaks_nothing(tmp_path):
    """Neither the package's folder, nor the home, nor NUMBA_CACHE_DIR can be written."""
    package = tmp_path / "site" / "isthmus"
    nowhere = tmp_path / "file"
    nowhere.write_text("not a folder")
    source = Path(isthmus.__file__).parent.parent
    # A zipped package has no folder of its own to keep a cache in.
    script = (
        f"import shutil, sys; shutil.make_archive({str(package)!r}, 'zip', "
        f"{str(source)!r}, 'isthmus'); "
        f"sys.path.insert(0, {str(package)!r} + '.zip'); sys.modules.pop('isthmus', None);"
        "import isthmus; assert '.zip' in isthmus.__file__, isthmus.__file__;" + FIT
    )
    (tmp_path / "site").mkdir()
    inside = str(nowhere / "inside")
    result = run_python(
        script, NUMBA_CACHE_DIR=inside, HOME=inside, XDG_CACHE_HOME=inside, IPYTHONDIR=inside
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "50"


def test_compiled_code_is_kept_on_disk(tmp_path):
    result = run_python(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert list(tmp_path.rglob("*.nbi"))


def test_a_kernel_is_compiled_by_its_first_call():
    @_compile.kernel
    def double(x) -> int:
        return 2 * x

    assert not double._compiled
    assert double(21) == 42
    assert double._compiled


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT within a process")
@pytest.mark.parametrize(("engine", "shape"), [("prim", (600_000, 3)), ("kd-tree", (300_000, 12))])
def test_ctrl_c_stops_a_long_spanning_tree_within_a_second(engine, shape):
    script = (
        "import numpy as np, signal, threading, time, os, isthmus\n"
        "from isthmus import minimum_spanning_tree\n"
        f"X = np.random.default_rng(0).normal(size={shape})\n"
        f"minimum_spanning_tree(X[:5000], engine={engine!r}, n_jobs=2)  # compiles\n"
        "def interrupt():\n"
        "    global sent\n"
        "    time.sleep(1.5)\n"
        "    sent = time.monotonic()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "try:\n"
        f"    minimum_spanning_tree(X, engine={engine!r}, n_jobs=2)\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic() - sent < 1.0)\n"
    )
    result = run_python(script)
    assert result.stdout.strip() == "True", result.stderr


def test_memory_is_reported_readably():
    assert _memory.readable_size(100) == "100 bytes"
    assert _memory.readable_size(3 << 30) == "3.0 GiB"
    available = _memory.available_memory()
    assert available is None or available > 1 << 20
    _memory.require_memory(1, "Little", "")
    with pytest.raises(MemoryError, match=r"Much needs 1024\.0 TiB"):
        _memory.require_memory(1 << 50, "Much", "Use less.")


def test_threads_keep_order_and_stop_at_the_first_error():
    assert _parallel.map_in_threads(lambda x: x * x, range(20), 4) == [x * x for x in range(20)]
    done = []

    def work(x):
        if x == 0:
            raise ValueError("first")
        time.sleep(0.01)
        done.append(x)

    with pytest.raises(ValueError, match="first"):
        _parallel.map_in_threads(work, range(200), 2)
    assert len(done) < 190


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize(("n_items", "size"), [(0, 4), (3, 4), (4, 4), (5, 4), (12500, 4096)])
def test_every_item_is_in_one_block_and_workers_have_equally_many(n_items, size, n_jobs):
    blocks = []
    with _parallel.Workers(n_jobs) as workers:
        workers.in_blocks(n_items, size, lambda _, start, stop: blocks.append((start, stop)))
    blocks.sort()
    assert [i for start, stop in blocks for i in range(start, stop)] == list(range(n_items))
    lengths = [stop - start for start, stop in blocks]
    assert max(lengths, default=0) <= size
    assert n_items <= size or len(blocks) % n_jobs == 0


def test_threads_stop_where_ctrl_c_comes_before_all_have_begun(monkeypatch):
    done = []
    with _parallel.Workers(3) as workers:
        submit = workers._pool.submit

        def submit_one_and_stop(work, worker):
            if worker == 2:
                raise KeyboardInterrupt
            return submit(work, worker)

        monkeypatch.setattr(workers._pool, "submit", submit_one_and_stop)

        def work(_, start, __):
            time.sleep(0.005)
            done.append(start)

        with pytest.raises(KeyboardInterrupt):
            workers.in_blocks(1000, 1, work)
    assert len(done) < 900


def test_progress_bar_waits_then_shows(monkeypatch):
    class Stream:
        text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    quick = Stream()
    bar = _progress.ProgressBar("work", stream=quick)
    bar(1, 2)
    bar(2, 2)
    assert quick.text == ""
    slow = Stream()
    bar = _progress.ProgressBar("work", patience=0.0, stream=slow)
    bar.shown -= 1.0
    bar(1, 2)
    bar(2, 2)
    assert "50%" in slow.text
    assert slow.text.endswith("\n")


@pytest.mark.skipif(sys.platform != "linux", reason="no file /proc/self/status")
@pytest.mark.parametrize("n_points", [5_000_000])
def test_a_line_of_five_million_points(n_points):
    """Built from its known spanning tree and clustered in under 2 GB, in a process of its own."""
    script = (
        "import numpy as np, pathlib\n"
        "from isthmus import SpanningTree, UltrametricTree\n"
        "from isthmus.cut.api import CutClusterer\n"
        "from isthmus.cut.settings import CutSettings\n"
        "from isthmus.kmeans import KMeansClusterer, KMeansSettings, TreeSpace\n"
        f"n = {n_points}\n"
        "weights = 1.0 + np.arange(n - 1) / n\n"
        "edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])\n"
        "tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))\n"
        "assert tree.distance(0, n - 1) == weights[-1]\n"
        "kmeans = KMeansClusterer(TreeSpace(tree)).run(KMeansSettings(3, max_iter=2).checked(n))\n"
        "for labels in (CutClusterer(tree).labels(CutSettings(3)), kmeans.labels):\n"
        "    assert np.count_nonzero(np.diff(labels)) == 2\n"
        # What getrusage tells would include the process that started this one.
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    result = run_python(script)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) * 1024 < 2e9


def test_the_kernels_run_as_plain_python_too():
    """Compiled and interpreted, a kernel is the same function."""
    from isthmus.kmeans.aggregates import TreeArrays
    from isthmus.kmeans.rows_aggregates import SMALL, Bounds, aggregate_rows

    n_points = 40  # more than kernels look ahead
    merged = np.arange(n_points - 2) + n_points
    children = np.column_stack([np.arange(n_points - 1), np.append(n_points - 1, merged)])
    heights = np.arange(1.0, n_points)
    rows = np.maximum(np.arange(n_points - 1) - SMALL, 0)
    compiled, interpreted = np.zeros((2, 2, n_points, 4))  # aggregates and bounds
    compiled[0, 0, 0] = interpreted[0, 0, 0] = 1.0
    for run, (aggregates, bounds) in (
        (aggregate_rows, compiled),
        (aggregate_rows.function, interpreted),
    ):
        run(TreeArrays(children, heights, aggregates), Bounds(rows, bounds))
    assert interpreted[1].any()
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-15)  # roots may be rounded apart
