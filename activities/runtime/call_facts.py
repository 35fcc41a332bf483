"""The facts a worker brings with a command about calls: with the model's answer, and with the claim of a call.

Rule: an answer was paid for, so no call in it can make it be lost: what cannot be found out is a question to a person.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import structlog

from turnwright.activities.permission_facts import facts_of
from turnwright.activities.runtime.attempt import Attempt
from turnwright.activities.runtime.own_sessions import OwnSessions
from turnwright.activities.runtime.read_back import read_back
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import malformed
from turnwright.activities.tools import Tool
from turnwright.journal import entry_ids
from turnwright.journal.agent_state import AgentState
from turnwright.journal.agents import AgentDefinition, ToolSpec
from turnwright.journal.decide.model_testimony import CALLS_PER_STEP_MAX
from turnwright.journal.messages import Block, ToolCall
from turnwright.journal.permissions.facts import CallFacts, Checked

NOT_FOUND_OUT = Checked(verdict="ask", message="This worker could not find out what the call is about.")

log = structlog.get_logger(__name__)


def knows_checks(attempt: Attempt, definition: AgentDefinition) -> bool:
    """Whether this worker has every tool of the agent that has a check of its own."""
    tools = (tool for tool in definition.tools if tool.checked)
    return all(attempt.parts.registry.tool(attempt.key.agent, tool.name) is not None for tool in tools)


async def facts_of_answer(attempt: Attempt, state: AgentState, blocks: Sequence[Block]) -> tuple[CallFacts, ...]:
    """What is to be known of each call of an answer, in their order; of those that are too many, nothing."""
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    given = attempt.given
    named = [
        call.model_copy(update={"id": entry_ids.call(given.turn, given.step, n)})
        for n, call in enumerate(calls[:CALLS_PER_STEP_MAX])
    ]
    found = await asyncio.gather(*(facts_of_call(attempt, state, call) for call in named))
    return (*found, *(CallFacts() for _ in calls[CALLS_PER_STEP_MAX:]))


async def facts_of_call(attempt: Attempt, state: AgentState, call: ToolCall) -> CallFacts:
    """What is to be known of a call before it is decided."""
    spec = spec_of(attempt, state, call.name)
    if spec is None:
        return CallFacts()
    if call.malformed is not None:
        return CallFacts(unfit=malformed(call))
    tool = await tool_of(attempt, state, call.name)
    directories = state.permissions.working_directories
    try:
        return await facts_of(tool, spec, call.arguments, context_of(attempt, state, call.id), directories)
    except Exception:
        log.exception("facts_not_found", tool=call.name, call_id=call.id)
        return CallFacts(check=NOT_FOUND_OUT)


def spec_of(attempt: Attempt, state: AgentState, name: str) -> ToolSpec | None:
    """The tool as the thread's agent was pinned with it, else as this worker has it."""
    pinned = None if state.agent is None else state.agent.tool(name)
    if pinned is not None:
        return pinned
    tool = attempt.parts.registry.tool(attempt.key.agent, name)
    return None if tool is None else tool.spec


async def tool_of(attempt: Attempt, state: AgentState, name: str) -> Tool[..., Any] | None:
    """The tool of that name, if this worker has it, or the source that listed it."""
    spec = None if state.agent is None else state.agent.tool(name)
    if spec is None or spec.source is None:
        return attempt.parts.registry.tool(attempt.key.agent, name)
    agent = attempt.parts.registry.get(attempt.key.agent)
    source = None if agent is None else agent.sources.get(spec.source)
    return None if source is None else (await attempt.parts.sources.of(source)).tool(spec)


def context_of(attempt: Attempt, state: AgentState, call_id: str, ordinal: int = 1) -> ToolContext:
    """What the tool is told."""
    key = attempt.key
    return ToolContext(
        tenant=key.tenant,
        user=key.user,
        agent=key.agent,
        session=key.session,
        thread=key.thread,
        turn_id=attempt.given.turn,
        run_id=attempt.run_id,
        step=attempt.given.step,
        call_id=call_id,
        idempotency_key=f"{attempt.given.turn}/{call_id}",
        attempt=ordinal,
        state=state,
        results=partial(read_back, attempt, state),
        sessions=OwnSessions(attempt.parts.journal, key),
    )
