"""PageData → what the scripts of the page read: JSON, with arrays as base64 of their bytes."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

from isthmus._utils.typing import Array
from isthmus._version import __version__
from isthmus.explorer.images import data_uris
from isthmus.explorer.page_data import SCORE_STEPS, PageData

# Where the page shows a sample, it still holds the cell of each row for "download labels", up to
# this number of rows.
_MOST_ROWS = 4_000_000
# The longest text that is shown for a point.
_LONGEST_TEXT = 300
_LARGEST_SINGLE = float(np.finfo(np.float32).max)

_CODES = {"uint8": "u1", "uint16": "u2", "int32": "i4", "float32": "f4", "float64": "f8"}


def packed(array: Any, dtype: Any) -> dict[str, str]:
    """Return an array as the type and the base64 of its bytes, little-endian."""
    values = np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"type": _CODES[np.dtype(dtype).name], "data": b64encode(values.tobytes()).decode()}


def payload(page: PageData) -> dict[str, Any]:
    """Return the data of the page, ready for JSON."""
    clustering, cells, options = page.clustering, page.cells, page.options
    sampled = len(page.shown) < clustering.n_rows
    every_row = sampled and clustering.n_rows <= _MOST_ROWS
    cell_type = np.uint8 if len(cells) <= 256 else np.uint16 if len(cells) <= 65536 else np.int32
    histogram = np.bincount(page.score_levels, minlength=SCORE_STEPS + 1)
    return {
        "version": __version__,
        "title": options.title,
        "method": clustering.method,
        "nRows": clustering.n_rows,
        "nClusters": clustering.n_clusters,
        "numbers": clustering.path.n_clusters.tolist(),
        "labels": [packed(row, np.int32) for row in cells.labels],
        "clustersOf": [each.tolist() for each in page.clusters.of_numbers],
        "coloursOf": [each.tolist() for each in page.clusters.colours_of_numbers],
        "nodeColours": page.clusters.node_colours.tolist(),
        "cells": {
            "part": packed(cells.part, np.int32),
            "rows": packed(cells.sizes, np.float64),
            "ofRow": packed(cells.cell_of, cell_type) if every_row else None,
        },
        "tree": {
            "divided": page.parts.divided.tolist(),
            "lengths": packed(page.parts.lengths, np.float64),
            "scores": packed(page.parts.scores, np.float64),
        },
        "clusters": _clusters(page),
        "evidence": _evidence(page),
        "scoreSteps": SCORE_STEPS,
        "scoreHistogram": histogram.tolist(),
        "points": {
            "row": packed(page.shown, np.int32) if sampled else None,
            "cell": packed(cells.cell_of[page.shown], cell_type),
            "level": packed(page.score_levels[page.shown], np.uint8),
            "parent": packed(page.shown_tree.parent, np.int32),
            "length": packed(page.shown_tree.length, _type_for(page.shown_tree.length)),
            "axes": [
                {"name": axis.name, "values": packed(_single(axis.values), np.float32)}
                for axis in page.axes
            ],
            "hover": [
                {"name": name, "texts": _short(options.columns.text_of(name, page.shown))}
                for name in options.hover
            ],
            "images": None
            if options.images is None
            else data_uris(options.columns, options.images, page.shown),
        },
    }


def _clusters(page: PageData) -> dict[str, Any]:
    clusters, clustering, cells = page.clusters, page.clustering, page.cells
    figures = clusters.figures
    members = clusters.members.astype(np.float64)
    rows = members @ cells.sizes
    weight_of_cell = np.bincount(cells.cell_of, clustering.row_weights(), len(cells))
    score_of_cell = np.bincount(
        cells.cell_of, clustering.row_weights() * clustering.outlier_scores, len(cells)
    )
    weight = members @ weight_of_cell
    total = weight_of_cell.sum() + clustering.noise_weight
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (members @ score_of_cell) / weight
    next_rows = clustering.rows[figures.nearest]
    return {
        "rows": packed(rows, np.float64),
        "noiseShare": clustering.noise_weight / total,
        "share": packed(weight / total, np.float64),
        "medoid": packed(clustering.rows[figures.medoids], np.int32),
        "widestGap": packed(figures.widest_gaps, np.float64),
        "distance": packed(figures.distances, np.float64),
        "nextCell": packed(np.where(figures.nearest < 0, -1, cells.cell_of[next_rows]), np.int32),
        "score": packed(scores, np.float64),
        "differences": [
            [[d.name, d.category, d.effect, d.inside, d.outside] for d in each]
            for each in clusters.differences
        ],
    }


def _evidence(page: PageData) -> dict[str, Any]:
    """Return the evidence for each number of clusters; NaN where there is none."""
    numbers, suggestion = page.clustering.path.n_clusters, page.clustering.suggestion
    scores, strength = np.full((2, len(numbers)), np.nan)
    reasons = []
    for i, k in enumerate(numbers.tolist()):
        known = k <= len(suggestion.numbers)
        if 2 <= k <= page.parts.n_parts:
            scores[i] = page.parts.scores[k - 2]
        strength[i] = suggestion.strength[k - 1] if known else np.nan
        reasons.append(suggestion.reasons[k - 1] if known else "")
    return {
        "cutScore": packed(scores, np.float64),
        "gapStrength": packed(strength, np.float64),
        "silhouette": packed(page.clustering.path.silhouette, np.float64),
        "clearFrom": suggestion.clear_from,
        "suggested": suggestion.n_clusters,
        "confidence": suggestion.confidence,
        "explanation": suggestion.explanation[0],
        "reasons": reasons,
    }


def _single(values: Array) -> Array:
    """Return numbers that float32 can hold, or NaN, which is not drawn."""
    return np.where(np.abs(values) <= _LARGEST_SINGLE, values, np.nan)


def _type_for(values: Array) -> Any:
    """Return float32, or float64 where numbers are too large for it."""
    return np.float32 if np.abs(values).max(initial=0.0) <= _LARGEST_SINGLE else np.float64


def _short(texts: list[str]) -> list[str]:
    return [text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…" for text in texts]
