"""A report's page → one HTML file that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape

from isthmus.paper.experiment import Claim, Table, Verdict
from isthmus.paper.page import (
    CITATION,
    INTRODUCTION,
    QUICK,
    TITLE,
    DrawnPicture,
    Page,
    Section,
    counted,
    duration,
    listed,
)

_CLASSES = {Verdict.REPRODUCED: "yes", Verdict.PARTLY: "partly", Verdict.NOT: "no"}
_SIGNS = {Verdict.REPRODUCED: "✓", Verdict.PARTLY: "≈", Verdict.NOT: "✗"}

_STYLE = """
:root { --ink: #1b1f24; --faint: #5b6570; --line: #d9dee3; --back: #ffffff; --soft: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--back);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 24px 24px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 16px 0 4px; }
h2 { font-size: 23px; margin: 56px 0 8px; padding-top: 16px; border-top: 2px solid var(--ink); }
p { margin: 8px 0; max-width: 48em; }
.faint, figcaption, caption, footer { color: var(--faint); font-size: 14px; }
.warning { border-left: 4px solid #b35c00; background: #fff5e8; padding: 8px 16px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 16px 0; font-size: 14px; }
caption { text-align: left; padding-bottom: 6px; caption-side: top; }
th, td { text-align: left; vertical-align: top; padding: 6px 10px;
  border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; }
tbody th { font-weight: 600; }
.numbers td { font-variant-numeric: tabular-nums; }
.numbers tbody th { min-width: 9em; }
.claims th:first-child { width: 38%; }
.claims th:nth-child(2) { width: 20%; }
.claims .reason td { border-bottom: 1px solid var(--line); padding-top: 0; color: var(--faint); }
.claims .stated th, .claims .stated td { border-bottom: none; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 10px; white-space: nowrap;
  font-size: 13px; font-weight: 600; }
.yes { background: #dcf2e6; color: #0b5c37; }
.partly { background: #fdf0d5; color: #7a4b00; }
.no { background: #fbe1e1; color: #8e1b1b; }
figure { margin: 24px 0; }
figure img { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 4px; }
code { background: var(--soft); padding: 1px 5px; border-radius: 3px; font-size: 14px; }
a { color: #0b5cad; }
footer { margin-top: 64px; border-top: 1px solid var(--line); padding-top: 16px; }
@media print { h2 { break-before: page; } figure, tr { break-inside: avoid; } }
"""


def html_page(page: Page) -> str:
    """Return the page as HTML."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(TITLE)}</title><style>{_STYLE}</style></head><body><main>"
    yield f'<h1>{escape(TITLE)}</h1><p class="faint">{escape(CITATION)}</p>'
    yield from _paragraphs([INTRODUCTION])
    if page.quick:
        yield f'<p class="warning">{escape(QUICK)}</p>'
    yield f"<p><strong>Claims: {escape(counted(page.verdicts))}.</strong></p>"
    yield from _overview(page.sections)
    for section in page.sections:
        yield from _section(section)
    yield "<footer>"
    yield f"<p>Made by <code>{page.command}</code>, {duration(page.seconds)} of computing.</p>"
    yield f"<p>{escape(listed(page.versions))}.<br>{escape(listed(page.machine))}.</p>"
    yield "</footer></main></body></html>"


def _overview(sections: Iterable[Section]) -> Iterator[str]:
    yield '<div class="scroll"><table><thead><tr><th>part</th><th>claim</th><th>paper</th>'
    yield "<th>ours</th><th>verdict</th></tr></thead><tbody>"
    for section in sections:
        for i, claim in enumerate(section.claims):
            link = f'<a href="#{section.name}">{escape(section.name)}</a>' if i == 0 else ""
            yield f"<tr><th>{link}</th>{_stated(claim)}</tr>"
    yield "</tbody></table></div>"


def _stated(claim: Claim) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in (claim.text, claim.paper, claim.ours))
    return f"{cells}<td>{_badge(claim.verdict)}</td>"


def _badge(verdict: Verdict) -> str:
    return (
        f'<span class="badge {_CLASSES[verdict]}">{_SIGNS[verdict]} {escape(verdict.value)}</span>'
    )


def _section(section: Section) -> Iterator[str]:
    yield f'<section id="{section.name}"><h2>{escape(section.title)}</h2>'
    yield from _paragraphs(section.about)
    yield '<div class="scroll"><table class="claims"><thead><tr><th>claim</th><th>paper</th>'
    yield "<th>ours</th><th>verdict</th></tr></thead><tbody>"
    for claim in section.claims:
        yield f'<tr class="stated">{_stated(claim)}</tr>'
        yield f'<tr class="reason"><td colspan="4">{escape(claim.reason)}</td></tr>'
    yield "</tbody></table></div>"
    for picture in section.pictures:
        yield from _figure(picture)
    for table in section.tables:
        yield from _table(table)
    yield (
        f'<p class="faint">This part alone: <code>isthmus reproduce {section.name}</code>, '
        f"{duration(section.seconds)} of computing.</p></section>"
    )


def _figure(picture: DrawnPicture) -> Iterator[str]:
    data = b64encode(picture.png).decode("ascii")
    yield f'<figure><img alt="{escape(picture.caption)}" src="data:image/png;base64,{data}">'
    yield f"<figcaption>{escape(picture.caption)}</figcaption></figure>"


def _table(table: Table) -> Iterator[str]:
    yield '<div class="scroll"><table class="numbers">'
    yield f"<caption>{escape(table.caption)}</caption><thead><tr>"
    yield "".join(f"<th>{escape(heading)}</th>" for heading in table.headings)
    yield "</tr></thead><tbody>"
    for first, *others in table.rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in others)
        yield f"<tr><th>{escape(first)}</th>{cells}</tr>"
    yield "</tbody></table></div>"


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield f"<p>{escape(text)}</p>"
