"""``isthmus predict``: a saved model and a table in, the table with a cluster for each row out."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.tables import count
from isthmus.cli.cluster_options import add_predict_options
from isthmus.cli.columns import Selection
from isthmus.cli.command_table import (
    check_column_options,
    read_command_table,
    write_command_table,
)
from isthmus.cli.csv_table import Mixed
from isthmus.cli.errors import UserError, say, shown
from isthmus.cli.fit import Stopwatch, is_watched, wrong_input
from isthmus.cli.load_model import load_model, read_model_head
from isthmus.cli.read_table import ReadOptions, input_format, read_options
from isthmus.cli.summary import as_json, predictions_as_text, rounded
from isthmus.cli.table import Table
from isthmus.cli.write_table import NewColumn
from isthmus.metrics.preparation import Preparation
from isthmus.metrics.table_columns import CATEGORY

DESCRIPTION = """\
Label the rows of a table by a model that 'isthmus cluster --save' or a model's save() has written.
Each row gets the cluster that it would have if it were attached to the tree of the fitted rows;
the model stays as it is.
"""

EXAMPLES = """\
examples:
  isthmus cluster points.csv -k 3 --scale standard --save model.isthmus -o labelled.csv
  isthmus predict model.isthmus new.csv -o new_labelled.csv

The columns are found by the names that the model was fitted on, wherever they stand; others are
written as they are. Missing values and scales are treated as in the fit, with the means and spreads
of the fit. A model without names takes all columns, or those of --columns.
"""

add_options = add_predict_options
_KINDS = ("TransitiveCut", "TransitiveKMeans")


class Expected(NamedTuple):
    """The columns that a model takes."""

    names: tuple[str, ...] | None
    n_features: int
    preparation: Preparation
    mixed: Mixed | None


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    args.missing = None  # the model says
    stopwatch = Stopwatch()
    write_options = check_column_options(args)
    head = read_model_head(args.model)
    if head.kind not in _KINDS:
        raise UserError(
            f"{args.model} holds a {head.kind[:80]}, which has no clusters: fit a model with "
            "'isthmus cluster --save'."
        )
    file_format = input_format(args.input, read_options(args))
    with stopwatch.timed("import"):
        import isthmus.estimators  # noqa: F401
    with stopwatch.timed("loading"):
        model = load_model(args.model, head.kind)
        expected = _expected_columns(model, args.model)
    options = _options_for(expected, args, file_format)
    read = read_command_table(args, options, stopwatch, write_options)
    table = read.table
    _check_number_of_columns(table, expected, args)
    labels, rows = _predict(model, table, expected.preparation, args, stopwatch)
    with stopwatch.timed("writing"):
        write_command_table(args, read, NewColumn(labels, rows), write_options)
    if not args.quiet:
        summary = {
            "model": args.model,
            "n_points": len(labels),
            "n_dropped": len(table.points) - len(labels),
            "n_clusters": model.n_clusters_,
            "sizes": np.bincount(labels + 1, minlength=model.n_clusters_ + 1)[1:].tolist(),
            "columns": table.selected_names(),
            "missing": expected.preparation.missing,
            "scale": expected.preparation.scale,
            "seconds": rounded(stopwatch.seconds),
        }
        if hasattr(model, "noise_threshold_"):
            summary["n_noise"] = int((labels == -1).sum())
        say(as_json(summary | {"read": read.taken}) if args.json else predictions_as_text(summary))
    return 0


def _expected_columns(model: Any, name: str) -> Expected:
    record = model._record
    if record.points is None or record.n_features is None or isinstance(record.points, list):
        raise UserError(
            f"{name} was fitted on distances or objects, not on columns of numbers: its predict() "
            "is for Python."
        )
    names = None if record.feature_names is None else tuple(map(str, record.feature_names))
    preparation = record.preparation
    if preparation is None:
        missing = "nan-euclidean" if record.resolved_metric.accepts_nan else "error"
        missing = missing if record.columns is None else "gower"
        preparation = Preparation(names, record.n_features, missing)
    mixed = None
    if record.columns is not None:
        columns = enumerate(record.columns.columns)
        mixed = Mixed(tuple(j for j, column in columns if column.kind == CATEGORY))
    return Expected(names or preparation.columns, record.n_features, preparation, mixed)


def _options_for(expected: Expected, args: argparse.Namespace, file_format: str) -> ReadOptions:
    """Return how to read the table, so that the model's columns are taken in their order."""
    options = read_options(args)._replace(
        allow_missing=expected.preparation.missing != "error", mixed=expected.mixed
    )
    if expected.names is None:
        return options
    listed = ", ".join(shown(name) for name in expected.names[:20])
    if file_format == "npy" or args.header is False:
        if args.columns is None:
            raise UserError(
                f"the input has no names of columns, and the model was fitted on {listed}: say "
                f"which {count(len(expected.names), 'column')} these are with --columns."
            )
        return options
    if args.columns is not None or args.exclude:
        raise UserError(
            f"the model takes its columns by their names: {listed}. Leave out --columns and "
            "--exclude."
        )
    header = None if file_format == "parquet" else True
    return options._replace(selection=Selection(expected.names, exact=True), header=header)


def _check_number_of_columns(table: Table, expected: Expected, args: argparse.Namespace) -> None:
    found = len(table.selected)
    if found != expected.n_features:
        source = "standard input" if args.input in (None, "-") else args.input
        raise UserError(
            f"{source} has {count(found, 'column')} to cluster by, but the model was fitted on "
            f"{expected.n_features}. Choose them with --columns."
        )


def _predict(
    model: Any,
    table: Table,
    preparation: Preparation,
    args: argparse.Namespace,
    stopwatch: Stopwatch,
) -> tuple[Any, Any]:
    """Return the labels of rows, and which rows these are; None for all."""
    labels = np.empty(0, dtype=np.int32)
    try:
        points, rows = table.points, None
        if preparation.missing != "gower":
            points, rows = preparation.apply(points)
        model.set_params(n_jobs=args.jobs, verbose=int(is_watched(args)))
        if hasattr(model, "feature_names_in_"):  # they have been compared
            model._keep(replace(model._record, feature_names=None))
        with stopwatch.timed("predict"):
            if len(points):
                labels = model.predict(points)
    except wrong_input(table.points) as error:
        raise UserError(str(error)) from error
    return labels, rows
