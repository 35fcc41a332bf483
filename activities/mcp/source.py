"""An MCP server in use: its tools as specs, and their calls.

Rule: what a server says of its tools never lets a call run unasked, unless its author trusts it; whether a call is
made again after a crash follows it. A call whose session was lost is made again only if that is known to do no harm.
"""

from __future__ import annotations

from typing import Any, Final

from mcp import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, URL_ELICITATION_REQUIRED, CallToolResult
from mcp_types import Tool as McpTool

from turnwright.activities.mcp.asking import Asking
from turnwright.activities.mcp.calling import Calling
from turnwright.activities.mcp.connection import Connection
from turnwright.activities.mcp.live import Live, Lost
from turnwright.activities.mcp.results import output_of
from turnwright.activities.mcp.server import McpServer
from turnwright.activities.sources.listed import as_parameters, listed_tool
from turnwright.activities.sources.port import SourceAway
from turnwright.activities.sources.terms import DESCRIPTION_CHARACTERS_MAX
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import OutcomeUnknown, ToolError, bounded
from turnwright.activities.tool_results import Question
from turnwright.activities.tools import Tool
from turnwright.journal.agents import Effect, ToolSpec
from turnwright.journal.canonical import repair

PATIENCE_S: Final = 10.0
# What a server says before it begins; any other error may come from the midst of the call.
REFUSALS: Final = frozenset({INVALID_PARAMS, METHOD_NOT_FOUND, URL_ELICITATION_REQUIRED})


class McpSource:
    """The tools of one server."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._connection = Connection(server)

    async def list(self, ctx: ToolContext) -> tuple[ToolSpec, ...]:  # noqa: ARG002 - the same for all
        """The tools the server has now.

        Raises:
            SourceAway: it cannot be asked.
        """
        tools = await self._listed()
        admitted = (tool for tool in tools if self._server.terms.admits(tool.name))
        return self._server.terms.fitting([self._spec(tool) for tool in admitted])

    def tool(self, spec: ToolSpec) -> Tool[..., Any]:
        """The tool that was listed like this."""
        return listed_tool(spec, self._call)

    async def close(self) -> None:
        """End the session, and the server if it is ours."""
        await self._connection.close()

    async def _listed(self) -> tuple[McpTool, ...]:
        name, timeout_s = self._server.name, self._server.connect_timeout_s
        for last in (False, True):
            live = await self._connection.live()
            try:
                return await live.list()
            except Lost as lost:
                live.leave(str(lost))
                if last:
                    raise SourceAway(f"The MCP server {name!r} is away: {lost}.") from lost
            except TimeoutError:
                raise SourceAway(f"The MCP server {name!r} did not list its tools within {timeout_s:g} s.") from None
            except (MCPError, ValueError) as error:
                raise SourceAway(f"The MCP server {name!r} cannot list its tools: {error}") from error
        raise AssertionError("the second try returns or raises")

    def _spec(self, tool: McpTool) -> ToolSpec:
        terms = self._server.terms
        returns = tool.output_schema
        return ToolSpec(
            name=terms.named(tool.name),
            description=bounded(tool.description or tool.title or "", DESCRIPTION_CHARACTERS_MAX),
            parameters=as_parameters(tool.input_schema),
            effect=terms.effect_of(tool.name, self._hinted(tool)),
            timeout_s=terms.timeout_s,
            group=terms.group,
            source=terms.name,
            name_there=tool.name,
            returns=None if returns is None else repair(returns),
        )

    def _hinted(self, tool: McpTool) -> Effect:
        """What follows from the server's own word: at most that a call is made again, unless it is trusted."""
        hints = tool.annotations
        if hints is None or not (hints.read_only_hint or hints.idempotent_hint):
            return "once"
        return "read" if hints.read_only_hint and self._server.trusted else "idempotent"

    async def _call(self, ctx: ToolContext, spec: ToolSpec, arguments: dict[str, Any]) -> Any:  # noqa: ANN401 - a result
        known = await ctx.answers() if ctx.answers is not None and ctx.attempt > 1 else {}
        result = await self._made(spec, Calling(ctx, spec, arguments, Asking(known)))
        return result if isinstance(result, Question) else output_of(result)

    async def _made(self, spec: ToolSpec, call: Calling) -> CallToolResult | Question:
        for last in (False, True):
            live = await self._there()
            try:
                return await call.made(live)
            except Lost as lost:
                live.leave(str(lost))
                if lost.sent and spec.effect == "once":
                    raise OutcomeUnknown(f"The MCP server {self._server.name!r} took the call: {lost}.") from lost
                if last:
                    raise ToolError(f"The MCP server {self._server.name!r} did not carry it out: {lost}.") from lost
            except MCPError as error:
                if spec.effect == "once" and error.code not in REFUSALS:
                    raise OutcomeUnknown(
                        f"The MCP server {self._server.name!r} failed while it had the call: {error.message}."
                    ) from error
                raise ToolError(f"The MCP server {self._server.name!r} refused the call: {error.message}") from error
        raise AssertionError("the second try returns or raises")

    async def _there(self) -> Live:
        try:
            return await self._connection.live_within(min(PATIENCE_S, self._server.connect_timeout_s))
        except SourceAway as away:
            raise ToolError(f"The call was not made. {away}") from away
