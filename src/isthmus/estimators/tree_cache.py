"""Checked data → their spanning tree, which joblib may keep by the content of the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import Any

from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_memory

from isthmus._utils.memory import Budget
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus._version import __version__
from isthmus.metrics.registry import canonical_name, resolve_metric
from isthmus.neighbors.neighborhood_parameters import Neighborhood
from isthmus.spanning_tree import SpanningTree
from isthmus.spanning_tree.neighborhood import find_neighborhood_tree
from isthmus.spanning_tree.result import NeighborhoodTree

# What a tree does not depend on.
_IGNORED = ["n_jobs", "progress", "memory_limit"]


class TreeCache:
    """Where spanning trees are kept by the content of the data.

    Parameters
    ----------
    memory : str, path or joblib.Memory
    metric, metric_params
        As a user gives them. A function is refused: joblib knows it by its name, not by what it
        computes.
    neighborhood : Neighborhood, optional
    """

    def __init__(
        self,
        memory: Any,
        metric: str | Callable[..., float],
        metric_params: Mapping[str, Any] | None,
        neighborhood: Neighborhood | None = None,
    ) -> None:
        if resolve_metric(metric, metric_params).takes_objects:
            raise ValueError(
                "memory= recognises data by their content, and what a function computes cannot be "
                "told by its content. Compute the distances once and use metric='precomputed', or "
                "memory=None."
            )
        of_neighbors = None if neighborhood is None else astuple(neighborhood)
        self._key = canonical_name(metric), metric_params, of_neighbors
        folder = os.fspath(memory) if isinstance(memory, os.PathLike) else memory
        self._find = check_memory(folder).cache(find_tree, ignore=_IGNORED)

    def spanning_tree(
        self,
        data: Any,
        disconnected: str | float,
        engine: str = "auto",
        given_neighbors: Labels | None = None,
        **ignored: Any,
    ) -> NeighborhoodTree:
        """Return the tree of checked data, found now or kept from before.

        The key is all that a tree depends on: the numbers, the metric, its parameters, the
        neighbourhoods, and the version of isthmus.
        """
        if issparse(data):  # a new one: those in use keep notes, which would be in the key
            data = csr_array((data.data, data.indices, data.indptr), shape=data.shape)
        edges, weights, found_by, neighbors = self._find(
            data, *self._key, disconnected, engine, given_neighbors, __version__, **ignored
        )
        return NeighborhoodTree(SpanningTree(edges, weights, found_by), neighbors=neighbors)


def find_tree(
    data: Any,
    metric: Any,
    metric_params: Any,
    neighborhood: Any,
    disconnected: Any,
    engine: Any,
    given_neighbors: Any,
    version: str,  # noqa: ARG001
    n_jobs: Any = None,
    progress: Any = None,
    memory_limit: Any = None,
) -> tuple[Ints, Floats, str, Labels | None]:
    """Return a spanning tree as its parts. Changing this function empties every cache."""
    found = find_neighborhood_tree(
        data,
        resolve_metric(metric, metric_params),
        None if neighborhood is None else Neighborhood(*neighborhood),
        disconnected=disconnected,
        engine=engine,
        given_neighbors=given_neighbors,
        n_jobs=n_jobs,
        progress=progress,
        budget=Budget(memory_limit),
        keep_index=False,
    )
    return found.tree.edges, found.tree.weights, found.tree.engine, found.neighbors
