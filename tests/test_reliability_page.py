"""docs/reliability.md: every promise names tests, and there are such tests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))
PARTS = {"trees", "estimators", "files", "processes"}


@pytest.mark.parametrize(("path", "test"), NAMED)
def test_tests_that_are_named_exist(path, test):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert re.search(rf"^ *def {test or 'test_'}", text, re.MULTILINE)


def test_promises_name_a_test_or_a_part_of_the_campaign():
    promises = [block for block in re.split(r"\n(?=- \*\*)|\n\n", PAGE) if block.startswith("- **")]
    assert len(promises) > 15
    unheld = [
        promise
        for promise in promises
        if not re.search(r"`tests/", promise) and not re.search(r"\[(\w+)(, \w+)*\]", promise)
    ]
    # which starts are random is documented with the estimator
    assert [promise[:26] for promise in unheld] == ["- **Nothing is random** bu"]


def test_parts_that_are_named_exist():
    found = {name for names in re.findall(r" \[([a-z, ]+)\]\n", PAGE) for name in names.split(", ")}
    assert found == PARTS
    for part in PARTS:
        assert (ROOT / "tests" / "campaign" / f"{part}.py").exists()
