"""Table and options → the points to fit."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Array
from isthmus.cli.column_weights import column_weights
from isthmus.cli.errors import UserError, from_library
from isthmus.cli.table import Table
from isthmus.metrics.preparation import Preparation, learn_preparation
from isthmus.metrics.registry import canonical_name

# Distances that are sums, or the largest, of differences in the units of the columns.
_BY_DIFFERENCES = (
    "euclidean",
    "sqeuclidean",
    "nan_euclidean",
    "manhattan",
    "chebyshev",
    "minkowski",
)
# Beyond this ratio of spreads one column decides.
_FAR_APART = 100.0


class Prepared(NamedTuple):
    """The points to fit."""

    points: Array  # (n_taken, n_features)
    taken: Array | None  # (n_rows,) bool, the rows they are; None for all
    preparation: Preparation
    hint: str | None  # what the user may want to know
    weights: tuple[float, ...] | None = None  # of the columns, for --metric gower

    @property
    def n_dropped(self) -> int:
        """The number of rows that are left out."""
        return 0 if self.taken is None else int(np.count_nonzero(~self.taken))


def check_preparation(args: argparse.Namespace) -> None:
    """Raise UserError for options that contradict each other; settle what was left open.

    ``--missing nan-euclidean`` is a metric, and that metric takes missing values.
    """
    metric = canonical_name(args.metric)
    if metric == "gower":
        _refuse_with_gower(args)
    if args.missing is None:
        args.missing = "nan-euclidean" if metric == "nan_euclidean" else "error"
    if args.missing == "nan-euclidean":
        if metric not in ("euclidean", "nan_euclidean"):
            raise UserError(
                "--missing nan-euclidean compares rows by Euclidean distances, so it does not go "
                f"with --metric {args.metric}. Take --missing drop or --missing mean."
            )
        args.metric = "nan_euclidean"
    if metric == "haversine" and args.scale not in (None, "none"):
        raise UserError(
            f"--scale {args.scale} does not go with --metric haversine: latitudes and longitudes "
            "are angles on a sphere."
        )


def _refuse_with_gower(args: argparse.Namespace) -> None:
    """Raise UserError for what Gower's distance sees to itself."""
    if args.missing is not None:
        raise UserError(
            f"--missing {args.missing} does not go with --metric gower, which compares the values "
            "that two rows both have. Leave it out."
        )
    if args.scale not in (None, "none"):
        raise UserError(
            f"--scale {args.scale} does not go with --metric gower, which divides columns by their "
            "ranges. Leave it out."
        )
    args.missing = "gower"


def prepare(table: Table, args: argparse.Namespace) -> Prepared:
    """Return the points of a table, prepared as asked for."""
    columns = None if table.names is None else tuple(table.selected_names())
    if args.missing == "gower":
        preparation = Preparation(columns, table.points.shape[1], "gower")
        return Prepared(table.points, None, preparation, None, column_weights(table, args))
    try:
        preparation = learn_preparation(
            table.points, missing=args.missing, scale=args.scale or "none", columns=columns
        )
        points, taken = preparation.apply(table.points)
    except ValueError as error:
        raise from_library(error) from error
    hint = None
    if args.scale is None and canonical_name(args.metric) in _BY_DIFFERENCES:
        hint = hint_of_spreads(points, table.selected_names())
    return Prepared(points, taken, preparation, hint)


def hint_of_spreads(points: Array, names: Sequence[str]) -> str | None:
    """Return what to do where the spreads of columns differ by more than a hundred."""
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = np.nanstd(points, axis=0, dtype=np.float64)
        # Rounding may give a column of equal numbers a tiny standard deviation.
        varies = (np.nanmax(points, axis=0) > np.nanmin(points, axis=0)) & np.isfinite(spreads)
    compared = np.flatnonzero(varies & (spreads > 0.0))
    if len(compared) < 2:
        return None
    least, most = (compared[index(spreads[compared])] for index in (np.argmin, np.argmax))
    ratio = spreads[most] / spreads[least]
    if not ratio > _FAR_APART:
        return None
    return (
        f"column {names[most]!r} spreads {ratio:,.0f} times as far as {names[least]!r}, so it "
        "decides the distances; --scale standard or robust gives columns equal spread, --scale "
        "none keeps them without this hint."
    )
