"""Where a conversation stands in its script, and what to play there.

Rule: derived from the request alone. The place is the number of assistant messages since the message
that brought the script, or, for a script from elsewhere, since the turn began. Attempts use up the
guards (`fail`, `cut`, `silent`) before the act; then the act is played.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turnwright.activities.models.port import ModelRequest
from turnwright.activities.models.script_steps import Act, Delay, Guard, Say, parse_steps
from turnwright.journal.messages import Message
from turnwright.journal.view import BRIEFING

# A user's message with this metadata, one of these values, joined a turn that had begun.
INPUT_METADATA = "input"
JOINED = frozenset({"steered", "injected", BRIEFING})
STEPS = "steps"
END = Say(say="(the script has ended)")

_FENCED = re.compile(r"^```(?:json|script)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Play:
    """What to play: the pauses first, then the guard if there is one, else the act."""

    place: int
    anchor: int
    delay_s: float
    step: Act | Guard


@dataclass(frozen=True, slots=True)
class Found:
    """A script, and the index of the message from which on it is played."""

    steps: Sequence[Act | Guard]
    anchor: int


def find_script(request: ModelRequest, registered: Sequence[Act | Guard] | None) -> Found | None:
    """The script of a request: in the newest user message that has one, in the settings, or registered."""
    for index in range(len(request.messages) - 1, -1, -1):
        told = _told(request.messages[index])
        if told is not None:
            return Found(parse_steps(told), index)
    steps = parse_steps(request.settings[STEPS]) if STEPS in request.settings else registered
    return None if steps is None else Found(steps, turn_start(request.messages))


def turn_start(messages: Sequence[Message]) -> int:
    """The index of the user message that began the current turn; 0 if there is none.

    One that joined a running turn is marked as steered or injected. One that follows calls need not have: a turn may
    end in the middle of them, and so may a conversation from elsewhere.
    """
    inputs = [n for n, message in enumerate(messages) if message.role == "user" and not _has_joined(message)]
    return inputs[-1] if inputs else 0


def _has_joined(message: Message) -> bool:
    return message.metadata.get(INPUT_METADATA) in JOINED


def next_play(found: Found, messages: Sequence[Message], attempt: int) -> Play:
    """What the script plays next in this conversation, on this attempt."""
    place = sum(message.role == "assistant" for message in messages[found.anchor :])
    delay_s, used = 0.0, 0
    for step in _at(found.steps, place):
        if isinstance(step, Delay):
            delay_s += step.delay_s
            continue
        times = getattr(step, "times", None)
        if isinstance(step, Act) or times is None or attempt <= used + times:
            return Play(place, found.anchor, delay_s, step)
        used += times
    return Play(place, found.anchor, delay_s, END)


def is_briefing(message: Message) -> bool:
    """Whether nobody said it: it tells the model of its memory and its todos."""
    return message.metadata.get(INPUT_METADATA) == BRIEFING


def _at(steps: Sequence[Act | Guard], place: int) -> Iterator[Act | Guard]:
    acts = 0
    for step in steps:
        if acts == place:
            yield step
        acts += isinstance(step, Act)


def _told(message: Message) -> Any:  # noqa: ANN401 - any JSON value
    if message.role != "user" or is_briefing(message):
        return None
    if STEPS in message.metadata:
        return message.metadata[STEPS]
    for fenced in _FENCED.findall(message.text):
        try:
            value = json.loads(fenced)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and STEPS in value:
            return value[STEPS]
    return None
