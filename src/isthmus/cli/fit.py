"""Points and options → a fitted model, and how long it took."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from isthmus._utils.interrupts import interrupt_held_back
from isthmus._utils.parallel import ThreadsRefusedError
from isthmus._utils.progress import Progress, ProgressBar
from isthmus._utils.typing import Array, Ints
from isthmus.cli.cluster_options import KMEANS_OPTIONS
from isthmus.cli.errors import UserError, from_library, one_line
from isthmus.cli.mixed_columns import with_names
from isthmus.cli.prepare import Prepared
from isthmus.cli.row_pairs import read_pairs
from isthmus.metrics.registry import canonical_name


class Fit(NamedTuple):
    """A fitted model, and the warnings of the fit."""

    model: Any
    warned: list[str]


class Stopwatch:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Measure what is done meanwhile."""
        started = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Measure the imports that are done meanwhile; Ctrl-C waits for their end."""
        with self.timed("import"), interrupt_held_back():
            yield


def is_watched(args: argparse.Namespace) -> bool:
    """Whether somebody looks at a terminal and wants to see progress."""
    watched = sys.stderr is not None and sys.stderr.isatty()
    return watched and not args.quiet and not getattr(args, "json", False)


def bar_for(stage: str, args: argparse.Namespace) -> Progress | None:
    """Return what shows the progress of a stage; None where nobody looks."""
    return ProgressBar(stage) if is_watched(args) else None


def check_method(args: argparse.Namespace) -> None:
    """Raise UserError for options that contradict each other."""
    misplaced = [option for option, name in KMEANS_OPTIONS.items() if hasattr(args, name)]
    if misplaced and args.method != "kmeans":
        verb = "belongs" if len(misplaced) == 1 else "belong"
        raise UserError(
            f"{', '.join(misplaced)} {verb} to --method kmeans, not to --method {args.method}."
        )
    for option, given in (("--cannot-link", args.cannot_link), ("--known", args.known)):
        if given is not None and args.method == "kmeans":
            raise UserError(f"{option} belongs to --method cut, not to --method kmeans.")
    for option, path in _links(args).items():
        if path is not None and args.missing == "drop":
            raise UserError(
                f"{option} counts all rows of the table, and --missing drop drops some."
            )
    check_metric(args)


def check_metric(args: argparse.Namespace) -> None:
    """Raise UserError for options of distances that contradict each other."""
    if args.p is not None and canonical_name(args.metric) != "minkowski":
        raise UserError(f"--p belongs to --metric minkowski, not to --metric {args.metric}.")
    if args.unit is not None and canonical_name(args.metric) != "haversine":
        raise UserError(f"--unit belongs to --metric haversine, not to --metric {args.metric}.")
    if args.column_weight and canonical_name(args.metric) != "gower":
        raise UserError(
            f"--column-weight belongs to --metric gower, not to --metric {args.metric}."
        )
    if args.neighborhood is not None and args.neighbors is None:
        raise UserError("--neighborhood says what --neighbors N is for; give both.")


def _links(args: argparse.Namespace) -> dict[str, str | None]:
    return {"--must-link": args.must_link, "--cannot-link": args.cannot_link}


def fit_clusters(
    prepared: Prepared, args: argparse.Namespace, stopwatch: Stopwatch, labels: Ints | None = None
) -> Fit:
    """Return a model of the method that was asked for.

    labels : (n_points,) int64, optional
        The clusters that are known, -1 for the others.
    """
    n_points = len(prepared.points)
    if args.n_clusters != "auto" and args.n_clusters > n_points:
        raise UserError(
            f"-k asks for {args.n_clusters} clusters, but the input has only {n_points} "
            f"{'row' if n_points == 1 else 'rows'}."
        )
    known: dict[str, Array] = {} if labels is None else {"partial_labels": labels}
    known |= {
        option[2:].replace("-", "_"): read_pairs(path, option, n_points)
        for option, path in _links(args).items()
        if path is not None
    }
    with stopwatch.importing():
        from isthmus.estimators import TransitiveCut, TransitiveKMeans
    parameters = {
        **_shared_parameters(prepared, args),
        "min_cluster_size": args.min_cluster_size,
        "noise": args.noise,
        "k_max": args.k_max,
    }
    given = vars(args)
    parameters |= {name: given[name] for name in KMEANS_OPTIONS.values() if name in given}
    estimator = TransitiveKMeans if args.method == "kmeans" else TransitiveCut
    model = estimator(args.n_clusters, **parameters)
    return _fit(model, prepared, stopwatch, **known)


def fit_tree(prepared: Prepared, args: argparse.Namespace, stopwatch: Stopwatch) -> Fit:
    """Return a model of one cluster, for its tree."""
    with stopwatch.importing():
        from isthmus.estimators import TransitiveCut
    model = TransitiveCut(1, **_shared_parameters(prepared, args))
    return _fit(model, prepared, stopwatch)


def _metric_params(prepared: Prepared, args: argparse.Namespace) -> dict[str, Any] | None:
    weights = None if prepared.weights is None else list(prepared.weights)
    given = {"p": args.p, "unit": args.unit, "w": weights}
    return {name: value for name, value in given.items() if value is not None} or None


def _shared_parameters(prepared: Prepared, args: argparse.Namespace) -> dict[str, Any]:
    return {
        "metric": args.metric,
        "metric_params": _metric_params(prepared, args),
        "n_neighbors": args.neighbors,
        "neighborhood": args.neighborhood or "mean",
        "n_jobs": args.jobs,
        "verbose": int(is_watched(args)),
    }


def wrong_input(points: Array) -> tuple[type[Exception], ...]:
    """Return what is raised for wrong input; of a table, for values of a wrong type, too."""
    errors = (ValueError, ThreadsRefusedError)
    return (*errors, TypeError) if points.dtype == object else errors


class Rows(NamedTuple):
    """Rows that the library is given, and what its messages do not know of them."""

    points: Array
    names: Sequence[str] | None = None  # of the columns
    known_names: Sequence[str] = ()  # what the library calls them
    some_left_out: bool = False  # whether the table has rows that are not among these


@contextmanager
def errors_of(rows: Rows) -> Iterator[None]:
    """Raise UserError for what the library says is wrong with rows."""
    try:
        yield
    except wrong_input(rows.points) as error:
        told = str(from_library(error, some_left_out=rows.some_left_out))
        raise UserError(with_names(told, rows.names, rows.known_names)) from error


def warnings_of(work: Callable[[], object], rows: Rows) -> list[str]:
    """Do work on rows, and return its warnings; UserError for what is wrong with the rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with errors_of(rows):
            work()
    return [one_line(warning.message) for warning in caught]


def rows_of(prepared: Prepared, shown_names: Sequence[str] = ()) -> Rows:
    """Return what is fitted, for messages.

    shown_names : sequence of str
        The names of the columns, where the library was told them.
    """
    some_left_out = prepared.n_dropped > 0
    return Rows(prepared.points, prepared.preparation.columns, shown_names, some_left_out)


def _fit(model: Any, prepared: Prepared, stopwatch: Stopwatch, **known: Array) -> Fit:
    with stopwatch.timed("fit"):
        warned = warnings_of(lambda: model.fit(prepared.points, **known), rows_of(prepared))
    return Fit(model, warned)
