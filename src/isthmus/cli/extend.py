"""``isthmus extend``: a saved model and new rows in, these rows with their clusters out."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from isthmus._utils.typing import Labels
from isthmus.cli.cluster_options import add_extend_options
from isthmus.cli.command_table import check_column_options, write_command_table
from isthmus.cli.errors import UserError, say
from isthmus.cli.fit import Stopwatch, is_watched, warnings_of
from isthmus.cli.new_rows import NewRows, read_new_rows
from isthmus.cli.save_model import check_model_target, save_model
from isthmus.cli.summary import Summary, as_json, extension_as_text, rounded
from isthmus.cli.write_table import NewColumn

DESCRIPTION = """\
Add the rows of a table to a model that 'isthmus cluster --save' or a model's save() has written.
The model becomes what a fit on all rows, the old ones and then these, would make it, and the rows
of the table are written with their clusters in it. Few new rows cost a fraction of a fit.
"""

EXAMPLES = """\
examples:
  isthmus cluster points.csv -k 3 --save model.isthmus -o labelled.csv
  isthmus extend model.isthmus new.csv --save larger.isthmus -o new_labelled.csv
  isthmus extend model.isthmus new.csv --match-labels --save model.isthmus -o new_labelled.csv
  isthmus predict model.isthmus points.csv -o labelled.csv

The model is changed nowhere but in the file of --save, which may be the same one; a table that is
given twice is added twice. Clusters are numbered from the largest, so those of old rows may change:
the summary counts them, --match-labels keeps the numbers of clusters that persist, and 'isthmus
predict' with the new model labels old rows anew. Columns are found by name, and missing values and
scales treated, as by 'isthmus predict': with the means and spreads of the first fit.

Models that need more than their file holds are refused, and to be fitted again on all rows: those
of --must-link, --cannot-link and --known, of distances, and of weights of 0.
"""

add_options = add_extend_options


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    stopwatch = Stopwatch()
    write_options = check_column_options(args)
    model_path = check_model_target(args)
    check_model = partial(_refuse_what_cannot_grow, args.model)
    new = read_new_rows(args, stopwatch, write_options, check_model)
    if not len(new.points):
        raise UserError("the input has no row to add: each one has a missing value.")
    before = new.model.labels_
    warned = _extend(new, args, stopwatch)
    labels = new.model.labels_
    with stopwatch.timed("writing"):
        column = NewColumn(labels[len(before) :], new.taken)
        write_command_table(args, new.read, column, write_options)
        if model_path is not None:  # last: what has failed before can be done again
            save_model(new.model, model_path)
    if not args.quiet:
        summary = _summary(args, new, before, warned, stopwatch)
        taken = {"read": new.read.taken}
        say(as_json(summary | taken) if args.json else extension_as_text(summary))
    return 0


def _refuse_what_cannot_grow(name: str, model: Any) -> None:
    """Raise UserError for a model, of the file of that name, that extend() refuses."""
    from isthmus.estimators.extension import check_extendable

    try:
        check_extendable(model._record, model.metric)
    except ValueError as error:
        raise UserError(f"{name} cannot be extended: {error}") from error


def _extend(new: NewRows, args: argparse.Namespace, stopwatch: Stopwatch) -> list[str]:
    """Add the rows to the model; return the warnings of the fit."""
    model = new.model
    kept = {name: getattr(model, name) for name in ("n_jobs", "verbose")}
    model.set_params(n_jobs=args.jobs, verbose=int(is_watched(args)))
    with stopwatch.timed("extend"):
        warned = warnings_of(
            lambda: model.extend(new.points, match_labels=args.match_labels), new.rows
        )
    model.set_params(**kept)  # threads and progress are about this run, not about the model
    model._keep(replace(model._record, feature_names=new.feature_names))
    return warned


def _summary(
    args: argparse.Namespace,
    new: NewRows,
    before: Labels,
    warned: list[str],
    stopwatch: Stopwatch,
) -> Summary:
    """Return the figures of one run.

    before : (n_old,) int32
        The clusters of the old rows until now.
    """
    model, labels = new.model, new.model.labels_
    n_old, n_clusters = len(before), model.n_clusters_
    n_changed = int(np.count_nonzero(labels[:n_old] != before))
    hints = []
    if n_changed and not args.match_labels:
        hints.append(
            "clusters are numbered from the largest; --match-labels keeps the numbers of those "
            "that persist."
        )
    summary: Summary = {
        "model": args.model,
        "n_points": len(new.points),
        "n_dropped": new.n_dropped,
        "n_old": n_old,
        "n_changed": n_changed,
        "n_clusters": n_clusters,
        "sizes": np.bincount(labels + 1, minlength=n_clusters + 1)[1:].tolist(),
        "columns": new.read.table.selected_names(),
        "missing": new.preparation.missing,
        "scale": new.preparation.scale,
        "saved": args.save,
        "seconds": rounded(stopwatch.seconds),
        "hints": hints,
        "warnings": warned,
    }
    if hasattr(model, "noise_threshold_"):
        summary["n_noise"] = int(np.count_nonzero(labels == -1))
    return summary
