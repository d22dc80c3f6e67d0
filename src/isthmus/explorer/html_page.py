"""PageData → one HTML file that needs nothing else, and loads nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template

from isthmus.explorer.figure import bokeh_scripts, figure_item
from isthmus.explorer.page_data import PageData
from isthmus.explorer.payload import payload

# In the order in which they are run.
SCRIPTS = (
    "decode.js",
    "partition.js",
    "tree_path.js",
    "csv.js",
    "colours.js",
    "svg.js",
    "grid.js",
    "raster.js",
    "points_view.js",
    "dendrogram_view.js",
    "evidence_view.js",
    "table_view.js",
    "controls.js",
    "main.js",
)
# Scripts and styles are in the page; every request is forbidden, and so is evaluating text.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def html_page(page: PageData) -> str:
    """Return the page as HTML."""
    return "".join(_pieces(page))


def part_of_page(name: str) -> str:
    """Return a file of the folder page."""
    return files("isthmus.explorer").joinpath("page", name).read_text(encoding="utf-8")


def _pieces(page: PageData) -> Iterator[str]:
    title = escape(page.options.title)
    yield Template(part_of_page("page.html")).substitute(
        policy=POLICY, title=title, style=part_of_page("page.css")
    )
    yield f'<script type="application/json" id="payload">{as_json(payload(page))}</script>\n'
    yield f'<script type="application/json" id="figure">{as_json(figure_item())}</script>\n'
    for script in (*bokeh_scripts(), *map(part_of_page, SCRIPTS)):
        yield f"<script>\n{_as_script(script)}\n</script>\n"
    yield "</body>\n</html>\n"


def as_json(data: object) -> str:
    """Return data as JSON that no HTML parser takes for markup."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _as_script(script: str) -> str:
    """Return a script in which nothing ends or begins a script element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
