"""`turnwright mcp` as others' agents use it: the SDK's own client, real streams, real workers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from mcp_types import TextContent

from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.runtime.asking import ASKING
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.families import family, give, told
from tests.integration.runtime.scripts import Step, call, say
from tests.integration.runtime.workers import DEADLINE_S
from tests.unit.source_tree import ROOT
from turnwright.journal.api_keys import Grant
from turnwright.journal.store_keys import create_key
from turnwright.worker.loopback import find_free

TENANT = "t"
PROGRAM = (sys.executable, "-m", "turnwright.worker.main")
READS = {"status", "wait", "questions"}


def words(*steps: Step) -> str:
    """A task in words that the scripted model plays."""
    return f"please\n```json\n{json.dumps({'steps': steps})}\n```"


def on_journal(cluster: Cluster, *more: str) -> list[str]:
    """The command that reads the journal itself."""
    shared = ("--journal", cluster.journal_url, "--tenant", TENANT, "--task-queue", cluster.queue)
    return [*PROGRAM, *shared, "--temporal-address", cluster.address, "mcp", "--user", "ann", *more]


@asynccontextmanager
async def connected(command: Sequence[str], **environment: str) -> AsyncIterator[Client]:
    """A client whose server is a process of its own."""
    env = get_default_environment() | environment
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=env, cwd=ROOT)
    async with Client(stdio_client(server)) as client:
        yield client


@asynccontextmanager
async def through_a_gateway(cluster: Cluster) -> AsyncIterator[Client]:
    """The same, for whom the journal is out of reach."""
    made = await create_key(cluster.journal.driver, "acme", Grant(name="ann", role="caller", user="ann"))
    async with (
        serving(settings_of(cluster.journal_url)) as url,
        connected(
            [*PROGRAM, "mcp", "--user", "ann"], TURNWRIGHT_GATEWAY_URL=url, TURNWRIGHT_GATEWAY_TOKEN=made.token
        ) as client,
    ):
        yield client


async def ask(client: Client, tool: str, **given: Any) -> Any:  # noqa: ANN401 - whatever the tool tells
    """What a tool tells in its structured form; a refusal is its text."""
    result = await client.call_tool(tool, given)
    if result.is_error:
        return "".join(block.text for block in result.content if isinstance(block, TextContent))
    return result.structured_content


async def test_a_task_is_submitted_asks_is_answered_and_tells_its_answer(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    cluster, log = small_cluster, str(tmp_path / "log")
    await cluster.start_worker(agents=[ASKING])
    async with connected(on_journal(cluster)) as client:
        task = {"session": "s", "agent": "asking", "message": words(call("send", log=log), say("It is {result}."))}
        made = await ask(client, "submit", **task, request_id="one")
        assert await ask(client, "submit", **task, request_id="one") == made | {"duplicate": True}
        waiting = await ask(client, "wait", turn_id=made["turn_id"], timeout_s=60)
        [question] = waiting["questions"]
        assert (waiting["status"], question["tool"], question["arguments"]) == ("waiting", "send", {"log": log})
        assert "approve" in question["resolutions"]
        for session in (None, "s"):
            assert (await ask(client, "questions", session=session))["questions"] == [question]
        given = {"interaction_id": question["interaction_id"], "resolution": "approve", "reason": "it is a sum"}
        answered = await ask(client, "respond", **given)
        assert (answered["turn_id"], answered["duplicate"]) == (made["turn_id"], False)
        for reason in ("it is a sum", "it is small"):
            assert (await ask(client, "respond", **given | {"reason": reason}))["duplicate"]
        done = await ask(client, "wait", turn_id=made["turn_id"], timeout_s=60)
        assert (done["status"], done["finished"], done["questions"]) == ("completed", True, [])
        assert done["answer"].startswith("It is ")
        assert await ask(client, "status", turn_id=made["turn_id"]) == done


async def test_a_wait_goes_on_while_a_subagent_works(small_cluster: Cluster, tmp_path: Path) -> None:
    log, gate = str(tmp_path / "log"), tmp_path / "gate"
    working = told(call("look", log=log, wait_for=str(gate)), say("done"))
    async with family(small_cluster), connected(on_journal(small_cluster)) as client:
        task = {"session": "s", "agent": "head", "message": words(give(working), say("{result}"))}
        made = await ask(client, "submit", **task, request_id="one")
        await small_cluster.until_trace(Path(log), "started")
        early = await ask(client, "wait", turn_id=made["turn_id"], timeout_s=0.5)
        assert (early["timed_out"], early["status"], early["questions"]) == (True, "waiting", [])
        gate.touch()
        done = await ask(client, "wait", turn_id=made["turn_id"], timeout_s=60)
        assert (done["status"], done["answer"]) == ("completed", "done")


async def test_what_its_tools_promise_and_what_goes_wrong_is_said_in_words(small_cluster: Cluster) -> None:
    async with through_a_gateway(small_cluster) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {"submit", "status", "wait", "respond", "questions"}
        for name, tool in tools.items():
            assert tool.annotations is not None
            assert (tool.annotations.read_only_hint, tool.annotations.idempotent_hint) == (name in READS, True)
            assert tool.output_schema is not None
        task = {"session": "s", "agent": "nobody", "message": "hello"}
        made = await ask(client, "submit", **task, request_id="one")
        late = await ask(client, "wait", turn_id=made["turn_id"], timeout_s=0.1)
        assert (late["timed_out"], late["finished"], late["status"]) == (True, False, "queued")
        assert "worker" in late["why"]
        wrong: Sequence[tuple[str, dict[str, Any], str]] = (
            ("submit", task | {"message": "bye", "request_id": "one"}, "request_id_reused"),
            ("submit", task | {"message": " ", "request_id": "two"}, "the input is empty"),
            ("submit", task | {"if_busy": "reject", "request_id": "three"}, "busy"),
            ("status", {"turn_id": "t-none"}, "no turn t-none"),
            ("respond", {"interaction_id": "q-none", "resolution": "approve"}, "no question q-none"),
            ("questions", {"session": "none"}, "no session none"),
            ("wait", {"turn_id": made["turn_id"], "timeout_s": 10_000}, "timeout_s"),
        )
        for tool_name, given, why in wrong:
            said = await ask(client, tool_name, **given)
            assert isinstance(said, str)
            assert why in said


async def test_over_http_it_serves_this_machine_and_no_page_of_a_browser(small_cluster: Cluster) -> None:
    cluster, place = small_cluster, f"127.0.0.1:{find_free()}"
    server = await asyncio.create_subprocess_exec(*on_journal(cluster, "--http", place), cwd=ROOT)
    try:
        await until_listening(place)
        async with Client(f"http://{place}/mcp") as client:
            assert (await ask(client, "questions"))["questions"] == []
        async with httpx2.AsyncClient() as page:
            headers = {"Host": "rebound.example", "Accept": "application/json, text/event-stream"}
            answer = await page.post(f"http://{place}/mcp", json={}, headers=headers)
            foreign = await page.post(f"http://{place}/mcp", json={}, headers={"Origin": "https://evil.example"})
        assert (answer.status_code, foreign.status_code) == (421, 403)
    finally:
        server.terminate()
        await server.wait()


async def until_listening(place: str) -> None:
    host, _, port = place.partition(":")
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                _, writer = await asyncio.open_connection(host, int(port))
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            await writer.wait_closed()
            return
