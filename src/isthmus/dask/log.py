"""What a tree of cells took."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Log:
    """What it took: for tests, benchmarks, and a look at what is slow."""

    n_nodes: int = 0
    n_rounds: int = 0
    n_tasks: int = 0
    n_points_compared: int = 0
    n_cross_edges: int = 0
    n_numbers: int = 0
    points_of_rounds: list[int] = field(default_factory=list)
