"""What sources of tools offer, recorded under the lock before the model call that is to be told of it.

Rule: the attempt that has claimed the step's model call may, and only for sources that the thread's agent was pinned
with. A tool is called by its name alone, so no name stands twice; what the agent has of its own comes first.
"""

from __future__ import annotations

from collections import Counter

from turnwright.journal.agents import AgentDefinition
from turnwright.journal.commands import ListTools, Rejection
from turnwright.journal.decide.compaction import has_claimed, of_attempt
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.entries import ToolsListed


def list_tools(context: Context, command: ListTools) -> Decision:
    """Record the lists that differ from what is known, or say what speaks against them."""
    if not has_claimed(context, command):
        return Rejection("no_claim", "this attempt does not have the step's model call (any more)")
    agent = None if context.facts.state is None else context.facts.state.agent
    if agent is None:
        return Rejection("not_opened", "the thread has no agent yet, so nothing is listed for it")
    news = tuple(listed for listed in command.listed if listed.tools != agent.listed(listed.source))
    against = _against(agent, news)
    if against is not None:
        return Rejection("not_listable", against)
    return of_attempt(command, "listed", news)


def _against(agent: AgentDefinition, news: tuple[ToolsListed, ...]) -> str | None:
    for listed in news:
        if listed.source not in agent.sources:
            return f"the thread's agent was not pinned with a source {listed.source!r}"
        if any(tool.source != listed.source for tool in listed.tools):
            return f"the list of {listed.source!r} holds tools of another source"
        agent = agent.with_listed(listed.source, listed.tools)
    twice = sorted(name for name, count in Counter(tool.name for tool in agent.tools).items() if count > 1)
    return f"several tools would be called {', '.join(twice)}" if news and twice else None
