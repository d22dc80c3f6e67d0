import re
from base64 import b64decode
from html.parser import HTMLParser

import pytest

from isthmus.paper.report import HTML, MARKDOWN, write_report
from isthmus.paper.report_text import duration
from isthmus.paper.runner import run_experiments
from isthmus.paper.store import Store
from paper.examples import Calls, made_up

VOID = {"meta", "img", "br"}


class Outline(HTMLParser):
    """Checks that tags are closed in order, and collects text and pictures."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.sources, self.ids, self.links = [], "", [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        self.sources += [attributes["src"]] if "src" in attributes else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def report(folder):
    experiments = [made_up(Calls()), made_up(Calls(), "second", n_tasks=2)]
    records = run_experiments(experiments, Store(folder / "results"))
    return write_report(experiments, records, folder)


@pytest.fixture(scope="module")
def outline(report, folder):
    parser = Outline()
    parser.feed((folder / HTML).read_text(encoding="utf-8"))
    assert not parser.open
    return parser


def test_the_page_needs_nothing_else(outline):
    assert len(outline.sources) == 2
    for source in outline.sources:
        kind, data = source.split(",")
        assert kind == "data:image/png;base64"
        assert b64decode(data).startswith(b"\x89PNG")
    assert not re.search("https?://", outline.text)


def test_links_lead_to_sections(outline):
    assert outline.links == ["#made_up", "#second"]
    assert outline.ids == ["made_up", "second"]


def test_every_claim_is_stated_twice_and_explained_once(outline):
    assert outline.text.count("Squares add up to 5.") == 4  # two experiments
    assert outline.text.count("By <arithmetic>.") == 2
    assert "Claims: 1 reproduced, 2 partly, 1 not reproduced." in outline.text


def test_text_is_escaped(outline, folder):
    assert "The made_up <experiment>" in outline.text
    assert "<experiment>" not in (folder / HTML).read_text(encoding="utf-8")


def test_markdown_holds_no_html(report, folder):
    text = (folder / MARKDOWN).read_text(encoding="utf-8")
    assert "The made_up &lt;experiment>" in text
    assert "By &lt;arithmetic>." in text
    assert "<" not in text


def test_markdown_says_the_same(report, folder):
    text = (folder / MARKDOWN).read_text(encoding="utf-8")
    assert "| made_up | Squares add up to 5. | 5 | 5 | **reproduced** |" in text
    assert "| second | Squares add up to 5. | 5 | 1 | **not reproduced** |" in text
    assert "Zero \\| is a square." in text
    assert "| task1 | 1 |" in text
    for name in re.findall(r"\]\((figures/\S+)\)", text):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_a_quick_report_says_so(tmp_path):
    experiment = made_up(Calls())
    records = run_experiments([experiment], Store(tmp_path), quick=True)
    page = write_report([experiment], records, tmp_path, quick=True)
    assert page.verdicts == "2 not judged: quick run"
    for name in (HTML, MARKDOWN):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "judges no claim" in text
        assert "not judged: quick run" in text
        assert "reproduced<" not in text
        assert "**not reproduced**" not in text
        assert "isthmus reproduce --quick" in text


def test_on_a_phone_values_are_labelled(report, folder):
    text = (folder / HTML).read_text(encoding="utf-8")
    assert '<meta name="viewport"' in text
    assert text.count('<td data-label="paper">') == text.count('<td data-label="ours">') == 8


def test_machines_that_differ_are_both_named(tmp_path):
    experiment = made_up(Calls(), n_tasks=2)
    records = run_experiments([experiment], Store(tmp_path))
    records["made_up"]["task1"].machine.update(processor="abacus")
    records["made_up"]["task0"] = records["made_up"]["task0"].__class__(
        {"square": 0.0}, 1.0, {"numpy": "1"}, {"processor": "slide rule"}
    )
    write_report([experiment], records, tmp_path)
    text = (tmp_path / HTML).read_text(encoding="utf-8")
    assert "processor slide rule and abacus" in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.25, "0.2 s"), (59.4, "59 s"), (61, "1 min 1 s"), (119.7, "2 min 0 s")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
