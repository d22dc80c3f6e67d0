"""Ctrl-C at any moment: the estimator is not fitted, no thread is left, and the next fit works."""

import random
import signal
import subprocess
import sys
import time

import pytest

# Fits again and again, in a process of its own, and says when each begins and how it ended.
FITS = """
import sys, threading, time
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from isthmus import TransitiveCut, TransitiveKMeans

def say(*words):
    print(*words, flush=True)

rng = np.random.default_rng(0)
random_starts = dict(init="k-means++", n_init=20, random_state=0)
jobs = {
    "kd-tree": (TransitiveKMeans(5, n_jobs=2), rng.normal(size=(40_000, 3))),
    "blocked": (TransitiveKMeans(5, n_jobs=2), rng.normal(size=(5_000, 50))),
    "prim": (TransitiveCut(5), rng.normal(size=(6_000, 10))),
    "rows": (TransitiveKMeans(5, metric="canberra", n_jobs=2), rng.normal(size=(1_500, 50))),
    "function": (
        TransitiveKMeans(5, metric=lambda a, b: abs(a[0] - b[0])), rng.normal(size=(400, 1))
    ),
    "starts": (TransitiveKMeans(20, n_jobs=2, **random_starts), rng.normal(size=(20_000, 1))),
    "distances": (
        TransitiveKMeans(5, metric="precomputed"), pdist(rng.normal(size=(3_000, 2)))
    ),
}

def is_fitted(model):
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True

for line in sys.stdin:
    job, what = line.split()
    model, X = jobs[job]
    if what == "expected":
        model.fit(X)  # compiles
        begun = time.monotonic()
        expected = model.fit(X).labels_
        say(time.monotonic() - begun)
        continue
    if what == "right":
        say((model.fit(X).labels_ == expected).all())
        continue
    if what == "new":
        model = type(model)(**model.get_params())
    try:
        say("begin")
        model.fit(X)
        say("end")
        time.sleep(60)
    except KeyboardInterrupt:
        pass
    deadline = time.monotonic() + 10
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    say("fitted" if is_fitted(model) else "not fitted", threading.active_count(),
        sorted(set(vars(model)) - set(model.get_params())))
"""
# … and at how many moments each is interrupted.
JOBS = {
    "kd-tree": 3,
    "blocked": 2,
    "starts": 2,
    "rows": 1,
    "function": 1,
    "distances": 1,
    "prim": 1,
}


class Fits:
    """A process that fits when it is asked to."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", FITS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def interrupt(self, job, what, seconds):
        """Begin a fit and interrupt it; return what is told then, None where it was done."""
        assert self.ask(job, what) == "begin"
        time.sleep(seconds)
        self.process.send_signal(signal.SIGINT)
        told = self.process.stdout.readline().strip()
        if told != "end":
            return told
        self.process.stdout.readline()
        return None


@pytest.fixture(scope="module")
def fits():
    fits = Fits()
    yield fits
    fits.process.stdin.close()
    fits.process.stdout.close()
    assert fits.process.wait(timeout=60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT between processes")
@pytest.mark.parametrize("job", JOBS)
def test_a_fit_that_is_interrupted(job, fits):
    moments = random.Random(job)
    duration = float(fits.ask(job, "expected"))
    for number in range(JOBS[job]):
        seconds = moments.uniform(0.0, 0.9) * duration
        told = None
        while told is None:  # too late: it was done already
            told = fits.interrupt(job, "new" if number % 2 else "again", seconds)
            seconds /= 2
        assert told == "not fitted 1 []"
        assert fits.ask(job, "right") == "True"
