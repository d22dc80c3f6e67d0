"""Sets of non-negative integers that contain 0: as runs where these are few, else as bits.

Runs are pairs (first, last), ascending, with gaps between them. As bits a set is one large integer,
whose bit s says whether s is in the set; Python shifts and counts them many at a time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TypeAlias

Runs: TypeAlias = tuple[tuple[int, int], ...]
NumberSet: TypeAlias = Runs | int

ZERO: Runs = ((0, 0),)

# Bits are faster where a set has more runs, or a sum more pairs of runs.
_MOST_RUNS, _MOST_PAIRS = 32, 128


def zero_and_shifted(numbers: NumberSet, by: int) -> NumberSet:
    """Return 0 and all numbers of a set plus ``by``, which is above 0."""
    if isinstance(numbers, int):
        return 1 | numbers << by
    shifted = tuple((low + by, high + by) for low, high in numbers)
    return ((0, shifted[0][1]), *shifted[1:]) if by == 1 else ((0, 0), *shifted)


def sums_of(a: NumberSet, b: NumberSet) -> NumberSet:
    """Return all sums of a number of one set and one of another."""
    if ZERO in (a, b):
        return b if a == ZERO else a
    if not isinstance(a, int) and not isinstance(b, int) and len(a) * len(b) <= _MOST_PAIRS:
        return _joined((low + x, high + y) for low, high in a for x, y in b)
    return _sums_by_bits(as_bits(a), as_bits(b))


def runs_of(numbers: NumberSet) -> Runs:
    """Return the runs of a set."""
    if not isinstance(numbers, int):
        return numbers
    runs = re.finditer("1+", f"{numbers:b}"[::-1])
    return tuple((run.start(), run.end() - 1) for run in runs)


def as_bits(numbers: NumberSet) -> int:
    """Return the bits of a set."""
    if isinstance(numbers, int):
        return numbers
    return sum(((1 << (high - low + 1)) - 1) << low for low, high in numbers)


def size_of(numbers: NumberSet) -> int:
    """Return roughly how many bytes a set takes."""
    if isinstance(numbers, int):
        return sys.getsizeof(numbers)
    return sys.getsizeof(numbers) + 128 * len(numbers)


def _joined(runs: Iterable[tuple[int, int]]) -> Runs:
    """Return runs that may overlap as runs with gaps between them."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(runs):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    return tuple(joined)


def _sums_by_bits(a: int, b: int) -> NumberSet:
    if a.bit_length() < b.bit_length():
        a, b = b, a
    sums = 0
    for low, high in runs_of(b):
        # the union of a shifted by 0, 1, … high - low, by doubling
        union, done = a, 1
        while done <= high - low:
            step = min(done, high - low + 1 - done)
            union |= union << step
            done += step
        sums |= union << low
    n_runs = (sums & ~(sums << 1)).bit_count()
    return runs_of(sums) if n_runs <= _MOST_RUNS else sums
