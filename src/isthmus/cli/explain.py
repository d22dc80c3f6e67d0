"""What explains the clusters of a table: ``isthmus cluster --explain``."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.cli.prepare import Prepared
from isthmus.cli.table import Table

if TYPE_CHECKING:
    from isthmus.summary.explanation import ClusterExplanation


def explanations(model: Any, table: Table, prepared: Prepared) -> list[ClusterExplanation]:
    """Return why each cluster is one, its rows counted as in the table, from 1."""
    from isthmus.cli.shown_columns import columns_to_show  # it loads what pages need

    found = model.explain(columns_to_show(table, prepared, None, table.source))
    n_rows = len(table.points)
    rows = np.arange(n_rows) if prepared.taken is None else np.flatnonzero(prepared.taken)
    return [_counted_from_one(each, rows) for each in found]


def _counted_from_one(each: ClusterExplanation, rows: Any) -> ClusterExplanation:
    def counted(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(rows[number]) + 1 for number in numbers)

    bridge = each.bridge
    if bridge is not None:
        near, far = counted(bridge.rows)
        bridge = bridge._replace(rows=(near, far))
    return replace(
        each, typical=counted(each.typical), boundary=counted(each.boundary), bridge=bridge
    )


def as_data(each: ClusterExplanation) -> dict[str, Any]:
    """Return an explanation for JSON."""
    named = asdict(each)
    named["differences"] = [difference._asdict() for difference in each.differences]
    named["rule"] = None if each.rule is None else each.rule._asdict()
    named["bridge"] = None if each.bridge is None else each.bridge._asdict()
    return named
