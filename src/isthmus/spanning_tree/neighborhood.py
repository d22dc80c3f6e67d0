"""Spanning trees of distances that neighbourhoods have changed.

"mean": the tree of points that have been replaced by the means of their neighbourhoods.

"shared": the distance of two points of which one is a neighbour of the other is multiplied by the
Jaccard distance of their neighbour sets; all other distances stay as they are. So no distance
grows, and none of pairs that are not neighbours changes. An edge that is neither between
neighbours nor in the tree of the plain distances closes a cycle with edges of that tree, none of
which is longer than it; hence it is not needed, and

    tree(shared) = tree(pairs of neighbours, shared ∪ edges of tree(plain)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.memory import Budget
from isthmus._utils.parameters import check_choice, check_n_jobs
from isthmus._utils.progress import Progress, part_of
from isthmus._utils.typing import Labels
from isthmus.metrics.input import n_bytes_of, n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.neighborhood_parameters import Neighborhood, check_n_neighbors
from isthmus.neighbors.selection import find_neighbors
from isthmus.neighbors.shared import shared_distances
from isthmus.neighbors.sorted_lists import Neighbors
from isthmus.spanning_tree import approximate
from isthmus.spanning_tree.best_edges import HUGE, Best
from isthmus.spanning_tree.engine import FIXED_BYTES
from isthmus.spanning_tree.listed_edges import join_offered_edges, scan_edges, scan_neighbors
from isthmus.spanning_tree.result import NeighborhoodTree, SpanningTree, trusted_tree
from isthmus.spanning_tree.selection import ENGINE_NAMES, find_spanning_tree

# What an infinite edge, between components of a graph, counts as: HUGE stands for none.
_FARTHEST = float(np.nextafter(HUGE, 0.0))
# Per point, beside the lists: the tree of plain distances, and finding the other one.
_BYTES_TO_JOIN = 152


def find_neighborhood_tree(
    data: Any,
    metric: AnyMetric,
    neighborhood: Neighborhood | None,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    budget: Budget | None = None,
    engine: str = "auto",
    disconnected: str | float = "error",
    given_neighbors: Any = None,
    keep_index: bool = True,
) -> NeighborhoodTree:
    """Return the spanning tree of checked data, with neighbourhoods or, for None, without.

    Parameters
    ----------
    given_neighbors : optional
        Neighbours that take the place of those that engine="approximate" searches for.
    others
        As for :func:`find_spanning_tree`.
    """
    check_engine(engine, given_neighbors)
    if engine == approximate.NAME:
        return approximate.find_approximate_tree(
            data,
            metric,
            neighborhood,
            given_neighbors,
            n_jobs=check_n_jobs(n_jobs),
            progress=progress,
            budget=budget or Budget(None),
        )
    common: dict[str, Any] = {"disconnected": disconnected, "engine": engine, "n_jobs": n_jobs}
    if neighborhood is None:
        found = find_spanning_tree(
            data, metric, progress=progress, budget=budget, keep_index=keep_index, **common
        )
        return NeighborhoodTree(found.tree, found.index)
    n_neighbors = check_n_neighbors(neighborhood.n_neighbors, n_points_of(data))
    budget = budget or Budget(None)
    threads = check_n_jobs(n_jobs)
    first, second = part_of(progress, 0.0, 0.5), part_of(progress, 0.5, 1.0)
    if neighborhood.kind == "mean":
        assert isinstance(metric, MappedMetric)  # it was checked
        indices = find_neighbors(
            data, metric, n_neighbors, n_jobs=threads, progress=first, budget=budget
        ).indices
        means = neighborhood_means(data, indices, metric, threads)
        left = budget.after(indices.nbytes + n_bytes_of(means))
        of_data = metric.estimated_from(data)
        # Means of neighbourhoods that overlap are close together: in many features lists that are
        # as long as neighbourhoods leave less to be searched again than short ones, a quarter of
        # the time of MNIST's 70,000 images.
        found = find_spanning_tree(
            means,
            of_data,
            progress=second,
            budget=left,
            n_neighbors=n_neighbors,
            keep_index=keep_index,
            **common,
        )
        if progress is not None:
            progress(1, 1)
        return NeighborhoodTree(found.tree, found.index, indices, means)
    # A list takes 12 bytes an entry, and may be found together with the tree.
    n_points = n_points_of(data)
    held = 12 * n_neighbors * n_points
    what = f"The spanning tree of {n_points:,} points by shared neighbourhoods"
    budget.require(FIXED_BYTES + held + _BYTES_TO_JOIN * n_points, what)
    found = find_spanning_tree(
        data,
        metric,
        progress=first,
        budget=budget.after(held),
        n_neighbors=n_neighbors,
        keep_index=False,
        **common,
    )
    plain, neighbors = found.tree, found.lists
    if neighbors is None:
        neighbors = find_neighbors(
            data, metric, n_neighbors, n_jobs=threads, progress=second, budget=budget
        )
    tree = tree_of_shared(plain, neighbors, threads)
    if progress is not None:
        progress(1, 1)
    return NeighborhoodTree(tree, None, neighbors.indices)


def check_engine(engine: Any, given_neighbors: Any = None) -> None:
    """Raise ValueError for an unknown engine, or one that takes no neighbours."""
    check_choice(engine, "engine", (*ENGINE_NAMES, approximate.NAME))
    if given_neighbors is not None and engine != approximate.NAME:
        raise ValueError(
            f"neighbors= is for engine={approximate.NAME!r}; engine={engine!r} finds the nearest "
            "ones exactly."
        )


def tree_of_shared(plain: SpanningTree, neighbors: Neighbors, n_jobs: int = 1) -> SpanningTree:
    """Return the tree of shared distances, given that of the plain ones.

    neighbors : Neighbors
        Its distances are overwritten.
    """
    shared = Neighbors(neighbors.indices, shared_distances(neighbors, n_jobs))
    plain_weights = np.minimum(plain.weights, _FARTHEST)

    def offer(labels: Labels, best: Best) -> None:
        scan_neighbors(shared, labels, best)
        scan_edges(plain.edges, plain_weights, labels, best)

    edges, weights = join_offered_edges(plain.n_points, offer)
    weights[weights == _FARTHEST] = np.inf
    return trusted_tree(edges, weights, plain.engine, n_jobs)
