"""``--save``: a fitted model → its file, whole or not at all."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from isthmus.cli.column_options import positions_by_name
from isthmus.cli.errors import UserError, shown
from isthmus.cli.output_file import check_target, files_read
from isthmus.cli.table import Table
from isthmus.metrics.preparation import Preparation


def check_model_target(args: argparse.Namespace) -> Path | None:
    """Return where to save the model, None for nowhere, or say why it cannot be written."""
    if args.save is None:
        return None
    path = check_target(args.save, *files_read(args))
    if args.output not in (None, "-") and path == check_target(args.output):
        raise UserError(f"--save and --output name the same file, {args.save}.")
    return path


def check_names(table: Table) -> None:
    """Raise UserError for a table in which a model could not find its columns by their names."""
    if table.names is None:
        return
    named = positions_by_name(table.names)
    for name in table.selected_names():
        if len(named[name]) > 1:
            positions = " and ".join(map(str, named[name]))
            raise UserError(
                f"--save: columns {positions} of the input are all named {shown(name)}, and a "
                "saved model finds its columns by their names. Rename them, or leave out --save."
            )


def save_prepared(model: Any, preparation: Preparation, path: Path) -> None:
    """Save a model together with how its table was prepared."""
    model._keep(replace(model._record, preparation=preparation))
    save_model(model, path)


def save_model(model: Any, path: Path) -> None:
    """Save a model; UserError where the file cannot be written."""
    try:
        model.save(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}.") from error
