"""Experiments and their records → a page to read: report.html, report.md and its pictures."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.files.atomic_write import write_atomically
from isthmus.paper.experiment import Claim, Experiment, Picture, Verdict
from isthmus.paper.html_page import html_page
from isthmus.paper.markdown_page import markdown_page
from isthmus.paper.page import DrawnPicture, Page, Section
from isthmus.paper.store import Record, results_of

_DOTS_PER_INCH = 150


@dataclass(frozen=True)
class Report:
    """Where a report was written, and what it says.

    Attributes
    ----------
    html, markdown : Path
    sections : tuple of Section
    """

    html: Path
    markdown: Path
    sections: tuple[Section, ...]

    @property
    def claims(self) -> list[tuple[str, Claim]]:
        """All claims, each with the name of its experiment."""
        return [(section.name, claim) for section in self.sections for claim in section.claims]


def write_report(
    experiments: Sequence[Experiment],
    records: Mapping[str, Mapping[str, Record]],
    folder: Path,
    *,
    quick: bool = False,
) -> Report:
    """Write the report of experiments whose records are complete; return what it says."""
    sections = tuple(section_of(experiment, records[experiment.name]) for experiment in experiments)
    every = [record for kept in records.values() for record in kept.values()]
    page = Page(
        sections=sections,
        quick=quick,
        verdicts=count_verdicts(sections),
        versions=_all_values(record.versions for record in every),
        machine=_all_values(record.machine for record in every),
        seconds=sum(record.seconds for record in every),
    )
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for picture in section.pictures:
            write_atomically(figures / f"{picture.name}.png", picture.png)
    report = Report(folder / "report.html", folder / "report.md", sections)
    write_atomically(report.html, html_page(page).encode())
    write_atomically(report.markdown, markdown_page(page).encode())
    return report


def section_of(experiment: Experiment, records: Mapping[str, Record]) -> Section:
    """Return what the report says of one experiment."""
    results = results_of(records)
    return Section(
        name=experiment.name,
        title=experiment.title,
        about=tuple(part.strip() for part in experiment.about.split("\n\n") if part.strip()),
        claims=tuple(experiment.claims(results)),
        tables=tuple(experiment.tables(results)),
        pictures=tuple(map(_drawn, experiment.pictures(results))),
        seconds=sum(record.seconds for record in records.values()),
    )


def count_verdicts(sections: Iterable[Section]) -> dict[Verdict, int]:
    """Return how many claims came to each verdict."""
    counts = Counter(claim.verdict for section in sections for claim in section.claims)
    return {verdict: counts[verdict] for verdict in Verdict}


def _drawn(picture: Picture) -> DrawnPicture:
    stream = io.BytesIO()
    picture.figure.savefig(stream, format="png", dpi=_DOTS_PER_INCH)
    return DrawnPicture(picture.name, picture.caption, stream.getvalue())


def _all_values(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the values of each field, which results from several runs may not agree on."""
    values: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            known = values.setdefault(name, [])
            if str(value) not in known:
                known.append(str(value))
    return {name: " and ".join(known) for name, known in values.items()}
