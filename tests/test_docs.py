"""The pages of the documentation: their examples run, and their links lead somewhere."""

import doctest
import re
import shlex
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from isthmus.cli.main import build_parser, run

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
WITH_EXAMPLES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]
# The tests of the approximate engine run these: compiling pynndescent takes a minute.
SLOW = re.compile(r"engine=\"approximate\"(?!.*neighbors=)", re.DOTALL)
# Blocks of code without prompts, which run from the top of a page to its end.
BLOCKS = {
    page: [
        block
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        if ">>> " not in block and not SLOW.search(block)
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


SESSIONS = {
    page: re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for page in PAGES
}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if SESSIONS[page]], ids=lambda page: page.name
)
def test_sessions(page, tmp_path, monkeypatch, capsys):
    """Commands print what a page shows; a file that is shown and not there yet is made so."""
    monkeypatch.chdir(tmp_path)
    session = "".join(SESSIONS[page]).replace("\\\n", "")
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        program, *arguments = shlex.split(command)
        if program == "cat":
            file = Path(*arguments)
            if not file.exists():
                file.write_text(shown, encoding="utf-8")
            assert file.read_text(encoding="utf-8") == shown
        else:
            assert program == "isthmus"
            assert run(arguments) == 0
            out, err = capsys.readouterr()
            pattern = re.escape(shown).replace("…", ".*")
            assert re.fullmatch(pattern, err + out), (command, err + out)


def test_help_of_every_command_is_on_its_page():
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"^  ?(\w+) {2,}\w", build_parser().format_help(), re.MULTILINE))
    assert commands >= {"cluster", "predict"}
    for command in commands:
        assert f"### isthmus {command}\n" in page
        assert f"_generated/help_{command}.txt" in page


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
