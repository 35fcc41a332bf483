"""A caller's trace goes on through client and gateway, and it and the turn's lead to each other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from structlog.testing import capture_logs

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT
from tests.integration.client.program import NOBODY_THERE
from tests.integration.client.test_gateway_commands import token
from tests.integration.worker.test_tracing import collecting, spans_in
from turnwright.client import Client, ClientClosed, CommandRejected
from turnwright.client.blocking import BlockingClient
from turnwright.client.tracing.ids import TurnIds
from turnwright.journal.api_keys import Role
from turnwright.journal.driver import Driver
from turnwright.journal.store import Journal

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{SPAN}-01"
SUBMIT = f"/sessions/s/threads/{AGENT}/main/turns"


class Sending:
    """A gateway that sends spans, what asks it, and what it sent once it has left."""

    def __init__(self, driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._driver, self._journal_url, self._monkeypatch = driver, journal_url, monkeypatch
        self.spans: Mapping[str, Span] = {}

    @asynccontextmanager
    async def asked(self, role: Role = "admin", secret: str = "") -> AsyncIterator[httpx2.AsyncClient]:
        made = secret or await token(self._driver, role)
        async with self.serving() as url, http(url, made) as ask:
            yield ask

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        with collecting() as (collector, sent):
            self._monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
            async with serving(settings_of(self._journal_url)) as url:
                yield url
        self.spans = {span.name: span for span in spans_in(sent)}


@pytest.fixture
def sending(driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch) -> Sending:
    return Sending(driver, journal_url, monkeypatch)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What an application that traces itself has told."""
    provider, out = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(out))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return out


def named(told: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in told.get_finished_spans() if span.name == name]
    return found


def of_ours(told: InMemorySpanExporter) -> list[ReadableSpan]:
    """Those that are of the client's making; the web framework of the gateway beside it tells of itself, too."""
    scopes = ((span, span.instrumentation_scope) for span in told.get_finished_spans())
    return [span for span, scope in scopes if scope is not None and scope.name == "turnwright"]


async def queued(driver: Driver, turn_id: str) -> tuple[bytes, bytes]:
    """The ids of a turn's trace, and of its wait in the queue."""
    ids = TurnIds(await Journal(driver).journal_id(), turn_id)
    return ids.trace.to_bytes(16, "big"), ids.queued.to_bytes(8, "big")


async def test_the_gateway_goes_on_with_a_callers_trace_and_links_it_with_the_turns(
    sending: Sending, driver: Driver
) -> None:
    async with sending.asked() as ask:
        await ask.put("/sessions/s", json={})
        with capture_logs() as lines:
            turn: dict[str, Any] = (
                await ask.post(SUBMIT, json={"input": "hello"}, headers={"traceparent": TRACEPARENT})
            ).json()
    server, submit, accepted = (sending.spans[name] for name in (f"POST {SUBMIT_ROUTE}", "submit", "turn.accepted"))
    assert (server.trace_id.hex(), server.parent_span_id.hex(), server.kind) == (TRACE, SPAN, Span.SPAN_KIND_SERVER)
    told = [(line["trace_id"], line["span_id"]) for line in lines if line["event"] == "request"]
    assert told == [(TRACE, server.span_id.hex())]
    assert (submit.trace_id.hex(), submit.parent_span_id) == (TRACE, server.span_id)
    assert submit.kind == Span.SPAN_KIND_PRODUCER
    assert [(link.trace_id, link.span_id) for link in submit.links] == [await queued(driver, turn["turn_id"])]
    assert (accepted.trace_id, accepted.parent_span_id) == await queued(driver, turn["turn_id"])
    assert [(link.trace_id, link.span_id) for link in accepted.links] == [(submit.trace_id, submit.span_id)]
    statuses = {one.value.int_value for one in server.attributes if one.key == "http.response.status_code"}
    assert statuses == {httpx2.codes.ACCEPTED}
    assert set(sending.spans) == {server.name, "submit", "turn.accepted"}, "the session's had no trace to go on"


SUBMIT_ROUTE = "/sessions/{session}/threads/{agent}/{thread}/turns"


@pytest.mark.parametrize("header", ["00-nonsense-01", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00"])
async def test_a_trace_that_is_none_or_is_not_kept_is_not_gone_on_with(sending: Sending, header: str) -> None:
    async with sending.asked() as ask:
        answer = await ask.put("/sessions/s", json={}, headers={"traceparent": header})
    assert answer.status_code == httpx2.codes.ACCEPTED
    assert sending.spans == {}


async def test_a_stranger_continues_no_trace(sending: Sending) -> None:
    async with sending.asked(secret="nobody's") as ask:
        answer = await ask.put("/sessions/s", json={}, headers={"traceparent": TRACEPARENT})
    assert answer.status_code == httpx2.codes.UNAUTHORIZED
    assert sending.spans == {}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (SUBMIT, {"input": 5}, httpx2.codes.UNPROCESSABLE_CONTENT),
        ("/sessions/nowhere/cancel", {}, httpx2.codes.NOT_FOUND),
    ],
)
async def test_a_span_of_the_gateway_has_the_status_of_its_answer(
    sending: Sending, path: str, body: dict[str, Any], status: int
) -> None:
    async with sending.asked() as ask:
        await ask.post(path, json=body, headers={"traceparent": TRACEPARENT})
    (server,) = [span for span in sending.spans.values() if span.kind == Span.SPAN_KIND_SERVER]
    said = {one.key: one.value.int_value for one in server.attributes}
    assert said["http.response.status_code"] == status
    assert server.status.code == server.status.STATUS_CODE_UNSET, "the caller's fault is none of the server's"


async def test_a_client_in_a_span_of_its_application_links_it_with_the_turn_both_ways(
    driver: Driver, journal_url: str, told: InMemorySpanExporter
) -> None:
    tracer = trace.get_tracer("shop")
    async with Client.connect(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE) as client:
        session = client.session("ann", "s")
        await session.create()
        assert told.get_finished_spans() == (), "outside a span"
        with tracer.start_as_current_span("order") as order:
            turn = await session.submit("hello", agent=AGENT, request_id="r-1")
            await turn.cancel()
        with tracer.start_as_current_span("again"):
            await session.submit("hello", agent=AGENT, request_id="r-1")
            with pytest.raises(CommandRejected):
                await turn.retry()
    submits = [span for span in told.get_finished_spans() if span.name == "submit"]
    submit, accepted, cancel, retry = (
        submits[0], named(told, "turn.accepted"), named(told, "cancel_turn"), named(told, "retry_turn")
    )  # fmt: skip
    assert submit.context is not None
    assert submit.parent == order.get_span_context()
    wanted = await queued(driver, turn.id)
    for span in (*submits, cancel, retry):
        (link,) = span.links
        ids = link.context.trace_id.to_bytes(16, "big"), link.context.span_id.to_bytes(8, "big")
        assert ids == wanted
    assert accepted.parent is not None
    assert (accepted.parent.trace_id, accepted.parent.span_id) == tuple(int.from_bytes(one) for one in wanted)
    assert [link.context for link in accepted.links] == [submit.context]
    assert retry.status.status_code == StatusCode.ERROR
    assert retry.attributes is not None
    assert retry.attributes["error.type"] == "wrong_phase"


async def test_what_is_brought_deleted_and_imported_is_in_the_callers_trace_too(
    journal_url: str, told: InMemorySpanExporter, tmp_path: Path
) -> None:
    file, chat = tmp_path / "s.jsonl", [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    async with Client.connect(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE) as client:
        session = client.session("ann", "s")
        await session.create()
        with trace.get_tracer("shop").start_as_current_span("order") as order:
            await session.thread(AGENT).import_conversation("openai", chat)
            file.write_bytes(b"".join([line async for line in session.export()]))
            await session.delete()
            with pytest.raises(CommandRejected):
                await client.session("ann", "nowhere").delete()
            await client.import_session(file, session_id="again")
    spans = of_ours(told)
    assert [span.name for span in spans] == ["import_thread", "delete_session", "delete_session", "import_session"]
    assert [span.parent for span in spans] == [order.get_span_context()] * 4
    errors = [(span.attributes or {}).get("error.type") for span in spans]
    assert errors == [None, None, "unknown_session", None]
    assert (spans[-1].attributes or {})["gen_ai.conversation.id"] == "again"


async def test_a_command_stands_though_its_link_cannot_be_made(
    journal_url: str, told: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Client.connect(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE) as client:
        session = client.session("ann", "s")
        await session.create()
        monkeypatch.setattr(sdk.Span, "add_link", None)  # as a tracing library that breaks
        with trace.get_tracer("shop").start_as_current_span("order"):
            turn = await session.submit("hello", agent=AGENT)
    assert turn.id
    assert named(told, "submit").status.status_code == StatusCode.UNSET


async def test_a_remote_clients_span_is_that_of_its_application_and_above_the_gateways(
    sending: Sending, driver: Driver, told: InMemorySpanExporter
) -> None:
    made = await token(driver, "admin")
    async with sending.serving() as url, Client.connect(gateway_url=url, token=made) as client:
        session = client.session("ann", "s")
        await session.create()
        with trace.get_tracer("shop").start_as_current_span("order"):
            turn = await session.submit("hello", agent=AGENT)
    submit, order = named(told, "submit"), named(told, "order")
    assert submit.context is not None
    assert order.context is not None
    assert submit.parent == order.context
    ids = submit.context.trace_id.to_bytes(16, "big"), submit.context.span_id.to_bytes(8, "big")
    server = sending.spans[f"POST {SUBMIT_ROUTE}"]
    assert (server.trace_id, server.parent_span_id) == ids
    assert [link.context.span_id.to_bytes(8, "big") for link in submit.links] == [(await queued(driver, turn.id))[1]]
    assert [span.name for span in of_ours(told)] == ["submit"], "the gateway accepts"


def test_who_is_in_no_span_needs_nothing_of_opentelemetry(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from turnwright.client import Client
async def main():
    async with Client.connect(journal_url="sqlite:///{tmp_path}/j.db", migrate=True) as client:
        session = client.session("ann", "s")
        await session.create()
        await session.submit("hello", agent="bot")
asyncio.run(main())
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


async def test_a_command_that_breaks_tells_its_error_by_class_alone(
    journal_url: str, driver: Driver, told: InMemorySpanExporter
) -> None:
    client = await Client.connect(journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE)
    await client.close()
    with trace.get_tracer("shop").start_as_current_span("order"), pytest.raises(ClientClosed):
        await client.session("ann", "s").submit("a secret", agent=AGENT)
    span = named(told, "submit")
    assert span.attributes is not None
    assert (span.attributes["error.type"], span.events) == ("ClientClosed", ())


def test_a_client_that_waits_is_within_its_callers_span_too(tmp_path: Path, told: InMemorySpanExporter) -> None:
    url = f"sqlite:///{tmp_path}/journal.db"
    with BlockingClient.connect(journal_url=url, temporal_address=NOBODY_THERE, migrate=True) as client:
        session = client.session("ann", "s")
        session.create()
        with trace.get_tracer("shop").start_as_current_span("order") as order:
            session.submit("hello", agent=AGENT)
    assert named(told, "submit").parent == order.get_span_context()
