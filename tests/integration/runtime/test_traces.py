"""A turn is one trace, whichever processes work on it and whatever becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from tests.integration.models.openai_peer import Reply, finished, peer, words
from tests.integration.runtime.agents import TOOLS, UNASKED
from tests.integration.runtime.asking import results
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.families import children, family, give, told
from tests.integration.runtime.scripts import call, say
from tests.integration.runtime.workers import LocalWorker
from tests.integration.sources.opened import plain
from turnwright.activities.agent import Agent
from turnwright.activities.tools import tool
from turnwright.client.tracing.given_ids import GivenIds
from turnwright.client.tracing.ids import TurnIds
from turnwright.client.tracing.spans import Spans
from turnwright.journal.commands import CancelTurn


@tool(effect="read")
async def which_span() -> str:
    """Say in which span this is."""
    return f"{trace.get_current_span().get_span_context().span_id:016x}"


AGENTS = (Agent("bot", "scripted:test", tools=(*TOOLS, which_span), permissions=UNASKED),)


@dataclass
class Traced:
    """Spans of everything that was committed by those that are told to."""

    cluster: Cluster
    content: bool = False
    sampled: float = 1.0
    _ids: GivenIds = field(default_factory=GivenIds)
    _out: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    def __post_init__(self) -> None:
        provider = TracerProvider(id_generator=self._ids, sampler=TraceIdRatioBased(self.sampled))
        provider.add_span_processor(SimpleSpanProcessor(self._out))
        self.spans = Spans(self.cluster.journal_id, provider, self._ids, content=self.content)

    async def worker(self, agents: Sequence[Agent] = AGENTS) -> LocalWorker:
        worker = await self.cluster.start_worker(agents=agents)
        worker.activities.parts = replace(worker.activities.parts, within=self.spans.within)
        worker.journal.driver.observers.append(self.spans.committed)
        return worker

    def of(self, turn: Turn) -> list[ReadableSpan]:
        """Those of the turn's trace, in the order of their ends."""
        wanted = TurnIds(self.cluster.journal_id, turn.turn_id).trace
        found = [span for span in self._out.get_finished_spans() if span.context and span.context.trace_id == wanted]
        return sorted(found, key=lambda span: span.end_time or 0)

    def named(self, turn: Turn, prefix: str) -> list[ReadableSpan]:
        return [span for span in self.of(turn) if span.name.startswith(prefix)]

    @property
    def count(self) -> int:
        return len(self._out.get_finished_spans())


async def test_a_turn_its_model_calls_and_its_tool_calls_are_one_trace(cluster: Cluster) -> None:
    traced = Traced(cluster)
    await traced.worker()
    turn = await cluster.submit(call("add", a=1, b=2), call("which_span"), say("done"))
    await turn.until("completed")
    (whole,) = traced.named(turn, "invoke_agent bot")
    assert whole.parent is None
    assert whole.attributes is not None
    assert whole.attributes["turnwright.phase"] == "completed"
    chats, tools = traced.named(turn, "chat scripted:test"), traced.named(turn, "execute_tool")
    assert [span.name for span in tools] == ["execute_tool add", "execute_tool which_span"]
    assert len(chats) == 3
    for span in (*chats, *tools):
        assert whole.context is not None
        assert span.parent is not None
        assert span.parent.span_id == whole.context.span_id
        assert span.attributes is not None
        assert span.attributes["turnwright.turn"] == turn.turn_id
        assert span.start_time is not None
        assert whole.start_time is not None
        assert span.start_time >= whole.start_time - 1_000_000  # durations are told in whole milliseconds
    assert chats[0].attributes is not None
    assert chats[0].attributes["gen_ai.usage.output_tokens"]
    assert not [
        key for span in traced.of(turn) for key in span.attributes or () if "messages" in key or "result" in key
    ]
    (finished,) = [e.payload for e in await turn.of_type("tool.finished") if e.payload.name == "which_span"]  # type: ignore[attr-defined]
    assert finished.output[0].text == f"{tools[1].context.span_id:016x}"  # type: ignore[attr-defined]


async def test_the_wait_in_the_queue_is_a_span_that_ends_where_the_turns_own_begins(small_cluster: Cluster) -> None:
    traced = Traced(small_cluster)
    turn = await small_cluster.submit({"fail": "auth", "times": 1}, say("done"))
    dropped = await small_cluster.submit(say("never"))
    await dropped.cancel()
    await traced.worker()
    await turn.until("failed")
    await turn.retry()
    await turn.until_entry("turn.failed", 2)
    (waited,), whole = traced.named(turn, "turn.queued"), traced.named(turn, "invoke_agent")[0]
    status = await turn.status()
    assert waited.context is not None
    assert (waited.parent, waited.context.span_id) == (None, TurnIds(small_cluster.journal_id, turn.turn_id).queued)
    assert (waited.start_time, waited.end_time) == (status.queued_at_us * 1_000, whole.start_time)


async def test_a_turn_that_never_began_is_told_by_the_span_of_its_wait(small_cluster: Cluster) -> None:
    traced = Traced(small_cluster)
    worker = await traced.worker()
    turn = await small_cluster.submit(say("never"), wake=False)
    await worker.journal.execute(
        turn.key, CancelTurn(request_id="stop", principal="ann", reason=None, turn_id=turn.turn_id)
    )
    (whole,) = traced.of(turn)
    assert whole.context is not None
    assert whole.name == "invoke_agent bot"
    assert whole.context.span_id == TurnIds(small_cluster.journal_id, turn.turn_id).queued


async def test_a_childs_trace_is_linked_with_its_parents(small_cluster: Cluster) -> None:
    traced = Traced(small_cluster)
    async with family(small_cluster) as worker:
        worker.journal.driver.observers.append(traced.spans.committed)
        turn = await small_cluster.submit(give(told(say("one"))), say("{result}"), agent="head")
        await turn.until("completed")
        (child,) = await children(turn, 1)
        (whole,) = traced.named(child, "invoke_agent")
    (link,) = whole.links
    ids = TurnIds(small_cluster.journal_id, turn.turn_id)
    assert (link.context.trace_id, link.context.span_id) == (ids.trace, ids.queued)


async def test_a_providers_http_requests_are_made_within_the_model_calls_span(
    small_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    send = httpx2.AsyncHTTPTransport.handle_async_request

    async def instrumented(self: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> httpx2.Response:
        seen.append(trace.get_current_span().get_span_context().span_id)
        return await send(self, request)

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", instrumented)
    traced = Traced(small_cluster)
    async with peer(Reply(chunks=(*words("It is 5."), *finished("stop")))) as provider:
        await traced.worker([Agent("real", "openai:tiny", base_url=provider.url)])
        turn = await small_cluster.submit(say("What is 2 and 3?"), agent="real")
        await turn.until("completed")
    (chat,) = traced.named(turn, "chat")
    assert chat.context is not None
    assert seen == [chat.context.span_id]


async def test_an_mcp_server_is_told_the_span_of_the_call(small_cluster: Cluster, tmp_path: Path) -> None:
    traced, server = Traced(small_cluster), plain(tmp_path / "log")
    await traced.worker([Agent("shop", "scripted:test", tools=(server,), permissions=UNASKED)])
    turn = await small_cluster.submit(call("plain_whose_trace"), say("{result}"), agent="shop")
    await turn.until("completed")
    (made,) = traced.named(turn, "execute_tool")
    (result,) = await results(turn)
    assert made.context is not None
    assert result[2] == f"00-{made.context.trace_id:032x}-{made.context.span_id:016x}-01"


async def test_another_worker_that_goes_on_with_a_turn_adds_to_its_trace(small_cluster: Cluster) -> None:
    first, second = Traced(small_cluster), Traced(small_cluster)
    worker = await first.worker()
    turn = await small_cluster.submit(call("dawdle"), call("nothing_such"), say("done"))
    await turn.until_entry("model.responded")
    await turn.pause()
    await turn.until_pause("effective")
    await worker.stop()
    await second.worker()
    await turn.resume()
    await turn.until("completed")
    assert first.named(turn, "chat")
    (whole,) = second.named(turn, "invoke_agent")
    parents = {span.parent.span_id for one in (first, second) for span in one.named(turn, "chat") if span.parent}
    assert whole.context is not None
    assert parents == {whole.context.span_id}


async def test_a_failed_turn_and_its_second_try_are_two_spans_of_one_trace(small_cluster: Cluster) -> None:
    traced = Traced(small_cluster)
    await traced.worker()
    turn = await small_cluster.submit({"fail": "auth", "times": 1}, say("done"))
    await turn.until("failed")
    await turn.retry()
    await turn.until_entry("turn.failed", 2)
    tries = [span.context.span_id for span in traced.named(turn, "invoke_agent") if span.context]
    assert len(set(tries)) == 2
    calls = traced.named(turn, "chat")
    assert [span.parent.span_id for span in calls if span.parent] == tries
    assert [span.attributes["error.type"] for span in calls if span.attributes] == ["auth", "auth"]


async def test_what_was_said_is_told_only_where_that_was_asked_for(small_cluster: Cluster) -> None:
    traced = Traced(small_cluster, content=True)
    await traced.worker()
    turn = await small_cluster.submit(call("add", a=1, b=2), say("the secret word"))
    await turn.until("completed")
    told = [str(span.attributes) for span in traced.named(turn, "chat")]
    assert "the secret word" in told[-1]


async def test_a_trace_is_kept_or_left_as_a_whole(small_cluster: Cluster) -> None:
    traced = Traced(small_cluster, sampled=0.0)
    await traced.worker()
    turn = await small_cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until("completed")
    assert traced.count == 0


@pytest.mark.parametrize("other", [("other", "turn"), ("journal", "other")])
def test_ids_of_a_trace_follow_from_the_journal_and_the_turn_and_nothing_else(other: tuple[str, str]) -> None:
    ids = TurnIds("journal", "turn")
    assert TurnIds("journal", "turn").trace == ids.trace
    assert TurnIds(*other).trace != ids.trace
    spans = {ids.start(1), ids.start(2), ids.attempt(1, "", 1), ids.attempt(1, "", 2), ids.attempt(1, "c", 1)}
    assert len(spans) == 5
