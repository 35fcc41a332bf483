"""What looks on while attempts run: tests at their boundaries, and traces that their own spans belong to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from turnwright.activities.runtime.boundary import Boundary, pass_by

Within: TypeAlias = Callable[[str, int, str, int], AbstractContextManager[None]]
"""A block within the attempt of a turn, a step, a call (empty: the model's) and an ordinal."""


def nowhere(turn_id: str, step: int, call: str, ordinal: int) -> AbstractContextManager[None]:
    """Nobody asks for spans."""
    del turn_id, step, call, ordinal
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`boundary` is passed by between an attempt's durable steps; spans that begin `within` an attempt belong to it."""

    boundary: Boundary = pass_by
    within: Within = nowhere
