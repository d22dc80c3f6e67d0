"""Workers that are killed in a stage of a fit."""

from __future__ import annotations

import os
import signal
import threading

STAGES = ("input", "partition", "local trees", "boundaries", "clusters")


class Killer:
    """Kills a worker when a stage is reported first: ``verbose=`` of a fit.

    Parameters
    ----------
    client : distributed.Client
    stage : str
    delay : float
        Seconds after the report.
    """

    def __init__(self, client, stage: str, delay: float = 0.0) -> None:
        self.stage, self.delay = stage, delay
        self.worker = next(iter(client.run(os.getpid).values()))
        self._timer: threading.Timer | None = None
        self.has_killed = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take a report."""
        if stage == self.stage and self._timer is None:
            self._timer = threading.Timer(self.delay, self._kill)
            self._timer.start()

    def _kill(self) -> None:
        os.kill(self.worker, signal.SIGKILL)
        self.has_killed = True

    def join(self) -> None:
        """Wait until the worker is dead."""
        if self._timer is not None:
            self._timer.join()
