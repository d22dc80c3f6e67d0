"""Points on a line: their spanning tree joins neighbours in sorted order."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import SQUARES
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics.mapped import PreparedPoints


def spanning_tree_of_line(prepared: PreparedPoints) -> tuple[Ints, Floats]:
    """Return the edges and weights of the spanning tree of points with one coordinate."""
    x = prepared.points[:, 0].astype(np.float64)
    order = np.argsort(x, kind="stable")
    ranked = x[order]
    gaps = np.diff(ranked)
    # Each point hangs on the first of those equal to its neighbour, so equal points form a star.
    begins = np.concatenate([[True], gaps > 0])
    first = order[np.maximum.accumulate(np.where(begins, np.arange(len(x)), 0))]
    edges = np.column_stack([first[:-1], order[1:]])
    accumulated = gaps * gaps if prepared.metric.kind == SQUARES else gaps
    return edges.astype(np.int64), prepared.heights(accumulated)
