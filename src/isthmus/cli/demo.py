"""``isthmus demo``: cluster four data sets beside K-means, print a table, draw a picture."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans

from isthmus._utils.tables import text_table
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.cli.errors import UserError
from isthmus.cli.explore import check_page
from isthmus.cli.output_file import Output, check_target, open_output, print_lines
from isthmus.datasets import load_ionosphere, load_iris, make_multi_scale, make_two_moons
from isthmus.estimators import TransitiveCut, TransitiveKMeans
from isthmus.evaluation import error_rate, match_labels
from isthmus.explorer.user_table import Columns
from isthmus.plotting import plot_clusters, plot_spanning_tree, require_matplotlib
from isthmus.spanning_tree import SpanningTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DESCRIPTION = """\
Cluster two moons, a multi-scale set, Iris and Ionosphere by TransitiveCut,
the paper's TransitiveKMeans and K-means; print a table and draw the first
two.
"""
EXAMPLES = None
_SEED = 0
_METHODS = ("TransitiveCut", "TransitiveKMeans", "K-means")
_HEADINGS = ("data set", "n", "k", "sizes of clusters", *_METHODS, "time")
_NOTES = (
    "Below the three methods: the share of points in the wrong cluster, where clusters are matched",
    "with classes one to one. TransitiveKMeans is the paper's method, K-means is scikit-learn's.",
    "Sizes and time are those of TransitiveCut, the time that of a second fit: the first one on a",
    "machine compiles.",
)


@dataclass(frozen=True)
class Example:
    """A data set, its true classes, and whether it can be drawn."""

    name: str
    X: Floats
    y: Ints
    in_picture: bool = False

    @property
    def n_clusters(self) -> int:
        """The number of classes, which all methods are told."""
        return len(np.unique(self.y))


@dataclass(frozen=True)
class Outcome:
    """What the methods made of an example: ``TransitiveCut``, the paper's, and K-means."""

    example: Example
    labels: Array
    error: float
    seconds: float
    spanning_tree: SpanningTree
    paper_error: float
    kmeans_labels: Array
    kmeans_error: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add, picture = parser.add_argument, "the picture to write, a PNG (default: %(default)s)"
    add("-o", "--output", type=Path, default=Path("isthmus-demo.png"), metavar="FILE", help=picture)
    add("--no-picture", action="store_true", help="print the table only")
    page = "also write an explorer page of Iris, one HTML file to open in a browser"
    add("--page", type=Path, metavar="FILE", help=page)


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    path = Path(os.path.realpath(args.output))  # a link stays a link
    if not args.no_picture:
        _check_can_draw(args.output)
    page = None if args.page is None else check_page(str(args.page))
    outcomes = [compare(example) for example in examples()]
    print_lines([*table(outcomes), "", *_NOTES])
    if not args.no_picture:
        with open_output(Output(path, "png")) as stream:
            draw(outcomes).savefig(stream, format="png")
        print_lines([f"picture: {args.output}"])
    if page is not None:
        write_page(page)
        print_lines([f"page:    {args.page} (open it in a browser: file://{page})"])
    return 0


def write_page(path: Path) -> None:
    """Write an explorer page of Iris."""
    iris = load_iris()
    species = {"species": [str(iris.target_names[kind]) for kind in iris.target]}
    columns = Columns(len(iris.data), list(iris.feature_names), iris.data, species)
    model = TransitiveCut("auto").fit(iris.data)
    page = model.explore(columns, hover=["species"], title="Iris, clustered by isthmus")
    with open_output(Output(path, "html")) as stream:
        stream.write(page.html.encode())


def examples() -> list[Example]:
    """Return the data sets of the demo, the same ones every time."""
    return [
        Example("two moons", *make_two_moons(random_state=_SEED), in_picture=True),
        Example("multi-scale", *make_multi_scale(random_state=_SEED), in_picture=True),
        Example("Iris", *load_iris(return_X_y=True)),
        Example("Ionosphere", *load_ionosphere(return_X_y=True)),
    ]


def compare(example: Example) -> Outcome:
    """Cluster an example with all methods."""
    k = example.n_clusters
    estimator = TransitiveCut(k)
    estimator.fit(example.X)
    start = time.perf_counter()
    estimator.fit(example.X)
    seconds = time.perf_counter() - start
    paper_labels = TransitiveKMeans(k).fit_predict(example.X)
    kmeans_labels = KMeans(k, n_init=10, random_state=_SEED).fit_predict(example.X)
    return Outcome(
        example=example,
        labels=estimator.labels_,
        error=error_rate(example.y, estimator.labels_),
        seconds=seconds,
        spanning_tree=estimator.spanning_tree_,
        paper_error=error_rate(example.y, paper_labels),
        kmeans_labels=kmeans_labels,
        kmeans_error=error_rate(example.y, kmeans_labels),
    )


def table(outcomes: list[Outcome]) -> list[str]:
    """Return the lines of a table, one for each outcome below the headings."""
    return text_table(_HEADINGS, [_cells(outcome) for outcome in outcomes])


def draw(outcomes: list[Outcome]) -> Figure:
    """Return a figure with a row for each outcome that is to be drawn."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    drawn = [outcome for outcome in outcomes if outcome.example.in_picture]
    sides = [np.ptp(outcome.example.X, axis=0) for outcome in drawn]
    # in inches: panels as wide as the figure allows, and their titles
    heights = [float(4.4 * height / width + 0.7) for width, height in sides]
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    figure = Figure(figsize=(14, sum(heights)), dpi=100, layout=layout)
    grid = figure.subplots(len(drawn), 3, squeeze=False, height_ratios=heights)
    for axes, outcome in zip(grid, drawn, strict=True):
        _draw_row(axes, outcome)
    return figure


def _cells(outcome: Outcome) -> tuple[str, ...]:
    example = outcome.example
    sizes = sorted(np.unique(outcome.labels, return_counts=True)[1].tolist(), reverse=True)
    return (
        example.name,
        str(len(example.X)),
        str(example.n_clusters),
        " + ".join(map(str, sizes)),
        f"{outcome.error:.3f}",
        f"{outcome.paper_error:.3f}",
        f"{outcome.kmeans_error:.3f}",
        f"{1000 * outcome.seconds:.1f} ms",
    )


def _draw_row(axes: Array, outcome: Outcome) -> None:
    example = outcome.example
    # Renamed to the classes, so that colours mean the same in all panels of the row.
    ours = match_labels(example.y, outcome.labels)
    theirs = match_labels(example.y, outcome.kmeans_labels)
    plot_clusters(example.X, theirs, ax=axes[0])
    plot_spanning_tree(example.X, outcome.spanning_tree, labels=ours, ax=axes[1])
    plot_clusters(example.X, ours, ax=axes[2])
    axes[0].set_ylabel(example.name, fontsize=15)
    titles = (
        f"K-means: error {outcome.kmeans_error:.3f}",
        "minimum spanning tree, cut edges dashed",
        f"TransitiveCut: error {outcome.error:.3f}",
    )
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title, fontsize=14)
        panel.spines[:].set_color("#BBBBBB")


def _check_can_draw(output: Path) -> None:
    """Refuse, before any work, a picture that could not be drawn or written."""
    try:
        require_matplotlib()
    except ImportError as error:
        raise UserError(f"{error} (or leave the picture out with --no-picture)") from error
    if output.suffix.lower() != ".png":
        raise UserError(f"cannot write {output}: the picture is a PNG, so name it *.png.")
    check_target(str(output))
