"""What a clustering came to, for people or for programs."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

import numpy as np

from isthmus.cli.table import Table

Summary: TypeAlias = dict[str, Any]
_LISTED_SIZES, _LISTED_COLUMNS = 20, 6


def summarise(method: str, model: Any, table: Table, seconds: float, warned: list[str]) -> Summary:
    """Return the figures of one run; ``seconds`` is from the start of reading to the labels."""
    n_points, n_features = table.points.shape
    summary = {
        "n_points": n_points,
        "n_features": n_features,
        "n_clusters": model.n_clusters_,
        "sizes": np.bincount(model.labels_ + 1, minlength=model.n_clusters_ + 1)[1:].tolist(),
        "method": method,
        "metric": model.metric,
        "seconds": round(seconds, 3),
        "columns": table.selected_names(),
        "warnings": warned,
    }
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


def as_json(summary: Summary) -> str:
    """Return the figures as one JSON object on one line."""
    if not math.isfinite(summary.get("inertia", 0.0)):
        summary = summary | {"inertia": None}  # JSON knows no NaN
    return json.dumps(summary, allow_nan=False)


def as_text(summary: Summary) -> str:
    """Return the figures as a small table, the warnings below it."""
    columns, n_points, sizes = summary["columns"], summary["n_points"], summary["sizes"]
    more = ["…"] if len(columns) > _LISTED_COLUMNS else []
    listed = ", ".join([*columns[:_LISTED_COLUMNS], *more])
    space = f"{summary['space']}, " if "space" in summary else ""
    figures = {
        "points": f"{n_points:,}",
        "features": f"{summary['n_features']:,} ({listed})",
        "clusters": f"{summary['n_clusters']:,}",
        "method": f"{summary['method']} ({space}{summary['metric']})",
    }
    if space:
        figures["inertia"] = f"{summary['inertia']:.6g}"
        figures["iterations"] = f"{summary['n_iter']:,}"
    if "noise" in summary:
        noise = summary["noise"]
        figures["noise"] = f"{noise['n_points']:,} (outlier scores above {noise['threshold']:.2f})"
    figures["seconds"] = f"{summary['seconds']:.2f}"
    width = max(map(len, figures))
    lines = [f"{name:<{width}}  {figure}" for name, figure in figures.items()]
    if "suggestion" in summary:
        lines += ["", *summary["suggestion"]["explanation"]]
    rows = [(str(label), size) for label, size in enumerate(sizes[:_LISTED_SIZES])]
    if len(sizes) > _LISTED_SIZES:
        rows.append(("others", sum(sizes[_LISTED_SIZES:])))
    if "noise" in summary:
        rows.append(("noise", summary["noise"]["n_points"]))
    lines += ["", f"{'cluster':>7}  {'points':>12}  {'share':>7}"]
    lines += [f"{name:>7}  {size:>12,}  {size / n_points:>7.1%}" for name, size in rows]
    lines += [f"isthmus: warning: {warning}" for warning in summary["warnings"]]
    return "\n".join(lines)
