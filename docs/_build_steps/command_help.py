"""The help of each command, as the parser prints it → files that the page of the command shows."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout
from pathlib import Path
from textwrap import fill
from unittest.mock import patch

from isthmus.cli.main import run

COMMANDS = ("cluster", "predict", "extend", "outliers", "info", "explore", "demo", "reproduce")
_WIDTH = "68"  # columns that fit beside the site's menus


def write(folder: Path) -> None:
    """Write ``help_COMMAND.txt`` for every command."""
    folder.mkdir(exist_ok=True)
    for command in COMMANDS:
        (folder / f"help_{command}.txt").write_text(help_of(command), encoding="utf-8")


def help_of(command: str) -> str:
    """Return what ``isthmus COMMAND --help`` prints."""
    out = io.StringIO()
    with patch.dict(os.environ, COLUMNS=_WIDTH, NO_COLOR="1"), redirect_stdout(out):
        run([command, "--help"])
    return "\n\n".join(_wrapped(block) for block in out.getvalue().split("\n\n"))


def _wrapped(block: str) -> str:
    """Wrap a paragraph of prose; options and examples, which are indented, stay as they are."""
    is_prose = not block.startswith("usage:") and "\n " not in block
    return fill(" ".join(block.split()), int(_WIDTH)) if is_prose else block
