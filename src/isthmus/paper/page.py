"""What a report holds, before it is written as HTML or Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from isthmus.paper.experiment import Claim, Table, Verdict

TITLE = "Clustering with Transitive Distance and K-Means Duality, computed again"
CITATION = (
    "C. Xu, J. Liu, X. Tang: Clustering with Transitive Distance and K-Means Duality, "
    "arXiv:0711.3594 (2007)"
)
INTRODUCTION = (
    "Every figure, table and number of the paper, beside what isthmus finds today. Where the "
    "paper does not publish its data or leaves a choice open, the choice made here is stated, and "
    "how far the answer depends on it is shown."
)
QUICK = (
    "This is a quick run: fewer seeds and coarser grids than the full one. It shows that "
    "everything works; its verdicts are not to be quoted."
)


@dataclass(frozen=True)
class DrawnPicture:
    """A picture as the bytes of a PNG file."""

    name: str
    caption: str
    png: bytes


@dataclass(frozen=True)
class Section:
    """One experiment, ready to be shown."""

    name: str
    title: str
    about: tuple[str, ...]
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    pictures: tuple[DrawnPicture, ...]
    seconds: float


@dataclass(frozen=True)
class Page:
    """All of them, and what they were computed with.

    Attributes
    ----------
    sections : tuple of Section
    quick : bool
    verdicts : dict
        How many claims came to each verdict.
    versions, machine : dict of str
    seconds : float
        Of computing, in all processes together.
    """

    sections: tuple[Section, ...]
    quick: bool
    verdicts: dict[Verdict, int]
    versions: dict[str, str]
    machine: dict[str, str]
    seconds: float

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return "isthmus reproduce --quick" if self.quick else "isthmus reproduce"


def counted(verdicts: dict[Verdict, int]) -> str:
    """Return the numbers of verdicts in words: ``"3 reproduced, 1 partly"``."""
    return ", ".join(f"{n} {verdict.value}" for verdict, n in verdicts.items() if n)


def listed(fields: dict[str, str]) -> str:
    """Return fields in one line: ``"numpy 2.1, scipy 1.14"``."""
    return ", ".join(f"{name} {value}" for name, value in fields.items())


def duration(seconds: float) -> str:
    """Return a time for people: ``"2 min 5 s"``, ``"0.4 s"``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
