"""The figures of clusters → a table as text, and as HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from isthmus._utils.tables import count, text_table
from isthmus._utils.typing import Array, Floats

# The most clusters and features that are shown, and the most characters of a feature's name.
_ROWS = 20
_FEATURES = 8
_NAME = 20

# Translucent colours, for light and dark notebooks.
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


def as_text(
    columns: dict[str, Array],
    means: Floats | None,
    names: tuple[str, ...],
    n_noise: int | None = None,
) -> str:
    """Return the table as text; what is left out is counted below it."""
    shown = _shown_names(means, names)
    header = ["cluster", *columns, *(f"mean {name}" for name in shown)]
    lines = text_table(header, _cells(columns, means))
    left_out = _left_out(columns, names if shown else ())
    return "\n".join([_title(columns, n_noise), *lines, *left_out])


def as_html(
    columns: dict[str, Array],
    means: Floats | None,
    names: tuple[str, ...],
    n_noise: int | None = None,
) -> str:
    """Return the table as HTML, names of features escaped."""
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
    if left_out := "; ".join(_left_out(columns, names if shown else ())):
        lines.append(f'<tr class="more"><td colspan="{n_plain + len(shown)}">{left_out}</td></tr>')
    return (
        f'<div class="isthmus-summary"><style>{_STYLE}</style><table>'
        f"<caption>{_title(columns, n_noise)}</caption><thead>{head}</thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _title(columns: dict[str, Array], n_noise: int | None) -> str:
    sizes = columns["size"]
    n_failing = int(np.count_nonzero(~columns["consistent"]))
    verdict = f"{n_failing:,} of them not consistent" if n_failing else "consistent"
    noise = "" if n_noise is None else f"; {count(n_noise, 'row')} of noise"
    return f"{count(len(sizes), 'cluster')} of {count(int(sizes.sum()), 'row')}, {verdict}{noise}"


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
    """Return the names of the features that are shown, each on one line and shortened."""
    if means is None:
        return []
    lines = (" ".join(name.split()) for name in names[:_FEATURES])
    return [line if len(line) <= _NAME else f"{line[: _NAME - 1]}…" for line in lines]


def _left_out(columns: dict[str, Array], names: tuple[str, ...]) -> list[str]:
    """Return in words how many clusters and features are not shown."""
    numbers = {"more cluster": len(columns["size"]) - _ROWS, "more feature": len(names) - _FEATURES}
    return [f"… {count(n, noun)}" for noun, n in numbers.items() if n > 0]


def _edge(i: int) -> str:
    return ' class="first-mean"' if i == 0 else ""


def _bar(text: str, share: float) -> str:
    """Return a cell whose background is filled as far as the share."""
    filled = f"rgba(70,130,220,.28) {100 * share:.1f}%"
    return f'<td style="background:linear-gradient(90deg,{filled},transparent 0)">{text}</td>'
