"""``isthmus cluster``: a table in, the same table with a cluster for each row out."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

from isthmus._utils.parallel import ThreadsRefusedError
from isthmus.cli.cluster_options import KMEANS_OPTIONS, add_options
from isthmus.cli.columns import Selection
from isthmus.cli.errors import UserError, one_line, say
from isthmus.cli.output_file import check_output
from isthmus.cli.read_table import ReadOptions, input_format, read_table
from isthmus.cli.summary import as_json, as_text, summarise
from isthmus.cli.table import Table
from isthmus.cli.write_table import WriteOptions, check_label_column, write_labels
from isthmus.metrics.registry import canonical_name

__all__ = ["DESCRIPTION", "EXAMPLES", "add_options", "run"]

DESCRIPTION = """\
Cluster the rows of a table into K clusters of any shape and write, beside each row, the number
of its cluster: 0 for the largest one, then 1, and so on; -1 for noise, if asked for.
"""

EXAMPLES = """\
examples:
  isthmus cluster points.csv -k 3 -o labelled.csv
  isthmus cluster iris.csv -k 3 --exclude species --metric manhattan -o iris.parquet
  isthmus cluster points.csv -k 3 --noise auto -o labelled.csv
  isthmus cluster embeddings.npy -k 20 --metric cosine --neighbors 30 -o labels.npy
  cat points.csv | isthmus cluster -k 3 --columns 2-4 --labels-only | sort | uniq -c

The table goes to standard output, or to the file of --output; the summary goes to standard
error, as a small table or, with --json, as one JSON object. Exit status: 0 if all went well,
2 if an option or a file was wrong (nothing is written then), 130 if interrupted.
"""


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    read_options = ReadOptions(
        args.format, args.delimiter, args.header, Selection(args.columns, args.exclude)
    )
    input_format(args.input, read_options)
    check_method(args)
    _check_label_column(args)
    write_options = WriteOptions(
        check_output(args.output, args.input), args.label_column, args.labels_only, args.delimiter
    )
    started = time.perf_counter()
    table = read_table(args.input, read_options)
    check_label_column(table, write_options)
    model, warned = fit_table(table, args)
    seconds = time.perf_counter() - started
    write_labels(table, model.labels_, write_options)
    if not args.quiet:
        summary = summarise(args.method, model, table, seconds, warned)
        say(as_json(summary) if args.json else as_text(summary))
    return 0


def check_method(args: argparse.Namespace) -> None:
    """Raise UserError for options that contradict each other."""
    misplaced = [option for option, name in KMEANS_OPTIONS.items() if hasattr(args, name)]
    if misplaced and args.method != "kmeans":
        verb = "belongs" if len(misplaced) == 1 else "belong"
        raise UserError(
            f"{', '.join(misplaced)} {verb} to --method kmeans, not to --method {args.method}."
        )
    if args.p is not None and canonical_name(args.metric) != "minkowski":
        raise UserError(f"--p belongs to --metric minkowski, not to --metric {args.metric}.")
    if args.unit is not None and canonical_name(args.metric) != "haversine":
        raise UserError(f"--unit belongs to --metric haversine, not to --metric {args.metric}.")
    if args.neighborhood is not None and args.neighbors is None:
        raise UserError("--neighborhood says what --neighbors N is for; give both.")


def _check_label_column(args: argparse.Namespace) -> None:
    try:
        args.label_column.encode()
    except UnicodeEncodeError:
        raise UserError(f"--label-column {args.label_column!a} is not valid text.") from None


def _metric_params(args: argparse.Namespace) -> dict[str, Any] | None:
    given = {"p": args.p, "unit": args.unit}
    return {name: value for name, value in given.items() if value is not None} or None


def fit_table(table: Table, args: argparse.Namespace) -> tuple[Any, list[str]]:
    """Return a fitted model, and the warnings of the fit."""
    n_points = len(table.points)
    if args.n_clusters != "auto" and args.n_clusters > n_points:
        raise UserError(
            f"-k asks for {args.n_clusters} clusters, but the input has only {n_points} "
            f"{'row' if n_points == 1 else 'rows'}."
        )
    from isthmus.estimators import TransitiveCut, TransitiveKMeans

    watched = sys.stderr is not None and sys.stderr.isatty()
    parameters: dict[str, Any] = {
        "metric": args.metric,
        "metric_params": _metric_params(args),
        "n_neighbors": args.neighbors,
        "neighborhood": args.neighborhood or "mean",
        "min_cluster_size": args.min_cluster_size,
        "noise": args.noise,
        "k_max": args.k_max,
        "n_jobs": args.jobs,
        "verbose": int(watched and not args.quiet and not getattr(args, "json", False)),
    }
    given = vars(args)
    parameters |= {name: given[name] for name in KMEANS_OPTIONS.values() if name in given}
    estimator = TransitiveKMeans if args.method == "kmeans" else TransitiveCut
    model: Any = estimator(args.n_clusters, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(table.points)
        except (ValueError, ThreadsRefusedError) as error:
            raise UserError(str(error)) from error
    return model, [one_line(warning.message) for warning in caught]
