"""Refuse an allocation that cannot fit, before it is made."""

from __future__ import annotations

import os
from pathlib import Path

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def readable_size(n_bytes: int) -> str:
    """Format a number of bytes for people: ``readable_size(3 << 30) == '3.0 GiB'``."""
    for unit, name in _UNITS:
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} bytes"


def available_memory() -> int | None:
    """Return the bytes that can be allocated now, or None where the system does not say."""
    limits = [limit for limit in (_free_in_system(), _free_in_control_group()) if limit is not None]
    return min(limits, default=None)


def require_memory(n_bytes: int, what: str, instead: str) -> None:
    """Raise MemoryError where ``what`` needs more than there is; ``instead`` is the advice."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} needs {readable_size(n_bytes)}, but only {readable_size(available)} "
            f"of memory are available. {instead}"
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
        # cached files are given back when memory is needed
        cached = int(counters.get("inactive_file", 0))
        return max(int(limit) - int(used) + cached, 0)
    except (OSError, ValueError):  # no control group, or no limit ("max")
        return None
