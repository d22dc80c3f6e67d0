"""The API reference: every public name is in it, with an example that runs and what to see also."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import matplotlib as mpl
import pytest

import isthmus

mpl.use("Agg")

from matplotlib import pyplot as plt

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
PACKAGES = [
    "isthmus",
    *(f"isthmus.{name}" for name in isthmus.__all__ if inspect.ismodule(getattr(isthmus, name))),
    "isthmus.dask",
]


def public_names():
    """Yield the names of the front page and of the public packages, with what they stand for."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        own = [name for name, value in vars(module).items() if is_defined_in(value, package)]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                yield f"{package}.{name}", value


def is_defined_in(value, package):
    return callable(value) and value.__module__ == package and not value.__name__.startswith("_")


def listed_names():
    """Yield the names that the page lists, with their packages."""
    package = ""
    for line in PAGE.splitlines():
        if line.startswith(".. currentmodule:: "):
            package = line.split()[-1]
        elif re.fullmatch(r"   ~?[A-Za-z_][\w.]*", line):
            yield f"{package}.{line.strip().lstrip('~')}"


PUBLIC = dict(public_names())
DOCUMENTED = {name: value for name, value in PUBLIC.items() if callable(value)}


def test_every_public_name_is_listed():
    listed = list(listed_names())
    assert len(listed) == len(set(listed))
    assert set(DOCUMENTED) <= set(listed)
    for name in set(PUBLIC) - set(DOCUMENTED) - {"isthmus.__version__"}:
        assert f"`{name.rpartition('.')[2]}`" in PAGE
    for name in listed:  # nothing private, nothing that is gone
        assert "._" not in name
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize("name", sorted(listed_names()))
def test_examples_run(name):
    module, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(module), attribute)
    text = inspect.getdoc(value)
    assert "\nSee Also\n--------\n" in text
    assert "\nExamples\n--------\n" in text
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0
    plt.close("all")
