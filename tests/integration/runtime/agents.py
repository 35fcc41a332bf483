"""The agents of these tests. What a turn does stands in its message; tools leave traces in files, so that a
test in another process sees what ran, and wait for files, so that it decides when.
"""

import asyncio
from pathlib import Path
from typing import Any

from turnwright.activities.agent import Agent
from turnwright.activities.permissions import Permissions
from turnwright.activities.reconcile import Reconciled
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tools import tool
from turnwright.journal.agents import Limits

GATE_POLL_S = 0.01


def trace(file: str, line: str) -> None:
    with Path(file).open("a", encoding="utf-8") as opened:
        opened.write(f"{line}\n")


async def gate(file: str) -> None:
    while file and not await asyncio.to_thread(Path(file).exists):
        await asyncio.sleep(GATE_POLL_S)


async def effect(ctx: ToolContext, log: str, wait_for: str, linger: str = "") -> str:
    trace(log, f"started {ctx.attempt} {ctx.idempotency_key}")
    await gate(wait_for)
    trace(log, f"done {ctx.attempt}")
    await gate(linger)
    return f"done by attempt {ctx.attempt}"


async def regardless(ctx: ToolContext, log: str, wait_for: str) -> str:
    work = asyncio.create_task(effect(ctx, log, wait_for))
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            trace(log, "asked to stop")
    return work.result()


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
async def look(ctx: ToolContext, log: str, wait_for: str = "") -> str:
    """Look something up; may be repeated freely."""
    return await effect(ctx, log, wait_for)


@tool(effect="idempotent")
async def charge(ctx: ToolContext, log: str, wait_for: str = "") -> str:
    """Charge a card, once per key."""
    return await effect(ctx, log, wait_for)


@tool
async def send(ctx: ToolContext, log: str, wait_for: str = "", linger: str = "") -> str:
    """Send a letter; it cannot be taken back."""
    return await effect(ctx, log, wait_for, linger)


async def what_became_of_it(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
    """Transfers leave a trace of what they did."""
    done = "done" in await asyncio.to_thread(Path(arguments["log"]).read_text, "utf-8")
    return Reconciled.succeeded("found done") if done else Reconciled.run_again()


@tool(reconcile=what_became_of_it)
async def transfer(ctx: ToolContext, log: str, wait_for: str = "", linger: str = "") -> str:
    """Transfer money; what became of it can be found out."""
    return await effect(ctx, log, wait_for, linger)


@tool(effect="read")
async def meet(own: str, other: str) -> str:
    """Say that we are here, and wait until the other is too."""
    trace(own, "here")
    await gate(other)
    return "met"


@tool(effect="read")
async def fail(message: str) -> str:
    """Fail."""
    raise ToolError(message)


@tool(effect="read", timeout_s=0.05)
async def dawdle() -> None:
    """Never finish."""
    await asyncio.Event().wait()


@tool(effect="read")
async def bulk(megabytes: int, letter: str = "x") -> str:
    """Return a lot."""
    return letter * (megabytes * 1024 * 1024)


@tool(effect="read")
async def mangled() -> str:
    """Return what no store can hold."""
    return "nul \x00, half an emoji \ud83d"


@tool(effect="idempotent")
async def stubborn(ctx: ToolContext, log: str, wait_for: str) -> str:
    """Go on, whatever anybody wants."""
    return await regardless(ctx, log, wait_for)


@tool
async def post(ctx: ToolContext, log: str, wait_for: str) -> str:
    """Post a letter; it cannot be taken back, and nobody stops the postman."""
    return await regardless(ctx, log, wait_for)


TOOLS = (add, look, charge, send, transfer, meet, fail, dawdle, bulk, mangled, stubborn, post)
UNASKED = Permissions(mode="bypass")
BOT = Agent("bot", "scripted:test", tools=TOOLS, permissions=UNASKED)
AGENTS = (
    BOT,
    Agent("short", "scripted:test", tools=TOOLS, permissions=UNASKED, limits=Limits(max_steps=2)),
    Agent("frugal", "scripted:test", tools=TOOLS, permissions=UNASKED, limits=Limits(max_tokens=50)),
    Agent("hasty", "scripted:test", tools=TOOLS, permissions=UNASKED, limits=Limits(tool_time_s=0.01)),
    Agent("fickle", "scripted:test", tools=TOOLS, permissions=UNASKED, limits=Limits(model_attempts_max=2)),
    Agent("patient", "scripted:test", tools=TOOLS, permissions=UNASKED, limits=Limits(max_steps=1_000)),
)
