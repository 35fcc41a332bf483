"""What a model says while it is still speaking.

Rule: a delta is a look, never a fact. It may be missing, it is gone when the attempt has ended, and what was said is
what the attempt's entry says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Spoken: TypeAlias = Literal["text", "thinking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """Words of a running model call, to be put behind those of the same block; a new `ordinal` begins anew.

    `index` tells the blocks of an answer apart and is their order; one that stays empty leaves its number out.
    """

    turn_id: str
    step: int
    ordinal: int
    index: int
    kind: Spoken
    text: str


@dataclass(frozen=True, slots=True)
class DeltaPlace:
    """How far somebody has heard: `n` rows of an attempt."""

    turn_id: str = ""
    step: int = 0
    ordinal: int = 0
    n: int = 0


NOTHING_HEARD = DeltaPlace()


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said behind a place, and the place behind that."""

    deltas: tuple[Delta, ...] = ()
    place: DeltaPlace = field(default=NOTHING_HEARD)
