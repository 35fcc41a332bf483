"""A caller's trace goes on in the gateway: what it asks for is a span of that trace.

Rule: only who the gateway knows continues a trace, so a stranger's header decides nothing; and a request without one is
no trace of its own. The span ends when the answer begins: a stream may stay for hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from turnwright.client.gateway.edge import note
from turnwright.client.gateway.problems import problem_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

TRACE_HEADERS: Final = ("traceparent", "tracestate")
MALFORMED, FAULT_MIN = 422, 500
Answered: TypeAlias = Callable[[Response], Response]


@contextmanager
def continued(tracer: Tracer | None, request: Request) -> Iterator[Answered]:
    """A block in a span of the trace that the request names, if it names one; takes note of its answer."""
    if tracer is None or TRACE_HEADERS[0] not in request.headers:
        yield _unheard
        return
    from opentelemetry.context import Context  # noqa: PLC0415 - who sends spans has loaded it
    from opentelemetry.trace import SpanKind, get_current_span, use_span  # noqa: PLC0415 - as above
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 - as above

    caller = TraceContextTextMapPropagator().extract(request.headers, Context())
    if not get_current_span(caller).get_span_context().is_valid:
        yield _unheard
        return
    route = getattr(request.scope.get("route"), "path", "")
    said = {"http.request.method": request.method, "http.route": route}
    span = tracer.start_span(f"{request.method} {route}", caller, SpanKind.SERVER, said)
    ids = span.get_span_context()
    note(request, trace_id=f"{ids.trace_id:032x}", span_id=f"{ids.span_id:016x}")
    with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield lambda answer: _answered(span, answer)
        except Exception as error:
            _tell(span, _status_of(error))
            raise


def _unheard(answer: Response) -> Response:
    return answer


def _answered(span: Span, answer: Response) -> Response:
    _tell(span, answer.status_code)
    return answer


def _status_of(error: Exception) -> int:
    match error:
        case RequestValidationError():
            return MALFORMED
        case HTTPException():
            return error.status_code
        case _:
            return problem_of(error).status


def _tell(span: Span, status: int) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - as above

    span.set_attribute("http.response.status_code", status)
    if status >= FAULT_MIN:
        span.set_attribute("error.type", str(status))
        span.set_status(Status(StatusCode.ERROR))
