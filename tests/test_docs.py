"""The pages of the documentation: their examples run, and their links lead somewhere."""

import doctest
import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]
# The test of the approximate engine has this example: compiling pynndescent takes a minute.
SLOW = 'engine="approximate"'
# Blocks of code without prompts, which run from the top of a page to its end.
BLOCKS = {
    page: [
        block
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        if ">>> " not in block and SLOW not in block
    ]
    for page in PAGES
}
PICTURES = sorted(
    path for path in (ROOT / "docs" / "images").iterdir() if path.suffix in (".png", ".svg")
)


def test_there_are_pages_with_examples():
    assert {page.name for page in WITH_EXAMPLES} >= {
        "choosing_k.md",
        "datasets.md",
        "metrics.md",
        "new_points.md",
        "theory.md",
        "theory_embedding.md",
    }


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.name)
def test_examples(page):
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 0


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCKS[page]], ids=lambda page: page.name
)
def test_code(page):
    namespace = {}
    for block in BLOCKS[page]:
        exec(compile(block, page.name, "exec"), namespace)
    plt.close("all")


# What is made when the site is built; `make docs` checks all of its links.
MADE = ("_generated/", "gallery/", "api/")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in link and not link.startswith(MADE):
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_are_shown_and_light(picture):
    assert picture.stat().st_size < 150_000
    assert any(f"images/{picture.name}" in page.read_text(encoding="utf-8") for page in PAGES)
