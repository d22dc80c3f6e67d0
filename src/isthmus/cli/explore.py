"""``isthmus explore``: a table in, a page on which to see its clusters out."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from isthmus.cli.cluster_options import add_explore_options
from isthmus.cli.command_table import read_command_table
from isthmus.cli.errors import UserError, say
from isthmus.cli.fit import Stopwatch, check_method, errors_of, fit_clusters, rows_of
from isthmus.cli.known_labels import known_labels
from isthmus.cli.output_file import Output, check_target, files_read, open_output
from isthmus.cli.prepare import check_preparation, prepare
from isthmus.cli.read_table import input_format, read_options
from isthmus.cli.shown_columns import columns_to_show
from isthmus.explorer.axes import check_coordinates
from isthmus.explorer.figure import require_bokeh

DESCRIPTION = """\
Cluster the rows of a table and write a page on which to look at the clusters: the points, a slider
for their number, a dendrogram, the evidence for each number, and a table of the clusters. The page
is one HTML file that needs no network.
"""

EXAMPLES = """\
examples:
  isthmus explore points.csv
  isthmus explore iris.csv --exclude species --hover species -o iris.html
  isthmus explore embeddings.npy --metric cosine --neighbors 30 -k 20 -o embeddings.html
"""

add_options = add_explore_options


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    input_format(args.input, read_options(args))  # what is wrong there is said first
    check_method(args)
    check_preparation(args)
    path = check_page(args.output, *files_read(args))
    if args.coordinates is not None and len(args.coordinates) != 2:
        raise UserError(f"--coordinates must name two columns, got {len(args.coordinates)}.")
    title = _title(args)
    stopwatch = Stopwatch()
    table = read_command_table(args, read_options(args), stopwatch).table
    prepared = prepare(table, args)
    shown = columns_to_show(table, prepared, args.hover, args.input or "standard input")
    if not shown.names:
        raise UserError(
            "no column to cluster by holds numbers, which the page draws. Add one with --columns; "
            "with --metric gower, --column-weight COLUMN=0 draws a column that counts for nothing."
        )
    try:
        check_coordinates(args.coordinates, shown)
    except ValueError as error:
        raise UserError(f"--coordinates: {error}") from error
    labels = known_labels(table, prepared, args)
    model, warned = fit_clusters(prepared, args, stopwatch, labels)
    for warning in () if args.quiet else warned:
        say(f"isthmus: warning: {warning}")
    if prepared.hint and not args.quiet:
        say(f"isthmus: hint: {prepared.hint}")
    with errors_of(rows_of(prepared, table.selected_names())):
        page = model.explore(
            shown,
            coordinates=args.coordinates,
            hover=list(shown.texts),
            k_max=args.k_max,
            max_points=args.max_points,
            title=title,
        )
        content = page.html.encode()
    with open_output(Output(path, "html")) as stream:
        stream.write(content)
    if not args.quiet:
        size = path.stat().st_size / 1e6
        say(f"{page.data.clustering.n_rows} rows, {model.n_clusters_} clusters at first")
        say(f"page: {args.output} ({size:.1f} MB); open it in a browser")
    return 0


def _title(args: argparse.Namespace) -> str | None:
    """Return the title of the page: by default the name of the table, as text."""
    if args.title:
        try:
            args.title.encode()
        except UnicodeEncodeError:
            raise UserError(f"--title {args.title!a} is not valid text.") from None
        return str(args.title)
    if not args.input:
        return None
    return os.fsencode(Path(args.input).name).decode(errors="backslashreplace")


def check_page(name: str, *not_these: str | None) -> Path:
    """Return where to write a page, none of these files, or say why it cannot be written."""
    try:
        require_bokeh()
    except ImportError as error:
        raise UserError(str(error)) from error
    if Path(os.path.realpath(name)).suffix.lower() not in (".html", ".htm"):
        raise UserError(f"cannot write {name}: the page is HTML, so name it *.html.")
    return check_target(name, *not_these)
