"""What a front end is told of a turn, entry by entry."""

from __future__ import annotations

import pytest

from tests.unit.client.agui_turns import answered, assert_conforms, entries, kinds, plain, told
from turnwright.client.gateway.agui.fold import Restate, TurnFold
from turnwright.journal.entries import (
    InputApplied,
    InputSteered,
    ModelFailed,
    ModelInterrupted,
    ModelRequested,
    ModelResponded,
    TasksChanged,
    ToolDecided,
    ToolFinished,
    ToolReconciled,
    ToolStarted,
    TurnContinued,
    TurnStarted,
    TurnWaiting,
)
from turnwright.journal.messages import Media, Text, Thinking, ToolCall, Usage, user
from turnwright.journal.state_parts import TaskState

ASKED = ModelRequested(ordinal=1, nonce="n", presence="w", view_seq=1, model="tiny")
STARTED = ToolStarted(call_id="c", name="look", ordinal=1, nonce="n", presence="w", key="k")


def finished(outcome: str = "success", *output: Text | Media) -> ToolFinished:
    return ToolFinished(call_id="c", name="look", ordinal=1, outcome=outcome, output=output)  # type: ignore[arg-type]


def test_an_answer_is_its_reasoning_then_its_words_then_its_calls() -> None:
    call = ToolCall(id="c", name="look", arguments={"b": 2, "a": "é"})
    fold = TurnFold(0)
    events = told(
        fold, [*entries(ASKED), answered(Thinking(text="hm"), Text(text="Let me "), Text(text="see."), call, seq=2)]
    )
    events += fold.close()
    assert kinds(events) == [
        "STEP_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "STEP_FINISHED",
    ]
    by_kind = {event["type"]: event for event in plain(events)}
    assert by_kind["TEXT_MESSAGE_CONTENT"]["delta"] == "Let me see."
    assert by_kind["TOOL_CALL_START"]["parentMessageId"] == by_kind["TEXT_MESSAGE_END"]["messageId"]
    assert by_kind["TOOL_CALL_ARGS"]["delta"] == '{"a":"é","b":2}'
    assert_conforms(events)


def test_every_event_has_the_time_of_its_entry() -> None:
    [entry] = entries(ModelResponded(ordinal=1, blocks=(Text(text="hi"),)))
    assert {event.timestamp for event in TurnFold(0).add(entry) if not isinstance(event, Restate)} == {
        entry.at_us // 1_000
    }


def test_arguments_that_were_no_object_are_told_as_the_model_wrote_them() -> None:
    call = ToolCall(id="c", name="look", malformed="{n: 1")
    events = plain(TurnFold(0).add(answered(call, seq=1)))
    assert [event["delta"] for event in events if event["type"] == "TOOL_CALL_ARGS"] == ["{n: 1"]


def test_steps_follow_each_other_and_the_last_is_closed_at_the_end() -> None:
    fold = TurnFold(0)
    events = told(fold, [*entries(ASKED), *entries(ASKED, first_seq=2, step=2)]) + list(fold.close())
    assert [(event["type"], event["stepName"]) for event in plain(events)] == [
        ("STEP_STARTED", "step 1"),
        ("STEP_FINISHED", "step 1"),
        ("STEP_STARTED", "step 2"),
        ("STEP_FINISHED", "step 2"),
    ]
    assert fold.close() == []
    assert_conforms(events)


def test_a_call_has_one_result_whichever_of_its_attempts_brought_it() -> None:
    call = ToolCall(id="c", name="look")
    ends = entries(
        STARTED, finished("lost"), STARTED, finished("success", Text(text="3 "), Text(text="found")), finished("error"),
        first_seq=2,
    )  # fmt: skip
    fold = TurnFold(0)
    events = told(fold, [answered(call, seq=1), *ends])
    [result] = [event for event in plain(events) if event["type"] == "TOOL_CALL_RESULT"]
    assert (result["toolCallId"], result["content"], result["messageId"]) == ("c", "3 found", "e-5")
    assert "metadata" not in result
    assert_conforms([*events, *fold.close()])


@pytest.mark.parametrize("outcome", ["error", "denied", "interrupted", "unknown"])
def test_a_call_that_failed_says_how(outcome: str) -> None:
    [result] = plain(told(TurnFold(0), entries(finished(outcome, Text(text="no")))))[1:]
    assert (result["content"], result["metadata"]) == ("no", {"turnwright": {"outcome": outcome}})


@pytest.mark.parametrize(("outcome", "results"), [("succeeded", 1), ("failed", 1), ("run_again", 0)])
def test_a_call_whose_outcome_was_settled_has_that_as_its_result(outcome: str, results: int) -> None:
    settled = ToolReconciled(call_id="c", name="look", outcome=outcome, output=(Text(text="paid"),))  # type: ignore[arg-type]
    events = plain(told(TurnFold(0), entries(settled)))
    assert [event["content"] for event in events if event["type"] == "TOOL_CALL_RESULT"] == ["paid"] * results


def test_files_of_a_result_are_parts_of_it_for_who_knows_parts_and_named_to_others() -> None:
    output = (
        Text(text="The bill:"),
        Media(mime="image/png", url="https://files.example/b.png"),
        Media(mime="x/y", blob="ab"),
    )
    [_, result] = plain(told(TurnFold(0), entries(finished("success", *output))))
    assert [part["type"] for part in result["content"]] == ["text", "image", "text"]
    assert result["content"][1]["source"]["value"] == "https://files.example/b.png"
    [_, result] = plain(told(TurnFold(0, parts=False), entries(finished("success", *output))))
    assert result["content"] == "The bill:[image/png: the file is left out here][x/y: the file is left out here]"


def test_what_was_said_before_a_cancel_is_told_and_what_a_failed_attempt_said_is_not() -> None:
    kept = ModelInterrupted(ordinal=1, reason="cancelled", partial=(Text(text="half an an"),))
    assert [e["delta"] for e in plain(told(TurnFold(0), entries(kept))) if "delta" in e] == ["half an an"]
    for gone in (
        ModelInterrupted(ordinal=1, reason="lost", partial=(Text(text="half"),)),
        ModelFailed(ordinal=1, failure="cut", message="cut off", partial=(Text(text="half"),)),
    ):
        assert told(TurnFold(0), entries(gone)) == []


def test_a_change_of_what_the_agent_knows_is_a_patch_of_that_part() -> None:
    changed = TasksChanged(tasks=TaskState(revision=1, objective="tidy up"))
    [event] = plain(told(TurnFold(0), entries(changed)))
    assert event["type"] == "STATE_DELTA"
    [change] = event["delta"]
    assert (change["op"], change["path"], change["value"]["objective"]) == ("replace", "/tasks", "tidy up")


def test_messages_are_told_anew_when_a_call_was_changed_by_who_approved_it() -> None:
    decided = ToolDecided(
        call_id="c", name="look", decision="allow", source="person:ann", effect="read", arguments_digest="d",
        arguments={"n": 2},
    )  # fmt: skip
    assert told(TurnFold(6), entries(decided, first_seq=7)) == [Restate(7)]


def test_messages_are_told_anew_when_others_joined_them_and_not_otherwise() -> None:
    begun = (TurnStarted(queued_seq=1, session_seq=0, revision=1), InputApplied(through_seq=1))
    assert told(TurnFold(1), entries(*begun, first_seq=2)) == []
    assert told(TurnFold(1), entries(*begun, first_seq=5)) == [Restate(6, if_new=True)], (
        "a turn before it was told by nobody"
    )
    steered = (InputSteered(message=user("faster")), InputApplied(through_seq=2))
    assert told(TurnFold(1), entries(*steered, first_seq=2)) == [Restate(3, if_new=True)]


def test_what_changes_nothing_that_is_shown_is_not_told() -> None:
    quiet = (TurnWaiting(interactions=("q",), revision=2), TurnContinued(revision=3))
    assert told(TurnFold(0), entries(*quiet)) == []


def test_nothing_is_said_of_what_was_used_where_nothing_is_known() -> None:
    fold = TurnFold(0)
    told(fold, entries(ASKED, ModelResponded(ordinal=1, blocks=())))
    assert fold.usage is None


def test_what_was_used_is_counted_once_for_each_model() -> None:
    fold = TurnFold(0)
    used = Usage(requests=1, input_tokens=10, output_tokens=5, cache_read_tokens=4)
    told(fold, entries(ASKED, ModelFailed(ordinal=1, failure="timeout", message="slow", usage=used)))
    told(fold, entries(ModelResponded(ordinal=2, blocks=(), usage=used, model="large"), first_seq=3))
    told(fold, entries(ModelResponded(ordinal=1, blocks=(), usage=used, model="large"), first_seq=4, step=2))
    assert fold.usage is not None
    assert [one.model_dump(by_alias=True) for one in fold.usage] == [
        {"model": "tiny", "inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cachedInputTokens": 4},
        {"model": "large", "inputTokens": 20, "outputTokens": 10, "totalTokens": 30, "cachedInputTokens": 8},
    ]
