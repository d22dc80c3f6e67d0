"""The options of ``isthmus cluster``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeVar

from isthmus.cli.columns import split_tokens
from isthmus.cli.formats import FORMATS, check_delimiter, listed_endings
from isthmus.metrics.registry import CANONICAL_NAMES, canonical_name, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

# A command cannot be given a function.
METRICS = tuple(name for name in CANONICAL_NAMES if name != "pyfunc")
METHODS = ("cut", "kmeans")
# The options of --method kmeans, and the parameters of TransitiveKMeans that they set. Those that
# are not given are left out of the parsed arguments: the estimator has their defaults.
KMEANS_OPTIONS = {
    "--space": "space",
    "--power": "power",
    "--init": "init",
    "--n-init": "n_init",
    "--max-iter": "max_iter",
    "--seed": "random_state",
}
SPACES = ("rows", "embedding")
INITS = ("cut", "k-means++", "random")
_LARGEST_SEED = 2**32 - 1

T = TypeVar("T")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options, in the order of the help."""
    parser.add_argument(
        "-k",
        "--n-clusters",
        metavar="K",
        type=_integer_or_auto,
        required=True,
        help="the number of clusters; 'auto' finds one and says why",
    )
    _add_input_options(parser.add_argument_group("input"))
    _add_method_options(parser.add_argument_group("method"))
    _add_kmeans_options(
        parser.add_argument_group("with --method kmeans only", argument_default=argparse.SUPPRESS)
    )
    _add_output_options(parser.add_argument_group("output"))


def _add_input_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "input",
        nargs="?",
        metavar="FILE",
        help=f"the table, in the format of its ending ({listed_endings()}); "
        "'-' or nothing reads CSV from standard input",
    )
    group.add_argument(
        "--format", choices=FORMATS, help="the format of the input, whatever its ending"
    )
    group.add_argument(
        "--delimiter",
        metavar="CHAR",
        type=_checked(check_delimiter),
        help="the character between fields, 'tab' or 'space' (default: comma; in TSV: tab)",
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row holds names (default: if it holds something not a number)",
    )
    group.add_argument(
        "--columns",
        metavar="LIST",
        type=_checked(split_tokens),
        help="columns to cluster by: names, positions from 1, ranges: x,y or 1,3-5 (default: all)",
    )
    group.add_argument(
        "--exclude",
        metavar="LIST",
        type=_checked(split_tokens),
        default=(),
        help="columns not to cluster by; they are still written",
    )


def _add_method_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--method",
        choices=METHODS,
        default="cut",
        help="how to find the clusters: cut the best edges of the minimum spanning tree, or run "
        "K-means on its transitive distances, the paper's method (default: %(default)s)",
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        type=_checked(_metric_name),
        default="euclidean",
        help=f"distance between rows: {', '.join(METRICS)}, or what SciPy or scikit-learn calls "
        "one of these (default: %(default)s)",
    )
    group.add_argument("--p", type=_number, help="the exponent of --metric minkowski (default: 2)")
    group.add_argument(
        "--min-cluster-size",
        metavar="N",
        type=_integer(1),
        help="no cluster has fewer rows, so that none is spent on a few outliers",
    )
    group.add_argument(
        "--k-max",
        metavar="N",
        type=_integer(2),
        default=20,
        help="the largest number that '-k auto' considers (default: %(default)s)",
    )
    group.add_argument(
        "--jobs",
        metavar="N",
        type=_n_jobs,
        default=-1,
        help="the number of threads; -1: every core (default: %(default)s)",
    )


def _add_kmeans_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--space",
        choices=SPACES,
        help="where K-means runs: on the rows of the distance matrix, or in the Euclidean space "
        "of the same distances (default: rows)",
    )
    group.add_argument(
        "--power",
        type=_number,
        help="raise transitive distances to this power; below 1 weakens the pull of outliers "
        "(default: 1.0)",
    )
    group.add_argument("--init", choices=INITS, help="where K-means starts (default: cut)")
    group.add_argument(
        "--n-init",
        metavar="N",
        type=_integer_or_auto,
        help="the number of random starts; 'auto' is 10 (default: auto)",
    )
    group.add_argument(
        "--max-iter",
        metavar="N",
        type=_integer(1),
        help="the most iterations of one start (default: 300)",
    )
    group.add_argument(
        "--seed",
        dest="random_state",
        metavar="N",
        type=_integer(0, _LARGEST_SEED),
        help="makes random starts repeatable",
    )


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"where to write, in the format of its ending ({listed_endings()}; .npy holds the "
        "labels alone); '-' or nothing writes CSV to standard output",
    )
    group.add_argument(
        "--labels-only", action="store_true", help="leave out the columns of the input"
    )
    group.add_argument(
        "--label-column",
        metavar="NAME",
        default="cluster",
        help="the name of the column of labels (default: %(default)s)",
    )
    talk = group.add_mutually_exclusive_group()
    talk.add_argument(
        "--json", action="store_true", help="write the summary to standard error as JSON"
    )
    talk.add_argument("--quiet", action="store_true", help="write no summary")


def _checked(check: Callable[[str], T]) -> Callable[[str], T]:
    """Let argparse show the words of a ValueError."""

    def convert(text: str) -> T:
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def _metric_name(text: str) -> str:
    if canonical_name(text) not in METRICS:
        raise ValueError(
            f"unknown metric {text!r}.{suggestion(text)} Known metrics: {', '.join(METRICS)}"
        )
    return text


def _integer(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    def check(text: str) -> int:
        expected = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"expected an integer {expected}, got {text!r}") from None
        if number < minimum or (maximum is not None and number > maximum):
            raise ValueError(f"must be {expected}, got {number}")
        return number

    return _checked(check)


def _integer_or_auto(text: str) -> int | str:
    return text if text == "auto" else _integer(1)(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None


def _n_jobs(text: str) -> int:
    number = _integer(-1)(text)
    if number == 0:
        raise argparse.ArgumentTypeError("must be a number of threads, or -1 for every core, got 0")
    return number
