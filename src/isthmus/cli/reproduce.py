"""``isthmus reproduce``: the paper's experiments again, and a report of what became of them."""

from __future__ import annotations

import argparse
import os
import textwrap
from pathlib import Path
from typing import Any

from isthmus._utils.parallel import available_cores
from isthmus._utils.progress import ProgressBar
from isthmus.cli.errors import UserError, say
from isthmus.cli.output_file import print_lines
from isthmus.datasets.digits import OFFLINE, without_network
from isthmus.paper.experiment import PARTS, load_experiment
from isthmus.paper.report import HTML, write_report
from isthmus.paper.report_text import duration
from isthmus.paper.runner import TaskFailedError, run_experiments
from isthmus.paper.store import Store
from isthmus.plotting import require_matplotlib

DESCRIPTION = """\
Compute every figure, table and number of the paper again, with the methods it compares with, and
write a report that says for each claim what the paper found, what isthmus finds, and why they
differ where they do.
"""

EXAMPLES = """\
examples:
  isthmus reproduce                 everything: some ten minutes on two cores
  isthmus reproduce table1 figure5  two parts; the report shows all parts that are finished
  isthmus reproduce --quick         all of it, but small, in a minute: judges no claim

Results are kept in the output folder as JSON, each under what it depends on: parameters, code,
versions of libraries. A run that was stopped goes on where it was; only what has changed is
computed again. The digits of Figure 6 are read from the folder that ISTHMUS_DATA names, or
fetched from OpenML once; without either, or with --offline (or ISTHMUS_OFFLINE=1), smaller digits
stand in for them, and the report says so.
"""

_WIDTH = 100


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add = parser.add_argument
    parts = f"what to compute: {', '.join(PARTS)} (default: all of them)"
    add("parts", nargs="*", metavar="PART", help=parts)
    add("--quick", action="store_true", help="fewer seeds and coarser grids: less than a minute")
    add("--fresh", action="store_true", help="compute again what is kept from earlier runs")
    folder = "where results and the report go (default: %(default)s)"
    add("-o", "--output", type=Path, default=Path("isthmus-paper"), metavar="FOLDER", help=folder)
    offline = "use no network: without ISTHMUS_DATA, smaller digits stand in for those of Figure 6"
    add("--offline", action="store_true", help=offline)
    processes = "the number of processes; -1 for one on every core (default: %(default)s)"
    add("-j", "--jobs", type=int, default=-1, metavar="N", help=processes)
    add("-q", "--quiet", action="store_true", help="say nothing about the progress")


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    n_jobs = _check_options(args)
    if args.offline:
        os.environ[OFFLINE] = "1"  # the processes that compute inherit it
    store = Store(args.output / "results")
    parts = {name: load_experiment(name) for name in PARTS}
    asked = [part for name, part in parts.items() if not args.parts or name in args.parts]
    try:
        records = run_experiments(
            asked,
            store,
            quick=args.quick,
            fresh=args.fresh,
            n_jobs=n_jobs,
            progress=None if args.quiet else ProgressBar("experiments", patience=0.0),
        )
    except TaskFailedError as error:
        raise UserError(f"{error}. What was finished is kept in {args.output}.") from error
    # the report shows all parts that are complete, those that were not asked for included
    with without_network():  # OpenML is asked for Figure 6 alone, and where that was asked for
        kept = {n: records.get(n) or store.records(e, quick=args.quick) for n, e in parts.items()}
    shown = {name: found for name, found in kept.items() if found}
    page = write_report([parts[name] for name in shown], shown, args.output, quick=args.quick)
    lines = [line for name, claim in page.claims for line in _claim_lines(name, claim)]
    print_lines([*lines, "", f"claims: {page.verdicts}", f"report: {args.output / HTML}"])
    seconds = sum(record.seconds for kept in records.values() for record in kept.values())
    if not args.quiet:
        say(f"{duration(seconds)} of computing")
    return 0


def _check_options(args: argparse.Namespace) -> int:
    """Refuse, before any work, what cannot be done; return the number of processes."""
    unknown = [name for name in args.parts if name not in PARTS]
    if unknown:
        raise UserError(f"there is no part {unknown[0]!r}. The parts: {', '.join(PARTS)}.")
    if args.jobs == 0 or args.jobs < -1:
        raise UserError(f"--jobs must be at least 1, or -1 for every core; got {args.jobs}.")
    try:
        require_matplotlib()
    except ImportError as error:
        raise UserError(str(error)) from error
    folder = Path(os.path.realpath(args.output))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {args.output}: {error.strerror}.") from error
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write to {args.output}: no permission.")
    return available_cores() if args.jobs == -1 else int(args.jobs)


def _claim_lines(name: str, claim: Any) -> list[str]:
    text = textwrap.fill(claim.text, _WIDTH, initial_indent=f"{name}: ", subsequent_indent="  ")
    values = f"paper: {claim.paper}; ours: {claim.ours}: {claim.verdict.value}"
    return [
        *text.splitlines(),
        *textwrap.wrap(values, _WIDTH - 2, initial_indent="  ", subsequent_indent="  "),
    ]
