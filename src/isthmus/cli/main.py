"""The command ``isthmus``: its options, its commands and its exit statuses."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from isthmus._utils.interrupts import interrupt_held_back
from isthmus._version import __version__
from isthmus.cli.errors import UserError, one_line, say

SUCCESS, USER_ERROR, INTERRUPTED, BROKEN_PIPE = 0, 2, 130, 141

_DESCRIPTION = """\
Cluster points into shapes that K-means cannot see, with one parameter: the number of clusters.
Two points are close if a chain of short steps leads from one to the other, so a cluster may be
a ring, a spiral or a chain, as long as there is a gap around it.
"""

_EXAMPLES = """\
examples:
  isthmus cluster points.csv -k 3 -o labelled.csv
  isthmus cluster points.parquet -k 3 --columns x,y -o labelled.parquet
  isthmus cluster points.csv -k 3 --scale standard --save model.isthmus -o labelled.csv
  isthmus predict model.isthmus new.csv -o labelled.csv
  isthmus extend model.isthmus new.csv --save model.isthmus -o labelled.csv
  isthmus outliers points.csv -o scored.csv
  isthmus explore points.csv -o page.html
  isthmus demo
  isthmus reproduce --quick

"isthmus COMMAND --help" explains a command and its options.
"""


# Each command is a module of this package with DESCRIPTION, EXAMPLES, ``add_options(parser)`` and
# ``run(args)``. Only the one that is called is imported, so that the others cost nothing.
_COMMANDS = {
    "cluster": "cluster the rows of a CSV, TSV, Excel, NumPy or Parquet file",
    "predict": "label the rows of a table by a saved model",
    "extend": "add the rows of a table to a saved model",
    "outliers": "score how much of an outlier each row of a table is",
    "info": "say what a saved model holds",
    "explore": "write a page on which to see the clusters of a table and choose their number",
    "demo": "cluster bundled examples beside K-means and draw them",
    "reproduce": "compute the paper's figures and tables again and write a report",
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors take one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}. See '{self.prog} --help'.")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help, or say why it cannot be written; argparse would say nothing."""
        if not message or file is None:
            return
        try:
            file.write(message)
            file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UserError(f"cannot write the help: {error.strerror or error}.") from error


def build_parser(called: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; only the command that is called gets its options."""
    parser = _Parser(
        prog="isthmus",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        # indented by one, so that the names of all commands fit before their purposes
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, indent_increment=1),
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"isthmus {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command, purpose in _COMMANDS.items():
        own = subparsers.add_parser(command, help=purpose, allow_abbrev=False)
        if command == called:
            module = _load(command)
            own.description, own.epilog = module.DESCRIPTION, module.EXAMPLES
            own.formatter_class = argparse.RawDescriptionHelpFormatter
            module.add_options(own)
    return parser


def main() -> NoReturn:
    """Run the command and end the process with its status.

    An interrupted one ends at once: nothing waits for threads, and Python, which remembers a Ctrl-C
    that came while it executed text, does not end it by the signal instead of the status.
    """
    status = run()
    if status == INTERRUPTED:
        with suppress(OSError, ValueError):
            _flush()
        os._exit(status)
    sys.exit(status)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process.

    Returns the exit status: 0 for success, 2 for what the user can put right (told in one line),
    130 if interrupted, 141 if the reader of the output went away. Anything else raises: a bug.
    """
    interrupts = _Interrupts()
    try:
        with interrupts:
            status = _dispatch(argv)
        _flush()
    except UserError as error:
        _discard_output()
        say(f"isthmus: error: {one_line(error)}")
        return USER_ERROR
    except MemoryError as error:
        _discard_output()
        say(f"isthmus: error: {one_line(error) or 'not enough memory.'}")
        return USER_ERROR
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except Exception:
        if not interrupts.seen:
            raise
        return _interrupted()  # what others make of a Ctrl-C that comes while they compile
    return status


def _interrupted() -> int:
    _discard_output()
    say("isthmus: interrupted")
    return INTERRUPTED


class _Interrupts:
    """Remembers whether there was a Ctrl-C; where others handle that, it leaves it to them."""

    def __init__(self) -> None:
        self.seen = False
        self._is_ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )

    def __enter__(self) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, self._interrupt)

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, *_: object) -> NoReturn:
        self.seen = True
        raise KeyboardInterrupt


def _dispatch(argv: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    parser = build_parser(next((word for word in arguments if word in _COMMANDS), None))
    try:
        args = parser.parse_args(arguments)
    except SystemExit as end:  # --help and --version have been answered
        return int(end.code or SUCCESS)
    if args.command is None:
        parser.print_help(sys.stderr)
        return USER_ERROR
    return int(_load(args.command).run(args))


def _load(command: str) -> ModuleType:
    with interrupt_held_back():
        return import_module(f"isthmus.cli.{command}")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _discard_output() -> None:
    """Send what standard output still holds nowhere, so that Python's exit does not trip over it.

    Where output could not be written, Python would try again at exit and complain.
    """
    with suppress(OSError, ValueError, AttributeError):
        try:
            sys.stdout.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
