"""A session with all that it can have goes on in another journal: its model is sent the same, byte for byte."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.runtime.agents import TOOLS, UNASKED
from tests.integration.runtime.asking import results
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.families import FAMILY, HELPER, give, told
from tests.integration.runtime.scripts import call, say, task
from tests.integration.runtime.test_context import NOTES, compacted, read_log
from turnwright.activities.agent import Agent
from turnwright.activities.agent_tools import agent_tools
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.journal.agents import ContextPolicy
from turnwright.journal.canonical import encode
from turnwright.journal.commands import (
    ChangeState,
    ClientCommand,
    CreateSchedule,
    DescribeSession,
    ForkThread,
    ResumeSession,
    RewindThread,
    SessionCommand,
    Submit,
)
from turnwright.journal.entries import ChildSpawned, ContextOffloaded
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id
from turnwright.journal.messages import Message, user
from turnwright.journal.schedules import Definition, Times
from turnwright.journal.snapshots.memory import MemorySnapshots
from turnwright.journal.snapshots.projecting import Projection
from turnwright.journal.state_ops import WriteMemory
from turnwright.journal.store import Journal
from turnwright.journal.store_export import export_session
from turnwright.journal.store_import import Target, import_session
from turnwright.journal.store_schedules import list_schedules
from turnwright.journal.store_search import search
from turnwright.journal.store_transcripts import TranscriptWriter
from turnwright.journal.store_verify import verify
from turnwright.journal.transact.searching import SearchFilter
from turnwright.journal.transcripts.names import VIEW, place
from turnwright.worker.inbox import Inbox

SESSION = SessionKey("t", None, "s")
HOME = Target("t")
MAIN = ThreadKey("t", None, "head", "s", "main")
FORK, SIDE = replace(MAIN, thread="fork"), replace(MAIN, thread="side")
POLICY = ContextPolicy(
    window_tokens=6_000, summary_model=NOTES.model, summary_tokens_max=100, result_characters_max=1_000
)
HEAD = Agent(
    "head",
    "scripted:test",
    tools=(*TOOLS, read_log, *agent_tools("memory")),
    permissions=UNASKED,
    subagents=(HELPER,),
    context=POLICY,
)
AGENTS = (HEAD, *FAMILY[1:])


class Recording(Models):
    """Plays scripts, and remembers what was sent for threads of the head; not when, for clocks differ."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        held = {
            "model": request.model,
            "instructions": request.instructions,
            "messages": [message.model_dump(mode="json", exclude={"at"}) for message in request.messages],
            "tools": [tool.model_dump(mode="json") for tool in request.tools],
            "settings": dict(request.settings),
            "blobs": {sha: base64.b64encode(body).decode() for sha, body in request.blobs.items()},
        }
        self.sent.append(encode(held))
        return await super().respond(request, partial)


@asynccontextmanager
async def working(cluster: Cluster) -> AsyncIterator[Recording]:
    """A worker that takes in, too, what threads ask of each other."""
    models = Recording()
    worker = await cluster.start_worker(agents=AGENTS, models=models)
    inbox = Inbox(worker.journal.driver, cluster.waker.thread, lambda: worker.journal.terms)
    await inbox.start()
    try:
        yield models
    finally:
        await inbox.stop()


async def do(cluster: Cluster, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> None:
    receipt = await cluster.execute(key, command)
    assert receipt.status == "accepted", receipt


async def said(cluster: Cluster, message: Message, thread: str = "main") -> Turn:
    turn = await cluster.submit(message=message, agent="head", thread=thread)
    await turn.until("completed")
    return turn


async def at(cluster: Cluster, key: ThreadKey) -> int:
    row = await cluster.journal.thread(key)
    assert row is not None
    return row.seq


async def live(cluster: Cluster) -> str:
    """All that a session can have; the call whose long result was set aside."""
    first = await said(cluster, task(give(told(say("one")), told(say("two"))), say("{result}"), text="ask them"))
    await said(cluster, task(call("read_log"), say("long"), text="read the log"))
    offloaded = [e.payload for e in await cluster.entries(MAIN) if isinstance(e.payload, ContextOffloaded)]
    await do(cluster, MAIN, ChangeState(request_id="memory", op=WriteMemory(document="Ann likes platypuses.")))
    await do(cluster, MAIN, ForkThread(request_id="fork", at_seq=await at(cluster, MAIN), thread="fork"))
    for n in range(3):
        await said(cluster, task(say("so be it " * 300), text=f"{n} " + "words " * 1_500))
    assert await compacted(first)
    assert [e for e in await first.entries() if isinstance(e.payload, ChildSpawned)]
    await said(cluster, task(say("here"), text="in the fork"), "fork")
    begun = await said(cluster, task(say("one"), text="to be rewound"), "side")
    await said(cluster, task(say("two"), text="forgotten"), "side")
    to = (await begun.entries())[-1].seq
    await do(cluster, SIDE, RewindThread(request_id="back", to_seq=to, expected_seq=await at(cluster, SIDE)))
    made_of, log_seq = MadeOf(agent="head", thread="main", through_seq=1), await at(cluster, SESSION.log)
    words = {"title": "Logs", "summary": "They read."}
    await do(cluster, SESSION, DescribeSession(request_id="d", made_of=made_of, log_seq=log_seq, **words))
    news = Definition(name="news", agent="head", input=user("the news"), times=Times(every_s=86_400))
    await do(cluster, SESSION, CreateSchedule(request_id="schedule", definition=news))
    return offloaded[0].call_id


async def move(here: Journal, there: Journal, path: Path, target: Target = HOME) -> bool:
    """Whether it came paused."""
    path.write_bytes(b"".join([line async for line in export_session(here, SESSION)]))
    done = await import_session(there, path, target, principal="ann")
    assert not done.duplicate
    assert [finding async for proof in verify(there) for finding in proof.findings] == []
    return done.paused


async def goes_on(cluster: Cluster, models: Recording, set_aside: str) -> dict[str, list[bytes]]:
    """What is sent for one more turn of each thread; one of them reads back what was set aside, and asks a child."""
    steps = [call("read_result", call_id=set_aside, start=48_000), give(told(say("again"))), say("{result}")]
    sent = {}
    for key, message in (
        (MAIN, task(say("ok"), text="and now?")),
        (FORK, task(*steps, text="and here?")),
        (SIDE, task(say("ok"), text="and there?")),
    ):
        models.sent.clear()
        turn = turn_id(key, "next")
        receipt = await cluster.execute(key, Submit(request_id="next", turn_id=turn, input=message))
        await Turn(cluster, key, turn, receipt).until("completed")
        sent[key.thread] = list(models.sent)
    return sent


async def views(journal: Journal, folder: Path) -> list[bytes]:
    """The lines that say what models see, of a transcript."""
    writer = TranscriptWriter(journal, folder)
    assert writer.take()
    await writer.round()
    writer.leave()
    return place(folder, SESSION, VIEW).read_bytes().splitlines()[1:]


async def found(journal: Journal, text: str) -> list[tuple[str, str]]:
    page = await search(journal, SearchFilter("t", text))
    assert page is not None
    return sorted((hit.key.agent, hit.key.thread) for hit in page.items)


async def test_a_session_with_all_that_it_can_have_goes_on_elsewhere_as_if_it_had_stayed(
    cluster: Cluster, journal_url: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    other_url = request.getfixturevalue("postgres_url" if journal_url.startswith("sqlite") else "sqlite_url")
    async with Cluster.open(other_url, cluster.address) as there, working(cluster) as mine:
        set_aside = await live(cluster)
        assert not await move(cluster.journal, there.journal, tmp_path / "s.jsonl")
        for text in ("log", "platypuses", "forgotten"):
            assert await found(there.journal, text) == await found(cluster.journal, text)
        assert await views(there.journal, tmp_path / "there") == await views(cluster.journal, tmp_path / "here")
        [schedule], [before] = [await list_schedules(each.journal, SESSION) or () for each in (there, cluster)]
        assert (schedule.state, schedule.definition) == ("paused", before.definition)
        sessions = [await each.journal.session(SESSION) for each in (there, cluster)]
        described = [(s.control.title, s.control.summary) for s in sessions if s is not None]
        assert described == [("Logs", "They read.")] * 2
        places = [Projection(each.journal, MemorySnapshots()) for each in (there, cluster)]
        kept = [{proof.key: proof.finding async for proof in each.rebuild()} for each in places]
        assert kept[0] == kept[1]
        assert {proof.finding async for proof in places[0].verify()} == {"same"}

        stayed = await goes_on(cluster, mine, set_aside)
        async with working(there) as theirs:
            moved = await goes_on(there, theirs, set_aside)
        assert moved == stayed
        assert [b"line 5000" in sent for sent in moved["fork"][:2]] == [False, True], "it was set aside before the fork"
        assert b"They talked." in moved["main"][0]
        assert [finding async for proof in verify(there.journal) for finding in proof.findings] == []


async def test_a_parent_that_waits_for_its_child_is_answered_by_it_under_the_key_both_moved_to(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    copy = SessionKey("other", "ann", "copy")
    async with Cluster.open(f"sqlite:///{tmp_path}/there.db", small_cluster.address) as there:
        async with working(small_cluster):
            child = told(call("look", log=str(log), wait_for=str(gate)), say("done"))
            turn = await small_cluster.submit(give(child), say("{result}"), agent="head")
            await turn.until("waiting")
            await small_cluster.until_trace(log, "started")
            moves = Target("other", user="ann", session="copy")
            assert await move(small_cluster.journal, there.journal, tmp_path / "s.jsonl", moves)
            await turn.cancel()
        async with working(there):
            session = await there.journal.session(copy)
            assert session is not None
            await do(there, copy, ResumeSession(request_id="go", revision=session.control.pause.revision))
            gate.touch()
            moved = Turn(
                there, replace(turn.key, tenant="other", user="ann", session="copy"), turn.turn_id, turn.receipt
            )
            await moved.until("completed", nudging=True)
        got = [result for result in await results(moved) if result[1] != "deferred"]
        assert got == [("helper", "success", "done")]
        assert [finding async for proof in verify(there.journal) for finding in proof.findings] == []
