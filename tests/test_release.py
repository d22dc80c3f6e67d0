"""Ready for a release: one version, a readme that works on a package index, types, recipes."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import isthmus

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ADDRESS = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def load_tool(name):
    """Return a module of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.M).group(1) == isthmus.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.M).group(1) in (isthmus.__version__, "Unreleased")
    recipe = (ROOT / "tools" / "conda_recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{isthmus.__version__}"' in recipe
    answers = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
    assert f"version = {{{isthmus.__version__}}}" in answers


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    recipe = (ROOT / "tools" / "conda_recipe" / "recipe.yaml").read_text(encoding="utf-8")
    needed = re.findall(r"^    - ([\w-]+) (>=[\d.]+)$", recipe.partition("  run:")[2], re.M)
    assert {f"{name}{bound}" for name, bound in needed} == set(PROJECT["project"]["dependencies"])
    assert f'python_min: "{PROJECT["project"]["requires-python"].removeprefix(">=")}"' in recipe


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 90


def test_links_of_the_readme_are_absolute_on_a_package_index():
    pytest.importorskip("hatchling")
    absolute_links = load_tool("project_page").absolute_links
    text = absolute_links(README, ADDRESS, "1.2.3")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(re.findall(r"\]\(([^)]+)\)", README)) > 20
    assert all(link.startswith("https://") for link in links)
    assert f"]({ADDRESS}/raw/v1.2.3/docs/images/demo.png)" in text
    assert f"[Start]({ADDRESS}/blob/v1.2.3/docs/start.md)" in text
    kept = "[a](https://b.org/c.md) [d](#e) `f[0](g)`"
    assert absolute_links(kept, ADDRESS, "1").startswith("[a](https://b.org/c.md) [d](#e)")


def test_types_reach_users():
    assert (Path(isthmus.__file__).parent / "py.typed").exists()
    assert "tests/typed_script.py" in PROJECT["tool"]["mypy"]["files"]
    script = ROOT / "tests" / "typed_script.py"
    command = [sys.executable, "-W", "error", str(script)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<h1>t</h1><a href="#there" id="there">a</a><a href="https://x.org">b</a>', None),
        ('<h1>t</h1><a href="two.html#part">a</a>', None),
        ('<h1>t</h1><a href="two.html#gone">a</a>', "broken link: two.html#gone"),
        ('<h1>t</h1><a href="gone.html">a</a>', "broken link: gone.html"),
        ('<h1>t</h1><a href="#gone">a</a>', "broken link: #gone"),
        ('<h1>t</h1><img src="two.html">', "picture without a text: two.html"),
        ("<h1>t</h1><h1>u</h1>", "2 h1"),
        ("<p>t</p>", "0 h1"),
        ('<h1 id="a">t</h1><p id="a">u</p>', "an id that stands twice: a"),
        (
            '<h1>t</h1><script src="https://x.org/y.js">',
            "loaded from elsewhere: https://x.org/y.js",
        ),
        ('<h1>t</h1><a href="two.html">docs/two.md</a>', "a link named after a file: docs/two.md"),
    ],
)
def test_the_check_of_the_site(tmp_path, page, problem):
    problems_of = load_tool("check_site").problems_of
    described = '<meta name="description" content="a page">'
    (tmp_path / "one.html").write_text(described + page)
    (tmp_path / "two.html").write_text(f'{described}<h1 id="part">t</h1>')
    assert problems_of(tmp_path) == ([] if problem is None else [f"one.html: {problem}"])


def test_a_page_without_a_description_is_a_problem(tmp_path):
    (tmp_path / "one.html").write_text("<h1>t</h1>")
    assert load_tool("check_site").problems_of(tmp_path) == ["one.html: no description"]


def test_a_site_without_pages_is_a_problem(tmp_path):
    assert len(load_tool("check_site").problems_of(tmp_path)) == 1
