"""What the pictures of several experiments share: new figures, and columns of dots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from isthmus.plotting.style import PALETTE, hide_frame

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure

Axes: TypeAlias = "matplotlib.axes.Axes"  # so that no module must import matplotlib for it


def subplots(
    size: tuple[float, float], n_rows: int = 1, n_columns: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """Return a new figure of a size in inches, which pyplot does not know, and its Axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, **options)


def draw_dots(axes: Axes, groups: Mapping[str, Any], size: float, **texts: Any) -> None:
    """Draw a column of dots for each group of values; the first one stands out."""
    for x, values in enumerate(groups.values()):
        sideways = np.linspace(-0.2, 0.2, len(values))
        axes.scatter(x + sideways, values, s=size, color=PALETTE[5 if x else 0])
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set(**texts)
    hide_frame(axes)
