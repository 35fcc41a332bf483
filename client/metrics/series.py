"""Families of counters and histograms whose every series is shown at zero before anything is counted in it.

Rule: Prometheus sees a rise only of what it has seen before. So what is counted in a series that nobody was shown yet
is held back until the page with its zero was given: else the first failure, which is often the only one, would never
show, nor what a new worker did before it was first asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Histogram

HELD_MAX = 1_000
"""Nobody may ever ask; beyond so many, a series counts at once."""

Labels: TypeAlias = tuple[str, ...]


class Series:
    """A family, and what is held back of it.

    Args:
        family: a counter, or a histogram.
        labelled: whether it has labels; else it is one series.
    """

    def __init__(self, family: Counter | Histogram, *, labelled: bool) -> None:
        self._family = family
        self._labelled = labelled
        self._told: dict[Labels, Counter | Histogram] = {}
        self._held: dict[Labels, list[float]] = {}

    @classmethod
    def counter(cls, registry: CollectorRegistry, name: str, what: str, labels: Labels) -> Series:
        """One that `add` raises."""
        return cls(Counter(f"turnwright_{name}", what, labels, registry=registry), labelled=bool(labels))

    @classmethod
    def histogram(
        cls, registry: CollectorRegistry, name: str, what: str, labels: Labels, buckets: Sequence[float]
    ) -> Series:
        """One in which `add` observes."""
        family = Histogram(f"turnwright_{name}", what, labels, registry=registry, buckets=buckets)
        return cls(family, labelled=bool(labels))

    def begin(self, *labels: str) -> None:
        """Have this one stand at zero."""
        if labels not in self._told and labels not in self._held:
            self._held[labels] = []
            self._child(labels)

    def add(self, *labels: str, value: float = 1) -> None:
        """Count, or observe, this much in one."""
        child = self._told.get(labels)
        if child is not None:
            _count(child, value)
            return
        self.begin(*labels)
        held = self._held[labels]
        held.append(value)
        if len(held) > HELD_MAX:
            self._tell(labels)

    def standing(self) -> tuple[Labels, ...]:
        """Those that stand at zero, with what is held back of them."""
        return tuple(self._held)

    def shown(self, standing: Iterable[Labels]) -> None:
        """A page with these was given: from the next one on, what was held back of them is told."""
        for labels in standing:
            if labels in self._held:
                self._tell(labels)

    def _tell(self, labels: Labels) -> None:
        child = self._told[labels] = self._child(labels)
        for value in self._held.pop(labels):
            _count(child, value)

    def _child(self, labels: Labels) -> Counter | Histogram:
        return self._family.labels(*labels) if self._labelled else self._family


def _count(child: Counter | Histogram, value: float) -> None:
    if isinstance(child, Counter):
        child.inc(value)
    else:
        child.observe(value)
