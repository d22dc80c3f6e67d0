"""A fit → its explorer page."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from pathlib import Path

from isthmus.explorer.clustering import Clustering
from isthmus.explorer.figure import require_bokeh
from isthmus.explorer.html_page import html_page
from isthmus.explorer.options import Options, check_path
from isthmus.explorer.page_data import PageData, page_data
from isthmus.files.atomic_write import write_atomically


class ExplorerPage:
    """A page on which people see their clusters and choose k; notebooks show it.

    Attributes
    ----------
    data : PageData
        Everything that it shows.
    html : str
        The page: one file that needs no network.

    See Also
    --------
    isthmus.TransitiveCut.explore : Make one.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> page = model.explore()
    >>> page
    ExplorerPage(200 rows, 200 shown, 1 to 20 clusters)
    """

    def __init__(self, data: PageData) -> None:
        self.data = data

    @cached_property
    def html(self) -> str:
        """The page."""
        return html_page(self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which appears under its name when it is complete."""
        target = check_path(path)
        assert target is not None
        write_atomically(target, self.html.encode())

    def _repr_html_(self) -> str:
        """Show the page inline, in notebooks."""
        return (
            f'<iframe title="{escape(self.data.options.title)}" srcdoc="{escape(self.html)}" '
            'style="width: 100%; height: 960px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        clustering, n_shown = self.data.clustering, len(self.data.shown)
        low, high = clustering.path.n_clusters[[0, -1]]
        return f"ExplorerPage({clustering.n_rows} rows, {n_shown} shown, {low} to {high} clusters)"


def make_page(clustering: Clustering, options: Options, path: Path | None) -> ExplorerPage:
    """Return the page of a fit, and write it where there is a path."""
    require_bokeh()
    page = ExplorerPage(page_data(clustering, options))
    if path is not None:
        page.save(path)
    return page
