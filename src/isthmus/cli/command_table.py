"""The table that a command reads, and writes again with one more column."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from isthmus.cli.errors import UserError, say
from isthmus.cli.fit import Stopwatch, bar_for
from isthmus.cli.output_file import check_output, files_read
from isthmus.cli.read_table import ReadOptions, input_format, read_table, what_was_taken
from isthmus.cli.table import Table
from isthmus.cli.write_table import NewColumn, WriteOptions, check_new_column, write_column


class CommandTable(NamedTuple):
    """A table, its format, and what was found out about its text."""

    table: Table
    file_format: str
    taken: str | None


def check_column_options(
    args: argparse.Namespace,
    column_option: str = "--label-column",
    alone_option: str = "--labels-only",
) -> WriteOptions:
    """Return how to write the new column, or say what is wrong.

    The options are those that set its name, and that leave out the columns of the input.
    """
    name = getattr(args, column_option[2:].replace("-", "_"))
    alone = getattr(args, alone_option[2:].replace("-", "_"))
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UserError(f"{column_option} {name!a} is not valid text.") from None
    output = check_output(args.output, *files_read(args, "model"))
    return WriteOptions(output, name, alone, args.delimiter, column_option, alone_option)


def read_command_table(
    args: argparse.Namespace,
    options: ReadOptions,
    stopwatch: Stopwatch,
    write_options: WriteOptions | None = None,
) -> CommandTable:
    """Read the input, check that it has room for the new column, say what was found out."""
    file_format = input_format(args.input, options)
    with stopwatch.timed("reading"):
        table = read_table(args.input, options._replace(progress=bar_for("reading", args)))
    if write_options is not None:
        check_new_column(table, write_options)
    taken = what_was_taken(table, file_format, options)
    if taken and not args.quiet and not getattr(args, "json", False):
        say(f"isthmus: {taken}")
    return CommandTable(table, file_format, taken)


def write_command_table(
    args: argparse.Namespace, read: CommandTable, column: NewColumn, options: WriteOptions
) -> None:
    """Write the input with one more column, by the delimiter that it had."""
    delimiter = args.delimiter or (read.table.delimiter if read.file_format == "csv" else None)
    progress = bar_for("writing", args)
    write_column(read.table, column, options._replace(delimiter=delimiter, progress=progress))
