"""Where output goes: checked before any work, and written whole or not at all."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from isthmus.cli.compression import packed, require_zstd
from isthmus.cli.errors import UserError
from isthmus.cli.formats import (
    LISTED_COMPRESSIONS,
    WRITTEN_ENDINGS,
    compression_of_name,
    require_pyarrow,
    written_format,
)
from isthmus.files.atomic_write import atomic_file


class Output(NamedTuple):
    """A file that can be written to, or standard output, where the path is None."""

    path: Path | None
    file_format: str
    compression: str | None = None


def files_read(args: argparse.Namespace, *options: str) -> list[str | None]:
    """Return the files that a command reads: its input, and those that these options name.

    None, for an input that is not named, stands for standard input.
    """
    named = [getattr(args, option, None) for option in (*options, "must_link", "cannot_link")]
    return [args.input, *(name for name in named if name is not None)]


def check_output(name: str | None, *not_these: str | None) -> Output:
    """Return the output of that name (``-`` or None: standard output), or say what is wrong.

    It must not be one of the files that are read; None stands for standard input.
    """
    if name is None or name == "-":
        return Output(None, "csv")
    _refuse_long_name(Path(os.path.realpath(name)), name)
    file_format, compression = written_format(name), compression_of_name(name)
    if file_format is None and not Path(name).is_dir():
        raise UserError(
            f"cannot write {name}: its ending names no known format. "
            f"Known endings: {WRITTEN_ENDINGS}, and {LISTED_COMPRESSIONS} after them."
        )
    path = check_target(name, *not_these)
    if file_format == "parquet":
        require_pyarrow()
    if compression == ".zst":
        require_zstd()
    return Output(path, str(file_format), compression)


def refuse_in_folder(name: str | None, folder: str) -> None:
    """Raise UserError for an output in a folder whose files are read."""
    if name is None or name == "-":
        return
    for parent in (Path(name).parent, Path(os.path.realpath(name)).parent):
        with suppress(OSError):
            if parent.samefile(folder):
                raise UserError(
                    f"cannot write {name}: it is in the folder that is read, {folder}, of which "
                    "all files are input. Write to another folder."
                )


def check_target(name: str, *not_these: str | None) -> Path:
    """Return where a file of that name is written, or say why it cannot be.

    It must not be one of the files that are read; None stands for standard input.
    """
    path = Path(os.path.realpath(name))  # a link stays a link: what it points to is replaced
    _refuse_long_name(path, name)
    if path.is_dir():
        raise UserError(f"cannot write {name}: it is a directory.")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {name}: the directory {Path(name).parent} does not exist.")
    if path.exists():
        for number, read in enumerate(not_these):
            what = f"the input file {read}" if number else "the input"
            _check_existing(path, name, read, what)
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write {name}: no permission to write to its directory.")
    return path


@contextmanager
def open_output(output: Output) -> Iterator[BinaryIO]:
    """Open an output for writing; a file appears under its name only when it is complete."""
    name = "standard output" if output.path is None else str(output.path)
    try:
        if output.path is None:
            with _standard_output() as stream:
                yield stream
        else:
            with atomic_file(output.path) as file, packed(file, output.compression) as stream:
                yield stream
    except BrokenPipeError:
        raise  # the reader has had enough, which is no error
    except OSError as error:
        raise UserError(f"cannot write {name}: {error.strerror or error}.") from error


def print_lines(lines: Iterable[str]) -> None:
    """Write lines of text to standard output."""
    with open_output(Output(None, "text")) as stream:
        stream.writelines(f"{line}\n".encode(errors="surrogateescape") for line in lines)


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    if sys.stdout is None:
        raise UserError("standard output is closed. Name a file with --output.")
    sys.stdout.flush()
    stream = sys.stdout.buffer
    if not isinstance(stream, io.RawIOBase):
        yield stream
        stream.flush()
        return
    # Without Python's own buffer (python -u) a write may be partial. A second file on the same
    # descriptor, so that closing it leaves standard output alone.
    with io.BufferedWriter(io.FileIO(stream.fileno(), "wb", closefd=False)) as buffered:
        yield buffered


def _refuse_long_name(path: Path, name: str) -> None:
    try:
        path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UserError(f"cannot write {name}: {error.strerror}.") from error


def _check_existing(path: Path, name: str, input_name: str | None, what: str) -> None:
    if not path.is_file():
        raise UserError(f"cannot write {name}: it is not a regular file.")
    if not os.access(path, os.W_OK):
        raise UserError(f"cannot write {name}: no permission to write to it.")
    # Input that is missing is found out later; a standard input without a file is no file.
    with suppress(OSError, ValueError, AttributeError):
        if input_name is None or input_name == "-":
            status = os.fstat(sys.stdin.fileno())
        else:
            status = Path(input_name).stat()
        if os.path.samestat(status, path.stat()):
            raise UserError(f"cannot write {name}: it is {what}. Write to another file.")
