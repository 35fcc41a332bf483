"""What the guides show is what happens: their code runs as it stands there, against a real worker and Temporal."""

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import pytest

from examples.order_change.provider import Provider, saying
from tests.integration.guides import Guide
from tests.integration.runtime.scripts import call, say, task
from turnwright.activities import Agent, Registry, Tool, agent_tools, tool
from turnwright.client import Client, CommandRejected, Session, Turn
from turnwright.worker.process import WorkerProcess
from turnwright.worker.settings import Settings
from turnwright.worker.temporal_server import TemporalServer

pytestmark = pytest.mark.slow

DEADLINE_S = 40
JOURNAL = "sqlite:///.turnwright/journal.db"
AGENT_GUIDE = Guide("writing-an-agent.md")
REFUNDED = "Done: refunded 40 EUR for order 88235."


@tool(effect="idempotent")
async def look_up(topic: str) -> str:
    """Look something up."""
    return f"all of {topic}"


@dataclass
class Place:
    """A folder with the guide's `shop.py`, the Temporal, and a client of the journal in it."""

    client: Client
    temporal: str

    @asynccontextmanager
    async def worker(self, *agents: Agent) -> AsyncIterator[None]:
        """A worker with these agents, in this process."""
        settings = Settings.load(journal_url=JOURNAL, temporal_address=self.temporal)
        worker = WorkerProcess(settings, Registry(agents))
        running = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await running

    async def session(self) -> Session:
        session = self.client.session("alice", "guide")
        await session.create(exist_ok=True)
        return session


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path(".turnwright").mkdir()
    Path("shop.py").write_text(AGENT_GUIDE.block("# shop.py"), encoding="utf-8")
    yield importlib.import_module("shop")
    del sys.modules["shop"]


@pytest.fixture
async def place(shop: ModuleType, temporal: TemporalServer) -> AsyncIterator[Place]:
    connecting = Client.connect(journal_url=JOURNAL, tenant="acme", temporal_address=temporal.address, migrate=True)
    async with connecting as client:
        yield Place(client, temporal.address)


async def asked(turn: Turn) -> Turn:
    await turn.wait(DEADLINE_S, until=["waiting"])
    return turn


def test_the_tests_in_the_guide_pass(shop: ModuleType) -> None:
    names = ["test_tools.py", "test_turns.py"]
    for name in names:
        Path(name).write_text(AGENT_GUIDE.block(f"# {name}"), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


async def test_the_tools_of_the_guide_are_tools_and_do_what_it_says() -> None:
    guide = Guide("writing-an-agent.md")
    for words in ("def chart", "def wait_for_parcel"):
        await guide.run(guide.block(words))
    tools = {name for name, made in guide.names.items() if isinstance(made, Tool)}
    assert tools == {"chart", "wait_for_parcel"}


async def test_an_agent_at_a_base_url_is_answered_by_that_server(place: Place) -> None:
    guide = Guide("writing-an-agent.md")
    with Provider(saying("", "Hello.")) as provider:
        await guide.run(guide.block("base_url=").replace("http://127.0.0.1:11434/v1", provider.base_url))
        async with place.worker(guide.names["local"]):
            turn = await (await place.session()).submit("hello", agent="local")
            assert (await turn.result(DEADLINE_S)).text == "Hello."
        [request] = provider.requests
    assert (request["model"], request["temperature"]) == ("qwen3:8b", 0.2)


async def test_a_script_fails_as_often_as_it_says_and_then_goes_on(place: Place, shop: ModuleType) -> None:
    guide = Guide("writing-an-agent.md")
    await guide.run(guide.block("slow_start = script("))
    async with place.worker(replace(guide.names["patient"], tools=[shop.find_order])):
        turn = await (await place.session()).submit("Where is it?", agent="patient")
        found = '{"order":"88235","paid_eur":40}'
        assert (await turn.result(DEADLINE_S)).text == f"You asked: Where is it? I found: {found}"
        kinds = [entry.payload.TYPE async for entry in turn.events()]
    assert kinds.count("model.failed") == 2


async def test_the_agents_of_the_guide_give_each_other_tasks_and_questions_are_answered_at_the_parent(
    place: Place,
) -> None:
    guide = Guide("subagents.md")
    await guide.run(guide.block("registry = Registry(").replace("openai:gpt-5", "scripted:"))
    ask = json.dumps({"steps": [call("look_up", topic="tides"), say("{result}")]})
    asking = replace(guide.names["researcher"], tools=[look_up])
    async with place.worker(guide.names["writer"], asking):
        steps = (call("researcher", task=f"```json\n{ask}\n```"), say("It says: {result}"))
        turn = await (await place.session()).submit(task(*steps), agent="writer")
        while not await turn.questions():
            await turn.wait(DEADLINE_S, until=["waiting"])
            await asyncio.sleep(0.05)
        guide.names["turn"] = turn
        await guide.run(guide.block("turn.questions()"))
        assert (await turn.result(DEADLINE_S)).text == "It says: all of tides"


async def test_a_thread_keeps_its_agent_and_a_new_one_gets_the_new(place: Place) -> None:
    def agent(words: str) -> Agent:
        return Agent("support", model="scripted:", model_settings={"steps": [{"say": words}]})

    session = await place.session()
    async with place.worker(agent("old")):
        assert (await (await session.submit("?", agent="support")).result(DEADLINE_S)).text == "old"
    async with place.worker(agent("new")):
        assert (await (await session.submit("?", agent="support")).result(DEADLINE_S)).text == "old"
        second = await session.submit("?", agent="support", thread="second")
        assert (await second.result(DEADLINE_S)).text == "new"


async def test_the_guide_to_the_client_is_one_story(
    place: Place, shop: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", place.temporal)
    guide = Guide("client.md")
    async with place.worker(shop.support):
        for block in guide.blocks:
            other = None
            if "client.inbox(" in block:
                other = await asked(await guide.names["session"].submit("again", agent="support", thread="other"))
            await guide.run(block)
            if other is not None:
                assert "not before Monday" in (await other.result(DEADLINE_S)).text
    assert guide.names["view"].status == "waiting"
    assert guide.names["turns"].items
    assert guide.names["receipt"].code == "wrong_phase"
    assert [path.read_text() for path in Path("payments").iterdir()] == ["88235 40"]


async def test_the_other_guides_say_what_the_client_does(place: Place, shop: ModuleType) -> None:
    agent = replace(shop.support, tools=[*shop.support.tools, *agent_tools()])
    async with place.worker(agent):
        session = await place.session()
        turn = await session.submit("Refund my order.", agent="support")
        guide = Guide("approvals-and-questions.md", turn=turn)
        await guide.run(guide.block("turn.questions()"))
        assert (await turn.result(DEADLINE_S)).text == REFUNDED

        guide = Guide("budgets.md", session=session)
        await guide.run(guide.block("raise_budget"))
        again = await asked(guide.names["turn"])
        assert [question.kind for question in await again.questions()] == ["approval"]
        await again.cancel()
        await again.wait(DEADLINE_S)

        guide = Guide("permissions.md", session=session)
        await guide.run(guide.block("set_permissions("))
        assert (await session.thread("support").permissions()).mode == "accept_edits"


async def test_what_a_trusted_caller_does_is_done(place: Place, shop: ModuleType) -> None:
    agent = replace(shop.support, tools=agent_tools())
    async with place.worker(agent):
        session = await place.session()
        await (await session.submit(task(say("hello")), agent="support")).result(DEADLINE_S)
        guide = Guide("tasks-plans-and-tool-groups.md", session=session)
        for statement in guide.statements("begin_task"):
            if "decide_requirement" in statement:
                proposing = task(call("propose_requirement", text="refunds within a day"), say("proposed"))
                await (await session.submit(proposing, agent="support")).result(DEADLINE_S)
            await guide.run(statement)
        tasks = (await session.thread("support").state()).tasks
    assert [requirement.state for requirement in tasks.requirements] == ["confirmed", "rejected"]
    assert [verification.passed for verification in tasks.verifications] == [True]


async def test_a_raised_budget_is_not_failed_afterwards(place: Place, shop: ModuleType) -> None:
    async with place.worker(shop.support):
        session = await place.session()
        guide = Guide("budgets.md", session=session)
        await guide.run(guide.block("raise_budget"))
        with pytest.raises(CommandRejected) as rejected:
            await guide.names["turn"].fail_budget(guide.names["question"].interaction_id)
        assert rejected.value.code == "already_answered"
