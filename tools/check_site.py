"""Check a built site: every internal link leads somewhere, pages have one h1, pictures a text.

    python tools/check_site.py build/docs

It prints what is wrong and exits with 1, else how much it has looked at. Links to other sites are
not followed: the check needs no network.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Where a tag keeps an address.
_ADDRESSES = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}


@dataclass
class Page(HTMLParser):
    """What a page links to and what can be linked to on it."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    addresses: list[str] = field(default_factory=list)
    headings: int = 0
    pictures_without_text: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self.headings += tag == "h1"
        address = values.get(_ADDRESSES.get(tag, ""))
        if address:
            self.addresses.append(address)
        if tag == "img" and not values.get("alt", "").strip() and not _repeats(values):
            self.pictures_without_text.append(values.get("src", ""))


def _repeats(picture: dict[str, str]) -> bool:
    """Return whether a picture says no more than the title beside it: a gallery's thumbnail."""
    return "alt" in picture and picture.get("src", "").endswith("_thumb.png")


def pages_of(folder: Path) -> dict[Path, Page]:
    """Return the pages of a site, by their paths; the theme's own files are none."""
    paths = sorted(folder.rglob("*.html"))
    return {path: Page(path) for path in paths if "_static" not in path.relative_to(folder).parts}


def problems_of(folder: Path) -> list[str]:
    """Return what is wrong with the pages of a folder, one line for each fault."""
    pages = pages_of(folder)
    if not pages:
        return [f"{folder} has no pages"]
    return [
        f"{path.relative_to(folder)}: {fault}"
        for path, page in pages.items()
        for fault in _faults(page, pages)
    ]


def _faults(page: Page, pages: dict[Path, Page]) -> list[str]:
    faults = [f"{page.headings} h1"] if page.headings != 1 else []
    faults += [f"picture without a text: {source}" for source in page.pictures_without_text]
    return faults + [
        f"broken link: {address}"
        for address in page.addresses
        if not _leads_somewhere(address, page, pages)
    ]


def _leads_somewhere(address: str, page: Page, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return parts.scheme != "file"
    target = page.path
    if parts.path:
        target = (page.path.parent / unquote(parts.path)).resolve()
        if target.is_dir():
            target /= "index.html"
    if not target.exists():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in pages or anchor in pages[target].anchors


def main(arguments: list[str]) -> int:
    """Check the site in a folder; return the exit status."""
    folder = Path(*arguments).resolve()
    problems = problems_of(folder)
    n_pages = len(pages_of(folder))
    print(
        "\n".join(problems) or f"{n_pages} pages: links, headings and texts of pictures are right"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
