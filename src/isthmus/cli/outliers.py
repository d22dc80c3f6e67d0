"""``isthmus outliers``: a table in, the same table with an outlier score for each row out."""

from __future__ import annotations

import argparse

import numpy as np

from isthmus.cli.cluster_options import add_outliers_options
from isthmus.cli.command_table import (
    check_column_options,
    read_command_table,
    write_command_table,
)
from isthmus.cli.errors import say
from isthmus.cli.fit import Stopwatch, check_metric, fit_tree
from isthmus.cli.prepare import check_preparation, prepare
from isthmus.cli.read_table import input_format, read_options
from isthmus.cli.summary import as_json, rounded, scores_as_text
from isthmus.cli.write_table import NewColumn

DESCRIPTION = """\
Score how much of an outlier each row of a table is, from 0 to 1: near 0 for a row that is as close
to others as these are to each other, near 1 for one far from all others. 0.5 is a row at twice the
usual distance.
"""

EXAMPLES = """\
examples:
  isthmus outliers points.csv -o scored.csv
  isthmus outliers iris.csv --exclude species --scale robust --scores-only -o scores.npy

The scores come from the minimum spanning tree of the rows and need no number of clusters. Rows
that --missing drop leaves out are written without a score (an empty field; NaN in .npy).
"""

add_options = add_outliers_options
_LISTED = 5


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    input_format(args.input, read_options(args))  # what is wrong there is said first
    check_metric(args)
    check_preparation(args)
    write_options = check_column_options(args, "--score-column", "--scores-only")
    stopwatch = Stopwatch()
    read = read_command_table(args, read_options(args), stopwatch, write_options)
    prepared = prepare(read.table, args)
    fit = fit_tree(prepared, args, stopwatch)
    with stopwatch.timed("fit"):
        scores = fit.model.outlier_scores_
    with stopwatch.timed("writing"):
        write_command_table(args, read, NewColumn(scores, prepared.taken), write_options)
    if not args.quiet:
        rows = np.arange(len(scores)) if prepared.taken is None else np.flatnonzero(prepared.taken)
        most = np.argsort(-scores, kind="stable")[:_LISTED]
        summary = {
            "n_points": len(scores),
            "n_dropped": prepared.n_dropped,
            "columns": read.table.selected_names(),
            "metric": args.metric,
            "missing": prepared.preparation.missing,
            "scale": prepared.preparation.scale,
            "highest": [
                {"row": int(rows[i]) + 1, "score": float(scores[i])} for i in most.tolist()
            ],
            "seconds": rounded(stopwatch.seconds),
            "hints": [] if prepared.hint is None else [prepared.hint],
            "warnings": fit.warned,
        }
        say(as_json(summary | {"read": read.taken}) if args.json else scores_as_text(summary))
    return 0
