"""Messages between the journal and a front end: nothing is lost, and each is known by one id."""

from __future__ import annotations

import pytest
from ag_ui.core import RunAgentInput, UserMessage

from tests.unit.client.agui_turns import TURN, answered, entries
from turnwright.client.gateway.agui.messages import MESSAGE_ID, as_input, conversation, snapshot, with_said
from turnwright.client.inputs import as_message
from turnwright.journal.agent_state import empty_state
from turnwright.journal.entries import ContextCompacted, Entry, InputApplied, ToolDecided, ToolFinished, TurnQueued
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Media, Message, Text, Thinking, ToolCall, user

KEY = ThreadKey("acme", "ann", "echo", "s")
CALL = ToolCall(id="c", name="look", arguments={"n": 1})


def queued(message: Message, seq: int) -> Entry:
    return entries(TurnQueued(request_id="r", input=message), first_seq=seq)[0]


def history(*read: Entry) -> list[dict[str, object]]:
    """The conversation of these entries as a front end gets it."""
    said = conversation(with_said(empty_state(KEY), read), TURN)
    return [m.model_dump(mode="json", by_alias=True) for m in snapshot(said).messages]


def whole() -> list[Entry]:
    """A question, a call with its result, and an answer."""
    done = ToolFinished(call_id="c", name="look", ordinal=1, outcome="error", output=(Text(text="no such page"),))
    return [
        queued(user("what is new?", **{MESSAGE_ID: "m-1"}), 1),
        *entries(InputApplied(through_seq=1), first_seq=2),
        answered(Thinking(text="hm"), Text(text="I look."), CALL, seq=3),
        *entries(done, first_seq=4),
        answered(Text(text="nothing"), seq=5, step=2),
    ]


def test_a_conversation_is_told_in_order_with_calls_and_results() -> None:
    asked, thought, called, result, answer = history(*whole())
    assert asked == {"id": "m-1", "role": "user", "content": "what is new?"}
    assert (thought["role"], thought["content"]) == ("reasoning", "hm")
    assert (called["role"], called["content"]) == ("assistant", "I look.")
    assert called["toolCalls"] == [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"n":1}'}}
    ]
    assert (result["role"], result["toolCallId"], result["content"]) == ("tool", "c", "no such page")
    assert result["error"] == "error"
    assert (answer["role"], answer["content"]) == ("assistant", "nothing")


def test_files_that_only_the_journal_has_are_said_to_be_left_out() -> None:
    kept = Media(mime="image/png", blob="0" * 64)
    done = ToolFinished(
        call_id="c", name="look", ordinal=1, outcome="success", output=(Text(text="here: "), kept)
    )  # fmt: skip
    [_, result] = history(answered(CALL, seq=1), *entries(done, first_seq=2))
    assert result["content"] == "here: [image/png: the file is left out here]"


def test_what_the_agent_was_made_to_forget_has_still_been_said() -> None:
    compacted = entries(ContextCompacted(from_seq=1, to_seq=5, summary="small talk"), first_seq=6)
    assert history(*whole(), *compacted) == history(*whole())


def test_a_message_that_waits_for_its_turn_is_told_and_those_of_other_turns_are_not() -> None:
    other = Entry("e-2", TurnQueued(request_id="x", input=user("another")), turn_id="t-other", seq=2)
    assert [m["content"] for m in history(queued(user("mine"), 1), other)] == ["mine"]


def test_changed_arguments_are_those_that_are_told() -> None:
    decided = ToolDecided(
        call_id="c", name="look", decision="allow", source="person:ann", effect="read", arguments_digest="d",
        arguments={"n": 2},
    )  # fmt: skip
    [called] = history(answered(CALL, seq=1), *entries(decided, first_seq=2))
    assert '{"n":2}' in str(called["toolCalls"])


def test_no_two_messages_have_one_id_whatever_a_front_end_sends() -> None:
    twice = [queued(user(text, **{MESSAGE_ID: "m-1"}), seq) for seq, text in ((1, "one"), (2, "two"), (3, "three"))]
    ids = [m["id"] for m in history(*twice)]
    assert ids == ["m-1", "e-2", "e-3"]
    assert len({m.id for m in snapshot([user("one"), user("two")]).messages}) == 2


def test_a_result_whose_call_lies_too_far_back_is_not_told() -> None:
    done = ToolFinished(call_id="c", name="look", ordinal=1, outcome="success", output=(Text(text="3"),))
    assert history(*entries(done)) == []


def test_a_persons_message_keeps_its_id_its_text_and_the_files_that_can_be_read() -> None:
    sent = UserMessage.model_validate(
        {
            "id": "m-1",
            "role": "user",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "source": {"type": "url", "value": "https://files.example/a.png"}},
                {"type": "document", "source": {"type": "data", "value": "aGk=", "mimeType": "text/plain"}},
                {"type": "image", "source": {"type": "file", "value": "file-1", "provider": "openai"}},
            ],
        }
    )
    message = as_message(as_input(sent))
    assert message.metadata == {MESSAGE_ID: "m-1"}
    assert message.blocks == (
        Text(text="see"),
        Media(mime="image/png", url="https://files.example/a.png"),
        Media(mime="text/plain", url="data:text/plain;base64,aGk="),
    )
    [shown] = history(queued(message, 1))
    assert [part["type"] for part in shown["content"]] == ["text", "image", "document"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("content", ["", "  \n", [], [{"type": "text", "text": " "}]])
def test_a_message_that_says_nothing_is_refused(content: object) -> None:
    sent = RunAgentInput.model_validate(
        {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": content}]}
    )
    [message] = sent.messages
    assert isinstance(message, UserMessage)
    with pytest.raises(InvalidInput, match="empty"):
        as_message(as_input(message))
