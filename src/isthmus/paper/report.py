"""Experiments and their records → a page to read: report.html, report.md and its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from isthmus.files.atomic_write import write_atomically
from isthmus.paper.experiment import Experiment, Verdict
from isthmus.paper.html_page import html_page
from isthmus.paper.markdown_page import markdown_page
from isthmus.paper.report_text import Page, Section
from isthmus.paper.store import Record, results_of

HTML, MARKDOWN = "report.html", "report.md"


def write_report(
    experiments: Sequence[Experiment],
    records: Mapping[str, Mapping[str, Record]],
    folder: Path,
    *,
    quick: bool = False,
) -> Page:
    """Write the report of experiments whose records are complete; return what it says."""
    every = [record for kept in records.values() for record in kept.values()]
    page = Page(
        sections=tuple(_section(each, records[each.name], quick) for each in experiments),
        quick=quick,
        versions=_all_values(record.versions for record in every),
        machine=_all_values(record.machine for record in every),
    )
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for section in page.sections:
        for picture in section.pictures:
            write_atomically(figures / f"{picture.name}.png", picture.png)
    write_atomically(folder / HTML, html_page(page).encode())
    write_atomically(folder / MARKDOWN, markdown_page(page).encode())
    return page


def _section(experiment: Experiment, records: Mapping[str, Record], quick: bool) -> Section:
    results = results_of(records)
    claims = tuple(experiment.claims(results))
    if quick:  # too few seeds and too coarse grids to tell
        claims = tuple(replace(claim, verdict=Verdict.QUICK) for claim in claims)
    return Section(
        experiment,
        claims=claims,
        tables=tuple(experiment.tables(results)),
        pictures=tuple(experiment.pictures(results)),
        seconds=sum(record.seconds for record in records.values()),
    )


def _all_values(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the values of each field; results from several runs may have different ones."""
    values: dict[str, dict[str, None]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, {})[str(value)] = None
    return {name: " and ".join(known) for name, known in values.items()}
