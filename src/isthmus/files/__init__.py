"""Values and arrays ↔ one file that holds no code; docs/file_format.md describes it."""

from isthmus.files.container import read_file, write_file
from isthmus.files.whole import whole_file

__all__ = ["read_file", "whole_file", "write_file"]
