"""Workers, one for each part, watched: one that crashes or stops is a finding, and is replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from campaign.script import TRACE
from campaign.worker import HANG_AFTER

# Seconds without a word after which a worker counts as stopped: more than kernels take to compile.
# One that can still answer says so itself, much earlier.
_SILENCE = 900
# Seconds from which on files are read by kernels that check their indices, which takes minutes to
# compile.
_LONG = 600
# How often findings of one kind are printed.
_SHOWN = 3


@dataclass
class Report:
    """What all parts found and counted."""

    seed: int
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, part: str, what: str, detail: str, source: str, number: int) -> None:
        """Print a finding, unless it is one of many."""
        with self.lock:
            self.findings[part, what] += 1
            if self.findings[part, what] > _SHOWN:
                return
            again = f"--part {part} --seed {self.seed} --case {number}"
            print(f"\n### {part}: {what}", f"# {detail}" * bool(detail), source, sep="\n")
            print(f"# again: PYTHONPATH=tests python -m campaign {again}", flush=True)


@dataclass(frozen=True)
class Limits:
    """The cases to run: numbers from first to last, as long as there is time."""

    first: int
    last: int
    seconds: float


def run_part(part: str, limits: Limits, report: Report) -> None:
    """Run the cases of a part, in one process after the other."""
    deadline = time.monotonic() + limits.seconds
    number = limits.first
    total: Counter[str] = Counter()
    while number < limits.last and time.monotonic() < deadline:
        left = Limits(number, limits.last, deadline - time.monotonic())
        worker = Worker(part, left, report)
        worker.watch()
        total += worker.counts
        report.counts[part] = total
        if worker.is_done:
            break
        source = _traced(part, worker.case, report.seed)
        report.add(part, worker.ending, f"in case {worker.case}", source, worker.case)
        number = worker.case + 1


class Worker:
    """One process that runs cases, and what it has said."""

    def __init__(self, part: str, limits: Limits, report: Report) -> None:
        self.part, self.report = part, report
        self.counts: Counter[str] = Counter()
        self.case, self.is_done, self.ending = limits.first, False, ""
        self._process = _start(part, report.seed, limits)

    def watch(self) -> None:
        """Read what the worker says until it ends, or says nothing for too long."""
        silence = threading.Timer(_SILENCE, self._process.kill)
        silence.start()
        for line in self._process.stdout:
            silence.cancel()
            silence = threading.Timer(_SILENCE, self._process.kill)
            silence.start()
            self._note(json.loads(line))
        silence.cancel()
        status = self._process.wait()
        self.ending = f"a crash (exit status {status})"
        if status == -9:
            self.ending = "a hang, or killed"

    def _note(self, said: dict) -> None:
        self.case = said.get("case", self.case)
        self.counts = Counter(said.get("counts", self.counts))
        self.is_done = said.get("done", False)
        if "found" in said:
            self.report.add(
                self.part, said["found"], said["detail"], said["source"], said["number"]
            )


def _start(part: str, seed: int, limits: Limits, **environment: str) -> subprocess.Popen[str]:
    numbers = (seed, limits.first, limits.last, limits.seconds)
    checked = {"NUMBA_BOUNDSCHECK": "1"} if part == "files" and limits.seconds >= _LONG else {}
    return subprocess.Popen(
        [sys.executable, "-m", "campaign.worker", part, *map(str, numbers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if environment else None,
        text=True,
        env={**os.environ, **checked, **environment},
    )


def _traced(part: str, number: int, seed: int) -> str:
    """Run a case again, with every line written to a file before it is run; return the lines."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        limits = Limits(number, number + 1, HANG_AFTER)
        process = _start(part, seed, limits, **{TRACE: str(trace)})
        try:
            process.communicate(timeout=HANG_AFTER)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        if trace.exists():
            return trace.read_text()
    return "# see below how to run the case again"
