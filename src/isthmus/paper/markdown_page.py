"""A report's page → Markdown, with pictures in files beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from isthmus.paper.experiment import Table
from isthmus.paper.page import (
    CITATION,
    INTRODUCTION,
    QUICK,
    TITLE,
    Page,
    Section,
    counted,
    duration,
    listed,
)


def markdown_page(page: Page) -> str:
    """Return the page as Markdown."""
    return "\n".join(_lines(page)) + "\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table, line by line."""
    rule = ["---"] * len(headings)
    return [f"| {' | '.join(map(_cell, row))} |" for row in (headings, rule, *rows)]


def _lines(page: Page) -> Iterator[str]:
    yield from (f"# {TITLE}", "", CITATION, "")
    yield from (INTRODUCTION, "")
    if page.quick:
        yield from (f"**{QUICK}**", "")
    yield from (f"Claims: {counted(page.verdicts)}.", "")
    yield from markdown_table(
        ("part", "claim", "paper", "ours", "verdict"),
        [
            (section.name, claim.text, claim.paper, claim.ours, f"**{claim.verdict.value}**")
            for section in page.sections
            for claim in section.claims
        ],
    )
    for section in page.sections:
        yield from _section(section)
    yield from ("", "## How this was made", "")
    yield f"`{page.command}`, {duration(page.seconds)} of computing."
    yield f"{listed(page.versions)}. {listed(page.machine)}."


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {section.title}", "")
    for paragraph in section.about:
        yield from (paragraph, "")
    for claim in section.claims:
        yield f"- **{claim.verdict.value}**: {claim.text} Paper: {claim.paper}. Ours: {claim.ours}."
        yield f"  {claim.reason}"
    for picture in section.pictures:
        yield from ("", f"![{_cell(picture.caption)}](figures/{picture.name}.png)")
        yield from ("", f"*{picture.caption}*")
    for table in section.tables:
        yield from _table(table)
    yield from (
        "",
        f"`isthmus reproduce {section.name}`, {duration(section.seconds)} of computing.",
    )


def _table(table: Table) -> Iterator[str]:
    yield from ("", f"{table.caption}", "")
    yield from markdown_table(table.headings, table.rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
