"""Parents and their children, in few words: what a child does stands in the task it is given."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from tests.integration.runtime.agents import TOOLS, UNASKED
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import Step, calls
from tests.integration.runtime.workers import LocalWorker
from turnwright.activities import Agent, Limits, Subagent
from turnwright.journal.entries import ChildSpawned
from turnwright.journal.transact.enlisting import find_inbox
from turnwright.worker.inbox import Inbox

HELPER = Subagent("helper", "Does one thing.")
LONER = Subagent("helper", "Does one thing by itself.", name="send_off", detached=True)
TOO_DEEP = Limits(subagent_depth=0)
FAMILY = (
    Agent("head", "scripted:test", tools=TOOLS, permissions=UNASKED, subagents=(HELPER, LONER)),
    Agent("helper", "scripted:test", tools=TOOLS, permissions=UNASKED, subagents=(HELPER,)),
    Agent(
        "shallow",
        "scripted:test",
        tools=TOOLS,
        permissions=UNASKED,
        subagents=(HELPER,),
        limits=TOO_DEEP,
    ),
)


def told(*steps: Step) -> str:
    """A task that a scripted child carries out."""
    return f"Do this:\n```json\n{json.dumps({'steps': steps})}\n```"


def give(*tasks: str, name: str = "helper") -> Step:
    """One step that gives a task to each of so many children."""
    return calls(*((name, {"task": task}) for task in tasks))


@asynccontextmanager
async def family(cluster: Cluster) -> AsyncIterator[LocalWorker]:
    """A worker that knows the family and takes in what its members ask of each other."""
    worker = await cluster.start_worker(agents=FAMILY)
    inbox = Inbox(worker.journal.driver, cluster.waker.thread, lambda: worker.journal.terms)
    await inbox.start()
    try:
        yield worker
    finally:
        await inbox.stop()


async def children(turn: Turn, count: int = 1) -> list[Turn]:
    """Wait until the turn has opened so many; they as turns."""
    spawned = [entry.payload for entry in await turn.until_entry("child.spawned", count)]
    return [_child(turn, payload) for payload in spawned if isinstance(payload, ChildSpawned)]


def _child(turn: Turn, spawned: ChildSpawned) -> Turn:
    key = replace(turn.key, agent=spawned.agent, thread=spawned.child_thread)
    return Turn(turn.cluster, key, spawned.child_turn, turn.receipt)


async def until_there(child: Turn) -> None:
    """Wait until the child's turn was queued."""

    async def there() -> bool:
        return await child.cluster.journal.turn(child.key, child.turn_id) is not None

    await child.cluster.until(there)


async def until_taken_in(cluster: Cluster) -> None:
    """Wait until everybody has heard what others had to tell."""

    async def reached() -> bool:
        return not (await cluster.journal.driver.read(partial(find_inbox, 0, 1))).places

    await cluster.until(reached)
