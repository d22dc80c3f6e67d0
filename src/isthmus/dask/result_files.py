"""Results in files: written once, and read as memory maps, of which only what is used is loaded."""

from __future__ import annotations

import mmap
import pickle
import uuid
import weakref
from pathlib import Path
from typing import Any

# Where arrays begin in a file: a multiple of this, as vector instructions want them.
_ALIGNMENT = 64


class ResultFile:
    """A result in a file, which is removed with this object.

    Arrays lie in the file as they are; what remains of the result is a pickle behind them, which
    nothing but this object reads.

    Parameters
    ----------
    value : object
        To be kept.
    folder : Path
        Where.
    """

    def __init__(self, value: Any, folder: Path) -> None:
        self.path = folder / uuid.uuid4().hex
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        buffers: list[pickle.PickleBuffer] = []
        self._rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        self._spans = []
        with self.path.open("wb") as file:
            for buffer in buffers:
                with buffer.raw() as content:
                    file.write(b"\0" * (-file.tell() % _ALIGNMENT))
                    self._spans.append((file.tell(), content.nbytes))
                    file.write(content)

    def load(self) -> Any:
        """Return the result; what is written to its arrays is not kept."""
        with self.path.open("rb") as file:
            if not any(size for _, size in self._spans):  # there is nothing to map
                return pickle.loads(self._rest, buffers=[bytearray() for _ in self._spans])
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        return pickle.loads(
            self._rest, buffers=[whole[begin : begin + size] for begin, size in self._spans]
        )
