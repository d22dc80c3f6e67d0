"""A report's page → Markdown, with pictures in files beside it."""

from __future__ import annotations

from collections.abc import Iterator

from isthmus._utils.tables import markdown_cell, markdown_table, markdown_text
from isthmus.paper.report_text import CITATION, INTRODUCTION, QUICK, TITLE, Page, Section, duration


def markdown_page(page: Page) -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield from (f"# {TITLE}", "", markdown_text(CITATION), "", markdown_text(INTRODUCTION), "")
    if page.quick:
        yield from (f"**{markdown_text(QUICK)}**", "")
    yield from (f"Claims: {page.verdicts}.", "")
    yield from markdown_table(
        ("part", "claim", "paper", "ours", "verdict"),
        [
            (name, claim.text, claim.paper, claim.ours, f"**{claim.verdict.value}**")
            for name, claim in page.claims
        ],
    )
    for section in page.sections:
        yield from _section(section)
    yield from ("", "## How this was made", "")
    yield f"`{page.command}`, {duration(page.seconds)} of computing."
    yield markdown_text(page.origin)


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {markdown_text(section.experiment.title)}", "")
    for paragraph in section.paragraphs:
        yield from (markdown_text(paragraph), "")
    for claim in section.claims:
        values = f"{claim.text} Paper: {claim.paper}. Ours: {claim.ours}."
        yield f"- **{claim.verdict.value}**: {markdown_text(values)}"
        yield f"  {markdown_text(claim.reason)}"
    for picture in section.pictures:
        yield from ("", f"![{markdown_cell(picture.caption)}](figures/{picture.name}.png)")
        yield from ("", f"*{markdown_text(picture.caption)}*")
    for table in section.tables:
        yield from ("", markdown_text(table.caption), "")
        yield from markdown_table(table.headings, table.rows)
    command = f"isthmus reproduce {section.experiment.name}"
    yield from ("", f"`{command}`, {duration(section.seconds)} of computing.")
