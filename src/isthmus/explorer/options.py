"""Parameters of ``explore`` → checked ones, before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus._utils.parameters import check_integer
from isthmus.explorer.axes import check_coordinates
from isthmus.explorer.images import check_images
from isthmus.explorer.user_table import Columns


@dataclass(frozen=True, eq=False)
class Options:
    """What the page shows of the user's table, and how much.

    Attributes
    ----------
    columns : Columns
    coordinates : (n_rows, 2) float64, or two names of columns, or None
    hover : tuple of str
        The columns that are shown for the point under the pointer.
    images : str or None
        The column of pictures, as paths or data URIs.
    max_points : int
        The most points that are drawn.
    title : str
    """

    columns: Columns
    coordinates: Any
    hover: tuple[str, ...]
    images: str | None
    max_points: int
    title: str


def check_options(
    columns: Columns,
    coordinates: Any,
    hover: Sequence[str] | str | None,
    images: str | None,
    max_points: int,
    title: str | None,
) -> Options:
    """Return checked options, or raise what is wrong with them."""
    found = check_coordinates(coordinates, columns)
    shown: Sequence[str] = (hover,) if isinstance(hover, str) else hover or ()
    if images is not None:
        check_images(columns, columns.require(images))
    return Options(
        columns=columns,
        coordinates=found,
        hover=tuple(columns.require(name) for name in shown),
        images=images,
        max_points=check_integer(max_points, "max_points", 1),
        title="isthmus explorer" if title is None else str(title),
    )


def check_path(path: Any) -> Path | None:
    """Return where to write the page, if that is possible; None stays None."""
    if path is None:
        return None
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"Cannot write {target}: it is a directory.")
    if not target.parent.is_dir():
        raise ValueError(f"Cannot write {target}: there is no directory {target.parent}.")
    return target
