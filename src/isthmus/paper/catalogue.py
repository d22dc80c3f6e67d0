"""Names → experiments, in the order of the paper."""

from __future__ import annotations

from importlib import import_module

from isthmus.paper.experiment import Experiment

# Each is a module of this package with an EXPERIMENT.
PARTS = (
    "figure1",
    "figure2",
    "figure3",
    "figure4",
    "figure5",
    "figure6",
    "table1",
    "complexity",
)


def load_experiment(name: str) -> Experiment:
    """Return the experiment of that name, one of PARTS."""
    experiment: Experiment = import_module(f"isthmus.paper.{name}").EXPERIMENT
    return experiment
