"""What every fit on Dask begins with: blocks, a first look at them, and a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Ints
from isthmus.dask.bundles import default_n_bundles, make_plan
from isthmus.dask.clusters_by_cut import gather_tree
from isthmus.dask.executors import Executor
from isthmus.dask.inputs import (
    Given,
    as_blocks,
    check_looks,
    check_metric,
    has_cells,
    is_euclidean,
)
from isthmus.dask.many_features import Metric, find_tree_of_blocks
from isthmus.dask.nearest_lists import find_tree_by_lists
from isthmus.dask.points import Look, PointMap, find_map
from isthmus.dask.spanning_tree import Blocks, CellTree, Report, find_cell_tree, look_at_blocks
from isthmus.metrics import AnyMetric, MappedMetric, resolve_metric
from isthmus.spanning_tree import SpanningTree


class Task(NamedTuple):
    """A Dask collection whose tree is wanted.

    Attributes
    ----------
    executor : Executor
    blocks : list of handles
    looks : list of Look
    metric : resolved metric
    named : Metric
        The same by name.
    n_cells : int or None
    report : callable
    given : Given
        The collection itself.
    """

    executor: Executor
    blocks: list[Any]
    looks: list[Look]
    metric: AnyMetric
    named: Metric
    n_cells: int | None
    report: Report
    given: Given

    @property
    def starts(self) -> Ints:
        """The row that each block begins with, and the number of rows."""
        starts: Ints = np.concatenate([[0], np.cumsum([look.n_rows for look in self.looks])])
        return starts

    @property
    def n_features(self) -> int:
        """The number of columns of the input."""
        return next(look.n_features for look in self.looks if look.n_rows)

    @property
    def has_cells(self) -> bool:
        """Whether cells in space serve."""
        return has_cells(self.metric, self.looks)

    def mapping(self) -> PointMap:
        """Return the map to the space of cells."""
        assert isinstance(self.metric, MappedMetric)
        return find_map(self.metric, self.looks)

    def find_cells(self, weights: list[Any] | None = None) -> CellTree:
        """Return the tree in cells."""
        blocks = Blocks(self.blocks, weights)
        return find_cell_tree(
            self.executor, blocks, self.looks, self.mapping(), self.n_cells, self.report
        )

    def find_whole_tree(self) -> SpanningTree:
        """Return the tree in this process's memory."""
        if self.has_cells:
            return gather_tree(self.executor, self.find_cells())
        n_bundles = self.n_cells or default_n_bundles(self.executor.n_threads)
        if int(self.starts[-1]) > 1 and is_euclidean(self.metric):
            mapping = self.mapping()
            if mapping.scale == 1.0:
                tree = find_tree_by_lists(
                    self.executor, self.blocks, self.looks, mapping, n_bundles, self.report
                )
                if tree is not None:
                    return tree
        plan = make_plan([look.n_rows for look in self.looks], n_bundles)
        return find_tree_of_blocks(
            self.executor, self.blocks, self.looks, self.named, plan, self.report
        )


def begin(
    X: Any,
    named: tuple[str, Mapping[str, Any] | None],
    executor: Executor,
    n_cells: int | None,
    report: Report,
) -> Task:
    """Return a checked task; raises what is wrong with X or with the metric."""
    metric = check_metric(resolve_metric(*named))
    given = as_blocks(X)
    blocks = executor.blocks(given.blocks)
    looks = look_at_blocks(executor, blocks, n_cells, metric, report)
    check_looks(looks)
    return Task(executor, blocks, looks, metric, Metric(*named), n_cells, report, given)
