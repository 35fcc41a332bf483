"""What the tools of the MCP server answer, as models whose schemas the protocol hands to who calls."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from turnwright.client.questions import Question
from turnwright.client.turn_report import TurnReport


class Submitted(BaseModel):
    """An accepted turn."""

    turn_id: str
    duplicate: bool = Field(description="The request id was known: it is the turn of before, and nothing was done.")


class Asked(BaseModel):
    """An open question of a turn."""

    interaction_id: str
    turn_id: str
    kind: str = Field(description="approval, form, external, budget or unknown_outcome.")
    resolutions: list[str] = Field(description="What `respond` takes; none: only an operator can settle it.")
    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict, description="What the tool is to be called with.")
    message: str | None = None
    answer_schema: dict[str, Any] | None = Field(default=None, description="What the answer of a form must look like.")


class TurnTold(BaseModel):
    """A turn at one moment."""

    turn_id: str
    session: str
    agent: str
    thread: str
    status: str
    finished: bool
    why: str = Field(description="What it waits for, or how it ended.")
    answer: str | None = None
    code: str | None = Field(default=None, description="Why it failed or was cancelled.")
    message: str | None = None
    questions: list[Asked] = Field(default_factory=list, description="What it waits for; `respond` answers.")
    timed_out: bool = Field(default=False, description="It has neither ended nor asked anything so far, and goes on.")


class Questions(BaseModel):
    """Open questions, the oldest first."""

    questions: list[Asked]
    more: bool = Field(description="There are more than were asked for.")


class Answered(BaseModel):
    """An answer that was accepted."""

    interaction_id: str
    turn_id: str
    duplicate: bool = Field(description="The same answer was given before, and nothing was done.")


def asked_of(question: Question) -> Asked:
    """A question as the tools tell it."""
    return Asked(
        interaction_id=question.interaction_id,
        turn_id=question.turn_id,
        kind=question.kind,
        resolutions=list(question.answers),
        tool=question.tool,
        arguments=question.arguments,
        message=question.message,
        answer_schema=question.schema,
    )


def told_of(report: TurnReport, questions: tuple[Question, ...], *, timed_out: bool = False) -> TurnTold:
    """A turn as the tools tell it."""
    view = report.view
    return TurnTold(
        turn_id=view.turn_id,
        session=view.key.session,
        agent=view.key.agent,
        thread=view.key.thread,
        status=view.status,
        finished=view.finished,
        why=report.why.text,
        answer=None if report.answer is None else report.answer.text,
        code=view.code,
        message=view.message,
        questions=[asked_of(question) for question in questions],
        timed_out=timed_out,
    )
