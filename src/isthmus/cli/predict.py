"""``isthmus predict``: a saved model and a table in, the table with a cluster for each row out."""

from __future__ import annotations

import argparse

import numpy as np

from isthmus._utils.typing import Labels
from isthmus.cli.cluster_options import add_predict_options
from isthmus.cli.command_table import check_column_options, write_command_table
from isthmus.cli.errors import say
from isthmus.cli.fit import Stopwatch, errors_of, is_watched
from isthmus.cli.new_rows import NewRows, read_new_rows
from isthmus.cli.summary import as_json, predictions_as_text, rounded
from isthmus.cli.write_table import NewColumn

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


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    stopwatch = Stopwatch()
    write_options = check_column_options(args)
    new = read_new_rows(args, stopwatch, write_options)
    labels = _predict(new, args, stopwatch)
    with stopwatch.timed("writing"):
        write_command_table(args, new.read, NewColumn(labels, new.taken), write_options)
    if not args.quiet:
        n_clusters = new.model.n_clusters_
        summary = {
            "model": args.model,
            "n_points": len(labels),
            "n_dropped": new.n_dropped,
            "n_clusters": n_clusters,
            "sizes": np.bincount(labels + 1, minlength=n_clusters + 1)[1:].tolist(),
            "columns": new.read.table.selected_names(),
            "missing": new.preparation.missing,
            "scale": new.preparation.scale,
            "seconds": rounded(stopwatch.seconds),
        }
        if hasattr(new.model, "noise_threshold_"):
            summary["n_noise"] = int((labels == -1).sum())
        taken = {"read": new.read.taken}
        say(as_json(summary | taken) if args.json else predictions_as_text(summary))
    return 0


def _predict(new: NewRows, args: argparse.Namespace, stopwatch: Stopwatch) -> Labels:
    """Return the labels of new rows."""
    labels: Labels = np.empty(0, dtype=np.int32)
    with errors_of(new.rows):
        new.model.set_params(n_jobs=args.jobs, verbose=int(is_watched(args)))
        with stopwatch.timed("predict"):
            if len(new.points):
                labels = new.model.predict(new.points)
    return labels
