"""What a tool may return beside output: a change of the thread's own state, or a question.

Rule: a body only says what it wants. The change is applied under the thread's lock in one transaction with
the result, where it may be refused; a question ends the attempt, and its answer becomes the call's result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from turnwright.activities.tool_output import Beside, OutputRefused
from turnwright.journal.agents import DEADLINE_S_MAX
from turnwright.journal.commands import Ask
from turnwright.journal.json_schema import check_schema
from turnwright.journal.state_ops import TRUSTED, ToolOp

PROMPT_CHARACTERS_MAX: Final = 10_000
OPS_MAX: Final = 20


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
    """The call's result is a person's answer: an object that fits the JSON schema, if there is one."""

    prompt: str
    schema: Mapping[str, Any] | None = None
    deadline_s: float | None = None


@dataclass(frozen=True, slots=True)
class External(Beside):
    """The call's result is delivered from outside, by whoever does what the prompt says."""

    prompt: str
    deadline_s: float | None = None


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
    return Ask(kind="form", asked={"prompt": prompt, **schema}, deadline_s=deadline_s, on_expiry=None)


def _is_duration(seconds: object) -> bool:
    # Comparisons with NaN are false, and an infinite one is above the limit.
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds <= DEADLINE_S_MAX


def _checked_schema(schema: object) -> dict[str, Any]:
    refused = check_schema(schema)
    if refused is None and isinstance(schema, Mapping) and schema.get("type", "object") == "object":
        return dict(schema)
    why = refused or 'an answer is an object, so the schema must have "type": "object"'
    raise OutputRefused(f"the question was not asked: {why}")
