"""``isthmus cluster --out-of-core``: tables that are larger than memory, block by block."""

from __future__ import annotations

import argparse
import csv
import errno
import io
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isthmus._utils.typing import Labels
from isthmus.cli.block_sources import BlockSource, NpySource, ParquetSource, find_files
from isthmus.cli.column_options import Selection
from isthmus.cli.csv_blocks import CsvFormat, CsvSource, scratch_error
from isthmus.cli.dialect import Dialect
from isthmus.cli.errors import UserError, say
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.output_file import Output, check_output, open_output, refuse_in_folder
from isthmus.cli.read_table import input_format, read_options
from isthmus.metrics.registry import canonical_name

_LISTED = 20
_NOT_SERVED = (
    "neighbors",
    "noise",
    "unit",
    "save",
    "p",
    "missing",
    "scale",
    "encoding",
    "sheet",
    "must_link",
    "cannot_link",
    "known",
    "explain",
)


def add_out_of_core_options(group: argparse._ArgumentGroup) -> None:
    """Add the options of tables that are larger than memory."""
    group.add_argument(
        "--out-of-core",
        action="store_true",
        help="read, cluster and write in blocks: for files, or folders of CSV or Parquet files, "
        "that are larger than memory; needs isthmus[dask]",
    )
    group.add_argument(
        "--scratch",
        metavar="FOLDER",
        help="with --out-of-core: where to keep what does not fit into memory "
        "(default: the system's temporary folder)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    _check_options(args)
    paths, file_format = find_files(args.input, args.format)
    input_format(str(paths[0]), read_options(args)._replace(file_format=file_format))
    if paths != [Path(args.input)]:
        refuse_in_folder(args.output, args.input)
    output = check_output(args.output, *map(str, paths))
    _check_scratch(args.scratch)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="isthmus-", dir=args.scratch) as scratch:
        source = _open_source(args, paths, file_format, Path(scratch))
        _check_label_column(args, source, output)
        _say_dialect(args, source, file_format)
        model = _fit(args, source, scratch)
        seconds = time.perf_counter() - started
        sizes = np.zeros(model.n_clusters_, dtype=np.int64)
        with open_output(output) as stream:
            for labels in _write(args, stream, output, source, model.labels_):
                sizes += np.bincount(labels, minlength=len(sizes))
        del model  # its files with it
    if not args.quiet:
        _say_summary(args, source, sizes.tolist(), seconds)
    return 0


def _check_scratch(name: str | None) -> None:
    """Raise UserError for a scratch folder in which nothing can be written."""
    if name is None:
        return
    try:
        is_folder = stat.S_ISDIR(Path(name).stat().st_mode)
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise UserError(f"cannot use --scratch {name}: {error.strerror}.") from error
        is_folder = False
    if not is_folder:
        raise UserError(f"--scratch {name} is not a folder.")
    if not os.access(name, os.W_OK):
        raise UserError(f"cannot use --scratch {name}: no permission to write to it.")


def _check_options(args: argparse.Namespace) -> None:
    """Raise UserError for what blocks cannot serve, or without Dask."""
    if args.method != "cut":
        raise UserError(f"--out-of-core serves --method cut only, not {args.method}.")
    if canonical_name(args.metric) == "gower":
        raise UserError("--out-of-core does not serve --metric gower.")
    for option in _NOT_SERVED:
        if getattr(args, option, None) not in (None, False):
            raise UserError(f"--out-of-core does not serve --{option.replace('_', '-')}.")
    try:
        import isthmus.dask  # noqa: F401
    except ImportError as error:
        raise UserError(str(error)) from error


def _open_source(
    args: argparse.Namespace, paths: list[Path], file_format: str, scratch: Path
) -> BlockSource:
    selection = Selection(args.columns, args.exclude)
    if file_format == "npy":
        return NpySource(paths[0], selection)
    if file_format == "parquet":
        return ParquetSource(paths, selection)
    delimiter = args.delimiter or ("\t" if file_format == "tsv" else None)
    how = CsvFormat(delimiter, args.decimal, args.header, selection)
    source = CsvSource(paths, how, scratch, with_text=not args.labels_only)
    if file_format == "csv":
        source.delimiter = source.dialect.delimiter
    return source


def _say_dialect(args: argparse.Namespace, source: BlockSource, file_format: str) -> None:
    """Say what was found out about a text, where it is not as usual."""
    if not isinstance(source, CsvSource) or args.quiet or args.json:
        return
    delimiter = args.delimiter or ("\t" if file_format == "tsv" else ",")
    if source.dialect != Dialect(delimiter, args.decimal or "."):
        found = source.dialect.describe()
        say(f"isthmus: {args.input}: {found} (--delimiter, --decimal say otherwise)")


def _check_label_column(args: argparse.Namespace, source: BlockSource, output: Output) -> None:
    beside = not args.labels_only and output.file_format != "npy"
    if beside and source.names is not None and args.label_column in source.names:
        raise UserError(
            f"the input already has a column named {args.label_column!r}. Choose another name with "
            "--label-column, or write the labels alone with --labels-only."
        )


def _fit(args: argparse.Namespace, source: BlockSource, scratch: str) -> Any:
    """Return a fitted model."""
    import dask
    import dask.array as da

    from isthmus.dask import TransitiveCut

    read = dask.delayed(source.points, pure=True, traverse=False)
    blocks = [
        da.from_delayed(read(b), (n_rows, len(source.selected)), source.dtype)
        for b, n_rows in enumerate(source.sizes)
    ]
    watched = sys.stderr is not None and sys.stderr.isatty()
    model = TransitiveCut(
        args.n_clusters,
        metric=args.metric,
        min_cluster_size=args.min_cluster_size,
        k_max=args.k_max,
        n_jobs=args.jobs,
        folder=scratch,
        verbose=int(watched and not args.quiet and not args.json),
    )
    try:
        return model.fit(da.concatenate(blocks))
    except ValueError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise scratch_error(scratch, error) from error


def _write(
    args: argparse.Namespace, stream: BinaryIO, output: Output, source: BlockSource, labels: Any
) -> Iterator[Labels]:
    """Write labels block by block, beside the columns of the input or alone, and yield them."""
    blocks = (labels.blocks[b].compute(scheduler="synchronous") for b in range(len(source.sizes)))
    if output.file_format == "npy":
        return _write_npy(stream, blocks, sum(source.sizes))
    if output.file_format == "parquet":
        return _write_parquet(args, stream, source, blocks)
    delimiter = "\t" if output.file_format == "tsv" else args.delimiter or source.delimiter
    return _write_text(args, stream, source, blocks, delimiter)


def _write_npy(stream: BinaryIO, blocks: Iterator[Labels], n_rows: int) -> Iterator[Labels]:
    header = {"descr": "<i8", "fortran_order": False, "shape": (n_rows,)}
    np.lib.format.write_array_header_1_0(stream, header)
    for labels in blocks:
        stream.write(labels.astype("<i8").tobytes())
        yield labels


def _columns(args: argparse.Namespace, source: BlockSource, block: int, labels: Labels) -> Any:
    """Return what is written of a block, a ``pyarrow.Table``."""
    pa = require_pyarrow()
    column = pa.array(labels.astype(np.int64))
    if args.labels_only:
        return pa.table([column], names=[args.label_column])
    table = source.table(block)
    if source.names is not None:
        table = table.rename_columns(list(source.names))
    return table.append_column(args.label_column, column)


def _write_parquet(
    args: argparse.Namespace, stream: BinaryIO, source: BlockSource, blocks: Iterator[Labels]
) -> Iterator[Labels]:
    require_pyarrow()
    import pyarrow.parquet as pq

    writer: Any = None
    for block, labels in enumerate(blocks):
        table = _columns(args, source, block, labels)
        writer = writer or pq.ParquetWriter(stream, table.schema)
        writer.write_table(table)
        yield labels
    writer.close()


def _write_text(
    args: argparse.Namespace,
    stream: BinaryIO,
    source: BlockSource,
    blocks: Iterator[Labels],
    delimiter: str,
) -> Iterator[Labels]:
    for block, labels in enumerate(blocks):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        if block == 0 and source.names is not None:
            names = [] if args.labels_only else list(source.names)
            writer.writerow([*names, args.label_column])
        if args.labels_only:
            writer.writerows([label] for label in labels.tolist())
        else:
            table = _columns(args, source, block, labels)
            writer.writerows(zip(*(_as_text(column) for column in table.columns), strict=True))
        stream.write(text.getvalue().encode())
        yield labels


def _as_text(column: Any) -> list[Any]:
    """Return values for a line of text; a float32 with the digits of a float32."""
    pa = require_pyarrow()
    values: list[Any] = (
        column.cast(pa.string()) if pa.types.is_float32(column.type) else column
    ).to_pylist()
    return values


def _say_summary(
    args: argparse.Namespace, source: BlockSource, sizes: list[int], seconds: float
) -> None:
    n_points, columns = sum(source.sizes), source.selected_names()
    if args.json:
        figures = {
            "n_points": n_points,
            "n_features": len(columns),
            "n_clusters": len(sizes),
            "sizes": sizes,
            "method": "cut",
            "metric": args.metric,
            "seconds": round(seconds, 3),
            "columns": columns,
        }
        say(json.dumps(figures))
        return
    lines = [
        f"points    {n_points:,}, in {len(source.sizes):,} blocks",
        f"features  {len(columns)} ({', '.join(columns)})",
        f"seconds   {seconds:.2f}",
        "",
        f"{'cluster':>7}  {'points':>14}  {'share':>7}",
    ]
    rows = [(str(label), size) for label, size in enumerate(sizes[:_LISTED])]
    if len(sizes) > _LISTED:
        rows.append(("others", sum(sizes[_LISTED:])))
    say("\n".join([*lines, *(f"{k:>7}  {n:>14,}  {n / n_points:>7.1%}" for k, n in rows)]))
