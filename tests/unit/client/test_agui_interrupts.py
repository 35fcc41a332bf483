"""Questions as interrupts, and what a front end resumes with as decisions about them."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from ag_ui.core import ResumeEntry

from turnwright.client.gateway.agui.interrupts import (
    Abandonment,
    BadAnswer,
    Decision,
    Response,
    Settlement,
    decision,
    interrupt,
)
from turnwright.client.questions import Question
from turnwright.journal.decide.answers import ANSWERS
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.ids import ThreadKey

AMOUNT = {"type": "object", "properties": {"amount": {"type": "integer"}}, "additionalProperties": False}
COLOUR = {"type": "object", "properties": {"answer": {"enum": ["red", "blue"]}}, "required": ["answer"]}
ASKED: dict[InteractionKind, dict[str, Any]] = {
    "approval": {"arguments": {"amount": 3}, "spec": {"parameters": AMOUNT}, "why": "default", "suggestions": ["pay"]},
    "form": {"prompt": "Which?", "schema": COLOUR},
    "external": {"prompt": "The bank is asked."},
    "budget": {"scope": "thread", "over": ["steps"]},
    "unknown_outcome": {},
}
KINDS = get_args(InteractionKind)


def question(kind: InteractionKind, **asked: Any) -> Question:  # noqa: ANN401 - any JSON value
    return Question(
        interaction_id="q-1",
        kind=kind,
        key=ThreadKey("acme", "ann", "echo", "s"),
        turn_id="t-1",
        state="open",
        call_id=None if kind == "budget" else "c-1",
        tool=None if kind == "budget" else "pay",
        asked_us=1,
        deadline_us=1_700_000_000_000_000,
        asked=ASKED[kind] | asked,
    )


def resolved(payload: object) -> ResumeEntry:
    return ResumeEntry.model_validate({"interruptId": "q-1", "status": "resolved", "payload": payload})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_question_says_what_is_asked_and_how_an_answer_looks(kind: InteractionKind) -> None:
    made = interrupt(question(kind)).model_dump(mode="json", by_alias=True)
    assert (made["id"], made.get("toolCallId")) == ("q-1", None if kind == "budget" else "c-1")
    assert made["message"]
    assert made["responseSchema"]["type"] == "object"
    assert made["expiresAt"].startswith("2023-11-14T22:13:20")
    assert made["metadata"]["turnwright"]["kind"] == kind


def test_who_is_asked_is_told_which_call_it_is_about_and_why() -> None:
    assert interrupt(question("approval", message="It is dear.")).message == "May pay be called? It is dear."
    assert "pay" in str(interrupt(question("unknown_outcome")).message)


def test_the_protocols_own_words_are_used_where_it_has_some() -> None:
    assert interrupt(question("approval")).reason == "tool_call"
    assert interrupt(question("form")).reason == "input_required"
    assert (interrupt(question("form")).message, interrupt(question("form")).response_schema) == ("Which?", COLOUR)


DECISIONS: list[tuple[InteractionKind, object, Decision]] = [
    ("approval", {"approved": True}, Response("approve")),
    ("approval", True, Response("approve")),
    ("approval", {"approved": True, "editedArgs": {"amount": 1}}, Response("approve", {"arguments": {"amount": 1}})),
    ("approval", {"approved": True, "always": "pay(amount=1)"}, Response("approve", {"always": "pay(amount=1)"})),
    ("approval", {"approved": False, "message": "no"}, Response("deny", {"message": "no"})),
    ("approval", False, Response("deny")),
    ("form", {"answer": "red"}, Response("answer", {"answer": "red"})),
    ("form", "blue", Response("answer", {"answer": "blue"})),
    ("external", {"output": {"paid": True}}, Response("succeeded", {"output": {"paid": True}})),
    ("external", {"output": "no", "failed": True}, Response("failed", {"output": "no"})),
    ("budget", {"approved": True, "budget": {"steps": 9}}, Response("raise", {"budget": {"steps": 9}})),
    ("budget", True, Response("raise")),
    ("budget", False, Response("fail")),
    (
        "unknown_outcome",
        {"outcome": "succeeded", "reason": "I looked"},
        Settlement("c-1", "succeeded", "", "I looked"),
    ),
]


@pytest.mark.parametrize(("kind", "payload", "expected"), DECISIONS)
def test_an_answer_means_what_it_says(kind: InteractionKind, payload: object, expected: Decision) -> None:
    assert decision(question(kind), resolved(payload)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_that_is_given_up_is_decided_against(kind: InteractionKind) -> None:
    entry = ResumeEntry.model_validate({"interruptId": "q-1", "status": "cancelled"})
    made = decision(question(kind), entry)
    if kind == "unknown_outcome":
        assert isinstance(made, Abandonment), "nobody may be said to know what became of it"
    else:
        assert isinstance(made, Response)
        assert (made.resolution in ANSWERS[kind], made.answer) == (True, {})


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("approval", None),
        ("approval", {}),
        ("approval", "yes"),
        ("approval", {"approved": "yes"}),
        ("approval", {"approved": True, "surprise": 1}),
        ("approval", {"approved": True, "editedArgs": {"amount": "much"}}),
        ("form", {"answer": "green"}),
        ("form", ["red"]),
        ("external", "paid"),
        ("budget", {"budget": {"steps": 1}}),
        ("unknown_outcome", {"outcome": "succeeded"}),
        ("unknown_outcome", {"outcome": "succeeded", "reason": ""}),
        ("unknown_outcome", {"outcome": "maybe", "reason": "I looked"}),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_the_question_named(kind: InteractionKind, payload: object) -> None:
    with pytest.raises(BadAnswer, match="q-1"):
        decision(question(kind), resolved(payload))


def test_a_form_without_a_schema_takes_any_object() -> None:
    free = question("form", schema=None)
    assert decision(free, resolved({"a": [1]})) == Response("answer", {"a": [1]})


def test_a_tools_schema_that_can_stand_at_the_top_only_does_not_close_the_question() -> None:
    own = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
    asked = question("approval", spec={"parameters": own})
    edited = {"approved": True, "editedArgs": {"n": 1}}
    assert decision(asked, resolved(edited)) == Response("approve", {"arguments": {"n": 1}})
