"""Checked points → their spanning tree, which joblib may remember by their content."""

from __future__ import annotations

import os
from typing import Any

from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_memory

from isthmus._utils.typing import Floats, Ints
from isthmus._version import __version__
from isthmus.metrics.registry import canonical_name
from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree

# What a tree does not depend on.
_IGNORED = ["n_jobs", "progress", "memory_limit"]


class TreeMemory:
    """A place where spanning trees are kept, if there is one.

    Parameters
    ----------
    memory : str, path, joblib.Memory or None
        Where; None for nowhere.
    metric : str or callable
        What the trees are for. A function is refused: joblib knows it by its name, not by what it
        computes.
    """

    def __init__(self, memory: Any, metric: Any) -> None:
        self._find = find_tree
        if memory is None:
            return
        if callable(metric) or canonical_name(metric) == "pyfunc":
            raise ValueError(
                "memory= recognises data by their content, and what a function computes cannot be "
                "told by its content. Compute the distances once and use metric='precomputed', or "
                "memory=None."
            )
        place = os.fspath(memory) if isinstance(memory, os.PathLike) else memory
        self._find = check_memory(place).cache(find_tree, ignore=_IGNORED)

    def spanning_tree(
        self,
        points: Any,
        *,
        metric: Any,
        metric_params: Any,
        disconnected: Any,
        **ignored: Any,
    ) -> SpanningTree:
        """Return the tree of checked points, found now or kept from before.

        Parameters as for :func:`isthmus.minimum_spanning_tree`. The key is all that a tree depends
        on: the numbers, the metric, its parameters, and the version of isthmus.
        """
        if issparse(points):  # a new one: those in use keep notes, which would be in the key
            points = csr_array((points.data, points.indices, points.indptr), shape=points.shape)
        edges, weights, engine = self._find(
            points,
            metric=canonical_name(metric) or metric,
            metric_params=metric_params,
            disconnected=disconnected,
            version=__version__,
            **ignored,
        )
        return SpanningTree(edges, weights, engine)


def find_tree(
    points: Any,
    metric: Any,
    metric_params: Any,
    disconnected: Any,
    version: str,  # noqa: ARG001
    n_jobs: Any = None,
    progress: Any = None,
    memory_limit: Any = None,
) -> tuple[Ints, Floats, str]:
    """Return a spanning tree as its parts. Changing this function empties every memory."""
    tree = minimum_spanning_tree(
        points,
        metric=metric,
        metric_params=metric_params,
        disconnected=disconnected,
        n_jobs=n_jobs,
        progress=progress,
        memory_limit=memory_limit,
    )
    return tree.edges, tree.weights, tree.engine
