"""What a report says, before it is written as HTML or Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from isthmus.paper.experiment import Claim, Experiment, Picture, Table, Verdict

TITLE = "Clustering with Transitive Distance and K-Means Duality, computed again"
CITATION = (
    "C. Xu, J. Liu, X. Tang: Clustering with Transitive Distance and K-Means Duality, "
    "arXiv:0711.3594 (2007)"
)
INTRODUCTION = (
    "Every figure, table and number of the paper, beside what isthmus finds today. Where the "
    "paper does not publish its data or leaves a choice open, the report states the choice made "
    "here and shows how far the answer depends on it."
)
QUICK = (
    "This is a quick run: fewer seeds and coarser grids than the full one. It shows that "
    "everything works, and judges no claim."
)


@dataclass(frozen=True)
class Section:
    """One experiment and what it found."""

    experiment: Experiment
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    seconds: float

    @property
    def paragraphs(self) -> list[str]:
        """What the experiment is about, each paragraph on one line."""
        return [" ".join(part.split()) for part in self.experiment.about.split("\n\n")]


@dataclass(frozen=True)
class Page:
    """All sections, and what they were computed with."""

    sections: tuple[Section, ...]
    quick: bool
    versions: dict[str, str]
    machine: dict[str, str]

    @property
    def claims(self) -> list[tuple[str, Claim]]:
        """All claims, each with the name of its experiment."""
        return [(each.experiment.name, claim) for each in self.sections for claim in each.claims]

    @property
    def verdicts(self) -> str:
        """How many claims came to each verdict: ``"3 reproduced, 1 partly"``."""
        found = [claim.verdict for _, claim in self.claims]
        return ", ".join(f"{found.count(v)} {v.value}" for v in Verdict if v in found)

    @property
    def origin(self) -> str:
        """Versions and machine in two sentences."""
        fields = (self.versions, self.machine)
        return " ".join(f"{', '.join(f'{k} {v}' for k, v in each.items())}." for each in fields)

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return "isthmus reproduce --quick" if self.quick else "isthmus reproduce"

    @property
    def seconds(self) -> float:
        """Seconds of computing, in all processes together."""
        return sum(section.seconds for section in self.sections)


def duration(seconds: float) -> str:
    """Return a time for people: ``"2 min 5 s"``, ``"0.4 s"``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
