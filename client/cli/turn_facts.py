"""A turn, whole, as names and values."""

from __future__ import annotations

from turnwright.client.cli import telling
from turnwright.client.cli.budgets import usd
from turnwright.client.cli.screen import local
from turnwright.client.turn_report import TurnReport
from turnwright.client.views import TurnView
from turnwright.journal.counted import counted
from turnwright.journal.durations import human
from turnwright.journal.entries import Entry
from turnwright.journal.messages import Message
from turnwright.journal.why import Why

TEXT_CHARACTERS_MAX = 2_000
ERASED = "(it was erased)"


def turn_facts(report: TurnReport) -> list[tuple[str, str]]:
    """What is known of it, the question before the answer."""
    view, key = report.view, report.view.key
    row = view.row
    steered = [("then", _said(message)) for message in report.steered if message.blocks]
    return [
        ("turn", view.turn_id),
        ("status", f"{view.status} (phase {row.phase}, pause {row.pause}, revision {row.revision})"),
        ("input", ERASED if report.input is None else _said(report.input)),
        *steered,
        ("answer", "" if report.answer is None else _said(report.answer)),
        ("why", why_words(report.why)),
        ("session", key.session),
        ("user", key.user or ""),
        ("agent", key.agent),
        ("thread", key.thread),
        ("request", row.request_id),
        ("child of", "" if row.parent is None else row.parent.turn_id),
        *(("child", f"{child.turn_id} of {child.key.agent}: {child.status}") for child in view.children),
        ("children", f"{view.children_unseen} more" if view.children_unseen else ""),
        ("by", _submitted(report)),
        ("ahead", str(view.ahead) if view.ahead else ""),
        ("did", _did(report)),
        ("used", _used(report)),
        *(("late", _late(entry)) for entry in report.late),
        *_times(view),
    ]


def why_words(told: Why) -> str:
    """What it waits for, with until when."""
    return f"{told.text} (until {local(told.until_us)})" if told.until_us else told.text


def _times(view: TurnView) -> list[tuple[str, str]]:
    row, ended = view.row, view.row.ended_at_us
    took = "" if ended is None or row.started_at_us is None else f" after {human(ended - row.started_at_us)}"
    return [
        ("queued", local(row.queued_at_us)),
        ("started", local(row.started_at_us)),
        ("ended", f"{local(ended)}{took}"),
    ]


def _said(message: Message) -> str:
    return telling.short(telling.said(message.blocks), TEXT_CHARACTERS_MAX)


def _late(entry: Entry) -> str:
    """What an attempt brought when it was settled already, in words."""
    words = telling.short(telling.heart(entry), TEXT_CHARACTERS_MAX) or ERASED
    return f"{local(entry.at_us)}, not applied: {words}"


def _submitted(report: TurnReport) -> str:
    act = report.submitted
    if act is None:
        return ""
    return f"{act.principal}{', because: ' if act.reason else ''}{act.reason or ''}"


def _did(report: TurnReport) -> str:
    if not report.model_attempts:
        return ""
    counts = ((report.steps, "step"), (report.model_attempts, "model attempt"), (report.tool_attempts, "tool attempt"))
    return ", ".join(counted(count, name) for count, name in counts if count)


def _used(report: TurnReport) -> str:
    usage = report.usage
    if not usage.requests and not usage.total_tokens:
        return ""
    cost = f", {usd(usage.cost_microusd)}" if usage.cost_microusd else ""
    return f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out{cost}"
