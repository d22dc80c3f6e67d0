"""What a clustering came to, for people or for programs."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

import numpy as np

from isthmus._utils.tables import count
from isthmus.cli.fit import Fit
from isthmus.cli.prepare import Prepared
from isthmus.cli.table import Table

Summary: TypeAlias = dict[str, Any]
_LISTED_SIZES, _LISTED_COLUMNS = 20, 6


def summarise(
    method: str, fit: Fit, table: Table, prepared: Prepared, seconds: dict[str, float]
) -> Summary:
    """Return the figures of one run.

    seconds : dict of str to float
        How long each stage took: the fit apart from importing, reading and writing.
    """
    model = fit.model
    n_points, n_features = prepared.points.shape
    summary = {
        "n_points": n_points,
        "n_features": n_features,
        "n_clusters": model.n_clusters_,
        "sizes": np.bincount(model.labels_ + 1, minlength=model.n_clusters_ + 1)[1:].tolist(),
        "method": method,
        "metric": model.metric,
        "n_dropped": prepared.n_dropped,
        "missing": prepared.preparation.missing,
        "scale": prepared.preparation.scale,
        "seconds": rounded(seconds),
        "columns": table.selected_names(),
        "hints": [] if prepared.hint is None else [prepared.hint],
        "warnings": fit.warned,
    }
    if prepared.weights is not None:
        summary["column_weights"] = list(prepared.weights)
    if hasattr(model, "noise_threshold_"):  # where noise was asked for
        n_noise = int(np.count_nonzero(model.labels_ == -1))
        summary["noise"] = {"n_points": n_noise, "threshold": model.noise_threshold_}
    if hasattr(model, "suggestion_"):  # where the number of clusters was not given
        suggestion = model.suggestion_
        summary["suggestion"] = {
            "n_clusters": suggestion.n_clusters,
            "confidence": suggestion.confidence,
            "explanation": list(suggestion.explanation),
            "ranking": suggestion.ranking.tolist(),
        }
    if method == "kmeans":
        inertia, n_iter = float(model.inertia_), int(model.n_iter_)
        summary |= {"space": model.space, "inertia": inertia, "n_iter": n_iter}
    return summary


def rounded(seconds: dict[str, float]) -> dict[str, float]:
    """Return the seconds of stages, the work itself first."""
    work = [stage for stage in ("fit", "predict", "extend") if stage in seconds]
    return {stage: round(seconds[stage], 3) for stage in (*work, *seconds)}


def as_json(summary: Summary) -> str:
    """Return the figures as one JSON object on one line."""
    if not math.isfinite(summary.get("inertia", 0.0)):
        summary = summary | {"inertia": None}  # JSON knows no NaN
    return json.dumps(summary, allow_nan=False)


def as_text(summary: Summary) -> str:
    """Return the figures as a small table, the warnings below it."""
    n_points, sizes = summary["n_points"], summary["sizes"]
    space = f"{summary['space']}, " if "space" in summary else ""
    shared = _shared_figures(summary)
    figures = {
        "points": shared.pop("points"),
        "features": shared.pop("features"),
        "clusters": f"{summary['n_clusters']:,}",
        "method": f"{summary['method']} ({space}{summary['metric']})",
    }
    if "column_weights" in summary:
        pairs = zip(summary["columns"], summary["column_weights"], strict=True)
        figures["weights"] = ", ".join(f"{name} {weight:g}" for name, weight in pairs)
    if space:
        figures["inertia"] = f"{summary['inertia']:.6g}"
        figures["iterations"] = f"{summary['n_iter']:,}"
    n_noise = None
    if "noise" in summary:
        noise = summary["noise"]
        n_noise = noise["n_points"]
        figures["noise"] = f"{n_noise:,} (outlier scores above {noise['threshold']:.2f})"
    lines = _aligned(figures | shared)
    if "suggestion" in summary:
        lines += ["", *summary["suggestion"]["explanation"]]
    lines += ["", *_sizes_as_lines(sizes, n_points, n_noise)]
    return "\n".join([*lines, *_remarks(summary)])


def seconds_in_words(seconds: dict[str, float]) -> str:
    """Return how long each stage took: ``"0.12 (import 0.80, reading 0.01)"``."""
    (_, work), *others = seconds.items()
    return f"{work:.2f} ({', '.join(f'{stage} {took:.2f}' for stage, took in others)})"


def predictions_as_text(summary: Summary) -> str:
    """Return the figures of the labels of new rows."""
    figures = {"model": summary["model"], **_shared_figures(summary)}
    lines = [
        "",
        *_sizes_as_lines(summary["sizes"], max(summary["n_points"], 1), summary.get("n_noise")),
    ]
    return "\n".join([*_aligned(figures), *lines])


def extension_as_text(summary: Summary) -> str:
    """Return the figures of a model that has grown."""
    n_all = summary["n_old"] + summary["n_points"]
    figures = {
        "model": summary["model"],
        **_shared_figures(summary),
        "points": f"{summary['n_points']:,} new, {n_all:,} in all",
        "old rows": f"{summary['n_changed']:,} of {summary['n_old']:,} have another cluster now",
        "saved": summary["saved"] or "nowhere: --save MODEL keeps the extended model",
    }
    lines = _aligned(figures)
    lines += ["", *_sizes_as_lines(summary["sizes"], n_all, summary.get("n_noise"))]
    return "\n".join([*lines, *_remarks(summary)])


def scores_as_text(summary: Summary) -> str:
    """Return the figures of outlier scores, the rows with the highest ones below them."""
    lines = _aligned(_shared_figures(summary))
    lines += ["", f"{'row':>12}  {'score':>6}"]
    lines += [f"{each['row']:>12,}  {each['score']:>6.3f}" for each in summary["highest"]]
    return "\n".join([*lines, *_remarks(summary)])


def _remarks(summary: Summary) -> list[str]:
    hints = [f"isthmus: hint: {hint}" for hint in summary["hints"]]
    return hints + [f"isthmus: warning: {warning}" for warning in summary["warnings"]]


def _shared_figures(summary: Summary) -> dict[str, str]:
    figures = {"points": f"{summary['n_points']:,}", "features": _features(summary["columns"])}
    if summary["scale"] != "none":
        figures["scale"] = summary["scale"]
    if summary["n_dropped"]:
        figures["left out"] = f"{count(summary['n_dropped'], 'row')} with missing values"
    return {**figures, "seconds": seconds_in_words(summary["seconds"])}


def _features(columns: list[str]) -> str:
    more = ["…"] if len(columns) > _LISTED_COLUMNS else []
    return f"{len(columns):,} ({', '.join([*columns[:_LISTED_COLUMNS], *more])})"


def _aligned(figures: dict[str, str]) -> list[str]:
    width = max(map(len, figures))
    return [f"{name:<{width}}  {figure}" for name, figure in figures.items()]


def _sizes_as_lines(sizes: list[int], n_points: int, n_noise: int | None) -> list[str]:
    rows = [(str(label), size) for label, size in enumerate(sizes[:_LISTED_SIZES])]
    if len(sizes) > _LISTED_SIZES:
        rows.append(("others", sum(sizes[_LISTED_SIZES:])))
    if n_noise is not None:
        rows.append(("noise", n_noise))
    lines = [f"{'cluster':>7}  {'points':>12}  {'share':>7}"]
    return lines + [f"{name:>7}  {size:>12,}  {size / n_points:>7.1%}" for name, size in rows]
