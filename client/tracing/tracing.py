"""Whether and where a process sends its spans, as OpenTelemetry's own environment variables say.

Rule: nothing is sent, and nothing of OpenTelemetry's SDK loaded, unless an exporter or its endpoint is named.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import structlog

from turnwright.journal.errors import InvalidInput
from turnwright.journal.store import Journal

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer

    from turnwright.client.tracing.spans import Spans

EXPORTER: Final = "OTEL_TRACES_EXPORTER"
ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
DISABLED: Final = "OTEL_SDK_DISABLED"
SERVICE: Final = "OTEL_SERVICE_NAME"
KNOWN: Final = ("otlp", "console", "none")

SEND_S_MAX: Final = 3.0

log = structlog.get_logger(__name__)


class Tracing:
    """Spans of one journal's commits, and their way out."""

    def __init__(self, journal: Journal, spans: Spans, provider: TracerProvider) -> None:
        self.spans = spans
        self._provider = provider
        journal.driver.observers.append(spans.committed)

    @property
    def tracer(self) -> Tracer:
        """For spans of the process's own, beside those of commits."""
        return self._provider.get_tracer("turnwright")

    async def end(self) -> None:
        """Send what is left; a collector that does not take it keeps nobody from leaving."""
        sending = threading.Thread(target=self._provider.shutdown, name="tracing-ends", daemon=True)
        sending.start()
        await asyncio.to_thread(sending.join, SEND_S_MAX)


def exporter_asked_for(environment: Mapping[str, str]) -> str | None:
    """The exporter, or None.

    Raises:
        InvalidInput: it is one that is not known here.
    """
    if environment.get(DISABLED, "").lower() == "true":
        return None
    default = "otlp" if any(environment.get(name) for name in ENDPOINTS) else "none"
    asked = environment.get(EXPORTER) or default
    if asked not in KNOWN:
        raise InvalidInput(f"{EXPORTER}={asked} is not known here; it may be {', '.join(KNOWN)}")
    return None if asked == "none" else asked


async def begin_tracing(journal: Journal, service: str, environment: Mapping[str, str] = os.environ) -> Tracing | None:
    """Begin to send spans of this journal's commits, if the environment asks for them.

    Raises:
        InvalidInput: it asks for what is not known or not installed.
    """
    asked = exporter_asked_for(environment)
    if asked is None:
        return None
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        raise InvalidInput(f"{EXPORTER}={asked} needs more packages: pip install 'turnwright[telemetry]'")
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - only who sends spans needs the SDK
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter  # noqa: PLC0415

    from turnwright.client.tracing.given_ids import GivenIds  # noqa: PLC0415
    from turnwright.client.tracing.spans import Spans  # noqa: PLC0415

    exporter: SpanExporter = ConsoleSpanExporter()
    if asked == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

        exporter = OTLPSpanExporter()
    ids = GivenIds()
    name = environment.get(SERVICE) or f"turnwright-{service}"
    provider = TracerProvider(resource=Resource.create({"service.name": name}), id_generator=ids)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    content = environment.get(CONTENT, "").lower() == "true"
    log.info("tracing", exporter=asked, service=name, content=content)
    return Tracing(journal, Spans(await journal.journal_id(), provider, ids, content=content), provider)


@asynccontextmanager
async def traced(journal: Journal, service: str) -> AsyncIterator[Tracer | None]:
    """Send spans of this journal's commits while the block runs, and what is left however it ends.

    Gives what makes further spans; None: none are asked for.

    Raises:
        InvalidInput: see `begin_tracing`.
    """
    tracing = await begin_tracing(journal, service)
    try:
        yield None if tracing is None else tracing.tracer
    finally:
        if tracing is not None:
            await tracing.end()
