"""A conversation without what differs between two runs that mean the same: ids, times, numbers of attempts, and which
of several calls that ran at the same time ended first.
"""

from itertools import groupby
from typing import Any

from turnwright.journal.agent_state import AgentState
from turnwright.journal.messages import Message

Transcript = list[dict[str, Any]]


def transcript_of(state: AgentState) -> Transcript:
    """Every message in its order, with calls numbered as they come and results under their call's number."""
    numbers: dict[str, int] = {}
    for message in state.context:
        for call in message.calls:
            assert call.id not in numbers, "a call stands twice in the context"
            numbers[call.id] = len(numbers) + 1
    messages = [_message(message, numbers) for message in state.context]
    transcript = [message for role, run in groupby(messages, _role) for message in _in_order(role, list(run))]
    answered = sorted(result["call"] for message in transcript for result in message["results"])
    assert answered == sorted(numbers.values()), "each call has one result"
    return transcript


def _role(message: dict[str, Any]) -> str:
    role: str = message["role"]
    return role


def _in_order(role: str, run: Transcript) -> Transcript:
    return sorted(run, key=lambda message: int(message["results"][0]["call"])) if role == "tool" else run


def _message(message: Message, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "role": message.role,
        "text": message.text,
        "calls": [{"call": numbers[c.id], "name": c.name, "arguments": c.arguments} for c in message.calls],
        "results": [
            {"call": numbers[r.id], "name": r.name, "outcome": r.outcome, "output": [b.model_dump() for b in r.output]}
            for r in message.results
        ],
    }
