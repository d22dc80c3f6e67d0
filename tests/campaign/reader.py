"""Reads files that may be anything, in a process of its own: ``python -m campaign.reader``.

Takes lines of JSON, ``{"lines": […], "may_refuse": …}``: Python statements to run in order. Answers
with what the first one that failed raised. A model that was read may refuse some of them, with a
ValueError; the others are run all the same. One process reads many files; if one of them brings it
down, or to a standstill, its parent sees that.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import warnings
from typing import Any

# More than any small file can need.
_ADDRESS_SPACE = 8 << 30


def main() -> None:
    """Answer until standard input ends."""
    answers = sys.stdout
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    for request in sys.stdin:
        answer = run(**json.loads(request))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def run(lines: list[str], *, may_refuse: bool = True) -> dict[str, Any]:
    """Run statements; return how many were run, which were refused, and what the last raised."""
    refused: list[int] = []
    names: dict[str, Any] = {}
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for number, line in enumerate(lines):
            try:
                exec(line, names)
            except Exception as error:
                if may_refuse and isinstance(error, ValueError) and number > 1:
                    refused.append(number)
                    continue
                what = {"error": type(error).__name__, "words": str(error)[:500]}
                return {"line": number, "refused": refused, **what}
    answer = {key: names[key] for key in ("status", "digest") if key in names}
    return {"line": len(lines), "refused": refused, "stderr": err.getvalue()[:2000], **answer}


if __name__ == "__main__":
    main()
