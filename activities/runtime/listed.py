"""The tools an agent's sources list: found out before each request to its model, and kept in the thread.

Rule: a list is a fact of the thread, so the next request is the same for whichever worker makes it, and a call can be
claimed by one that reaches the source no more. While a source is away the list it gave last stands; without any the
attempt fails as if the model were away, and is made again later.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from turnwright.activities.models.port import ModelFailure
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.call_facts import context_of
from turnwright.activities.sources.port import SourceAway, ToolSource
from turnwright.activities.tool_errors import bounded, without_secrets
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ToolSpec
from turnwright.journal.commands import ListTools
from turnwright.journal.entries import ToolsListed

# How long a request waits for news of a source whose tools are known.
NEWS_S_MAX: Final = 5.0

log = structlog.get_logger(__name__)


def knows_sources(attempt: Attempt, definition: AgentDefinition) -> bool:
    """Whether this worker has every source of the agent that has listed nothing yet."""
    agent = attempt.parts.registry.get(attempt.key.agent)
    known = {} if agent is None else agent.sources
    return all(name in known or definition.listed(name) for name in definition.sources)


async def list_tools(attempt: Attempt, ordinal: int, state: AgentState) -> AgentState:
    """The state with the tools that its sources have now.

    Raises:
        ModelFailure: a source is away whose tools nobody knows.
    """
    definition, agent = state.agent, attempt.parts.registry.get(attempt.key.agent)
    if definition is None or agent is None or not definition.sources:
        return state
    asked = [source for name in definition.sources if (source := agent.sources.get(name)) is not None]
    found = await asyncio.gather(*(_listed(attempt, state, definition, source) for source in asked))
    listed = _told_apart(definition, [one for one in found if one is not None])
    if all(one.tools == definition.listed(one.source) for one in listed):
        return state
    outcome = await attempt.commit(ListTools(**attempt.named, ordinal=ordinal, listed=listed))
    if outcome.rejection is not None:
        log.warning("tools_not_listed", code=outcome.rejection.code, reason=outcome.rejection.reason)
        return state
    return await attempt.state()


async def _listed(
    attempt: Attempt, state: AgentState, definition: AgentDefinition, source: ToolSource
) -> ToolsListed | None:
    name = source.terms.name
    known = bool(definition.listed(name))
    try:
        async with asyncio.timeout(NEWS_S_MAX if known else None):
            return ToolsListed(source=name, tools=await _ask(attempt, state, source))
    except (SourceAway, TimeoutError) as error:
        why = str(error) or f"{name} did not answer within {NEWS_S_MAX:g} s"
    if not known:
        raise ModelFailure("tools_away", bounded(without_secrets(why)))
    if attempt.parts.seldom.is_due("source_away", name):
        log.warning("source_away", source=name, reason=why, then="its tools are offered as they were listed last")
    return None


async def _ask(attempt: Attempt, state: AgentState, source: ToolSource) -> tuple[ToolSpec, ...]:
    """What it has.

    Raises:
        SourceAway: it cannot say, also because of an error nobody foresaw.
    """
    try:
        opened = await attempt.parts.sources.of(source)
        return await opened.list(context_of(attempt, state, ""))
    except SourceAway:
        raise
    except Exception as error:
        log.exception("source_broke", source=source.terms.name)
        raise SourceAway(f"{source.terms.name} cannot list its tools: {type(error).__name__}: {error}") from error


def _told_apart(definition: AgentDefinition, listed: list[ToolsListed]) -> tuple[ToolsListed, ...]:
    """The lists without tools whose names are taken, by a tool of the agent's own or of a source before."""
    asked = {one.source for one in listed}
    taken = {tool.name for tool in definition.tools if tool.source not in asked}
    kept: list[ToolsListed] = []
    for one in listed:
        tools = tuple(tool for tool in one.tools if tool.name not in taken)
        if len(tools) < len(one.tools):
            twice = [tool.name for tool in one.tools if tool.name in taken]
            log.warning("tools_left_out", source=one.source, tools=twice, reason="the agent has others of these names")
        taken |= {tool.name for tool in tools}
        kept.append(ToolsListed(source=one.source, tools=tools))
    return tuple(kept)
