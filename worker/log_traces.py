"""The ids of a line's trace and span, so that who reads the one finds the other.

Rule: a line within a span has that span's. Else a line of a turn has the turn's trace, whose id follows from the turn
and from the journal it is in, which a process says once it knows it.
"""

from __future__ import annotations

from structlog.typing import EventDict, WrappedLogger

from turnwright.client.tracing.commands import span_around
from turnwright.client.tracing.ids import JOURNAL_ID, TurnIds


def add_trace_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A processor of structlog: `trace_id` and, within a span, `span_id`, in hexadecimal as OpenTelemetry has them."""
    if "trace_id" in event:  # said by who logs it
        return event
    span, turn, journal_id = span_around(), event.get("turn"), JOURNAL_ID.get()
    if span is not None:
        event.update(trace_id=f"{span.trace_id:032x}", span_id=f"{span.span_id:016x}")
    elif journal_id and isinstance(turn, str):
        event["trace_id"] = f"{TurnIds(journal_id, turn).trace:032x}"
    return event
