"""Commands as spans in the trace of who gives them, linked with the traces of the turns they are about.

Rule: only who is in a span gets one. Who is in a span has loaded OpenTelemetry, so nobody else has to. The spans go
where the caller's own go; in a gateway, where the gateway's go. Whoever accepts a turn puts a span into the turn's
trace that is linked back: both traces lead to each other, and nothing of that stands in the journal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from turnwright.client.tracing.ids import TurnIds
from turnwright.journal.commands import ClientCommand, Receipt, SessionCommand, Submit
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.ids import SessionKey, ThreadKey

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanContext, Tracer

API: Final = "opentelemetry.trace"
_WORDS: Final = re.compile(r"(?<!^)(?=[A-Z])")


def span_around() -> SpanContext | None:
    """The span that the caller is in; None outside of one."""
    # Another thread may be in the middle of importing it: then nobody is in a span yet.
    current = getattr(sys.modules.get(API), "get_current_span", None)
    span: SpanContext | None = current().get_span_context() if current else None
    return span if span is not None and span.is_valid else None


def trace_headers() -> dict[str, str]:
    """What takes the caller's trace along in a request (W3C `traceparent`, `tracestate`); empty outside a span."""
    headers: dict[str, str] = {}
    if span_around():
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 - loaded

        TraceContextTextMapPropagator().inject(headers)
    return headers


@dataclass(frozen=True, slots=True)
class Giver:
    """Gives commands to one journal.

    Args:
        journal_id: the journal's, asked for once a command was answered.
        tracer: where spans go; None: where the process's own go.
        accepts: whether turns are accepted here, and not by a gateway behind.
    """

    journal_id: Callable[[], Awaitable[str]]
    tracer: Tracer | None = None
    accepts: bool = True

    async def give(
        self,
        key: ThreadKey | SessionKey,
        commands: Sequence[ClientCommand | SessionCommand],
        carry_out: Callable[[], Awaitable[tuple[Receipt, ...]]],
    ) -> tuple[Receipt, ...]:
        """The receipts of commands that are carried out together. Raises what `carry_out` raises."""
        if span_around() is None:
            return await carry_out()
        from opentelemetry import trace  # noqa: PLC0415 - it is loaded

        kind = trace.SpanKind.PRODUCER if self.accepts else trace.SpanKind.CLIENT
        tracer = self.tracer or trace.get_tracer("turnwright")
        span = tracer.start_span(_name_of(commands[0]), kind=kind, attributes=_identity(key))
        # What an exception says may hold what somebody said, so only its class is told.
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                receipts = await carry_out()
            except Exception as error:
                _tell_failure(span, type(error).__name__)
                raise
            if span.is_recording():
                for receipt in receipts:
                    if receipt.status == "rejected":
                        _tell_failure(span, receipt.code or "rejected")
                with suppress(TurnwrightError):  # they are decided, whatever becomes of a link
                    await self._link(tracer, span, key, tuple(zip(commands, receipts, strict=False)))
            return receipts

    async def _link(
        self,
        tracer: Tracer,
        span: Span,
        key: ThreadKey | SessionKey,
        done: Sequence[tuple[ClientCommand | SessionCommand, Receipt]],
    ) -> None:
        """Let the caller's trace and those of the turns lead to each other."""
        turns = dict.fromkeys(receipt.turn_id for _, receipt in done if receipt.turn_id is not None)
        journal_id = await self.journal_id() if turns else ""
        for turn_id in turns:
            span.add_link(_queued(span, TurnIds(journal_id, turn_id)), {"turnwright.turn": turn_id})
        for command, receipt in done:
            is_new = isinstance(command, Submit) and receipt.status == "accepted" and not receipt.duplicate
            if self.accepts and is_new and receipt.turn_id is not None:
                _tell_accepted(tracer, span, key, TurnIds(journal_id, receipt.turn_id))


def _name_of(command: ClientCommand | SessionCommand) -> str:
    """Such as `submit`, `cancel_turn`."""
    return _WORDS.sub("_", type(command).__name__).lower()


def _identity(key: ThreadKey | SessionKey) -> dict[str, str]:
    said = {"gen_ai.conversation.id": key.session, "turnwright.tenant": key.tenant}
    if isinstance(key, ThreadKey) and not key.is_session_log:
        said |= {"gen_ai.agent.name": key.agent, "turnwright.thread": key.thread}
    return said


def _tell_failure(span: Span, why: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - it is loaded

    span.set_attribute("error.type", why)
    span.set_status(Status(StatusCode.ERROR, why))


def _tell_accepted(tracer: Tracer, span: Span, key: ThreadKey | SessionKey, ids: TurnIds) -> None:
    """The moment in the turn's trace that leads back to the caller's."""
    from opentelemetry.trace import Link  # noqa: PLC0415 - it is loaded

    said = _identity(key) | {"turnwright.turn": ids.turn_id}
    within, links = _within(_queued(span, ids)), (Link(span.get_span_context()),)
    tracer.start_span("turn.accepted", within, attributes=said, links=links).end()


def _queued(span: Span, ids: TurnIds) -> SpanContext:
    """The turn's wait in its queue, as the span it is told by once it began; kept if the caller's span is."""
    from opentelemetry.trace import SpanContext  # noqa: PLC0415 - it is loaded

    flags = span.get_span_context().trace_flags
    return SpanContext(ids.trace, ids.queued, is_remote=True, trace_flags=flags)


def _within(parent: SpanContext) -> Context:
    from opentelemetry.context import Context  # noqa: PLC0415 - it is loaded
    from opentelemetry.trace import NonRecordingSpan, set_span_in_context  # noqa: PLC0415 - as above

    return set_span_in_context(NonRecordingSpan(parent), Context())
