"""Children: what the call that opens one records, and what the end of one means.

Rule: the task is submitted by the transaction that records `child.spawned`, so there is one child however often the
call is tried. Its end is the result of the call, and an error for the model at worst: it never ends the parent. An end
that nobody waits for any more records nothing.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.commands import EndChild, Spawn
from turnwright.journal.control import ActiveTurn, CallOperation, OpenChild
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.entries import ChildFinished, ChildSpawned, Draft, Payload, ToolFinished
from turnwright.journal.messages import Text
from turnwright.journal.sharing import share_of

STARTED_TEXT = "It works on this by itself now, as turn {turn} on thread {thread}; nobody waits for it."


def spawned(context: Context, active: ActiveTurn, call: CallOperation, spawn: Spawn) -> ChildSpawned | str:
    """The child with its part of the budget; a text: why there is none, in words for the model."""
    depth = 1 if active.status.parent is None else active.status.parent.depth + 1
    limit = context.control.limits.subagent_depth
    if depth > limit:
        return f"Not started: a subagent would be {depth} levels deep here, and at most {limit} are allowed."
    budget = spawn.budget
    if not spawn.detached:
        share = share_of(context.control, active, spawn.siblings, budget)
        if isinstance(share, str):
            return f"Not started: nothing is left of the {share} that this turn may use."
        budget = share
    return ChildSpawned(
        call_id=call.call_id,
        agent=spawn.place.key.agent,
        child_thread=spawn.place.key.thread,
        child_turn=spawn.place.turn_id,
        request_id=spawn.place.request_id,
        task=spawn.task,
        depth=depth,
        detached=spawn.detached,
        budget=budget,
    )


def started_text(spawn: Spawn) -> Text:
    """What the model is told of a child that nobody waits for."""
    return Text(text=STARTED_TEXT.format(turn=spawn.place.turn_id, thread=spawn.place.key.thread))


def end_child(context: Context, command: EndChild) -> Decision:
    """The child's end becomes the result of its call, if the call still waits for it."""
    active = context.control.turn(command.turn_id)
    child = None if active is None else active.child(command.child_turn)
    if active is None or child is None:
        return []
    stem = f"child:{command.child_turn}"
    finished = ChildFinished(call_id=child.call_id, child_turn=child.turn_id, phase=command.phase, used=command.used)
    payloads: list[Payload] = [finished, *_result(active, child, command)]
    return [
        Draft(f"{stem}/finished" if n == 0 else entry_ids.caused(stem, n), p, turn_id=active.turn_id, step=active.step)
        for n, p in enumerate(payloads)
    ]


def _result(active: ActiveTurn, child: OpenChild, command: EndChild) -> list[Payload]:
    call = active.call(child.call_id)
    if call is None or call.state == "closed":
        return []
    result = ToolFinished(
        call_id=call.call_id, name=call.name, ordinal=call.ordinal, outcome=command.outcome, output=command.output
    )
    return [result]
