"""The page that shows the plots, docs/plots.md."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

from isthmus import plotting

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plots.md").read_text(encoding="utf-8")


def test_every_plot_is_shown_and_nothing_else():
    plots = {name for name in plotting.__all__ if name.startswith("plot_")}
    assert set(re.findall(r"plot_\w+", PAGE)) == plots


def test_every_example_runs():
    names = {}
    imports, *examples = re.findall(r"```python\n(.+?)```", PAGE, flags=re.DOTALL)
    exec(imports, names)
    for example in examples:
        assert len(example.splitlines()) == 3
        before = len(plt.get_fignums())
        exec(example, names)
        assert len(plt.get_fignums()) == before + 1
