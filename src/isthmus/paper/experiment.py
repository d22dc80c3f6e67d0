"""What an experiment is: tasks → results as data → claims, tables and pictures."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result: TypeAlias = dict[str, Any]
"""What a task found: numbers, strings, booleans, None, and lists and dicts of these."""

Results: TypeAlias = Mapping[str, Result]
"""The results of all tasks of an experiment, by the names of the tasks."""

# The experiments in the order of the paper; each is a module of this package.
PARTS = (*(f"figure{number}" for number in range(1, 7)), "table1", "complexity")
_DOTS_PER_INCH = 150


class Verdict(Enum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT = "not reproduced"
    OTHER_DATA = "not judged: other data"
    QUICK = "not judged: quick run"

    @classmethod
    def of(cls, reproduced: bool, partly: bool) -> Verdict:
        """Return the verdict, given whether a claim holds, and if not, whether it does in part."""
        if reproduced:
            return cls.REPRODUCED
        return cls.PARTLY if partly else cls.NOT


@dataclass(frozen=True)
class Task:
    """A part of an experiment that is computed on its own, and kept.

    The function returns a :data:`Result`, in which NumPy arrays and numbers become lists and
    numbers. Seeds and sizes belong to its parameters, because the result is kept under them.
    """

    name: str  # unique within the experiment; a file is named after it
    function: Callable[..., Mapping[str, Any]]
    parameters: dict[str, Any] = field(default_factory=dict)  # of the types of a Result
    alone: bool = False  # nothing else may run at the same time: the task measures time


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and what we found."""

    text: str  # the claim in one sentence
    paper: str  # the paper's value
    ours: str  # our value
    verdict: Verdict
    reason: str  # a sentence or two; never empty


@dataclass(frozen=True)
class Table:
    """Numbers to print, as strings; the first cell of a row is its heading."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A drawing and its caption; its file has its name, with another ending."""

    name: str
    caption: str
    figure: Figure

    @cached_property
    def png(self) -> bytes:
        """The drawing as a PNG file."""
        stream = io.BytesIO()
        self.figure.savefig(stream, format="png", dpi=_DOTS_PER_INCH)
        return stream.getvalue()


@dataclass(frozen=True)
class Experiment:
    """A figure, a table or a claim of the paper.

    ``about`` says what the paper did and what is done here, where that had to be guessed:
    paragraphs, separated by empty lines.
    """

    name: str  # as on the command line
    title: str
    about: str
    tasks: Callable[[bool], Sequence[Task]]  # from whether the run is a quick one
    claims: Callable[[Results], Sequence[Claim]]
    pictures: Callable[[Results], Sequence[Picture]] = lambda _: ()
    tables: Callable[[Results], Sequence[Table]] = lambda _: ()


def load_experiment(name: str) -> Experiment:
    """Return the experiment of a name, one of PARTS."""
    part: Any = import_module(f"isthmus.paper.{name}")
    return Experiment(
        name, part.TITLE, part.ABOUT, part.tasks, part.claims, part.pictures, part.tables
    )
