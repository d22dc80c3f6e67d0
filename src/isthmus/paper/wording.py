"""Numbers → the words of claims and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from isthmus._utils.typing import Floats


def listed(items: Iterable[str], last: str = "and") -> str:
    """Return items as a list in a sentence: ``"a, b and c"``."""
    *others, final = items
    return f"{', '.join(others)} {last} {final}" if others else final


def median_and_range(values: Sequence[float] | Floats) -> str:
    """Return a median and, in brackets, a range: ``"0.010 (0.000 … 0.120)"``."""
    return f"{np.median(values):.3f} ({min(values):.3f} … {max(values):.3f})"


def percent_range(shares: Sequence[float]) -> str:
    """Return the smallest and the largest of some shares: ``"0.1% to 2.5%"``."""
    low, high = f"{min(shares):.1%}", f"{max(shares):.1%}"
    return low if low == high else f"{low} to {high}"


def share_on_each(smallest: float) -> str:
    """Say from how many seeds something holds on each of some sets: "on each from all seeds"."""
    if smallest == 1.0:
        return "on each from all seeds"
    if smallest < 0.005:  # it would be rounded to 0 %
        return "but on one of them from hardly any seed" if smallest else "but on one from no seed"
    return f"on each from at least {smallest:.0%} of the seeds"
