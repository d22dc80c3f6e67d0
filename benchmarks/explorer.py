"""The explorer page: how long it takes to make, how large it is, and how fast its slider is."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.data import make
from benchmarks.harness import SkippedError, Table, best_times, require
from isthmus import TransitiveCut

# The tests' browser: headless Chromium without a network.
sys.path.append(str(Path(__file__).parents[1] / "tests"))

# Move the slider to k; return the time of the scripts, and that until the next frame is drawn.
_SLIDE = """
const [k, done] = arguments;
const begin = performance.now();
Explorer.app.setNumber(k);
const scripts = performance.now() - begin;
requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done([scripts, performance.now() - begin]);
  channel.port2.postMessage(null);
});
"""


def run(sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)) -> Table:
    require("bokeh")
    table = Table(
        "explorer",
        "The explorer page",
        "Points in the plane in 20 Gaussian clusters, TransitiveCut(20), one thread. make: "
        "model.explore(path=…) after the fit, best of 2, with outlier scores, evidence and "
        "clusters for 1 to 20. slider: medians over 19 moves of the slider in headless Chromium "
        "without a graphics card; script is what runs in the page, painted is the time until the "
        "frame is drawn.",
    )
    with tempfile.TemporaryDirectory() as folder:
        TransitiveCut(20).fit(make("clustered", 2_000, 2)).explore(path=Path(folder, "first.html"))
        table.rows = [_row(n_points, Path(folder)) for n_points in sizes]
    return table


def _row(n_points: int, folder: Path) -> dict[str, object]:
    points = make("clustered", n_points, 2)
    path = folder / f"{n_points}.html"

    def explore() -> None:
        model = TransitiveCut(20).fit(points)  # anew: a model keeps what it has computed
        made.update(best_times({"make": lambda: model.explore(path=path)}, repeats=1))

    seconds, made = [], {}
    for _ in range(2):
        explore()
        seconds.append(made["make"])
    script, painted = _slider_times(path, folder)
    return {
        "points": n_points,
        "make (s)": min(seconds),
        "size (MB)": path.stat().st_size / 1e6,
        "shown": min(n_points, 100_000),
        "slider, script (ms)": script,
        "slider, painted (ms)": painted,
    }


def _slider_times(path: Path, folder: Path) -> tuple[float | str, float | str]:
    """Return median times in milliseconds; words, where there is no browser."""
    try:
        require("selenium")
        from chromium import find_chromium, start_chromium, wait_for
    except (SkippedError, ImportError) as reason:
        return str(reason), ""
    if None in find_chromium():
        return "needs Chromium", ""
    with tempfile.TemporaryDirectory(dir=folder) as profile:
        browser = start_chromium(Path(profile))
        try:
            browser.get(path.as_uri())
            ready = "return document.documentElement.dataset.ready"
            wait_for(lambda: browser.execute_script(ready), seconds=60)
            times = [browser.execute_async_script(_SLIDE, k) for k in range(1, 20)]
        finally:
            browser.quit()
    return tuple(statistics.median(column) for column in zip(*times, strict=True))  # type: ignore[return-value]
