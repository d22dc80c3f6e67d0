"""Part (d): kills, full disks, little memory, threads. Jobs run in children of this process.

A child is a fork of a process that has imported and compiled everything, so it begins at once.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from campaign.scenarios import PREPARE, SCENARIOS
from campaign.script import Finding

# Seconds after which a child that should have ended counts as a hang.
_PATIENCE = 120.0
_FAILED = 99  # the exit status of a child whose job raised
_PREPARED: dict[str, dict] = {}
_NAMES = [name for name, one in SCENARIOS.items() for _ in range(one.times)]


@dataclass(frozen=True)
class Case:
    """A scenario, the signal and its moment, and how much there is of what is short."""

    name: str
    signal: str | None
    moment: float
    amount: int


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    name = str(rng.choice(_NAMES))
    scenario = SCENARIOS[name]
    sent = str(rng.choice(scenario.signals)) if scenario.signals else None
    moment = float(rng.uniform(0, scenario.longest))
    return Case(name, sent, moment, amount=int(2 ** rng.uniform(0, 21)))


def check(case: Case, counts: Counter[str]) -> None:
    """Run the job, disturb it, look after."""
    scenario = SCENARIOS[case.name]
    names = _prepared(case.name)
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(scenario.begin, names)
            names["AMOUNT"] = case.amount
            names["status"], names["said"] = _run(scenario.job, names, case)
            exec(scenario.after, names)
        except AssertionError as error:
            detail = str(error) or traceback.format_exc(limit=-1)
            what = f"{case.name}: {detail.splitlines()[0][:60]}"
            raise Finding(what, detail, source_of(case)) from error
        except Exception as error:
            detail = traceback.format_exc(limit=-3)
            raise Finding(f"{case.name}: {error!r}"[:80], detail, source_of(case)) from error
        finally:
            os.chdir(home)
    counts["kills" if case.signal else "processes"] += 1
    if case.signal:
        counts[f"kills by {case.signal}"] += 1


def _prepared(name: str) -> dict:
    """Return the names of a scenario, after all that it needs is compiled."""
    if "" not in _PREPARED:
        names: dict = {}
        exec(PREPARE, names)
        _PREPARED[""] = names
    if name not in _PREPARED:
        _PREPARED[name] = dict(_PREPARED[""])
    return _PREPARED[name]


def _run(job: str, names: dict, case: Case) -> tuple[int, str]:
    """Run a job in a fork; return its exit status, negative for a signal, and its last words."""
    ready, say_ready = os.pipe()
    said, say = os.pipe()  # no file: the limit of files would hold for it
    os.set_blocking(say, False)
    # What the compiler left here is not the child's to delete: an interrupt would be lost there.
    gc.freeze()
    child = os.fork()
    if child == 0:
        try:
            _be_child(job, names, say_ready, say)
        except KeyboardInterrupt:  # while the child ended
            os._exit(130)
        finally:
            os._exit(_FAILED)
    os.close(say_ready)
    os.close(say)
    status = None
    try:
        os.read(ready, 1)
        if case.signal is not None:
            time.sleep(case.moment)
            os.kill(child, getattr(signal, case.signal))
        deadline = time.monotonic() + _PATIENCE
        while status is None and time.monotonic() < deadline:
            ended, found = os.waitpid(child, os.WNOHANG)
            if ended:
                status = os.waitstatus_to_exitcode(found)
            else:
                time.sleep(0.002)
    finally:
        os.close(ready)
        if status is None:  # whatever happened, no child is left behind
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        with open(said, "rb") as stream:  # noqa: PTH123 - a descriptor
            words = stream.read().decode(errors="replace")
    if status is None:
        raise AssertionError(f"a hang\n{words}")
    return status, words


def _be_child(job: str, names: dict, say_ready: int, say: int) -> None:
    """Run the job, and never return."""
    status = 0
    try:
        faulthandler.enable(file=say)
        faulthandler.dump_traceback_later(_PATIENCE / 2, file=say)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.dup2(say, 2)
        sys.stdout, sys.stderr = open(1, "w"), open(2, "w")  # noqa: SIM115
        os.write(say_ready, b".")
        exec(job, names)
    except SystemExit as end:
        status = int(end.code or 0)
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        status = _FAILED
        traceback.print_exc()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(status)


def source_of(case: Case) -> str:
    """Return a program that does the same, with a process of its own as the child."""
    scenario = SCENARIOS[case.name]
    common = PREPARE.strip() + f"\nAMOUNT = {case.amount}\n"
    send = ""
    if case.signal is not None:
        send = f"time.sleep({case.moment!r})\nchild.send_signal(signal.{case.signal})\n"
    return (
        "import subprocess, tempfile\n"
        f"COMMON = r'''{common}'''\n"
        f"BEGIN = r'''{scenario.begin.strip()}'''\n"
        f"JOB = r'''{scenario.job.strip()}'''\n"
        "exec(COMMON)\nos.chdir(tempfile.mkdtemp())\nexec(BEGIN)\n"
        "ready = \"\\nprint('ready', flush=True)\\n\"\n"
        "begin = 'os.chdir(__import__(\"tempfile\").mkdtemp())\\n' + BEGIN\n"
        "code = COMMON + f'\\nhere = os.getcwd()\\n{begin}\\nos.chdir(here)' + ready + JOB\n"
        "child = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE,\n"
        "                         stderr=subprocess.PIPE, text=True)\n"
        "child.stdout.readline()\n"
        f"{send}said = child.communicate()[1]\nstatus = child.returncode\n"
        f"{scenario.after.strip()}\n"
    )
