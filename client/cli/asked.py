"""Questions for people: what is asked, how long there is to answer, and the commands that do."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from turnwright.client.cli import telling
from turnwright.client.cli.budgets import used_words
from turnwright.client.cli.screen import Screen, local
from turnwright.client.questions import Question
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.durations import SECOND_US, human

COLUMNS = ("id", "kind", "what", "agent", "session", "user", "asked", "until")
WHAT_CHARACTERS_MAX = 80
ERASED = "(what was asked is erased)"


def question_table(questions: Sequence[Question], screen: Screen) -> None:
    """Questions in a table."""
    now_us = round(time.time() * SECOND_US)
    screen.table(COLUMNS, [_row(question, now_us) for question in questions], "there are no such questions")


def question_facts(question: Question) -> list[tuple[str, str]]:
    """A question, whole, as names and values."""
    settled = "" if question.state == "open" else f" ({question.resolution}{_by(question)})"
    return [
        ("question", question.interaction_id),
        ("kind", question.kind),
        ("state", f"{question.state}{settled}"),
        ("asked", f"{local(question.asked_us)}"),
        *asked_facts(question),
        ("turn", question.turn_id),
        ("child of", "" if question.parent is None else question.parent.turn_id),
        ("agent", question.key.agent),
        ("thread", question.key.thread),
        ("session", question.key.session),
        ("user", question.key.user or ""),
        *(answer_facts(question) if question.state == "open" else []),
    ]


def asked_facts(question: Question) -> list[tuple[str, str]]:
    """What is asked."""
    schema = "" if question.schema is None else json.dumps(question.schema, ensure_ascii=False)
    return [
        ("what", what(question)),
        *started_facts(question),
        ("message", question.message or ""),
        ("because of", question.why or ""),
        ("schema", schema),
        ("always", "; ".join(question.suggestions)),
        ("until", "" if question.deadline_us is None else f"{local(question.deadline_us)}{_then(question)}"),
    ]


def started_facts(question: Question) -> list[tuple[str, str]]:
    """What to look for in the system that was called, where nobody knows what became of the call."""
    with_ = "" if question.called_with is None else json.dumps(question.called_with, ensure_ascii=False)
    return [
        ("arguments", with_),
        ("idempotency key", question.idempotency_key or ""),
        ("started", local(question.started_us)),
    ]


def answer_facts(question: Question) -> list[tuple[str, str]]:
    """The commands that answer it."""
    return [("answer" if n == 0 else "or", command) for n, command in enumerate(question.commands)]


def what(question: Question) -> str:
    """What it is about, in one line."""
    if question.kind == "budget":
        return _budget(question)
    if question.kind == "approval":
        arguments = json.dumps(question.arguments, ensure_ascii=False) if question.asked else "…"
        return f"{question.tool}({arguments})"
    if question.kind == "unknown_outcome":
        return f"call {question.call_id} of {question.tool}"
    return question.tool or ""


def _row(question: Question, now_us: int) -> tuple[str, ...]:
    about = what(question) if question.kind in ("approval", "budget", "unknown_outcome") else ""
    words = about or " ".join(part for part in (f"{question.tool}:", question.message) if part)
    if not question.asked:
        words = f"{question.tool or ''} {'(see `show`)' if question.large else ERASED}"
    age = f"{human(now_us - question.asked_us)} ago"
    key, state = question.key, "" if question.state == "open" else f" {_settled(question)}"
    return (
        question.interaction_id, f"{question.kind}{state}", telling.short(words, WHAT_CHARACTERS_MAX), key.agent,
        key.session, key.user or "", age, _left(question, now_us),
    )  # fmt: skip


def _settled(question: Question) -> str:
    """The state with how it came to it: `resolved: approve`."""
    how = question.resolution
    return question.state if how in (None, question.state) else f"{question.state}: {how}"


def _left(question: Question, now_us: int) -> str:
    if question.deadline_us is None or question.state != "open":
        return ""
    left_us = question.deadline_us - now_us
    return f"in {human(left_us)}" if left_us > 0 else "over"


def _then(question: Question) -> str:
    return f", then {question.on_expiry}" if question.on_expiry else ""


def _by(question: Question) -> str:
    return f" by {question.principal}" if question.principal else ""


def _budget(question: Question) -> str:
    budget = Budget.model_validate(question.asked.get("budget") or {})
    used = Used.model_validate(question.asked.get("used") or {})
    return f"budget of the {question.scope or 'turn'}: {used_words(budget, used)}"
