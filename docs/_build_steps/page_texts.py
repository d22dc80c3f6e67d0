"""Texts that pages need beside what they show: descriptions, and those of thumbnails."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes

_LONGEST = 200  # characters: what search engines show of a description
_WITHOUT_TEXT = "Clusters of any shape from one parameter: the documentation of isthmus."
# What sphinx-gallery writes into an index for each script, and its place for tags, of which we
# have none and one page would have several.
_THUMBNAIL = re.compile(
    r"(    :alt:)\n(.*?<div class=\"sphx-glr-thumbnail-title\">)([^<]+)(</div>)", re.DOTALL
)
_TAG_LIST = re.compile(r"\.\. raw:: html\n\n  <div id='sg-tag-list'[^\n]*\n")


def describe_page(
    _app: Any, _page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page its first sentences as its description."""
    text = _first_sentences(doctree) if doctree is not None else ""
    content = escape(text or _WITHOUT_TEXT)
    context["metatags"] = context.get("metatags", "") + (
        f'\n<meta name="description" content="{content}">'
    )


def _first_sentences(doctree: nodes.document) -> str:
    """Return the first paragraph that is neither in a table nor in a note, as far as it fits."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if _stands_alone(paragraph) and len(text) > 20:
            return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " …"
    return ""


def _stands_alone(paragraph: nodes.Node) -> bool:
    kinds = (nodes.entry, nodes.note, nodes.admonition, nodes.footnote)
    above = paragraph.parent
    while above is not None and not isinstance(above, kinds):
        above = above.parent
    return above is None


def mend_gallery(_app: Any, page: str, source: list[str]) -> None:
    """Give the thumbnails of the gallery's indexes a text."""
    if page.startswith("gallery/") and page.endswith("index"):
        text = _THUMBNAIL.sub(r"\1 Picture of the example: \3\n\2\3\4", source[0])
        source[0] = _TAG_LIST.sub("", text)
