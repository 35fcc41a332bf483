"""Turns in a fork and in a thread that was rewound: their model is told what came up to the entry, and no more."""

from __future__ import annotations

from dataclasses import replace

from tests.integration.runtime.agents import AGENTS
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say, task
from tests.integration.runtime.test_context import agent
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.commands import ForkThread, RewindThread, UpdateState
from turnwright.journal.entries import ContextOffloaded, ToolFinished
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import NO_ENTRY, Message, Text, ToolCall, ToolResult, user


class Told(Models):
    """Remembers what the model was told last."""

    messages: tuple[Message, ...] = ()

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        self.messages = tuple(request.messages)
        return await super().respond(request, partial)

    @property
    def words(self) -> list[str]:
        results = [
            (message, [b.text for r in message.results for b in r.output if isinstance(b, Text)])
            for message in self.messages
        ]
        return [message.text or "".join(output) for message, output in results]


async def head(cluster: Cluster, key: ThreadKey) -> int:
    row = await cluster.journal.thread(key)
    assert row is not None
    return row.seq


async def fork(cluster: Cluster, key: ThreadKey, at: int) -> ThreadKey:
    receipt = await cluster.execute(key, ForkThread(request_id=f"fork-{at}", at_seq=at, thread="fork"))
    assert receipt.status == "accepted", receipt
    return replace(key, thread="fork")


async def test_a_turn_in_a_fork_and_after_a_rewind_is_told_what_came_up_to_the_entry(cluster: Cluster) -> None:
    told = Told()
    await cluster.start_worker(agents=AGENTS, models=told)
    first = await cluster.submit(message=task(call("add", a=2, b=3), say("five"), text="one"))
    await first.until("completed")
    [after_call] = [entry.seq for entry in await first.of_type("tool.finished")]
    at = await head(cluster, first.key)
    await (await cluster.submit(message=task(say("two"), text="second"))).until("completed")

    await fork(cluster, first.key, at)
    other = await cluster.submit(message=task(say("three"), text="other"), thread="fork")
    await other.until("completed")
    assert told.words == ["one", "", "5", "five", "other"]
    main = await cluster.submit(message=task(say("four"), text="third"))
    await main.until("completed")
    assert told.words == ["one", "", "5", "five", "second", "two", "third"], "the fork was never seen here"

    seq = await head(cluster, main.key)
    command = RewindThread(request_id="rewind", to_seq=after_call, expected_seq=seq)
    assert (await cluster.execute(main.key, command)).status == "accepted"
    again = await cluster.submit(message=task(say("six"), text="again"))
    await again.until("completed")
    assert told.words == ["one", "", "5", "again"]
    state = await cluster.journal.state(main.key)
    assert [message.text for message in state.context] == ["one", "", "", "again", "six"]
    assert state.usage.total.requests == 5


async def test_a_result_that_was_set_aside_before_the_fork_is_read_back_in_it(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=(agent("keeper"),))
    first = await small_cluster.submit(call("read_log"), say("long"), agent="keeper")
    await first.until("completed")
    [offloaded] = [entry.payload for entry in await first.of_type("context.offloaded")]
    await fork(small_cluster, first.key, await head(small_cluster, first.key))
    wanted = call("read_result", call_id=getattr(offloaded, "call_id", ""), start=48_000)
    second = await small_cluster.submit(wanted, say("found"), agent="keeper", thread="fork")
    await second.until("completed")
    [finished] = [entry.payload for entry in await second.entries() if isinstance(entry.payload, ToolFinished)]
    assert "line 5000" in "".join(block.text for block in finished.output if isinstance(block, Text))


async def test_a_result_that_somebody_wrote_into_the_state_gives_way_in_a_fork_and_is_not_to_be_read_back(
    small_cluster: Cluster,
) -> None:
    await small_cluster.start_worker(agents=(agent("keeper"),))
    first = await small_cluster.submit(say("hello"), agent="keeper")
    await first.until("completed")
    long = ToolResult(id="c", name="read_log", output=(Text(text="a line\n" * 5_000),))
    messages = (
        user("read it"),
        Message(role="assistant", blocks=(ToolCall(id="c", name="read_log", arguments={}),)),
        Message(role="tool", blocks=(long,)),
    )
    write = UpdateState(
        request_id="write",
        expected_seq=await head(small_cluster, first.key),
        reason="as told",
        changes={"context": [message.model_dump(mode="json") for message in messages]},
    )
    assert (await small_cluster.execute(first.key, write)).status == "accepted"
    await fork(small_cluster, first.key, await head(small_cluster, first.key))
    second = await small_cluster.submit(
        call("read_result", call_id="c"), say("it is gone"), agent="keeper", thread="fork"
    )
    await second.until("completed")
    entries = [entry.payload for entry in await second.entries()]
    [offloaded] = [payload for payload in entries if isinstance(payload, ContextOffloaded)]
    assert (offloaded.result_seq, "read_result" in offloaded.stub) == (NO_ENTRY, False)
    [finished] = [payload for payload in entries if isinstance(payload, ToolFinished)]
    assert finished.outcome == "error"
    assert "has no result of 'c'" in "".join(block.text for block in finished.output if isinstance(block, Text))
