"""Points and options → a fitted model, and how long it took."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from isthmus._utils.parallel import ThreadsRefusedError
from isthmus._utils.progress import Progress, ProgressBar
from isthmus._utils.typing import Array, Ints
from isthmus.cli.cluster_options import KMEANS_OPTIONS
from isthmus.cli.errors import UserError, one_line
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
    if args.neighborhood is not None and args.neighbors is None:
        raise UserError("--neighborhood says what --neighbors N is for; give both.")


def _links(args: argparse.Namespace) -> dict[str, str | None]:
    return {"--must-link": args.must_link, "--cannot-link": args.cannot_link}


def fit_clusters(
    points: Array, args: argparse.Namespace, stopwatch: Stopwatch, labels: Ints | None = None
) -> Fit:
    """Return a model of the method that was asked for.

    labels : (n_points,) int64, optional
        The clusters that are known, -1 for the others.
    """
    n_points = len(points)
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
    with stopwatch.timed("import"):
        from isthmus.estimators import TransitiveCut, TransitiveKMeans
    parameters = {
        **_shared_parameters(args),
        "min_cluster_size": args.min_cluster_size,
        "noise": args.noise,
        "k_max": args.k_max,
    }
    given = vars(args)
    parameters |= {name: given[name] for name in KMEANS_OPTIONS.values() if name in given}
    estimator = TransitiveKMeans if args.method == "kmeans" else TransitiveCut
    return _fit(estimator(args.n_clusters, **parameters), points, stopwatch, **known)


def fit_tree(points: Array, args: argparse.Namespace, stopwatch: Stopwatch) -> Fit:
    """Return a model of one cluster, for its tree."""
    with stopwatch.timed("import"):
        from isthmus.estimators import TransitiveCut
    return _fit(TransitiveCut(1, **_shared_parameters(args)), points, stopwatch)


def _metric_params(args: argparse.Namespace) -> dict[str, Any] | None:
    given = {"p": args.p, "unit": args.unit}
    return {name: value for name, value in given.items() if value is not None} or None


def _shared_parameters(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "metric": args.metric,
        "metric_params": _metric_params(args),
        "n_neighbors": args.neighbors,
        "neighborhood": args.neighborhood or "mean",
        "n_jobs": args.jobs,
        "verbose": int(is_watched(args)),
    }


def wrong_input(points: Array) -> tuple[type[Exception], ...]:
    """Return what is raised for wrong input; of a table, for values of a wrong type, too."""
    errors = (ValueError, ThreadsRefusedError)
    return (*errors, TypeError) if points.dtype == object else errors


def _fit(model: Any, points: Array, stopwatch: Stopwatch, **known: Array) -> Fit:
    with warnings.catch_warnings(record=True) as caught, stopwatch.timed("fit"):
        warnings.simplefilter("always")
        try:
            model.fit(points, **known)
        except wrong_input(points) as error:
            raise UserError(str(error)) from error
    return Fit(model, [one_line(warning.message) for warning in caught])
