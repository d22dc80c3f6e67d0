"""The figures of clusters → a table as text, and as HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats

# So many clusters and features are shown.
_ROWS = 20
_FEATURES = 8
# Names of columns are shown up to this length.
_NAME = 20

# Colours with some of what is behind them, so that light and dark notebooks both show.
_STYLE = """
.isthmus-summary{overflow-x:auto;margin:.6em 0;font-family:system-ui,sans-serif;font-size:12px;
color:inherit}
.isthmus-summary table{border-collapse:collapse;border:0;margin:0;font-size:12px;
color:inherit}
.isthmus-summary caption{caption-side:top;text-align:left;padding:0 0 .4em;color:inherit;
white-space:nowrap}
.isthmus-summary th,.isthmus-summary td{padding:.2em .6em;text-align:right;white-space:nowrap;
border:0;border-bottom:1px solid rgba(128,128,128,.3);background:transparent;color:inherit;
font-variant-numeric:tabular-nums}
.isthmus-summary thead th{font-weight:600;border-bottom:2px solid rgba(128,128,128,.6)}
.isthmus-summary .first-mean{border-left:1px solid rgba(128,128,128,.6)}
.isthmus-summary thead .over{text-align:left;border-bottom:0;font-weight:400;opacity:.75}
.isthmus-summary .no{color:#d9622b;font-weight:600}
.isthmus-summary .more td{text-align:left;border-bottom:0;opacity:.75}
""".replace("\n", "")


def as_text(columns: dict[str, Array], means: Floats | None, names: tuple[str, ...]) -> str:
    """Return the table with its columns aligned, the rest counted below it."""
    shown = _shown_names(means, names)
    header = ["cluster", *columns, *(f"mean {name}" for name in shown)]
    body = _cells(columns, means)
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *body)
    ]
    return "\n".join([_title(columns), *lines, *_rest(columns, names if shown else ())])


def as_html(columns: dict[str, Array], means: Floats | None, names: tuple[str, ...]) -> str:
    """Return the table as HTML, whatever the names of features hold."""
    shown = _shown_names(means, names)
    n_plain = 1 + len(columns)
    heads = [f"<th>{head}</th>" for head in ("cluster", *columns)]
    heads += [
        f'<th{_edge(i)} title="{escape(names[i])}">{escape(name)}</th>'
        for i, name in enumerate(shown)
    ]
    head = f"<tr>{''.join(heads)}</tr>"
    if shown:
        over = f'<th class="first-mean over" colspan="{len(shown)}">mean of</th>'
        head = f'<tr><th class="over" colspan="{n_plain}"></th>{over}</tr>{head}'
    verdict, share = 1 + list(columns).index("consistent"), 1 + list(columns).index("share")
    lines = []
    for row, part in zip(_cells(columns, means), columns["share"], strict=False):
        cells = [f"<td{_edge(i - n_plain)}>{escape(cell)}</td>" for i, cell in enumerate(row)]
        cells[0] = f"<th>{row[0]}</th>"
        cells[verdict] = f'<td class="{row[verdict]}">{row[verdict]}</td>'
        cells[share] = _bar(row[share], float(part))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    rest = _rest(columns, names if shown else ())
    if rest:
        text = "; ".join(rest)
        lines.append(f'<tr class="more"><td colspan="{n_plain + len(shown)}">{text}</td></tr>')
    return (
        f'<div class="isthmus-summary"><style>{_STYLE}</style><table>'
        f"<caption>{_title(columns)}</caption><thead>{head}</thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _title(columns: dict[str, Array]) -> str:
    n_clusters, n_rows = len(columns["size"]), int(columns["size"].sum())
    clusters = "1 cluster" if n_clusters == 1 else f"{n_clusters:,} clusters"
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    n_failing = int(np.count_nonzero(~columns["consistent"]))
    verdict = f"{n_failing:,} of them not consistent" if n_failing else "consistent"
    return f"{clusters} of {rows}, {verdict}"


def _cells(columns: dict[str, Array], means: Floats | None) -> list[list[str]]:
    """Return the first rows of the table as text."""
    shown = min(len(columns["size"]), _ROWS)
    return [
        [
            str(c),
            *(_cell(name, column[c]) for name, column in columns.items()),
            *([] if means is None else (_number(mean) for mean in means[c, :_FEATURES])),
        ]
        for c in range(shown)
    ]


def _cell(name: str, value: Any) -> str:
    if name == "consistent":
        return "yes" if value else "no"
    if name == "nearest":
        return str(value) if value >= 0 else "–"
    if name == "share":
        return f"{value:.1%}"
    if name == "outlier score":
        return f"{value:.2f}"
    if name == "medoid":
        return str(value)
    return f"{value:,}" if name == "size" else _number(value)


def _number(value: float) -> str:
    return "∞" if np.isposinf(value) else "-∞" if np.isneginf(value) else f"{value:.4g}"


def _shown_names(means: Floats | None, names: tuple[str, ...]) -> list[str]:
    """Return the names of the features that are shown, on one line each and not too long."""
    if means is None:
        return []
    lines = (" ".join(name.split()) for name in names[:_FEATURES])
    return [line if len(line) <= _NAME else f"{line[: _NAME - 1]}…" for line in lines]


def _rest(columns: dict[str, Array], names: tuple[str, ...]) -> list[str]:
    """Return what is not shown, in words."""
    n_clusters, n_features = len(columns["size"]) - _ROWS, len(names) - _FEATURES
    words = []
    if n_clusters > 0:
        words.append(f"… {n_clusters:,} more {'cluster' if n_clusters == 1 else 'clusters'}")
    if n_features > 0:
        words.append(f"… {n_features:,} more {'feature' if n_features == 1 else 'features'}")
    return words


def _edge(i: int) -> str:
    return ' class="first-mean"' if i == 0 else ""


def _bar(text: str, share: float) -> str:
    """Return a cell whose background is filled as far as the share."""
    filled = f"rgba(70,130,220,.28) {100 * share:.1f}%"
    return f'<td style="background:linear-gradient(90deg,{filled},transparent 0)">{text}</td>'
