"""Spans of what was committed: each attempt of a model or tool call, and each turn from its start to its end.

    driver.observers.append(Spans(journal_id, provider, ids).committed)

Rule: an entry says when something ended and how long it took, so a span is written when its end is committed, by the
process that committed it, and nothing has to be kept open meanwhile. Names follow OpenTelemetry's conventions for
generative AI. What people, models and tools said is left out unless `content` asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Final, TypeAlias

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from turnwright.client.tracing.given_ids import GivenIds
from turnwright.client.tracing.ids import TurnIds
from turnwright.journal.entries import (
    Entry,
    InteractionExpired,
    InteractionRequested,
    InteractionResolved,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelResponded,
    Payload,
    RunClaimed,
    ToolFinished,
    ToolLate,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnPaused,
    TurnResumed,
    TurnStarted,
    TurnWaiting,
)
from turnwright.journal.messages import Usage
from turnwright.journal.transact.appending import Appended
from turnwright.journal.turn_status import TurnStatus

Testimony: TypeAlias = ModelResponded | ModelFailed | ModelInterrupted | ModelLate
Attributes: TypeAlias = dict[str, str | int | float | bool | Sequence[str]]
NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
# What happens in a moment, and says how a turn came to be where it is.
MOMENTS: Final = (TurnPaused, TurnResumed, TurnWaiting, InteractionRequested, InteractionResolved, InteractionExpired)


@dataclass(frozen=True, slots=True)
class Told:
    """A span that is to be written; `span_id` 0: any. `is_root`: it has no parent, such as the turn itself."""

    name: str
    attributes: Attributes
    span_id: int = 0
    duration_ns: int = 0
    failed: str = ""
    kind: SpanKind = SpanKind.INTERNAL
    is_root: bool = False
    links: tuple[Link, ...] = ()


class Spans:
    """An observer of a journal's commits.

    Args:
        journal_id: the journal's.
        provider: where spans go; its sampler decides for a trace by its id, alike in every process.
        ids: the generator of ids that the provider was made with.
        content: whether what was said is told, too.
    """

    def __init__(self, journal_id: str, provider: TracerProvider, ids: GivenIds, *, content: bool = False) -> None:
        self._journal_id = journal_id
        self._sampler = provider.sampler
        self._tracer = provider.get_tracer("turnwright")
        self._ids = ids
        self._content = content

    def committed(self, notes: Sequence[object], seconds: float) -> None:
        """An observer of a driver's commits."""
        del seconds
        for note in notes:
            if isinstance(note, Appended):
                for entry in note.entries:
                    if entry.turn_id is not None:
                        self._tell(entry.payload, note, entry)

    @contextmanager
    def within(self, turn_id: str, step: int, call: str, ordinal: int) -> Iterator[None]:
        """Spans that begin in the block, such as those of a tool's own requests, belong to this attempt."""
        ids = TurnIds(self._journal_id, turn_id)
        token = contexts.attach(self._inside(ids, ids.attempt(step, call, ordinal)))
        try:
            yield
        finally:
            contexts.detach(token)

    @singledispatchmethod
    def _tell(self, payload: Payload, at: Appended, entry: Entry) -> None:
        if isinstance(payload, MOMENTS):
            self._write(at, entry, Told(entry.type, {}))

    @_tell.register
    def _(self, _: RunClaimed, at: Appended, entry: Entry) -> None:
        told: Attributes = {"turnwright.run": entry.run or "", "turnwright.epoch": entry.epoch or 0}
        self._write(at, entry, Told(entry.type, told))

    @_tell.register
    def _(self, _: TurnStarted, at: Appended, entry: Entry) -> None:
        """The first start ends the wait that began when the turn was accepted."""
        status = _status(at, entry)
        if status is not None and abs(status.queue_order) == status.queued_seq:
            waited_ns = max(0, entry.at_us - status.queued_at_us) * NS_PER_US
            span_id = self._ids_of(entry).queued
            self._write(at, entry, Told("turn.queued", {}, span_id, waited_ns, is_root=True))

    @_tell.register
    def _(self, payload: ModelResponded, at: Appended, entry: Entry) -> None:
        told: Attributes = {"gen_ai.response.finish_reasons": (payload.finish_reason,)}
        if self._content:
            told["gen_ai.output.messages"] = _json([block.model_dump(mode="json") for block in payload.blocks])
        self._chat(at, entry, payload, told)

    @_tell.register
    def _(self, payload: ModelFailed, at: Appended, entry: Entry) -> None:
        self._chat(at, entry, payload, {}, payload.failure)

    @_tell.register
    def _(self, payload: ModelInterrupted, at: Appended, entry: Entry) -> None:
        self._chat(at, entry, payload, {}, payload.reason)

    @_tell.register
    def _(self, payload: ModelLate, at: Appended, entry: Entry) -> None:
        self._chat(at, entry, payload, {"turnwright.late": True})

    @_tell.register(ToolFinished)
    @_tell.register(ToolLate)
    def _(self, payload: ToolFinished | ToolLate, at: Appended, entry: Entry) -> None:
        told: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": payload.name,
            "gen_ai.tool.call.id": payload.call_id,
            "turnwright.outcome": payload.outcome,
            "turnwright.late": isinstance(payload, ToolLate),
        }
        if self._content:
            told["gen_ai.tool.call.result"] = _json([block.model_dump(mode="json") for block in payload.output])
        failed = payload.outcome if payload.outcome in {"error", "unknown", "lost", "interrupted"} else ""
        span_id = self._ids_of(entry).attempt(entry.step or 0, payload.call_id, payload.ordinal)
        duration_ns = payload.duration_ms * NS_PER_MS
        self._write(at, entry, Told(f"execute_tool {payload.name}", told, span_id, duration_ns, failed))

    @_tell.register
    def _(self, _: TurnCompleted, at: Appended, entry: Entry) -> None:
        self._turn(at, entry, "")

    @_tell.register
    def _(self, payload: TurnFailed, at: Appended, entry: Entry) -> None:
        self._turn(at, entry, payload.code)

    @_tell.register
    def _(self, _: TurnCancelled, at: Appended, entry: Entry) -> None:
        self._turn(at, entry, "cancelled")

    def _chat(self, at: Appended, entry: Entry, payload: Testimony, told: Attributes, failed: str = "") -> None:
        model, duration_ms = getattr(payload, "model", ""), getattr(payload, "duration_ms", 0)
        told |= {"gen_ai.operation.name": "chat"} | _usage(payload.usage)
        told |= {"gen_ai.request.model": model, "gen_ai.response.model": model} if model else {}
        told |= {"error.type": failed} if failed else {}
        span_id = self._ids_of(entry).attempt(entry.step or 0, "", payload.ordinal)
        span = Told(f"chat {model}".rstrip(), told, span_id, duration_ms * NS_PER_MS, failed, SpanKind.CLIENT)
        self._write(at, entry, span)

    def _turn(self, at: Appended, entry: Entry, failed: str) -> None:
        """The turn itself, from its start (or from when it was accepted, if it never began) to its end."""
        status = _status(at, entry)
        began_us = entry.at_us if status is None else status.started_at_us or status.queued_at_us
        told: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": at.key.agent,
            "turnwright.phase": entry.type.removeprefix("turn."),
        }
        duration_ns, ids = max(0, entry.at_us - began_us) * NS_PER_US, self._ids_of(entry)
        never_began = status is not None and status.started_at_us is None
        span_id = ids.queued if never_began else ids.start(began_us)
        name, links = f"invoke_agent {at.key.agent}", self._opened_by(status)
        self._write(at, entry, Told(name, told, span_id, duration_ns, failed, is_root=True, links=links))

    def _opened_by(self, status: TurnStatus | None) -> tuple[Link, ...]:
        """The trace of the turn whose call opened this one."""
        if status is None or status.parent is None:
            return ()
        ids = TurnIds(self._journal_id, status.parent.turn_id)
        return (Link(self._context(ids, ids.queued), {"gen_ai.tool.call.id": status.parent.call_id}),)

    def _write(self, at: Appended, entry: Entry, told: Told) -> None:
        ids, ended_ns, status = self._ids_of(entry), entry.at_us * NS_PER_US, _status(at, entry)
        began_us = None if status is None else status.started_at_us
        parent = contexts.Context() if told.is_root or began_us is None else self._inside(ids, ids.start(began_us))
        attributes = _identity(at, entry) | told.attributes
        with self._ids.given(ids.trace, told.span_id):
            began_ns = ended_ns - told.duration_ns
            span = self._tracer.start_span(told.name, parent, told.kind, attributes, told.links, start_time=began_ns)
        if told.failed:
            span.set_status(Status(StatusCode.ERROR, told.failed))
        span.end(ended_ns)

    def _ids_of(self, entry: Entry) -> TurnIds:
        return TurnIds(self._journal_id, entry.turn_id or "")

    def _inside(self, ids: TurnIds, span_id: int) -> contexts.Context:
        return trace.set_span_in_context(NonRecordingSpan(self._context(ids, span_id)), contexts.Context())

    def _context(self, ids: TurnIds, span_id: int) -> SpanContext:
        sampled = self._sampler.should_sample(None, ids.trace, "turn").decision != Decision.DROP
        flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
        return SpanContext(ids.trace, span_id, is_remote=True, trace_flags=flags)


def _status(at: Appended, entry: Entry) -> TurnStatus | None:
    """The entry's turn as it is known to the transaction."""
    active = at.control.active
    known = at.turns.get(entry.turn_id or "")
    return known or (active.status if active is not None and active.turn_id == entry.turn_id else None)


def _identity(at: Appended, entry: Entry) -> Attributes:
    told: Attributes = {
        "gen_ai.conversation.id": at.key.session,
        "turnwright.tenant": at.key.tenant,
        "turnwright.thread": at.key.thread,
        "turnwright.turn": entry.turn_id or "",
    }
    return told | ({} if entry.step is None else {"turnwright.step": entry.step})


def _usage(usage: Usage) -> Attributes:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
