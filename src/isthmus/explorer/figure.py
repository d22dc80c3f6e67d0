"""The Bokeh figure that the points are drawn in; the page's scripts fill it.

The points are an image, which the scripts draw anew for other labels and other ranges: Bokeh's
markers take seconds for 100,000 points wherever there is no graphics card. No text of the user's
goes through Bokeh: names of axes and everything about points are the page's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


def require_bokeh() -> None:
    """Raise ImportError with the command that installs Bokeh, where it is missing."""
    try:
        import_module("bokeh")
    except ImportError as error:
        raise ImportError(
            "The explorer needs Bokeh, which is not installed: pip install 'isthmus[explore]'"
        ) from error


def bokeh_scripts() -> list[str]:
    """Return the scripts of the installed Bokeh that the page needs."""
    from bokeh.resources import Resources

    scripts: list[str] = Resources(mode="inline", components=["bokeh"]).js_raw
    return [script for script in scripts if len(script) > 1000]  # the last one sets a log level


def figure_item() -> dict[str, Any]:
    """Return the empty figure as JSON; the models that scripts fill have names."""
    from bokeh.embed import json_item
    from bokeh.models import (
        ColumnDataSource,
        LassoSelectTool,
        PanTool,
        Range1d,
        ResetTool,
        WheelZoomTool,
    )
    from bokeh.plotting import figure

    lasso, wheel = (
        LassoSelectTool(continuous=False, renderers=[]),
        WheelZoomTool(zoom_on_axis=False),
    )
    plot = figure(
        tools=[PanTool(), wheel, lasso, ResetTool()],
        active_scroll=wheel,
        x_range=Range1d(0, 1),
        y_range=Range1d(0, 1),
        sizing_mode="stretch_both",
        min_border=8,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        name="plot",
    )
    plot.toolbar.logo = None
    lasso.overlay.fill_alpha = 0.1
    nothing = np.zeros((1, 1), dtype=np.uint32)
    image = {"image": [nothing], "x": [0], "y": [0], "dw": [1], "dh": [1]}
    source = ColumnDataSource(image, name="image data")
    plot.image_rgba("image", "x", "y", "dw", "dh", source=source, level="glyph")
    for name, width in (("path", 2.5), ("hop", 5)):
        source = ColumnDataSource({"x": [], "y": []}, name=f"{name} data")
        plot.line("x", "y", source=source, line_width=width, name=name)
    picked = ColumnDataSource({"x": [], "y": []}, name="picked data")
    plot.scatter("x", "y", source=picked, size=14, fill_color=None, line_width=3, name="picked")
    names = ColumnDataSource(
        {"x": [], "y": [], "text": [], "ink": [], "back": []}, name="names data"
    )
    plot.text(
        "x",
        "y",
        "text",
        source=names,
        text_color={"field": "ink"},
        background_fill_color={"field": "back"},
        text_align="center",
        text_baseline="middle",
        text_font_size="13px",
        text_font_style="bold",
        padding=3,
        border_radius=4,
        name="names",
    )
    return dict(json_item(plot))
