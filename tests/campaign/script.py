"""The code of a case: run line by line, and printed where it goes wrong."""

from __future__ import annotations

import base64
import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

# Longer values are printed compressed.
_PLAIN_LENGTH = 1_500
# Where each line is written before it is run, so that a crash leaves it behind.
TRACE = "CAMPAIGN_TRACE"


class Finding(Exception):
    """Something is wrong.

    Attributes
    ----------
    what : str
        In a few words; findings of the same words count as one kind.
    detail : str
        The words for this case.
    source : str
        Python code that shows it: it fails.
    """

    def __init__(self, what: str, detail: str, source: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.what, self.detail, self.source = what, detail, source


class Script:
    """Lines of Python that are run as they are added.

    So what is printed is what was run.
    """

    def __init__(self, *imports: str) -> None:
        self._parts: list[Any] = ["import numpy as np", *imports]
        self.names: dict[str, Any] = {"np": np}
        for line in imports:
            exec(line, self.names)

    def given(self, **values: Any) -> None:
        """Add values of names."""
        for name, value in values.items():
            self.names[name] = value
            self._parts.append((name, value))

    def run(self, line: str) -> None:
        """Run a line; whatever it raises is a finding."""
        error = self.attempt(line)
        if error is not None:
            self.fail(type(error).__name__, _first_line(error))

    def attempt(self, line: str, *expected: type[Exception]) -> Exception | None:
        """Run a line; return what it raises, of the expected types or, without any, of all."""
        self._parts.append(line)
        if TRACE in os.environ:
            Path(os.environ[TRACE]).write_text(self.source)
        try:
            exec(line, self.names)
        except Finding:
            raise
        except Exception as error:
            if expected and not isinstance(error, expected):
                self.fail(type(error).__name__, _first_line(error))
            return error
        return None

    def forget(self) -> None:
        """Take the last line back, which was refused as it may be."""
        self._parts.pop()

    def check(self, condition: str, what: str, detail: str = "") -> None:
        """Evaluate a condition; where it is false, that is a finding."""
        if not eval(condition, self.names):
            shown = detail and str(eval(detail, self.names))
            self._parts.append(f"assert {condition}" + (f", ({detail})" if detail else ""))
            self.fail(what, " ".join(shown.split())[:300])

    def fail(self, what: str, detail: str) -> None:
        """Raise the finding that the last line shows."""
        raise Finding(what, detail, self.source)

    @property
    def source(self) -> str:
        """All lines."""
        text = "\n".join(
            part if isinstance(part, str) else f"{part[0]} = {literal(part[1])}"
            for part in self._parts
        )
        used = [name for name in ("inf", "nan") if re.search(rf"\b(?<!\.){name}\b", text)]
        return (f"from numpy import {', '.join(used)}\n" if used else "") + text


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or repr(error)).splitlines()[0][:300]


def literal(value: Any) -> str:
    """Return Python code for a value: numbers, strings, containers, arrays and CSR matrices."""
    if issparse(value):
        entries = f"({literal(value.data)}, {literal(value.indices)}, {literal(value.indptr)})"
        return f"__import__('scipy.sparse').sparse.csr_array({entries}, shape={value.shape})"
    if isinstance(value, np.ndarray):
        return _array_literal(value)
    if isinstance(value, bytes):
        return _packed(value) if len(value) > 200 else repr(value)
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value)


def _array_literal(array: np.ndarray) -> str:
    dtype = array.dtype
    if dtype == np.longdouble:
        array = array.astype(np.float64)
        dtype = array.dtype
    text = f"np.array({array.tolist()!r}, dtype={dtype.str!r})"
    if array.size == 0:
        text = f"np.empty({array.shape}, dtype={dtype.str!r})"
    if len(text) <= _PLAIN_LENGTH or dtype.kind == "O":
        return text
    raw = _packed(np.ascontiguousarray(array).tobytes())
    return f"np.frombuffer({raw}, dtype={dtype.str!r}).reshape({array.shape})"


def _packed(raw: bytes) -> str:
    packed = base64.b85encode(zlib.compress(raw, 9)).decode()
    return f"__import__('zlib').decompress(__import__('base64').b85decode({packed!r}))"
