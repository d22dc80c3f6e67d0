"""What a clustering came to, for people or for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

_LISTED = 20


@dataclass(frozen=True)
class KMeansFigures:
    """What only ``--method kmeans`` has to say."""

    space: str
    inertia: float
    n_iter: int


@dataclass(frozen=True)
class Summary:
    """The figures of one run; ``seconds`` is from the start of reading to the labels.

    ``suggestion`` says why there are as many clusters, where their number was not given.
    """

    n_points: int
    n_features: int
    n_clusters: int
    sizes: list[int]
    method: str
    metric: str
    kmeans: KMeansFigures | None
    seconds: float
    columns: list[str]
    warnings: list[str]
    suggestion: dict[str, Any] | None = None

    def as_json(self) -> str:
        """Return the figures as one JSON object on one line."""
        figures = {name: value for name, value in asdict(self).items() if value is not None}
        if self.kmeans is not None:
            figures |= figures.pop("kmeans")
            if not math.isfinite(self.kmeans.inertia):
                figures["inertia"] = None  # JSON knows no NaN
        return json.dumps(figures, allow_nan=False)

    def as_text(self) -> str:
        """Return the figures as a small table, the warnings below it."""
        figures = {
            "points": f"{self.n_points:,}",
            "features": f"{self.n_features:,} ({_listed(self.columns)})",
            "clusters": f"{self.n_clusters:,}",
            "method": f"{self.method} ({self.metric})",
        }
        if self.kmeans is not None:
            figures |= {
                "method": f"{self.method} ({self.kmeans.space}, {self.metric})",
                "inertia": f"{self.kmeans.inertia:.6g}",
                "iterations": f"{self.kmeans.n_iter:,}",
            }
        figures["seconds"] = f"{self.seconds:.2f}"
        width = max(len(name) for name in figures)
        lines = [f"{name:<{width}}  {figure}" for name, figure in figures.items()]
        if self.suggestion is not None:
            lines += ["", *self.suggestion["explanation"]]
        lines += ["", *_size_lines(self.sizes, self.n_points)]
        lines += [f"isthmus: warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def _listed(columns: list[str], longest: int = 6) -> str:
    more = ", …" if len(columns) > longest else ""
    return ", ".join(columns[:longest]) + more


def _size_lines(sizes: list[int], n_points: int) -> list[str]:
    lines = [f"{'cluster':>7}  {'points':>12}  {'share':>7}"]
    for label, size in enumerate(sizes[:_LISTED]):
        lines.append(f"{label:>7}  {size:>12,}  {size / n_points:>7.1%}")
    if len(sizes) > _LISTED:
        rest = sum(sizes[_LISTED:])
        lines.append(f"{'others':>7}  {rest:>12,}  {rest / n_points:>7.1%}")
    return lines
