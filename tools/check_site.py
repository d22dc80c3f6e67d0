"""Check a built site: links lead somewhere and say where, and pages are whole by themselves.

A page has one h1, a description, ids that stand once and a text for every picture. No link is named
after a source file, and nothing that a page needs is loaded from another site.

    python tools/check_site.py build/docs

It prints what is wrong and exits with 1, else how much it has looked at. Links to other sites are
not followed: the check needs no network.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Where a tag keeps an address.
_ADDRESSES = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}
# A text of a link that says what the page is called in the sources.
_FILE_NAME = re.compile(r"[\w/]+\.(md|rst)")


@dataclass
class Page(HTMLParser):
    """What a page links to and what can be linked to on it."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    addresses: list[str] = field(default_factory=list)
    headings: int = 0
    description: str = ""
    pictures_without_text: list[str] = field(default_factory=list)
    repeated_ids: list[str] = field(default_factory=list)
    loaded_from_elsewhere: list[str] = field(default_factory=list)
    named_after_files: list[str] = field(default_factory=list)
    _link: str | None = None

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        values = {name: value or "" for name, value in attrs}
        if values.get("id") in self.anchors:
            self.repeated_ids.append(values["id"])
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self.headings += tag == "h1"
        if tag == "meta" and values.get("name") == "description":
            self.description = values.get("content", "")
        if tag == "a":
            self._link = ""
        address = values.get(_ADDRESSES.get(tag, ""))
        if address:
            self.addresses.append(address)
            if tag != "a" and urlsplit(address).netloc:
                self.loaded_from_elsewhere.append(address)
        if tag == "img" and not values.get("alt", "").strip():
            self.pictures_without_text.append(values.get("src", ""))

    def handle_data(self, data: str) -> None:
        """Note a text within a link."""
        if self._link is not None:
            self._link += data

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a link."""
        if tag == "a" and self._link is not None:
            if _FILE_NAME.fullmatch(self._link.strip()):
                self.named_after_files.append(self._link.strip())
            self._link = None


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
    faults += [] if page.description.strip() else ["no description"]
    faults += [f"picture without a text: {source}" for source in page.pictures_without_text]
    faults += [f"an id that stands twice: {name}" for name in page.repeated_ids]
    faults += [f"loaded from elsewhere: {address}" for address in page.loaded_from_elsewhere]
    faults += [f"a link named after a file: {name}" for name in page.named_after_files]
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
    right = "links, headings, descriptions, ids and texts of pictures are right"
    print("\n".join(problems) or f"{n_pages} pages: {right}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
