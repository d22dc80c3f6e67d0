"""A report's page → one HTML file that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape

from isthmus.paper.experiment import Claim, Verdict
from isthmus.paper.report_text import CITATION, INTRODUCTION, QUICK, TITLE, Page, Section, duration

# The class and the sign of the badge of each verdict.
_BADGES = {
    Verdict.REPRODUCED: ("yes", "✓"),
    Verdict.PARTLY: ("partly", "≈"),
    Verdict.NOT: ("no", "✗"),
    Verdict.OTHER_DATA: ("open", "–"),
    Verdict.QUICK: ("open", "–"),
}
_CLAIM_HEADINGS = ("claim", "paper", "ours", "verdict")

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
.open { background: #e8ecf0; color: #3c4650; }
figure { margin: 24px 0; }
figure img { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 4px; }
code { background: var(--soft); padding: 1px 5px; border-radius: 3px; font-size: 14px; }
a { color: #0b5cad; }
footer { margin-top: 64px; border-top: 1px solid var(--line); padding-top: 16px; }
@media (max-width: 640px) {  /* a claim is a card: one value below the other */
  main { padding: 12px 12px 48px; }
  h1 { font-size: 24px; } h2 { font-size: 20px; margin-top: 40px; }
  .stack thead { display: none; }
  .stack table, .stack tbody, .stack tr, .stack td, .stack th { display: block; }
  .stack .stated { border-top: 2px solid var(--line); padding-top: 8px; }
  .stack .stated td, .stack .stated th { border: none; padding: 2px 0; width: auto; }
  .stack .reason td { padding: 2px 0 12px; }
  .stack td[data-label]::before { content: attr(data-label) ": "; font-weight: 600; }
  .badge { white-space: normal; }
}
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
    yield f"<p>{escape(INTRODUCTION)}</p>"
    if page.quick:
        yield f'<p class="warning">{escape(QUICK)}</p>'
    yield f"<p><strong>Claims: {escape(page.verdicts)}.</strong></p>"
    yield from _table(("part", *_CLAIM_HEADINGS), _overview(page), "stack")
    for section in page.sections:
        yield from _section(section)
    yield f"<footer><p>Made by <code>{page.command}</code>, {duration(page.seconds)} of computing."
    yield f"</p><p>{escape(page.origin)}</p></footer></main></body></html>"


def _overview(page: Page) -> Iterator[str]:
    """Yield a row for each claim; the first of an experiment links to its section."""
    last = ""
    for name, claim in page.claims:
        link = f'<a href="#{name}">{escape(name)}</a>' if name != last else ""
        yield f'<tr class="stated"><th>{link}</th>{_stated(claim)}</tr>'
        last = name


def _section(section: Section) -> Iterator[str]:
    name = section.experiment.name
    yield f'<section id="{name}"><h2>{escape(section.experiment.title)}</h2>'
    yield from (f"<p>{escape(text)}</p>" for text in section.paragraphs)
    rows = (
        f'<tr class="stated">{_stated(claim)}</tr>\n'
        f'<tr class="reason"><td colspan="4">{escape(claim.reason)}</td></tr>'
        for claim in section.claims
    )
    yield from _table(_CLAIM_HEADINGS, rows, "claims stack")
    for picture in section.pictures:
        caption, data = escape(picture.caption), b64encode(picture.png).decode("ascii")
        yield f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
        yield f"<figcaption>{caption}</figcaption></figure>"
    for table in section.tables:
        rows = (f"<tr><th>{escape(head)}</th>{_cells(rest)}</tr>" for head, *rest in table.rows)
        yield from _table(table.headings, rows, "numbers", table.caption)
    yield f'<p class="faint">This part alone: <code>isthmus reproduce {name}</code>, '
    yield f"{duration(section.seconds)} of computing.</p></section>"


def _stated(claim: Claim) -> str:
    kind, sign = _BADGES[claim.verdict]
    badge = f'<span class="badge {kind}">{sign} {escape(claim.verdict.value)}</span>'
    values = (
        f'<td data-label="{name}">{escape(text)}</td>'
        for name, text in (("paper", claim.paper), ("ours", claim.ours))
    )
    return f"<td>{escape(claim.text)}</td>{''.join(values)}<td>{badge}</td>"


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _table(
    headings: Iterable[str], rows: Iterable[str], kind: str = "", caption: str = ""
) -> Iterator[str]:
    yield f'<div class="scroll"><table class="{kind}">'
    if caption:
        yield f"<caption>{escape(caption)}</caption>"
    yield f"<thead><tr>{''.join(f'<th>{escape(each)}</th>' for each in headings)}</tr></thead>"
    yield from ("<tbody>", *rows, "</tbody></table></div>")
