"""What an agent remembers is part of each request, and of nothing that is stored but the document itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from tests.integration.runtime.agents import TOOLS, UNASKED
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say, task
from turnwright.activities.agent import Agent
from turnwright.activities.agent_tools import agent_tools
from turnwright.activities.memory import RECALLED_CHARACTERS_MAX, RequestContext
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.activities.tools import Tool
from turnwright.journal.briefing import HEADING, MEMORY_HEADING, RECALLED_HEADING
from turnwright.journal.commands import ChangeState
from turnwright.journal.entries import ModelFailed
from turnwright.journal.evolve_state import INTERRUPTED_TEXT
from turnwright.journal.state_ops import WriteMemory, WriteTodos
from turnwright.journal.state_parts import Todo
from turnwright.journal.transact.rows import CHECKPOINT_TAIL_BYTES_MIN

RECALLED, INSTRUCTIONS = "Ann is a member since the spring.", "You sell bicycles, and nothing else."


class Recording(Models):
    """Plays scripts, and remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[ModelRequest] = []

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        self.asked.append(request)
        return await super().respond(request, partial)

    @property
    def ends(self) -> list[str]:
        """How each request ended."""
        return [request.messages[-1].text for request in self.asked]


class Source:
    """A source of memory that breaks once, and knows whose memory was asked for."""

    def __init__(self, *said: str | Exception) -> None:
        self.said = list(said)
        self.asked: list[RequestContext] = []

    def __call__(self, context: RequestContext) -> str:
        self.asked.append(context)
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, Exception):
            raise said
        return said


def remembering(source: Source | None) -> Agent:
    tools: tuple[Tool[..., Any], ...] = (*TOOLS, *agent_tools("memory", "todos"))
    return Agent("bot", "scripted:test", INSTRUCTIONS, tools, permissions=UNASKED, memory=source)


async def test_what_the_agent_and_people_write_is_in_every_later_request(small_cluster: Cluster) -> None:
    models = Recording()
    await small_cluster.start_worker(agents=(remembering(None),), models=models)
    first = await small_cluster.submit(call("memory_write", document="Ann likes tea."), say("noted"), agent="bot")
    await first.until("completed")
    op = WriteMemory(document="Ann likes coffee.", expected_revision=1)
    receipt = await small_cluster.execute(first.key, ChangeState(request_id="memory", op=op))
    assert receipt.status == "accepted"
    second = await small_cluster.submit(say("hello"), agent="bot")
    await second.until("completed")
    assert MEMORY_HEADING not in models.ends[0]
    assert "(revision 1):\nAnn likes tea." in models.ends[1]
    assert "(revision 2):\nAnn likes coffee." in models.ends[2]
    assert [entry.type for entry in await small_cluster.entries(first.key)].count("memory.changed") == 2


async def test_the_agent_s_source_is_asked_before_each_call_and_one_that_breaks_is_asked_again(
    small_cluster: Cluster,
) -> None:
    source, models = Source(RuntimeError("no connection"), RECALLED, "x" * 99_999), Recording()
    await small_cluster.start_worker(agents=(remembering(source),), models=models)
    turn = await small_cluster.submit(call("add", a=1, b=2), say("three"), agent="bot")
    await turn.until("completed")
    (failed,) = [entry.payload for entry in await turn.entries() if isinstance(entry.payload, ModelFailed)]
    assert "memory could not be read: RuntimeError: no connection" in failed.message
    assert f"{RECALLED_HEADING}\n{RECALLED}" in models.ends[0]
    assert RECALLED_CHARACTERS_MAX < len(models.ends[1]) < RECALLED_CHARACTERS_MAX + 200
    asked = source.asked[0]
    assert (asked.user, asked.session, asked.turn_id) == (turn.key.user, turn.key.session, turn.turn_id)


def tables(file: Path) -> dict[str, bytes]:
    """All that each table holds."""
    connection = sqlite3.connect(file)
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
    finally:
        connection.close()
    return {
        name: b"\n".join(cell if isinstance(cell, bytes) else str(cell).encode() for row in held for cell in row)
        for name, held in rows.items()
    }


async def test_nothing_of_the_views_is_stored(small_cluster: Cluster, tmp_path: Path) -> None:
    models = Recording()
    await small_cluster.start_worker(agents=(remembering(Source(RECALLED)),), models=models)
    turn = await small_cluster.submit(say("hello"), agent="bot")
    await turn.until("completed")
    for name, op in (
        ("todos", WriteTodos(todos=(Todo(id="t1", subject="oil the chains"),))),
        ("memory", WriteMemory(document="Ann likes tea.")),
    ):
        await small_cluster.execute(turn.key, ChangeState(request_id=name, op=op))
    message = task(call("add", a=1, b=2), say("done"), text="long " * CHECKPOINT_TAIL_BYTES_MIN)
    around = {"surroundings": [{"description": "page", "value": "p1"}]}
    message = message.model_copy(update={"metadata": message.metadata | around})
    second = await small_cluster.submit(message=message, agent="bot")
    await second.until("completed")
    shown = "\n".join(block.text for m in models.asked[-1].messages for block in m.blocks if block.type == "text")
    views = (HEADING, MEMORY_HEADING, RECALLED, "Open todos ([>] in progress", "What the user's application shows")
    assert all(view in shown for view in views)
    assert models.asked[-1].instructions == INSTRUCTIONS
    held = tables(tmp_path / "journal.db")
    assert b"oil the chains" in held["checkpoints"]
    everywhere = b"\n".join(held.values())
    assert [view for view in (*views, INTERRUPTED_TEXT) if view.encode() in everywhere] == []
    bodies = [(entry.type, entry.payload.body()) for entry in await small_cluster.entries(turn.key)]
    assert [kind for kind, body in bodies if INSTRUCTIONS.encode() in body] == ["thread.opened"], (
        "they are pinned once, as part of the agent, and stand in no other entry"
    )
