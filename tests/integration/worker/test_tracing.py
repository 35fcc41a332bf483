"""Spans leave a worker as OpenTelemetry's own variables say."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving
from tests.integration.runtime.scripts import call, say, task
from tests.integration.worker.stack import Stack, until
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.settings import ClientSettings
from turnwright.client.tracing.ids import TurnIds
from turnwright.client.tracing.tracing import exporter_asked_for
from turnwright.client.turn import Turn
from turnwright.journal.entries import ModelRequested
from turnwright.journal.errors import InvalidInput
from turnwright.worker.temporal_server import TemporalServer


@pytest.fixture
async def stack(tmp_path: Path, sqlite_url: str, temporal: TemporalServer) -> AsyncIterator[Stack]:
    async with Stack.open(tmp_path, sqlite_url, temporal) as stack:
        yield stack


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """A collector's URL, and what it was sent."""
    sent: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", sent
        finally:
            server.shutdown()


def resources_in(sent: list[bytes]) -> list[ResourceSpans]:
    """What the collector was sent, by who sent it."""
    requests = [ExportTraceServiceRequest.FromString(body) for body in sent]
    return [resource for request in requests for resource in request.resource_spans]


def spans_in(sent: list[bytes]) -> list[Span]:
    """What the collector was sent."""
    return [span for resource in resources_in(sent) for scope in resource.scope_spans for span in scope.spans]


@pytest.mark.slow
async def test_a_worker_sends_the_spans_of_its_turns_to_the_collector_that_is_named(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as (url, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
        worker = await stack.ready_worker()
        turn = await stack.submit(call("add", a=1, b=2), say("done"))
        await turn.result(timeout_s=30)
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 0
    resources, spans = resources_in(sent), spans_in(sent)
    assert {"invoke_agent bot", "chat scripted:test", "execute_tool add"} <= {span.name for span in spans}
    assert len({span.trace_id for span in spans}) == 1
    services = {a.value.string_value for r in resources for a in r.resource.attributes if a.key == "service.name"}
    assert services == {"shop"}


@pytest.mark.slow
async def test_a_turn_whose_worker_is_killed_amid_a_model_call_is_one_whole_trace(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as (url, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")  # what it holds dies with it
        workers = [await stack.ready_worker() for _ in range(2)]
        turn = await stack.submit(call("add", a=1, b=2), say("so it was, and on", delay_s=0.3, chunk_characters=3))

        async def speaks_again() -> bool:
            told = {span.name for span in spans_in(sent)}
            return "execute_tool add" in told and len(await requested(stack, turn)) == 2

        await until(speaks_again)
        claim = (await requested(stack, turn))[-1]
        killed = next(one for one in workers if one.said("presence_held")[-1]["presence"] == claim.presence)
        killed.kill()
        await turn.result(timeout_s=60)
        (other,) = (one for one in workers if one is not killed)
        other.send(signal.SIGTERM)
        assert await other.ended() == 0
        entries = await stack.entries(turn)
    claims = await requested(stack, turn)
    assert [one.ordinal for one in claims] == [1, 1, 2]
    assert claims[2].presence != claim.presence
    spans = spans_in(sent)
    assert len({span.trace_id for span in spans}) == 1
    (whole,) = (span for span in spans if span.name == "invoke_agent bot")
    inside = [span for span in spans if span.parent_span_id == whole.span_id]
    ids = TurnIds(await stack.journal_id(), turn.id)
    chats = {span.span_id: span for span in inside if span.name.startswith("chat")}
    assert set(chats) == {
        ids.attempt(step, "", ordinal).to_bytes(8, "big") for step, ordinal in ((1, 1), (2, 1), (2, 2))
    }
    assert [
        (attribute.key, attribute.value.string_value)
        for attribute in chats[ids.attempt(2, "", 1).to_bytes(8, "big")].attributes
        if attribute.key == "error.type"
    ] == [("error.type", "lost")]
    names = Counter(span.name for span in inside)
    assert names["execute_tool add"] == 1
    assert names["run.claimed"] == [entry.type for entry in entries].count("run.claimed")


async def requested(stack: Stack, turn: Turn) -> list[ModelRequested]:
    """The attempts of the turn's model calls."""
    return [entry.payload for entry in await stack.entries(turn) if isinstance(entry.payload, ModelRequested)]


@pytest.mark.slow
async def test_from_a_callers_request_to_the_tool_there_are_two_traces_that_lead_to_each_other(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    callers_trace, callers_span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with collecting() as (url, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        worker = await stack.ready_worker()
        client = ClientSettings(journal_url=stack.journal_url, temporal_address=stack.server.address)
        async with serving(GatewaySettings(client=client, open=True)) as gateway, http(gateway) as ask:
            await ask.put("/sessions/s", params={"anonymous": True}, json={})
            said = {"input": task(call("add", a=1, b=2), say("done")).model_dump(mode="json")}
            answer = await ask.post(
                "/sessions/s/threads/bot/main/turns",
                params={"anonymous": True},
                json=said,
                headers={"traceparent": f"00-{callers_trace}-{callers_span}-01"},
            )
            turn = await stack.client.turn(answer.json()["turn_id"])
            await turn.result(timeout_s=30)
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 0
    spans = spans_in(sent)
    theirs = {span.name: span for span in spans if span.trace_id.hex() == callers_trace}
    turns = {span.name: span for span in spans if span.trace_id.hex() != callers_trace}
    assert len({span.trace_id for span in turns.values()}) == 1
    assert {"turn.accepted", "turn.queued", "invoke_agent bot", "chat scripted:test", "execute_tool add"} <= set(turns)
    (there,), (back,) = theirs["submit"].links, turns["turn.accepted"].links
    waited = turns["turn.queued"]
    assert (there.trace_id, there.span_id) == (waited.trace_id, waited.span_id)
    assert (back.trace_id, back.span_id) == (theirs["submit"].trace_id, theirs["submit"].span_id)
    assert turns["turn.accepted"].parent_span_id == waited.span_id
    servers = [span for span in theirs.values() if span.kind == Span.SPAN_KIND_SERVER]
    assert [span.parent_span_id.hex() for span in servers] == [callers_span]


@pytest.mark.slow
@pytest.mark.parametrize("is_traced", [True, False])
async def test_a_log_line_of_a_turn_leads_to_its_trace_and_tells_no_secret(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, is_traced: bool
) -> None:
    with collecting() as (url, sent):
        if is_traced:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        worker = await stack.ready_worker()
        turn = await stack.submit(call("look", log="/nowhere/at?password=p4ssword"), say("done"))
        await turn.result(timeout_s=30)
        worker.send(signal.SIGTERM)
        assert await worker.ended() == 0
    (line,) = worker.said("tool_failed")
    ids = TurnIds(await stack.journal_id(), turn.id)
    assert (line["turn"], line["trace_id"]) == (turn.id, f"{ids.trace:032x}")
    spans = [span.span_id.hex() for span in spans_in(sent) if span.name == "execute_tool look"]
    assert ([line["span_id"]] if is_traced else []) == spans
    assert "nowhere" in line["traceback"]
    assert "p4ssword" not in worker.log_file.read_text("utf-8")


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({}, None),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, None),
    ],
)
def test_spans_are_sent_where_the_environment_says(environment: dict[str, str], exporter: str | None) -> None:
    assert exporter_asked_for(environment) == exporter


def test_an_exporter_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="OTEL_TRACES_EXPORTER=zipkin is not known here; it may be otlp"):
        exporter_asked_for({"OTEL_TRACES_EXPORTER": "zipkin"})
