"""``python -m campaign``, with ``tests`` on the path: ``make fuzz`` calls it."""

from __future__ import annotations

import argparse
import secrets
import sys
import threading
import time
from collections import Counter

from campaign.watch import Limits, Report, run_part
from campaign.worker import PARTS

# The lines of the summary: what is counted, and how it is called.
_TABLE = {
    "trees": "spanning trees, each compared with long double",
    "neighbour lists": "lists of neighbours",
    "comparisons of threads": "comparisons of thread counts",
    "estimators": "fits of estimators",
    "labels by brute force": "labellings by brute force",
    "new points": "new points of estimators by brute force",
    "attached points": "new points on trees of all scales, each in two searches",
    "extensions": "points added to a fit, by a kd-tree",
    "round trips": "pickles and files read back",
    "files": "model files, damaged or forged",
    "files accepted": "… of which were accepted and used",
    "tables": "damaged tables",
    "tables clustered": "… of which were clustered",
    "kills": "processes killed, ended or interrupted",
    "processes": "full disks, little memory, many threads",
}


def main() -> int:
    """Run the campaign; return 1 where something was found."""
    options = _options()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    print(f"campaign: seed {seed}, {options.seconds:g} seconds", flush=True)
    report = Report(seed)
    first, last = 0, options.cases
    if options.case is not None:
        first, last = options.case, options.case + 1
    limits = Limits(first, last, options.seconds)
    started = time.monotonic()
    threads = [
        threading.Thread(target=run_part, args=(part, limits, report), daemon=True)
        for part in options.part or PARTS
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # so that Ctrl-C is served
            thread.join(0.2)
    print(_summary(report, time.monotonic() - started))
    return 1 if report.findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long each part runs")
    parser.add_argument("--cases", type=int, default=10**7, help="the most cases of each part")
    parser.add_argument("--seed", type=int, help="by default a new one, which is printed")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one")
    parser.add_argument("--case", type=int, help="only the case of this number")
    return parser.parse_args()


def _summary(report: Report, seconds: float) -> str:
    counts: Counter[str] = sum(report.counts.values(), Counter())
    lines = ["", f"seed {report.seed}, {seconds:.0f} s", "| what | count |", "|---|---:|"]
    lines += [f"| {words} | {counts[name]:,} |" for name, words in _TABLE.items()]
    lines.append(f"| findings | {report.findings.total():,} |")
    lines += [f"{part}: {what}: {n} times" for (part, what), n in report.findings.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
