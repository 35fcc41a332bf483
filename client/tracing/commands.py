"""Commands as spans in the trace of who gives them, linked with the traces of the turns they are about.

Rule: only who is in a span gets one. Who is in a span has loaded OpenTelemetry, so nobody else has to. The spans go
where the caller's own go; in a gateway, where the gateway's go. Whoever accepts a turn puts a span into the turn's
trace that is linked back: both traces lead to each other, and nothing of that stands in the journal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from turnwright.client.tracing.ids import TurnIds
from turnwright.journal.commands import ClientCommand, Receipt, SessionCommand, Submit
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
        with self.within(_name_of(commands[0]), identity_of(key)) as span:
            receipts = await carry_out()
            tell_rejections(span, *receipts)
            if span is not None and span.is_recording():
                with suppress(Exception):  # they are decided, whatever becomes of a link
                    await self._link(span, key, tuple(zip(commands, receipts, strict=False)))
            return receipts

    @contextmanager
    def within(self, name: str, identity: Mapping[str, str]) -> Iterator[Span | None]:
        """Carry something out in a span of the caller's trace; None, and no span, where the caller is in none."""
        if span_around() is None:
            yield None
            return
        from opentelemetry import trace  # noqa: PLC0415 - it is loaded

        kind = trace.SpanKind.PRODUCER if self.accepts else trace.SpanKind.CLIENT
        span = self._tracer().start_span(name, kind=kind, attributes=identity)
        # What an exception says may hold what somebody said, so only its class is told.
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                yield span
            except Exception as error:
                _tell_failure(span, type(error).__name__)
                raise

    def _tracer(self) -> Tracer:
        from opentelemetry import trace  # noqa: PLC0415 - it is loaded

        return self.tracer or trace.get_tracer("turnwright")

    async def _link(
        self,
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
                _tell_accepted(self._tracer(), span, key, TurnIds(journal_id, receipt.turn_id))


def _name_of(command: ClientCommand | SessionCommand) -> str:
    """Such as `submit`, `cancel_turn`."""
    return _WORDS.sub("_", type(command).__name__).lower()


def tell_rejections(span: Span | None, *receipts: Receipt) -> None:
    """Have the span say that something was not done, and why."""
    for receipt in receipts:
        if span is not None and receipt.status == "rejected":
            _tell_failure(span, receipt.code or "rejected")


def identity_of(key: ThreadKey | SessionKey) -> dict[str, str]:
    """What a command is about, as attributes of its span."""
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

    said = identity_of(key) | {"turnwright.turn": ids.turn_id}
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
