"""The name of a model file → the fitted model, whatever kind it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isthmus.cli.errors import UserError
from isthmus.files.model_file import FileHead, read_head


def read_model_head(name: str) -> FileHead:
    """Return what a model file says of itself, or say why it cannot be read."""
    head: FileHead = _read(name, lambda: read_head(name))
    return head


def load_model(name: str, kind: str) -> Any:
    """Return what a file holds: an estimator or a tree."""
    from isthmus.estimators import TransitiveCut, TransitiveKMeans
    from isthmus.spanning_tree import SpanningTree
    from isthmus.ultrametric import UltrametricTree

    classes: dict[str, Any] = {
        each.__name__: each
        for each in (TransitiveCut, TransitiveKMeans, SpanningTree, UltrametricTree)
    }
    if kind not in classes:
        raise UserError(f"{name} holds a {kind[:80]}, which this version does not know.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the commands see to the preparation themselves
        return _read(name, lambda: classes[kind].load(name))


def _read(name: str, read: Callable[[], Any]) -> Any:
    try:
        if Path(name).is_dir():
            raise UserError(f"{name} is a directory, not a model file.")
        return read()
    except ValueError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot read {name}: {error.strerror or error}.") from error
