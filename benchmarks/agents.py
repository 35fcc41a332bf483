"""The agents that are measured, as a worker finds them: `benchmarks.agents:registry`.

Rule: a scripted model answers at once, so what is left is Turnwright's own time. Scripts are registered by
name, not pinned, because a thread's first entry would hold a thousand steps.
"""

from __future__ import annotations

import asyncio
import os
from typing import Final

from examples.local_model import MODEL_NAME
from turnwright.activities.agent import Agent
from turnwright.activities.models.scripted import Call, CallSpec, Fail, Say, Script, Silent, script
from turnwright.activities.permissions import Permissions
from turnwright.activities.registry import Registry
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import tool
from turnwright.journal.agents import ContextPolicy, Limits

RESULT_BYTES: Final = 1_000
WAIT_S: Final = 1.0
FOR_EVER_S: Final = 86_400
STEPS: Final = (10, 100, 1_000)
LONG_STEPS: Final = 10_000
WINDOW_TOKENS: Final = 20_000
MODEL_URL: Final = "BENCH_MODEL_URL"
SPEAKER: Final = "speaker"
SPOKEN_TOKENS_MAX: Final = 40


@tool(effect="read")
async def fetch(page: int) -> str:
    """Fetch a page of 1 KB.

    Args:
        page: which one.
    """
    return f"{page:04d}".ljust(RESULT_BYTES, "x")


@tool(effect="idempotent")
async def hang(ctx: ToolContext) -> str:
    """Hang the first time that it is called with a key."""
    await asyncio.sleep(0 if ctx.attempt > 1 else FOR_EVER_S)
    return "done"


@tool(effect="idempotent", timeout_s=FOR_EVER_S)
async def hang_on() -> str:
    """Hang, however often it is called."""
    await asyncio.sleep(FOR_EVER_S)
    return "done"


def _call(page: int) -> Call:
    return Call(call=(CallSpec(name="fetch", arguments={"page": page}),))


def _agent(played: Script) -> Agent:
    limits = Limits(max_steps=LONG_STEPS + 1)
    return Agent(
        played.name, played.model, tools=[fetch, hang, hang_on], limits=limits, permissions=Permissions(mode="bypass")
    )


def steps_agent(steps: int) -> str:
    """The agent whose turn has so many steps of a model call and a tool call, and an answer."""
    return f"steps-{steps}"


def compacting_agent(steps: int) -> str:
    """The agent of `steps_agent` whose model has a small window."""
    return f"compacting-{steps}"


def _compacting(steps: int) -> Agent:
    played = script(compacting_agent(steps), *(_call(i) for i in range(steps)), Say(say="It is done."))
    policy = ContextPolicy(window_tokens=WINDOW_TOKENS, summary_model=NOTES.model)
    return Agent(played.name, played.model, tools=[fetch], permissions=Permissions(mode="bypass"), context=policy)


def _speakers() -> list[Agent]:
    """The agent with a real model, where one is served."""
    if MODEL_URL not in os.environ:
        return []
    settings = {"max_tokens": SPOKEN_TOKENS_MAX}
    return [Agent(SPEAKER, MODEL_NAME, base_url=os.environ[MODEL_URL], model_settings=settings)]


NOTES: Final = script("notes", Say(say="They fetched pages."))
TURN: Final = script("one-tool", _call(1), Say(say="It is done."))
SILENT: Final = script("silent-once", Silent(silent=True, times=1), Say(say="It is done."))
AT_ONCE: Final = script("at-once", Say(say="It is done."))
STILL: Final = script("silent", Silent(silent=True, times=1_000), Say(say="It is done."))
HANGING: Final = script("hangs", Call(call=(CallSpec(name="hang_on"),)), Say(say="It is done."))
ACTING: Final = script("hangs-once", Call(call=(CallSpec(name="hang"),)), Say(say="It is done."))
WAITING: Final = script(
    "asked-to-wait", Fail(fail="rate_limited", retry_after_s=WAIT_S, times=1), Say(say="It is done.")
)
LONG: Final = tuple(
    script(steps_agent(n), *(_call(i) for i in range(n)), Say(say="It is done.")) for n in (*STEPS, LONG_STEPS)
)

registry: Final = Registry(
    [
        *(_agent(played) for played in (TURN, AT_ONCE, SILENT, STILL, HANGING, ACTING, WAITING, *LONG)),
        _compacting(STEPS[0]),
        *_speakers(),
    ]
)
