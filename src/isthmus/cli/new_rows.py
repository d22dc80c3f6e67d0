"""A saved model and a table → the rows of the table as the model takes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from isthmus._utils.tables import count
from isthmus._utils.typing import Array
from isthmus.cli.column_options import Selection
from isthmus.cli.command_table import CommandTable, read_command_table
from isthmus.cli.csv_table import Mixed
from isthmus.cli.errors import UserError, from_library, shown
from isthmus.cli.fields import MISSING_ADVICE
from isthmus.cli.fit import Rows, Stopwatch
from isthmus.cli.load_model import load_model, read_model_head
from isthmus.cli.read_table import ReadOptions, input_format, read_options
from isthmus.cli.table import Table
from isthmus.cli.write_table import WriteOptions
from isthmus.metrics.preparation import Preparation
from isthmus.metrics.table_columns import CATEGORY

_KINDS = ("TransitiveCut", "TransitiveKMeans")
_MISSING_ADVICE = (
    "the model takes no missing values. Fill them in, leave out such rows, or fit the model again "
    "with 'isthmus cluster --missing drop' or mean."
)


class Expected(NamedTuple):
    """The columns that a model takes."""

    names: tuple[str, ...] | None
    n_features: int
    preparation: Preparation
    mixed: Mixed | None


class NewRows(NamedTuple):
    """A model, and prepared rows for it."""

    model: Any  # without the names of its features: they have been compared
    feature_names: Array | None  # these names
    preparation: Preparation
    read: CommandTable
    points: Array  # (n_taken, n_features)
    taken: Array | None  # (n_rows,) bool, the rows they are; None for all

    @property
    def n_dropped(self) -> int:
        """The number of rows that are left out."""
        return len(self.read.table.points) - len(self.points)

    @property
    def rows(self) -> Rows:
        """The rows, for messages."""
        columns = self.model._record.columns
        fitted = () if columns is None else tuple(each.name for each in columns.columns)
        names = None if self.read.table.names is None else self.read.table.selected_names()
        return Rows(self.points, names, fitted, self.n_dropped > 0)


def read_new_rows(
    args: argparse.Namespace,
    stopwatch: Stopwatch,
    write_options: WriteOptions,
    check_model: Callable[[Any], None] | None = None,
) -> NewRows:
    """Return the model and the new rows that the arguments of a command name.

    check_model : callable, optional
        Raises UserError for a model that the command cannot serve, before the table is read.
    """
    args.missing = None  # the model says
    head = read_model_head(args.model)
    if head.kind not in _KINDS:
        raise UserError(
            f"{args.model} holds a {head.kind[:80]}, which has no clusters: fit a model with "
            "'isthmus cluster --save'."
        )
    file_format = input_format(args.input, read_options(args))
    with stopwatch.importing():
        import isthmus.estimators  # noqa: F401
    with stopwatch.timed("loading"):
        model = load_model(args.model, head.kind)
    if check_model is not None:
        check_model(model)
    expected = _expected_columns(model, args.model)
    options = _options_for(expected, args, file_format)
    try:
        read = read_command_table(args, options, stopwatch, write_options)
    except UserError as error:  # readers advise --missing, which these commands do not have
        raise UserError(str(error).replace(MISSING_ADVICE, _MISSING_ADVICE)) from error
    _check_number_of_columns(read.table, expected, args)
    preparation, points, taken = expected.preparation, read.table.points, None
    if preparation.missing != "gower":
        try:
            points, taken = preparation.apply(points)
        except ValueError as error:
            raise from_library(error) from error
    feature_names = model._record.feature_names
    model._keep(replace(model._record, feature_names=None))
    return NewRows(model, feature_names, preparation, read, points, taken)


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
