"""``isthmus cluster``: a table in, the same table with a cluster for each row out."""

from __future__ import annotations

import argparse
from typing import Any

from isthmus.cli import out_of_core
from isthmus.cli.cluster_options import add_options
from isthmus.cli.command_table import (
    check_column_options,
    read_command_table,
    write_command_table,
)
from isthmus.cli.errors import UserError, say
from isthmus.cli.explain import as_data, explanations
from isthmus.cli.fit import Stopwatch, check_method, errors_of, fit_clusters, rows_of
from isthmus.cli.known_labels import known_labels
from isthmus.cli.prepare import check_preparation, prepare
from isthmus.cli.read_table import input_format, read_options
from isthmus.cli.save_model import check_model_target, check_names, save_prepared
from isthmus.cli.summary import as_json, as_text, summarise
from isthmus.cli.write_table import NewColumn

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
  isthmus cluster export.xlsx -k 4 --missing drop --scale standard --save model.isthmus
  isthmus cluster embeddings.npy -k 20 --metric cosine --neighbors 30 -o labels.npy
  isthmus cluster folder/ -k 10 --out-of-core --scratch /scratch -o labels.parquet
  cat points.csv | isthmus cluster -k 3 --columns 2-4 --labels-only | sort | uniq -c

The table goes to standard output, or to the file of --output; the summary goes to standard
error, as a small table or, with --json, as one JSON object. All rows are written, in their order;
one that --missing drop leaves out has no cluster (an empty field; -1 in .npy). Exit status: 0 if
all went well, 2 if an option or a file was wrong (nothing is written then), 130 if interrupted.
"""


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    if args.out_of_core:
        check_method(args)
        return out_of_core.run(args)
    if args.scratch is not None:
        raise UserError("--scratch is for --out-of-core; give both.")
    input_format(args.input, read_options(args))  # what is wrong there is said first
    check_method(args)
    check_preparation(args)
    write_options = check_column_options(args)
    model_path = check_model_target(args)
    stopwatch = Stopwatch()
    read = read_command_table(args, read_options(args), stopwatch, write_options)
    if model_path is not None:
        check_names(read.table)
    prepared = prepare(read.table, args)
    labels = known_labels(read.table, prepared, args)
    fit = fit_clusters(prepared, args, stopwatch, labels)
    reasons: list[Any] = []
    if args.explain and not args.quiet:
        names = read.table.selected_names()
        with stopwatch.timed("explaining"), errors_of(rows_of(prepared, names)):
            reasons = explanations(fit.model, read.table, prepared)
    with stopwatch.timed("writing"):
        column = NewColumn(fit.model.labels_, prepared.taken)
        write_command_table(args, read, column, write_options)
        if model_path is not None:
            save_prepared(fit.model, prepared.preparation, model_path)
    if not args.quiet:
        summary = summarise(args.method, fit, read.table, prepared, stopwatch.seconds)
        if args.json:
            explained = {"explanations": [*map(as_data, reasons)]} if args.explain else {}
            say(as_json(summary | {"read": read.taken} | explained))
        else:
            say("\n\n".join([as_text(summary), *map(str, reasons)]))
    return 0
