import doctest
from pathlib import Path


def test_the_examples_on_the_page_on_theory():
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 20
