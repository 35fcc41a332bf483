"""Open questions as interrupts of a run, and what a front end resumes with as answers to them.

Rule: one table says for each kind of question what it is called, what an answer must look like, and what it means. The
schema that is sent with an interrupt is the one its answer is checked by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from ag_ui.core import Interrupt, ResumeEntry

from turnwright.client.answering import TEXT_FIELD
from turnwright.client.gateway.problems import GatewayError
from turnwright.client.questions import Question
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.json_schema import check_schema, problems

ABANDONED = "nobody wanted to say what became of a call"
Schema: TypeAlias = dict[str, Any]
ANY_OBJECT: Schema = {"type": "object"}


class BadAnswer(GatewayError):
    """What a run is resumed with does not fit what was asked."""

    status, code = 422, "bad_answer"


@dataclass(frozen=True, slots=True)
class Response:
    """An answer as `respond` takes it."""

    resolution: str
    answer: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a call, as `reconcile` takes it."""

    call_id: str
    outcome: Literal["succeeded", "failed", "run_again"]
    output: str
    reason: str


@dataclass(frozen=True, slots=True)
class Abandonment:
    """Nobody answers, and the turn cannot go on without: it is cancelled."""

    reason: str


Decision: TypeAlias = Response | Settlement | Abandonment


def interrupt(question: Question, through: str | None = None) -> Interrupt:
    """An open question as a run that ends with it says it.

    `through`: it is a child's, and this the call of the run's own turn that waits for that child.
    """
    kind = _KINDS[question.kind]
    deadline_us = question.deadline_us
    return Interrupt(
        id=question.interaction_id,
        reason=kind.reason,
        message=kind.message(question),
        tool_call_id=through or question.call_id,
        response_schema=kind.schema(question),
        expires_at=None if deadline_us is None else datetime.fromtimestamp(deadline_us / SECOND_US, UTC).isoformat(),
        metadata={"turnwright": _details(question) | ({} if through is None else {"agent": question.key.agent})},
    )


def decision(question: Question, entry: ResumeEntry) -> Decision:
    """What an entry decides about the question it names.

    Raises:
        BadAnswer: it does not fit what was asked.
    """
    kind = _KINDS[question.kind]
    if entry.status == "cancelled":
        return kind.abandoned
    payload = _in_words(question, entry.payload)
    wrong = problems(kind.schema(question), payload)
    if wrong or not isinstance(payload, dict):
        what = "; ".join(wrong) or "an object is wanted"
        raise BadAnswer(f"the answer to {question.interaction_id} does not fit what was asked: {what}")
    return kind.decide(question, payload)


def _details(question: Question) -> dict[str, Any]:
    shown = {
        "turn_id": question.turn_id,
        "kind": question.kind,
        "tool": question.tool,
        "arguments": question.arguments,
        "why": question.why,
        "suggestions": list(question.suggestions),
        "scope": question.scope,
        "over": list(question.over),
        "idempotency_key": question.idempotency_key,
    }
    return {name: value for name, value in shown.items() if value}


def _in_words(question: Question, payload: object) -> object:
    """An answer that is said in short: yes or no, or a text where a form may have one."""
    if isinstance(payload, bool) and question.kind in ("approval", "budget"):
        return {"approved": payload}
    if isinstance(payload, str) and question.kind == "form":
        return {TEXT_FIELD: payload}
    return payload


# -- what each kind of question asks, and what an answer to it means ---------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    reason: str
    message: Callable[[Question], str]
    schema: Callable[[Question], Schema]
    decide: Callable[[Question, dict[str, Any]], Decision]
    abandoned: Decision


def _object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _approval_schema(question: Question) -> Schema:
    """With the schema of the tool's own arguments, unless that can stand at the top only."""
    spec = question.asked.get("spec")
    parameters = spec.get("parameters") if isinstance(spec, Mapping) else None
    schema = _approval_answer(parameters or ANY_OBJECT)
    return schema if check_schema(schema) is None else _approval_answer(ANY_OBJECT)


def _approval_answer(arguments: Mapping[str, Any]) -> Schema:
    return _object(
        ("approved",),
        approved={"type": "boolean"},
        editedArgs={"type": "object", **arguments},
        message={"type": "string", "description": "What the model is told if it is not approved."},
        always={"type": ["boolean", "string"], "description": "Decide such calls so from now on: true, or a rule."},
    )


def _approval(_: Question, said: dict[str, Any]) -> Decision:
    always = {"always": said["always"]} if "always" in said else {}
    if not said["approved"]:
        return Response("deny", always | ({"message": said["message"]} if "message" in said else {}))
    return Response("approve", always | ({"arguments": said["editedArgs"]} if "editedArgs" in said else {}))


def _outside(_: Question, said: dict[str, Any]) -> Decision:
    return Response("failed" if said.get("failed") else "succeeded", {"output": said.get("output", "")})


def _budget(_: Question, said: dict[str, Any]) -> Decision:
    if not said["approved"]:
        return Response("fail")
    return Response("raise", {"budget": said["budget"]} if "budget" in said else {})


def _unknown(question: Question, said: dict[str, Any]) -> Decision:
    return Settlement(question.call_id or "", said["outcome"], said.get("output", ""), said["reason"])


_KINDS: Mapping[InteractionKind, _Kind] = {
    "approval": _Kind(
        "tool_call",
        lambda q: f"May {q.tool} be called? {q.message or ''}".rstrip(),
        _approval_schema,
        _approval,
        Response("deny"),
    ),
    "form": _Kind(
        "input_required",
        lambda q: q.message or f"{q.tool} asks for an answer.",
        lambda q: q.schema or ANY_OBJECT,
        lambda _, said: Response("answer", said),
        Response("decline"),
    ),
    "external": _Kind(
        "turnwright:external",
        lambda q: q.message or f"{q.tool} waits for its result from outside.",
        lambda _: _object((), output={"description": "The result: text, or any value."}, failed={"type": "boolean"}),
        _outside,
        Response("failed"),
    ),
    "budget": _Kind(
        "turnwright:budget",
        lambda q: f"The budget of the {q.scope or 'turn'} is used up ({', '.join(q.over)}). Go on?",
        lambda _: _object(
            ("approved",),
            approved={"type": "boolean"},
            budget={"type": "object", "description": "Bounds that replace those of that name; without it, none hold."},
        ),
        _budget,
        Response("fail"),
    ),
    "unknown_outcome": _Kind(
        "turnwright:unknown_outcome",
        lambda q: f"{q.tool} was called, and nobody knows what became of it. {q.message or ''}".rstrip(),
        lambda _: _object(
            ("outcome", "reason"),
            outcome={"enum": ["succeeded", "failed", "run_again"]},
            output={"type": "string", "description": "What the model is told."},
            reason={"type": "string", "minLength": 1, "description": "How you know; it is recorded."},
        ),
        _unknown,
        Abandonment(ABANDONED),
    ),
}
