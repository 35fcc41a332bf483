"""The person who is asked what became of a call, and who can look at the outside.

Rule: nobody says "run again" about a call whose process may still be at it, and nobody says that it failed who knows
better, unless the test wants somebody who gives it up.
"""

from tests.faults.harness.world import World
from turnwright.client import Turn
from turnwright.journal.commands import Reconcile
from turnwright.journal.control import OpenInteraction
from turnwright.journal.entries import ToolStarted
from turnwright.journal.messages import Text


async def verdict(world: World, turn: Turn, question: OpenInteraction, request_id: str, *, knowing: bool) -> Reconcile:
    """What they say."""
    assert question.kind == "unknown_outcome", question
    call_id = question.call_id or ""
    if knowing and any(key.endswith(f"/{call_id}") for key in world.ledger.keys("effect", "", turn.id)):
        done = (Text(text="it was done"),)
        return Reconcile(
            request_id=request_id, turn_id=turn.id, call_id=call_id, outcome="succeeded", output=done, reason="seen"
        )
    if not knowing or await _may_go_on(world, turn, call_id):
        return Reconcile(request_id=request_id, turn_id=turn.id, call_id=call_id, outcome="failed", reason="given up")
    return Reconcile(
        request_id=request_id, turn_id=turn.id, call_id=call_id, outcome="run_again", reason="nobody is at it"
    )


async def _may_go_on(world: World, turn: Turn, call_id: str) -> bool:
    """Whether a process that ever had the call is still there, as the journal or the outside sees it.

    The journal takes one that was cut off from it for dead, and that may be at it all the same.
    """
    at_it = {int(pid) for what, _, pid, key in world.ledger.lines() if what == "began" and key.endswith(f"/{call_id}")}
    if any(worker.is_running for worker in world.workers if worker.pid in at_it):
        return True
    started = [entry.payload for entry in await world.entries(turn.key) if isinstance(entry.payload, ToolStarted)]
    had_it = {one.presence for one in started if one.call_id == call_id}
    there = {p.presence_id for p in await world.journal.driver.presences() if p.liveness.state != "dead"}
    return bool(had_it & there)
