"""Agents that ask, and people who answer, in few words."""

from typing import Any

from tests.integration.runtime.agents import TOOLS
from tests.integration.runtime.cluster import Turn
from turnwright.activities import Agent, Permissions
from turnwright.journal.agents import ApprovalTerms
from turnwright.journal.commands import Receipt, Respond, SetPermissions
from turnwright.journal.control import OpenInteraction
from turnwright.journal.entries import InteractionRequested, ToolFinished
from turnwright.journal.messages import Text
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.permissions.rules import parse_rule

ASKING = Agent("asking", "scripted:test", tools=TOOLS)
HASTY = Agent("hasty", "scripted:test", tools=TOOLS, approvals=ApprovalTerms(deadline_s=0.3))
TRUSTING = Agent("trusting", "scripted:test", tools=TOOLS, approvals=ApprovalTerms(deadline_s=0.3, on_expiry="approve"))
UNASKED = Agent("unasked", "scripted:test", tools=TOOLS, permissions=Permissions(mode="bypass"))
PEOPLE = (ASKING, HASTY, TRUSTING, UNASKED)


async def questions(turn: Turn, count: int = 1) -> tuple[OpenInteraction, ...]:
    """Wait until the turn waits for so many answers; its open questions, in the order they were asked."""

    async def waiting() -> tuple[OpenInteraction, ...] | None:
        thread = await turn.cluster.journal.thread(turn.key)
        active = None if thread is None else thread.control.turn(turn.turn_id)
        found = () if active is None or active.status.phase != "waiting" else active.interactions
        return found if len(found) == count else None

    return await turn.cluster.until(waiting)


async def asked(turn: Turn) -> list[InteractionRequested]:
    """Everything the turn ever asked."""
    return [
        e.payload for e in await turn.of_type("interaction.requested") if isinstance(e.payload, InteractionRequested)
    ]


async def last_asked(turn: Turn) -> InteractionRequested:
    """Wait until the turn waits; the last it asked."""
    await turn.until("waiting")
    return (await asked(turn))[-1]


async def respond(turn: Turn, question: str, resolution: str, *, wake: bool = True, **answer: Any) -> Receipt:  # noqa: ANN401
    """Answer a question by its id."""
    return await turn.command(Respond, interaction_id=question, resolution=resolution, answer=answer, wake=wake)


async def results(turn: Turn) -> list[tuple[str, str, str]]:
    """Tool, outcome and text of each result, in the order they came."""
    finished = [e.payload for e in await turn.of_type("tool.finished")]
    return [
        (p.name, p.outcome, "".join(b.text for b in p.output if isinstance(b, Text)))
        for p in finished
        if isinstance(p, ToolFinished)
    ]


async def allow(turn: Turn, *rules: str, remove: tuple[str, ...] = ()) -> Receipt:
    """Change the thread's allow rules."""
    change = PermissionChange(
        add=tuple(("allow", parse_rule(text)) for text in rules),
        remove=tuple(("allow", parse_rule(text)) for text in remove),
    )
    return await permit(turn, change)


async def permit(turn: Turn, change: PermissionChange) -> Receipt:
    """Change the thread's permissions."""
    request_id = f"permit-{len(await turn.cluster.entries(turn.key))}"
    return await turn.cluster.execute(turn.key, SetPermissions(request_id=request_id, change=change))
