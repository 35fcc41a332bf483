"""What a front end is told while a model speaks, and how that becomes what the journal has."""

from __future__ import annotations

import pytest

from tests.unit.client.agui_turns import TURN, answered, assert_conforms, entries, kinds, plain, told
from turnwright.client.gateway.agui.fold import Restate, Told, TurnFold
from turnwright.journal.deltas import Delta, Spoken
from turnwright.journal.entries import ModelFailed, ModelInterrupted, ModelRequested
from turnwright.journal.messages import Block, Text, Thinking, ToolCall

ASKED = ModelRequested(ordinal=1, nonce="n", presence="w", view_seq=1)
FINAL = (Thinking(text="one two"), Thinking(text=""), Thinking(text="three"), Text(text="Yes, "), Text(text="it is."))
CALL = ToolCall(id="c", name="look")


def word(text: str, kind: Spoken = "text", index: int = 9, ordinal: int = 1) -> Delta:
    return Delta(turn_id=TURN, step=1, ordinal=ordinal, index=index, kind=kind, text=text)


def spoken(*deltas: Delta, final: tuple[Block, ...]) -> list[Told]:
    """The events of an attempt that is heard, and then has its entry."""
    fold = TurnFold(0)
    events = told(fold, entries(ASKED))
    for delta in deltas:
        events += fold.hear(delta)
    return [*events, *fold.add(answered(*final, seq=2)), *fold.close()]


def messages(events: list[Told]) -> dict[str, str]:
    """What a front end has put together of the messages, by their ids."""
    made: dict[str, str] = {}
    for event in plain(events):
        if event["type"] in ("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"):
            made[event["messageId"]] = made.get(event["messageId"], "") + event["delta"]
    return made


@pytest.mark.parametrize(
    "deltas",
    [
        (),
        (word("one", "thinking", 0),),
        (word("one", "thinking", 0), word(" two", "thinking", 0)),
        (word("one two", "thinking", 0), word("thr", "thinking", 2)),
        (word("one two", "thinking", 0), word("three", "thinking", 2), word("Ye")),
        (word("one two", "thinking", 0), word("three", "thinking", 2), word("Yes, "), word("it is.", index=10)),
    ],
)
def test_however_much_was_heard_the_messages_are_those_of_the_entry(deltas: tuple[Delta, ...]) -> None:
    events = spoken(*deltas, final=(*FINAL, CALL))
    assert messages(events) == messages(spoken(final=FINAL))
    assert list(messages(events).values()) == ["one two", "three", "Yes, it is."]
    assert kinds(events).count("TOOL_CALL_START") == 1
    assert "RESTATE" not in kinds(events)
    assert_conforms(events)


def test_words_are_told_as_they_come() -> None:
    fold = TurnFold(0)
    assert kinds(fold.hear(word("Yes"))) == ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]
    assert kinds(fold.hear(word(", it"))) == ["TEXT_MESSAGE_CONTENT"]
    assert kinds(fold.hear(word(""))) == []


@pytest.mark.parametrize(
    "deltas",
    [
        (word("No"),),
        (word("two", "thinking", 0), word("Yes")),
        (word("one", "thinking", 0), word("Yes")),
        (word("one two", "thinking", 0), word("three", "thinking", 2), word("four", "thinking", 3)),
        (word("Yes", ordinal=2),),
    ],
)
def test_what_the_entry_does_not_bear_out_is_told_anew(deltas: tuple[Delta, ...]) -> None:
    events = spoken(*deltas, final=FINAL)
    assert events[-2] == Restate(2)
    assert_conforms(events)


@pytest.mark.parametrize(
    "end",
    [
        ModelFailed(ordinal=1, failure="cut", message="cut off"),
        ModelInterrupted(ordinal=1, reason="lost"),
        ModelInterrupted(ordinal=1, reason="cancelled", partial=(Text(text="Ye"),)),
    ],
)
def test_what_an_attempt_said_that_gave_no_answer_is_closed_and_told_anew(
    end: ModelFailed | ModelInterrupted,
) -> None:
    fold = TurnFold(0)
    fold.hear(word("Yes"))
    assert kinds(told(fold, entries(end))) == ["TEXT_MESSAGE_END", "RESTATE"]
    assert fold.close() == []


def test_another_attempt_takes_the_place_of_what_the_one_before_said() -> None:
    fold = TurnFold(4)
    fold.hear(word("No"))
    events = fold.hear(word("Yes", ordinal=2))
    assert kinds(events) == ["TEXT_MESSAGE_END", "RESTATE", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]
    assert events[1] == Restate(4)


def test_a_run_that_ends_while_a_model_speaks_closes_what_is_open() -> None:
    fold = TurnFold(0)
    events = [*fold.hear(word("hm", "thinking", 0)), *fold.close(), *fold.hear(word("Yes")), *fold.close()]
    assert kinds(events)[-3:] == ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]
    assert_conforms(events)
