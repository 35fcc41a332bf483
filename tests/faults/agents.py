"""The agents of these tests. Effects go to a ledger outside the system; tools wait for gates, so that a test decides
when they go on.
"""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from tests.faults.harness.ledger import FOLDER_VARIABLE, START_GATE_VARIABLE, Ledger
from turnwright.activities.agent import Agent
from turnwright.activities.models import Say, script
from turnwright.activities.permissions import Permissions
from turnwright.activities.reconcile import Reconciled
from turnwright.activities.subagents import Subagent
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import tool
from turnwright.journal.agents import ContextPolicy

LEDGER = Ledger(Path(os.environ.get(FOLDER_VARIABLE, ".")))


async def act(ctx: ToolContext, name: str, before: str, after: str, lasts_s: float) -> str:
    """Wait for the first gate, have the effect in the middle of the time it takes, wait for the second."""
    LEDGER.write("began", name, ctx.idempotency_key)
    await LEDGER.gate(before)
    await asyncio.sleep(lasts_s / 2)
    LEDGER.write("effect", name, ctx.idempotency_key)
    await asyncio.sleep(lasts_s / 2)
    await LEDGER.gate(after)
    return f"{name} done"


@tool(effect="read")
async def look(ctx: ToolContext, before: str = "", after: str = "", lasts_s: float = 0) -> str:
    """Look something up; it may be repeated freely."""
    return await act(ctx, "look", before, after, lasts_s)


@tool(effect="idempotent")
async def charge(ctx: ToolContext, before: str = "", after: str = "", lasts_s: float = 0) -> str:
    """Charge a card, once for each key."""
    return await act(ctx, "charge", before, after, lasts_s)


@tool
async def post(ctx: ToolContext, before: str = "", after: str = "", lasts_s: float = 0) -> str:
    """Post a letter; it cannot be taken back, and nobody can tell whether it was posted."""
    return await act(ctx, "post", before, after, lasts_s)


async def find_transfer(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
    """The bank can tell whether a transfer was made, and that it may still be while somebody is at it."""
    del arguments
    if ctx.idempotency_key in LEDGER.keys("effect", "transfer"):
        return Reconciled.succeeded("transfer done")
    at_it = [pid for what, _, pid, key in LEDGER.lines() if (what, key) == ("began", ctx.idempotency_key)]
    return Reconciled.unknown() if any(map(is_alive, at_it)) else Reconciled.run_again()


def is_alive(pid: str) -> bool:
    """Whether a process that wrote to the ledger is still there, frozen perhaps."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


@tool(reconcile=find_transfer)
async def transfer(ctx: ToolContext, before: str = "", after: str = "", lasts_s: float = 0) -> str:
    """Transfer money; what became of it can be found out."""
    return await act(ctx, "transfer", before, after, lasts_s)


@tool(effect="idempotent")
async def linger(ctx: ToolContext, until: str) -> str:
    """Wait; when asked to stop, take one's time."""
    LEDGER.write("began", "linger", ctx.idempotency_key)
    try:
        await LEDGER.gate("never")
    except asyncio.CancelledError:
        LEDGER.write("asked", "linger", ctx.idempotency_key)
        await LEDGER.gate(until)
        raise
    return "linger done"


@tool
async def toil(ctx: ToolContext, seconds: float) -> str:
    """Have the effect, then work on for that long."""
    LEDGER.write("effect", "toil", ctx.idempotency_key)
    await asyncio.sleep(seconds)
    return "toil done"


@tool
def grind(ctx: ToolContext, seconds: float) -> str:
    """Have the effect, then block a thread for that long."""
    LEDGER.write("effect", "grind", ctx.idempotency_key)
    time.sleep(seconds)
    return "grind done"


@tool
def plod(ctx: ToolContext, seconds: float) -> str:
    """Have the effect, then keep the whole interpreter busy for that long."""
    LEDGER.write("effect", "plod", ctx.idempotency_key)
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        sum(range(1_000))
    return "plod done"


@tool
async def stall(ctx: ToolContext, until: str) -> str:
    """Have the effect, then block the whole worker until that gate is open, as a library that does not await does."""
    LEDGER.write("effect", "stall", ctx.idempotency_key)
    while not LEDGER.is_open(until):
        time.sleep(0.01)  # noqa: ASYNC251 - the mistake that is tested
    return "stall done"


@tool(effect="read")
async def recite(characters: int) -> str:
    """Say so many characters."""
    return "so it was " * (characters // 10)


TOOLS = (look, charge, post, transfer, linger, toil, grind, plod, stall, recite)
NOTES = script("notes of a compaction", Say(say="They talked. " * 6_000))
"""A summary that is itself so long that it is kept in a blob."""
BRIEF = ContextPolicy(window_tokens=60_000, summary_model=NOTES.model)


def registry() -> list[Agent]:
    """The agents, once the test lets this process begin: loading them is the last it does before it connects."""
    asyncio.run(LEDGER.gate(os.environ.get(START_GATE_VARIABLE, "")))
    bot = Agent("bot", "scripted:test", tools=TOOLS, permissions=Permissions(mode="bypass"))
    helper = Subagent("bot", "Does what it is told.", name="helper")
    lead = Agent("lead", "scripted:test", permissions=Permissions(mode="bypass"), subagents=(helper,))
    brief = Agent("brief", "scripted:test", tools=TOOLS, permissions=Permissions(mode="bypass"), context=BRIEF)
    return [bot, Agent("asking", "scripted:test", tools=TOOLS), lead, brief]
