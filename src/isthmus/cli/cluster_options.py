"""The options of the commands that read tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from isthmus.cli.column_options import split_tokens
from isthmus.cli.column_weights import parse_column_weight
from isthmus.cli.formats import (
    FORMATS,
    LISTED_COMPRESSIONS,
    LISTED_ENDINGS,
    WRITTEN_ENDINGS,
    check_decimal,
    check_delimiter,
    check_encoding,
)
from isthmus.cli.out_of_core import add_out_of_core_options
from isthmus.metrics.preparation import MISSING, SCALES
from isthmus.metrics.registry import CANONICAL_NAMES, canonical_name, suggestion
from isthmus.metrics.sphere import UNITS
from isthmus.neighbors.neighborhood_parameters import KINDS as NEIGHBORHOODS
from isthmus.noise.threshold import check_noise

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
_OUTPUT = (
    f"where to write, in the format of its ending ({WRITTEN_ENDINGS}; .npy holds the {{}} alone), "
    f"compressed if {LISTED_COMPRESSIONS} follows; '-' or nothing writes CSV to standard output"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options, in the order of the help."""
    number = "the number of clusters; 'auto' finds one and says why"
    _add(parser, "-k --n-clusters", number, metavar="K", type=_integer_or_auto, required=True)
    _add_input_options(parser.add_argument_group("input"))
    _add_preparation_options(parser.add_argument_group("preparation"))
    _add_method_options(parser.add_argument_group("method"))
    _add_kmeans_options(
        parser.add_argument_group("with --method kmeans only", argument_default=argparse.SUPPRESS)
    )
    output = parser.add_argument_group("output")
    _add_output_options(output)
    model = "also keep the fitted model, for 'isthmus predict' and for Python; .isthmus is usual"
    _add(output, "--save", model, metavar="MODEL")
    why = (
        "also say why each cluster is one: the columns in which it differs most, a rule that tells "
        "it from the others, typical rows and the nearest cluster; rows are counted from 1"
    )
    _add(output, "--explain", why, action="store_true")
    add_out_of_core_options(parser.add_argument_group("tables that are larger than memory"))


def add_predict_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isthmus predict``."""
    _add(parser, "model", "the model, a file of --save or of a model's save()", metavar="MODEL")
    _add_input_options(parser.add_argument_group("input"))
    _add_jobs(parser.add_argument_group("method"))
    _add_output_options(parser.add_argument_group("output"))


def add_extend_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isthmus extend``."""
    _add(parser, "model", "the model, a file of --save or of a model's save()", metavar="MODEL")
    _add_input_options(parser.add_argument_group("input"))
    method = parser.add_argument_group("method")
    keep = "let a cluster keep its number where it persists, so that as many old rows as possible "
    keep += "keep theirs (default: clusters are numbered from the largest)"
    _add(method, "--match-labels", keep, action="store_true")
    _add_jobs(method)
    output = parser.add_argument_group("output")
    _add_output_options(output)
    model = "keep the extended model in this file, which may be the one that was read (default: it "
    model += "is not kept)"
    _add(output, "--save", model, metavar="MODEL")


def add_outliers_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isthmus outliers``."""
    _add_input_options(parser.add_argument_group("input"))
    _add_preparation_options(parser.add_argument_group("preparation"))
    method = parser.add_argument_group("method")
    _add_metric_options(method)
    _add_jobs(method)
    output = parser.add_argument_group("output")
    _add_output_options(output, "score", "outlier_score")


def add_explore_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isthmus explore``: those that cluster, and those of the page."""
    number = "the number of clusters that is shown first (default: auto, which finds one)"
    _add(parser, "-k --n-clusters", number, metavar="K", type=_integer_or_auto, default="auto")
    _add_input_options(parser.add_argument_group("input"))
    _add_preparation_options(parser.add_argument_group("preparation"))
    _add_method_options(parser.add_argument_group("method"))
    _add_kmeans_options(
        parser.add_argument_group("with --method kmeans only", argument_default=argparse.SUPPRESS)
    )
    add, columns = partial(_add, parser.add_argument_group("page")), _checked(split_tokens)
    page = "the page to write (default: %(default)s)"
    add("-o --output", page, metavar="FILE", default="isthmus.html")
    drawn = "the two columns to draw first (default: the only two, or principal components)"
    add("--coordinates", drawn, metavar="X,Y", type=columns)
    add("--hover", "columns to show for the row under the pointer", metavar="LIST", type=columns)
    most = "the most points to draw; of more rows a sample is shown (default: %(default)s)"
    add("--max-points", most, metavar="N", type=_integer(1), default=100_000)
    add("--title", "the title of the page (default: the name of the table)", metavar="TEXT")
    add("--quiet", "say nothing", action="store_true")


def _add(group: argparse._ActionsContainer, names: str, text: str, **settings: Any) -> None:
    group.add_argument(*names.split(), help=text, **settings)


def _add_input_options(group: argparse._ArgumentGroup) -> None:
    add, columns = partial(_add, group), _checked(split_tokens)
    table = f"the table, in the format of its ending ({LISTED_ENDINGS}), compressed if "
    table += f"{LISTED_COMPRESSIONS} follows; '-' or nothing reads CSV from standard input"
    add("input", table, nargs="?", metavar="FILE")
    add("--format", "the format of the input, whatever its ending", choices=FORMATS)
    add(
        "--delimiter",
        "the character between fields, 'tab' or 'space' (default: in TSV tab; in other text what "
        "the first rows show: comma, semicolon, tab, bar or space)",
        metavar="CHAR",
        type=_checked(check_delimiter),
    )
    decimal = "the decimal separator of text: 'point' or 'comma' (default: what the rows show)"
    add("--decimal", decimal, metavar="CHAR", type=_checked(check_decimal))
    encoding = "the encoding of text, such as cp1252 (default: utf-8, or utf-16 by its first bytes)"
    add("--encoding", encoding, metavar="NAME", type=_checked(check_encoding))
    add("--sheet", "the sheet of an Excel workbook (default: the first)", metavar="NAME")
    header = "whether the first row holds names (default: if it holds something not a number)"
    add("--header", header, action=argparse.BooleanOptionalAction)
    chosen = "columns to cluster by: names, positions from 1, ranges: x,y or 1,3-5 (default: all)"
    add("--columns", chosen, metavar="LIST", type=columns)
    left_out = "columns not to cluster by; they are still written"
    add("--exclude", left_out, metavar="LIST", type=columns, default=())


def _add_preparation_options(group: argparse._ArgumentGroup) -> None:
    missing = "rows with missing values: refuse them, leave them out (they are written without a "
    missing += "cluster), fill in the mean of the column, or compare the values that are there "
    missing += "(default: error)"
    _add(group, "--missing", missing, choices=MISSING)
    scale = "columns: as they are; less the mean, divided by the standard deviation; or less the "
    scale += "median, divided by the range between the quartiles (default: none)"
    _add(group, "--scale", scale, choices=SCALES)


def _add_method_options(group: argparse._ArgumentGroup) -> None:
    add = partial(_add, group)
    add(
        "--method",
        "how to find the clusters: cut the best edges of the minimum spanning tree, or run "
        "K-means on its transitive distances, the paper's method (default: %(default)s)",
        choices=METHODS,
        default="cut",
    )
    _add_metric_options(group)
    smallest = "no cluster has fewer rows, so that none is spent on a few outliers"
    add("--min-cluster-size", smallest, metavar="N", type=_integer(1))
    noise = "rows that are noise get the label -1: 'auto' finds them; a number between 0 and 1 is "
    noise += "the largest share of rows that may be noise, 'score:0.7' those of an outlier score "
    noise += "above 0.7 (default: no row)"
    add("--noise", noise, metavar="HOW", type=_checked(_noise))
    pairs = "a file with two row numbers a line, counted from 1: rows that belong "
    add("--must-link", pairs + "to one cluster", metavar="FILE")
    add("--cannot-link", pairs + "to two clusters (not with --method kmeans)", metavar="FILE")
    known = "a column that names the cluster of rows whose cluster is known, and is empty in all "
    known += "others; rows are not clustered by it (not with --method kmeans)"
    add("--known", known, metavar="COLUMN")
    largest = "the largest number that '-k auto', and the page, considers (default: %(default)s)"
    add("--k-max", largest, metavar="N", type=_integer(2), default=20)
    _add_jobs(group)


def _add_metric_options(group: argparse._ArgumentGroup) -> None:
    add = partial(_add, group)
    add(
        "--metric",
        f"distance between rows: {', '.join(METRICS)}, or what SciPy or scikit-learn calls "
        "one of these (default: %(default)s)",
        metavar="NAME",
        type=_checked(_metric_name),
        default="euclidean",
    )
    add("--p", "the exponent of --metric minkowski (default: 2)", type=_number)
    unit = "the unit of latitude and longitude with --metric haversine (default: radians)"
    add("--unit", unit, choices=UNITS)
    weight = "with --metric gower: how much a column counts, such as age=2; 0 is not at all (given "
    weight += "once for each column; default: 1)"
    weights = {"metavar": "COLUMN=W", "action": "append", "type": _checked(parse_column_weight)}
    add("--column-weight", weight, **weights)
    neighbors = "cluster by neighbourhoods of N rows, the row itself included; 20 to 50 serve "
    neighbors += "tables, images and embeddings (default: by single rows)"
    add("--neighbors", neighbors, metavar="N", type=_integer(1))
    kind = "with --neighbors: replace each row by the mean of its neighbourhood, or multiply "
    kind += "distances by those of the neighbourhoods (default: mean)"
    add("--neighborhood", kind, choices=NEIGHBORHOODS)


def _add_jobs(group: argparse._ArgumentGroup) -> None:
    threads = "the number of threads; -1: every core (default: %(default)s)"
    _add(group, "--jobs", threads, metavar="N", type=_n_jobs, default=-1)


def _add_kmeans_options(group: argparse._ArgumentGroup) -> None:
    add = partial(_add, group)
    add(
        "--space",
        "where K-means runs: on the rows of the distance matrix, or in the Euclidean space "
        "of the same distances (default: rows)",
        choices=SPACES,
    )
    add(
        "--power",
        "raise transitive distances to this power; below 1 weakens the pull of outliers "
        "(default: 1.0)",
        type=_number,
    )
    add("--init", "where K-means starts (default: cut)", choices=INITS)
    starts = "the number of random starts; 'auto' is 10 (default: auto)"
    add("--n-init", starts, metavar="N", type=_integer_or_auto)
    iterations = "the most iterations of one start (default: 300)"
    add("--max-iter", iterations, metavar="N", type=_integer(1))
    seed = {"dest": "random_state", "metavar": "N", "type": _integer(0, _LARGEST_SEED)}
    add("--seed", "makes random starts repeatable", **seed)


def _add_output_options(
    group: argparse._ArgumentGroup, what: str = "label", column: str = "cluster"
) -> None:
    _add(group, "-o --output", _OUTPUT.format(f"{what}s"), metavar="FILE")
    _add(group, f"--{what}s-only", "leave out the columns of the input", action="store_true")
    name = f"the name of the column of {what}s (default: %(default)s)"
    _add(group, f"--{what}-column", name, metavar="NAME", default=column)
    talk = group.add_mutually_exclusive_group()
    _add(talk, "--json", "write the summary to standard error as JSON", action="store_true")
    _add(talk, "--quiet", "write no summary", action="store_true")


def _checked(check: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse show the words of a ValueError."""

    def convert(text: str) -> Any:
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def _metric_name(text: str) -> str:
    if canonical_name(text) not in METRICS:
        advice = suggestion(text)
        if "'pyfunc'" in advice:  # which is for Python
            advice = ""
        raise ValueError(f"unknown metric {text!r}.{advice} Known metrics: {', '.join(METRICS)}")
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


def _noise(text: str) -> str | float | tuple[str, float]:
    kind, colon, threshold = text.partition(":")
    try:
        noise: Any = (kind, float(threshold)) if colon else text if text == "auto" else float(text)
        check_noise(noise)
    except ValueError:
        raise ValueError(
            "expected 'auto', a share of rows between 0 and 1, or 'score:' and a threshold from 0 "
            f"to below 1, such as score:0.7; got {text!r}"
        ) from None
    return noise  # type: ignore[no-any-return]


def _n_jobs(text: str) -> int:
    number = _integer(-1)(text)
    if number == 0:
        raise argparse.ArgumentTypeError("must be a number of threads, or -1 for every core, got 0")
    return number
