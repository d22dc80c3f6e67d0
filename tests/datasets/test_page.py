"""The page that shows the data sets, docs/datasets.md."""

import re
from pathlib import Path

from isthmus import datasets

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_every_data_set_is_on_the_page_and_nothing_else():
    named = set(re.findall(r"\b(?:make|load|digit)_\w+", PAGE.read_text(encoding="utf-8")))
    assert named == set(datasets.__all__) - {"FIGURE5_PANELS"}


def test_all_is_true():
    assert sorted(datasets.__all__) == datasets.__all__
    assert all(hasattr(datasets, name) for name in datasets.__all__)


def test_every_set_of_figure_5_is_on_the_page():
    panels = re.findall(
        r'^\| `make_figure5\("(\w)"\)`', PAGE.read_text("utf-8"), flags=re.MULTILINE
    )
    assert tuple(panels) == datasets.FIGURE5_PANELS
