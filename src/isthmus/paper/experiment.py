"""What an experiment is: tasks → results as data → claims, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result: TypeAlias = dict[str, Any]
"""What a task found: numbers, strings, booleans, None, and lists and dicts of these."""

Results: TypeAlias = Mapping[str, Result]
"""The results of all tasks of an experiment, by the names of the tasks."""


class Verdict(Enum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT = "not reproduced"


@dataclass(frozen=True)
class Task:
    """A part of an experiment that is computed on its own, and kept.

    Attributes
    ----------
    name : str
        Different from the other tasks' of the experiment; a file will be named after it.
    function : callable
        From the parameters to a :data:`Result`; NumPy arrays and numbers in it become lists and
        numbers.
    parameters : dict
        Keyword arguments, as :data:`Result` is made: seeds and sizes belong here, because the
        result is kept under them.
    alone : bool
        Whether nothing else may run at the same time, because it measures time.
    """

    name: str
    function: Callable[..., Mapping[str, Any]]
    parameters: dict[str, Any] = field(default_factory=dict)
    alone: bool = False


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and what we found.

    Attributes
    ----------
    text : str
        The claim in one sentence.
    paper, ours : str
        The paper's value and ours.
    verdict : Verdict
    reason : str
        Why, in a sentence or two; never empty.
    """

    text: str
    paper: str
    ours: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Table:
    """Numbers to print, as strings; the first column is a heading of its row."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A drawing and the sentence below it; the name is that of its file, without an ending."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Experiment:
    """A figure, a table or a claim of the paper.

    Attributes
    ----------
    name : str
        As on the command line: ``"table1"``.
    title : str
    about : str
        What the paper did and what is done here, where that had to be guessed: paragraphs,
        divided by empty lines.
    tasks : callable
        From whether the run is a quick one to the tasks.
    claims, tables, pictures : callable
        From the results to what the report shows.
    """

    name: str
    title: str
    about: str
    tasks: Callable[[bool], Sequence[Task]]
    claims: Callable[[Results], Sequence[Claim]]
    pictures: Callable[[Results], Sequence[Picture]] = lambda _: ()
    tables: Callable[[Results], Sequence[Table]] = lambda _: ()
