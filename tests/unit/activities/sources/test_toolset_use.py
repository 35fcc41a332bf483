"""A toolset in use: however its author's code hangs, those who wait for it do not."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Self

import pytest
from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.toolsets import ToolsetTool

from tests.unit.activities.calling import context, run, text
from turnwright.activities import ToolContext, Toolset
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.sources.stay import Stay
from turnwright.activities.sources.toolset_use import ToolsetInUse


class Slow(FunctionToolset[Any]):
    """One that is entered, and lists, when a test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.may_enter, self.may_list, self.entering = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.entered = 0

    async def __aenter__(self) -> Self:
        self.entering.set()
        await self.may_enter.wait()
        self.entered += 1
        return self

    async def __aexit__(self, *_: object) -> bool | None:
        return None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        await self.may_list.wait()
        return await super().get_tools(ctx)


def who(ctx: RunContext[str]) -> str:
    return ctx.deps


async def test_whoever_needs_a_toolset_that_is_being_entered_waits_for_it() -> None:
    toolset = Slow()
    toolset.may_list.set()
    used = ToolsetInUse(Toolset("shop", toolset))
    first = asyncio.create_task(used.list(context()))
    await toolset.entering.wait()
    first.cancel()
    await asyncio.wait({first})
    second, third = (asyncio.create_task(used.list(context())) for _ in range(2))
    done, _ = await asyncio.wait({second, third}, timeout=0.05)
    assert not done
    toolset.may_enter.set()
    assert (await second, await third) == ((), ())
    assert toolset.entered == 1
    await used.close()


async def test_a_toolset_that_is_not_entered_in_time_is_away_and_entered_anew() -> None:
    toolset = Slow()
    stay = Stay("shop", toolset, enter_s_max=0.05)
    with pytest.raises(SourceAway, match=r"not entered within 0\.05 s"):
        await stay.entered()
    toolset.may_enter.set()
    await asyncio.sleep(0)
    await stay.entered()
    assert toolset.entered == 1
    await stay.leave()


async def test_a_toolset_that_does_not_list_in_time_is_away_and_may_be_asked_again() -> None:
    toolset = Slow()
    toolset.may_enter.set()
    used = ToolsetInUse(Toolset("shop", toolset), list_s_max=0.05)
    with pytest.raises(SourceAway, match=r"did not list its tools within 0\.05 s"):
        await used.list(context())
    toolset.may_list.set()
    assert await used.list(context()) == ()
    await used.close()


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_deps_are_made_outside_the_workers_loop_or_awaited(kind: str) -> None:
    def deps(ctx: ToolContext) -> str:
        return f"{ctx.tenant} on the main thread: {threading.current_thread() is threading.main_thread()}"

    async def awaited(ctx: ToolContext) -> str:
        await asyncio.sleep(0)
        return deps(ctx)

    used = ToolsetInUse(Toolset("shop", FunctionToolset[str]([who]), deps=awaited if kind == "async" else deps))
    (spec,) = await used.list(context())
    assert text(await run(used.tool(spec))) == f"t on the main thread: {kind == 'async'}"
    await used.close()


async def test_deps_that_do_not_come_are_an_error_of_the_call_and_no_list() -> None:
    never = threading.Event()
    used = ToolsetInUse(Toolset("shop", FunctionToolset[str]([who])))
    (spec,) = await used.list(context())
    stuck = ToolsetInUse(Toolset("shop", FunctionToolset[str]([who]), deps=lambda _: never.wait()), deps_s_max=0.05)
    with pytest.raises(SourceAway, match=r"gave nothing within 0\.05 s"):
        await stuck.list(context())
    ended = await run(stuck.tool(spec))
    assert text(ended) == "The call was not made. deps= of the toolset 'shop' gave nothing within 0.05 s."
    never.set()
    await used.close()
    await stuck.close()
