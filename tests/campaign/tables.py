"""Tables for the command: bytes and fields that are not what they should be."""

from __future__ import annotations

import numpy as np

from campaign import base_files, forgery

_FIELDS = (
    "", " ", "nan", "inf", "-inf", "1e999", "1e308", "-1e308", "1e-320", "0x10", "1_000", "١٢",
    "1,5", '"', '""', "'", "\x1b]0;title\x07", "\x1b[2J", "\x00", "\u202e", "é" * 50, "9" * 400,
    "a\nb", "\r", "=1+1", "1;2", "\t", "NA", "True", "1e400", "−1", str(2**53 + 1), str(2**64),
)  # fmt: skip
_OPTIONS = (
    ["--labels-only"],
    ["--json"],
    ["--quiet"],
    ["--method", "kmeans"],
    ["--metric", "manhattan"],
    ["--metric", "cosine"],
    ["--columns", "1"],
    ["--columns", "x,y"],
    ["--exclude", "name"],
    ["--delimiter", ";"],
    ["--neighbors", "3"],
    ["--label-column", "part"],
)


def draw(rng: np.random.Generator) -> tuple[str, bytes, tuple[str, ...]]:
    """Return the name and the bytes of a table, and the statements that cluster it."""
    sources = base_files.tables()
    name, raw = sources[int(rng.integers(len(sources)))]
    if name.endswith(("csv", "tsv")) and rng.random() < 0.6:
        raw = _changed_fields(rng, raw)
    elif rng.random() < 0.9:
        raw = forgery.mutate(rng, raw)
    options = ["-k", str(rng.choice(["1", "2", "3", "auto"]))]
    for _ in range(int(rng.integers(0, 3))):
        options += _OPTIONS[int(rng.integers(len(_OPTIONS)))]
    out = "out.npy" if rng.random() < 0.2 else "out.csv"
    arguments = ["cluster", name, *options, "-o", out]
    lines = ("from isthmus.cli.main import run", f"status = run({arguments!r})")
    return name, raw, lines


def _changed_fields(rng: np.random.Generator, raw: bytes) -> bytes:
    """Return a text with other fields, rows or line ends."""
    text = raw.decode()
    rows = text.splitlines()
    for _ in range(int(rng.integers(1, 4))):
        row = int(rng.integers(len(rows)))
        field = str(_FIELDS[int(rng.integers(len(_FIELDS)))])
        how = int(rng.integers(6))
        if how == 0:
            rows.insert(row, field)
        elif how == 1:
            rows[row] += f",{field}"
        elif how == 2 and len(rows) > 1:
            del rows[row]
        else:
            fields = rows[row].split(",")
            fields[int(rng.integers(len(fields)))] = field
            rows[row] = ",".join(fields)
    end = str(rng.choice(["\n", "\n", "\r\n", "\r"]))
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"]))
    return (end.join(rows) + end).encode(encoding, errors="replace")
