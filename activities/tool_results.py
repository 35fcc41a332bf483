"""What a tool may return beside output: a change of the thread's own state, or a question.

Rule: a body only says what it wants. The change is applied under the thread's lock in one transaction with
the result, where it may be refused; a question ends the attempt, and its answer becomes the call's result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from turnwright.activities.tool_output import Beside, OutputRefused
from turnwright.journal.agents import DEADLINE_S_MAX, ToolSpec
from turnwright.journal.canonical import encode, repair
from turnwright.journal.commands import Ask, CallSpec
from turnwright.journal.json_schema import check_schema
from turnwright.journal.state_ops import TRUSTED, ToolOp

PROMPT_CHARACTERS_MAX: Final = 10_000
OPS_MAX: Final = 20
NAME_CHARACTERS_MAX: Final = 200
KEPT_BYTES_MAX: Final = 256 * 1024


@dataclass(frozen=True, slots=True, init=False)
class Changed(Beside):
    """The call changes the thread's state, and answers what it `says`: `Changed(LeavePlan(), says="Left.")`.

    All operations are applied, or none, and then the call's result is the reason.
    """

    ops: tuple[ToolOp, ...]
    says: Any

    def __init__(self, *ops: ToolOp, says: Any = None) -> None:  # noqa: ANN401 - as any tool's output
        object.__setattr__(self, "ops", ops)
        object.__setattr__(self, "says", says)


@dataclass(frozen=True, slots=True)
class Question(Beside):
    """The call's result is a person's answer: an object that fits the JSON schema, if there is one.

    With a name in `again` it is not: the tool is called again, and finds the answer in `ctx.answers` under that name,
    with what it `kept` (JSON). So it asks before it does anything that must not happen twice.
    """

    prompt: str
    schema: Mapping[str, Any] | None = None
    deadline_s: float | None = None
    again: str | None = None
    kept: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class External(Beside):
    """The call's result is delivered from outside, by whoever does what the prompt says."""

    prompt: str
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class Approval(Beside):
    """A person is asked whether the call may run; then the tool is called again, with `ctx.approved`."""

    message: str = ""


def checked_ops(changed: Changed) -> tuple[ToolOp, ...]:
    """The operations of a change.

    Raises:
        OutputRefused: something in it is none that a tool may apply.
    """
    if len(changed.ops) > OPS_MAX:
        raise OutputRefused(f"the tool wants {len(changed.ops)} changes at once; at most {OPS_MAX} are applied")
    for op in changed.ops:
        if isinstance(op, TRUSTED) or not isinstance(op, ToolOp):
            raise OutputRefused(f"the tool wants {type(op).__name__}, which no tool may do; nothing was changed")
        try:
            type(op).model_validate(op.model_dump(warnings=False))
        except (ValueError, TypeError, AttributeError) as error:  # made without being checked: `model_construct`
            raise OutputRefused(f"the tool wants a {type(op).__name__} that is none; nothing was changed") from error
    return changed.ops


def asked(question: Question | External) -> Ask:
    """The question as it is asked.

    Raises:
        OutputRefused: it cannot be asked; the message says why.
    """
    prompt, deadline_s = question.prompt, question.deadline_s
    if not isinstance(prompt, str) or not prompt.strip() or len(prompt) > PROMPT_CHARACTERS_MAX:
        raise OutputRefused(
            f"the question was not asked: its prompt must have 1 to {PROMPT_CHARACTERS_MAX:,} characters"
        )
    if deadline_s is not None and not _is_duration(deadline_s):
        raise OutputRefused(f"the question was not asked: deadline_s must be seconds above 0, not {deadline_s!r:.50}")
    if isinstance(question, External):
        return Ask(kind="external", asked={"prompt": prompt}, deadline_s=deadline_s, on_expiry=None)
    schema = {} if question.schema is None else {"schema": _checked_schema(question.schema)}
    form = Ask(kind="form", asked={"prompt": prompt, **schema}, deadline_s=deadline_s, on_expiry=None)
    return form if question.again is None else _again(form, question.again, question.kept)


def _again(form: Ask, name: str, kept: Mapping[str, Any] | None) -> Ask:
    """The question of a tool that is called again with the answer."""
    if not isinstance(name, str) or not 0 < len(name) <= NAME_CHARACTERS_MAX:
        raise OutputRefused(f"the question was not asked: its name has 1 to {NAME_CHARACTERS_MAX} characters")
    try:
        encoded = encode(repair(dict(kept or {})))
    except (ValueError, TypeError, RecursionError) as error:
        raise OutputRefused("the question was not asked: what is kept with it is no JSON object") from error
    if len(encoded) > KEPT_BYTES_MAX:
        raise OutputRefused(f"the question was not asked: more than {KEPT_BYTES_MAX:,} bytes are kept with it")
    return replace(form, again=True, asked={**form.asked, "name": name, "kept": json.loads(encoded)})


def asked_whether(approval: Approval, spec: ToolSpec, arguments: Mapping[str, Any]) -> Ask:
    """The question whether a call may run, as the permissions ask it."""
    asked: dict[str, Any] = {
        "arguments": dict(arguments),
        "effect": spec.effect,
        "why": "tool",
        "message": approval.message[:PROMPT_CHARACTERS_MAX],
        "suggestions": [],
        "spec": CallSpec.of(spec).as_asked(),
    }
    return Ask(kind="approval", asked=asked)


def _is_duration(seconds: object) -> bool:
    # Comparisons with NaN are false, and an infinite one is above the limit.
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds <= DEADLINE_S_MAX


def _checked_schema(schema: object) -> dict[str, Any]:
    refused = check_schema(schema)
    if refused is None and isinstance(schema, Mapping) and schema.get("type", "object") == "object":
        return dict(schema)
    why = refused or 'an answer is an object, so the schema must have "type": "object"'
    raise OutputRefused(f"the question was not asked: {why}")
