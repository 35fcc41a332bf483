"""What a measurement gives: pairs of samples, ours and something to hold them against.

Rule: an absolute number tells about the machine, a ratio about the code. So every figure carries what the
floor or peer took in the same run, and where there are rounds the ratio is taken within each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Final

MOST: Final = 0.95


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of several samples, and how far they lie apart."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: Iterable[float]) -> Spread:
        """The spread of at least one sample."""
        taken = sorted(samples)
        return cls(median(taken), taken[0], taken[-1])


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the results: `ours` against `theirs`, sample by sample.

    Args:
        what: what was measured.
        unit: of both columns of samples.
        ours: one sample a round.
        against: what the floor or peer is.
        theirs: its samples of the same rounds.
        paired: whether the samples of a round belong together; else each of ours is held against their middle.
    """

    what: str
    unit: str
    ours: tuple[float, ...]
    against: str
    theirs: tuple[float, ...]
    paired: bool = True

    @property
    def ratio(self) -> Spread:
        """Ours by theirs: round by round when the rounds are pairs, else by the middle of theirs."""
        if self.paired:
            return Spread.of(a / b for a, b in zip(self.ours, self.theirs, strict=True))
        floor = median(self.theirs)
        return Spread.of(a / floor for a in self.ours)


def with_worst(what: str, ours: tuple[float, ...], against: str, theirs: tuple[float, ...]) -> tuple[Figure, ...]:
    """Seconds that are no pairs: their middle, what nineteen of twenty stay under, and the longest of each side."""
    middle = Figure(what, "s", ours, against, theirs, paired=False)
    most = Figure(f"{what}: 19 of 20 within", "s", (_most(ours),), against, (_most(theirs),))
    return middle, most, Figure(f"{what}: the longest", "s", (max(ours),), against, (max(theirs),))


def _most(samples: tuple[float, ...]) -> float:
    return sorted(samples)[ceil(len(samples) * MOST) - 1]


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one part, and how they were taken."""

    title: str
    how: str
    figures: tuple[Figure, ...]
