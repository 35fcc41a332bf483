"""A pydantic-ai toolset in use: entered once, listed and called with the context its tools expect.

Rule: a run's context holds what is true here and nothing made up: dependencies, ids, the call. There is no agent of
pydantic-ai, and its model refuses. What a tool asks for (another try, an approval, a result from outside) becomes what
that is here. Entering, listing and `deps` are bounded each, so no turn waits for them without end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias

from pydantic import ValidationError
from pydantic_ai import exceptions as asks
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_ai.usage import RunUsage

from turnwright.activities.sources.listed import as_parameters, listed_tool
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.sources.returned import returned
from turnwright.activities.sources.stay import Stay
from turnwright.activities.sources.terms import DESCRIPTION_CHARACTERS_MAX
from turnwright.activities.sources.toolset import Toolset
from turnwright.activities.tool_body import answer_of
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError, bounded, told, unfit
from turnwright.activities.tool_results import Approval, External
from turnwright.activities.tools import Tool
from turnwright.journal.agents import ToolSpec
from turnwright.journal.canonical import encode, repair

LIST_S_MAX: Final = 30.0
DEPS_S_MAX: Final = 10.0
_Given: TypeAlias = AbstractToolset[Any]


class ToolsetInUse:
    """The tools of one toolset."""

    def __init__(self, source: Toolset, list_s_max: float = LIST_S_MAX, deps_s_max: float = DEPS_S_MAX) -> None:
        self._source = source
        self._stay = Stay(source.terms.name, source.toolset)
        self._list_s_max = list_s_max
        self._deps_s_max = deps_s_max

    async def list(self, ctx: ToolContext) -> tuple[ToolSpec, ...]:
        """The tools it has now.

        Raises:
            SourceAway: it cannot be entered, or does not list them in time.
        """
        await self._stay.entered()
        run = await self._context(ctx)
        terms, timeout_s = self._source.terms, self._list_s_max
        ended = await answer_of(partial(self._tools, run), timeout_s, f"list of {terms.name}")
        if ended is None:
            raise SourceAway(f"The toolset {terms.name!r} did not list its tools within {timeout_s:g} s.")
        if isinstance(ended.error, Exception):
            raise ended.error
        if ended.error is not None:
            raise SourceAway(f"The toolset {terms.name!r} cannot list its tools: {told(ended.error)}") from ended.error
        tools: dict[str, ToolsetTool[Any]] = ended.value
        return terms.fitting([self._spec(tool) for name, tool in tools.items() if terms.admits(name)])

    def tool(self, spec: ToolSpec) -> Tool[..., Any]:
        """The tool that was listed like this."""
        return listed_tool(spec, self._call)

    async def close(self) -> None:
        """Leave the toolset."""
        await self._stay.leave()

    async def _tools(self, run: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        async with self._for(run) as toolset:
            return await toolset.get_tools(run)

    def _spec(self, tool: ToolsetTool[Any]) -> ToolSpec:
        terms, known = self._source.terms, tool.tool_def
        return ToolSpec(
            name=terms.named(known.name),
            description=bounded(known.description or "", DESCRIPTION_CHARACTERS_MAX),
            parameters=as_parameters(known.parameters_json_schema),
            effect=terms.effect_of(known.name),
            timeout_s=known.timeout or terms.timeout_s,
            group=terms.group,
            source=terms.name,
            name_there=known.name,
        )

    async def _call(self, ctx: ToolContext, spec: ToolSpec, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - a result
        try:
            await self._stay.entered()
            run = await self._context(ctx, spec)
        except SourceAway as away:
            raise ToolError(f"The call was not made. {away}") from away
        async with self._for(run) as toolset:
            tool = (await toolset.get_tools(run)).get(spec.name_there or spec.name)
            if tool is None:
                raise ToolError(f"The toolset {self._source.terms.name!r} has no tool {spec.name!r} any more.")
            return await _carried_out(toolset, tool, run, arguments)

    async def _context(self, ctx: ToolContext, spec: ToolSpec | None = None) -> RunContext[Any]:
        return RunContext(
            deps=await self._deps(ctx),
            model=_NO_MODEL,
            usage=RunUsage(),
            tool_call_id=ctx.call_id or None,
            tool_name=None if spec is None else spec.name_there,
            tool_call_approved=ctx.approved,
            run_step=ctx.step,
            run_id=ctx.run_id,
            conversation_id=f"{ctx.session}/{ctx.thread}",
            metadata={"tenant": ctx.tenant, "user": ctx.user, "idempotency_key": ctx.idempotency_key},
        )

    @asynccontextmanager
    async def _for(self, run: RunContext[Any]) -> AsyncIterator[_Given]:
        """The toolset as it wants to be for this run; one of its own is entered for as long as it is used."""
        toolset = await self._source.toolset.for_run(run)
        async with AsyncExitStack() as stack:
            if toolset is not self._source.toolset:
                await stack.enter_async_context(toolset)
            yield await toolset.for_run_step(run)

    async def _deps(self, ctx: ToolContext) -> Any:  # noqa: ANN401 - whatever the author's tools want
        if self._source.deps is None:
            return None
        name, timeout_s = self._source.terms.name, self._deps_s_max
        ended = await answer_of(partial(self._source.deps, ctx), timeout_s, f"deps of {name}")
        if ended is None:
            raise SourceAway(f"deps= of the toolset {name!r} gave nothing within {timeout_s:g} s.")
        if ended.error is not None:
            raise SourceAway(f"deps= of the toolset {name!r} failed: {told(ended.error)}") from ended.error
        return ended.value


async def _carried_out(toolset: _Given, tool: ToolsetTool[Any], run: RunContext[Any], arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - what the tool returns
    if tool.tool_def.kind == "external":
        return External(f"{tool.tool_def.name}: {encode(repair(arguments)).decode()}")
    if tool.tool_def.kind == "unapproved" and not run.tool_call_approved:
        return Approval()
    try:
        valid = tool.args_validator.validate_python(arguments, context=run.validation_context)
        if tool.args_validator_func is not None:
            await _checked(tool.args_validator_func, run, valid)
        return returned(await toolset.call_tool(tool.tool_def.name, valid, run, tool))
    except ValidationError as error:
        raise ToolError(unfit(tool.tool_def.name, error)) from error
    except (asks.ModelRetry, asks.ToolFailed) as error:
        raise ToolError(error.message) from error
    except asks.ApprovalRequired as error:
        return Approval(_told(error.metadata))
    except asks.CallDeferred as error:
        return External(f"{tool.tool_def.name}: {_told(error.metadata or arguments)}")


async def _checked(check: Callable[..., Any], run: RunContext[Any], arguments: dict[str, Any]) -> None:
    found = check(run, **arguments)
    if isinstance(found, Awaitable):
        await found


def _told(metadata: dict[str, Any] | None) -> str:
    return "" if not metadata else encode(repair(metadata)).decode()


def _refuse(_: list[ModelMessage], __: AgentInfo) -> NoReturn:
    raise ToolError("A tool of an agent has no model here; make one of your own.")


# Stands where a run of pydantic-ai has its model; the model of a turn is not a tool's to call.
_NO_MODEL: Final = FunctionModel(_refuse, model_name="none")
