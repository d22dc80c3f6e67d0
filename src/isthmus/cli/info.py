"""``isthmus info``: what a model file holds."""

from __future__ import annotations

import argparse
import json
from typing import Any

from isthmus._utils.tables import first_few
from isthmus.cli.load_model import load_model, read_model_head
from isthmus.cli.output_file import print_lines
from isthmus.metrics.table_columns import weights_of

DESCRIPTION = """\
Say what a file holds that 'isthmus cluster --save' or a save() has written: a clustering or a
tree. The whole file is read and checked.
"""

EXAMPLES = """\
examples:
  isthmus info model.isthmus
  isthmus info model.isthmus --json
"""

_LISTED_COLUMNS = 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options."""
    parser.add_argument("model", help="the file", metavar="MODEL")
    parser.add_argument("--json", help="write one JSON object", action="store_true")


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    head = read_model_head(args.model)
    facts: dict[str, Any] = {
        "file": args.model,
        "bytes": head.n_bytes,
        "written by": f"isthmus {head.version}",
        "holds": head.kind,
    }
    held = load_model(args.model, head.kind)
    facts |= _facts_of_model(held) if hasattr(held, "labels_") else {"points": held.n_points}
    if args.json:
        print_lines([json.dumps(facts, allow_nan=False)])
        return 0
    width = max(map(len, facts))
    print_lines(f"{name:<{width}}  {_in_words(value)}" for name, value in facts.items())
    return 0


def _facts_of_model(model: Any) -> dict[str, Any]:
    record = model._record
    names = record.feature_names
    preparation = record.preparation
    if names is None and preparation is not None:
        names = preparation.columns
    facts: dict[str, Any] = {"rows": len(record.labels)}
    if record.points is not None and record.n_features is not None:
        facts["features"] = record.n_features
    if names is not None:
        facts["columns"] = list(map(str, names))
    facts["metric"] = record.metric
    if record.columns is not None and "w" in (record.metric_params or {}):
        weights = weights_of(record.metric_params["w"], record.columns).tolist()
        facts["column weights"] = weights
    facts |= {
        "clusters": record.n_clusters,
        "sizes": record.sizes().tolist(),
    }
    if record.noise is not None:
        facts["noise"] = int(record.noise.is_noise.sum())
        facts["noise threshold"] = record.noise.threshold
    if record.neighborhood is not None:
        facts["neighbors"] = record.neighborhood.n_neighbors
        facts["neighborhood"] = record.neighborhood.kind
    if preparation is not None:
        facts |= {"missing": preparation.missing, "scale": preparation.scale}
    return facts


def _in_words(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, int) for each in value):
        return first_few(value, 20)
    if isinstance(value, list):
        value = [each if isinstance(each, str) else f"{each:g}" for each in value]
        more = ", …" if len(value) > _LISTED_COLUMNS else ""
        return ", ".join(value[:_LISTED_COLUMNS]) + more
    return f"{value:,}" if isinstance(value, int) else str(value)
