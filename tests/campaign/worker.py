"""The cases of one part, in a process of their own: ``python -m campaign.worker``.

Says on standard output, as lines of JSON, which case begins, what was found, and what was counted.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np

from campaign.script import Finding

# Seconds after which a case counts as a hang, unless it compiles.
HANG_AFTER = 150
_SECONDS_TO_SHRINK = 15.0
PARTS = ("trees", "estimators", "files", "processes", "new_points")


class HangError(BaseException):
    """A case does not end."""


def main() -> None:
    part, *numbers = sys.argv[1:]
    seed, first, last = (int(number) for number in numbers[:3])
    seconds = float(numbers[3])
    deadline = time.monotonic() + seconds
    signal.signal(signal.SIGALRM, _hang)
    module = import_module(f"campaign.{part}")
    counts: Counter[str] = Counter()
    parent = os.getppid()
    said = time.monotonic()
    try:
        for _ in getattr(module, "prepare", list)():
            _say(preparing=True)
    except Finding as finding:
        _say(found=finding.what, detail=finding.detail, source=finding.source, number=first)
    for number in range(first, last):
        if time.monotonic() > deadline or os.getppid() != parent:
            break
        _say(case=number)
        finding = run_case(module, part, seed, number, counts)
        if finding is not None:
            _say(found=finding.what, detail=finding.detail, source=finding.source, number=number)
        if time.monotonic() > said + 1.0:
            said = time.monotonic()
            _say(counts=counts)
    if hasattr(module, "close"):
        module.close()
    _say(counts=counts, done=True)


def run_case(
    module: Any, part: str, seed: int, number: int, counts: Counter[str]
) -> Finding | None:
    """Run one case; return what is wrong, shown with as few points as possible."""
    rng = np.random.default_rng([seed, PARTS.index(part), number])
    case = module.draw(rng)
    finding = _checked(module, case, counts)
    if finding is None or not hasattr(case, "smaller"):
        return finding
    deadline = time.monotonic() + _SECONDS_TO_SHRINK
    shrinks = True
    while shrinks:
        shrinks = False
        for smaller in case.smaller():
            if time.monotonic() > deadline:
                return finding
            other = _checked(module, smaller, Counter())
            if other is not None and other.what == finding.what:
                case, finding, shrinks = smaller, other, True
                break
    return finding


def _checked(module: Any, case: Any, counts: Counter[str]) -> Finding | None:
    signal.setitimer(signal.ITIMER_REAL, HANG_AFTER)
    try:
        with np.errstate(all="ignore"):
            module.check(case, counts)
    except Finding as finding:
        return finding
    except HangError as error:
        return Finding("a hang", f"more than {HANG_AFTER} s", str(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def _hang(_signal: int, frame: Any) -> None:
    """Raise out of whatever runs, with the script that does; unless it compiles."""
    if any(_compiles(each) for each in sys._current_frames().values()):
        signal.setitimer(signal.ITIMER_REAL, HANG_AFTER)
        return
    while frame is not None:
        script = frame.f_locals.get("self")
        if type(script).__name__ == "Script":
            raise HangError(script.source)
        frame = frame.f_back
    raise HangError("# the case itself takes too long")


def _compiles(frame: Any) -> bool:
    while frame is not None and not frame.f_code.co_filename.endswith("_numba/compilation.py"):
        frame = frame.f_back
    return frame is not None


def _say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
