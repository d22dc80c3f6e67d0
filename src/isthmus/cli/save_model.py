"""``--save``: a fitted model → its file, whole or not at all."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from isthmus.cli.errors import UserError
from isthmus.cli.output_file import check_target
from isthmus.metrics.preparation import Preparation


def check_model_target(args: argparse.Namespace) -> Path | None:
    """Return where to save the model, None for nowhere, or say why it cannot be written."""
    if args.save is None:
        return None
    path = check_target(args.save, args.input)
    if args.output not in (None, "-") and path == check_target(args.output):
        raise UserError(f"--save and --output name the same file, {args.save}.")
    return path


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
