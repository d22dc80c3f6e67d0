"""A made-up experiment, for tests of what surrounds experiments."""

import time

import numpy as np
from threadpoolctl import threadpool_info

from isthmus.paper import Claim, Experiment, Picture, Table, Task, Verdict


class Calls:
    """Counts how often tasks are run."""

    def __init__(self):
        self.names = []

    def square(self, name, number, fail=False):
        self.names.append(name)
        if fail:
            raise ValueError("no square")
        return {"square": np.float64(number) ** 2, "all": np.arange(number)}


def made_up(calls, name="made_up", *, n_tasks=3, failing=(), alone=()):
    """Return an experiment of a few squares; the quick one has a single task."""

    def tasks(quick):
        return [
            Task(
                f"task{i}",
                calls.square,
                {"name": f"{name}{i}", "number": i} | ({"fail": True} if i in failing else {}),
                alone=i in alone,
            )
            for i in range(1 if quick else n_tasks)
        ]

    def claims(results):
        total = sum(result["square"] for result in results.values())
        return [
            Claim("Squares add up to 5.", "5", f"{total:g}", verdict(total), "By <arithmetic>."),
            Claim("Zero | is a square.", "0", "0", Verdict.PARTLY, "Of itself only."),
        ]

    def verdict(total):
        return Verdict.REPRODUCED if total == 5.0 else Verdict.NOT

    def pictures(results):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3, 2))
        figure.add_subplot().plot([result["square"] for result in results.values()])
        return [Picture(f"{name}_squares", "Squares & more", figure)]

    def tables(results):
        rows = [(task, f"{result['square']:g}") for task, result in results.items()]
        return [Table("All squares", ("task", "square"), rows)]

    return Experiment(
        name, f"The {name} <experiment>", "One.\n\nTwo.", tasks, claims, pictures, tables
    )


# For tasks in processes of their own, which find functions by name.


def square(number):
    return {"square": number**2}


def no_square(number):
    raise ValueError(f"no square of {number}")


def moments(seconds):
    """Return when the task began and ended."""
    begun = time.time()
    time.sleep(seconds)
    return {"begun": begun, "ended": time.time()}


def threads():
    """Return how many threads libraries may use."""
    import sklearn.cluster  # noqa: F401 -- loads OpenMP

    return {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}


def of_tasks(*tasks):
    """Return an experiment of these tasks."""
    return Experiment("made_up", "", "", lambda _: tasks, lambda _: ())
