"""Memory: what is available, what a user allows, and errors before an allocation fails."""

from __future__ import annotations

import os
import re
from numbers import Integral
from pathlib import Path
from typing import Any

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
# Units of a limit, in lower case.
_BYTES = {
    "": 1,
    "b": 1,
    **{f"{letter}b": 1000**i for i, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024**i for i, letter in enumerate("kmgt", 1)},
}


def readable_size(n_bytes: int) -> str:
    """Return a number of bytes in a suitable unit: ``readable_size(3 << 30) == '3.0 GiB'``."""
    for unit, name in _UNITS:
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} bytes"


def available_memory() -> int | None:
    """Return the bytes that can be allocated now, or None where the system does not say."""
    limits = [limit for limit in (_free_in_system(), _free_in_control_group()) if limit is not None]
    return min(limits, default=None)


def require_memory(n_bytes: int, what: str, instead: str) -> None:
    """Raise MemoryError, with advice, where ``what`` needs more than is available."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} needs {readable_size(n_bytes)}, but only {readable_size(available)} "
            f"of memory are available. {instead}"
        )


def check_memory_limit(limit: Any) -> int | None:
    """Return a limit as a number of bytes; None is no limit.

    limit : int, str or None
        Bytes, or a number and its unit: "2GB", "512 MiB". GB are 1000³ bytes, GiB 1024³.
    """
    if limit is None:
        return None
    n_bytes = limit
    if isinstance(limit, str):
        parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([a-z]*)", limit.strip().lower())
        if parts is None or parts[2] not in _BYTES:
            raise ValueError(
                "memory_limit must be a number of bytes, or a number with a unit such as '2GB' or "
                f"'512 MiB'; got {limit!r}."
            )
        n_bytes = int(float(parts[1]) * _BYTES[parts[2]])
    elif isinstance(limit, bool) or not isinstance(limit, Integral):
        raise TypeError(
            "memory_limit must be an integer number of bytes, a string such as '2GB', or None; got "
            f"{limit!r}."
        )
    if n_bytes < 1:
        raise ValueError(f"memory_limit must be above 0, got {limit!r}.")
    return int(n_bytes)


class Budget:
    """A memory limit, or none, and how much of it is used.

    Parameters
    ----------
    limit : int or None
        Bytes.
    used : int
        Bytes in use besides the data, such as a copy of them.
    """

    def __init__(self, limit: int | None, used: int = 0) -> None:
        self.limit = limit
        self.used = used

    def after(self, n_bytes: int) -> Budget:
        """Return the budget with n_bytes more in use."""
        return Budget(self.limit, self.used + n_bytes)

    @property
    def left(self) -> int | None:
        """The bytes left, at least one; None where there is no limit."""
        return None if self.limit is None else max(self.limit - self.used, 1)

    def allows(self, n_bytes: int) -> bool:
        """Whether n_bytes fit."""
        return self.limit is None or self.used + n_bytes <= self.limit

    def require(self, n_bytes: int, what: str) -> None:
        """Raise MemoryError where ``what`` needs more bytes than are left."""
        if not self.allows(n_bytes) and self.limit is not None:
            needed = self.used + n_bytes
            raise MemoryError(
                f"{what} needs about {readable_size(needed)} ({needed} bytes) beside the data, "
                f"and memory_limit is {readable_size(self.limit)}. Raise the limit, or use fewer "
                "points."
            )


def _free_in_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:  # no /proc: the physical memory is an upper bound
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_control_group() -> int | None:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        statistics = Path("/sys/fs/cgroup/memory.stat").read_text().split()
        counters = dict(zip(statistics[::2], statistics[1::2], strict=True))
        # the kernel frees cached files when memory is needed
        cached = int(counters.get("inactive_file", 0))
        return max(int(limit) - int(used) + cached, 0)
    except (OSError, ValueError):  # no control group, or no limit ("max")
        return None
