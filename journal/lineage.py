"""Where a child comes from: the call that opened its turn, and the ids that follow from that call.

Rule: a child is named by what opened it, so every attempt of the call, on any worker, names the same thread and the
same turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from turnwright.journal.ids import ThreadKey, turn_id
from turnwright.journal.messages import Frozen


class Parent(Frozen):
    """The call that opened a turn: its thread, of the same session, by `agent` and `thread`, and its turn.

    No key stands in an entry: a session may be moved to another tenant or user, and its entries stay as they are.
    `depth` counts the turns above it. A `detached` turn is its own: nobody waits for it, and it outlives its parent.
    """

    agent: str
    thread: str
    turn_id: str
    call_id: str
    depth: int = 1
    detached: bool = False

    def beside(self, child: ThreadKey) -> ThreadKey:
        """Its thread, seen from that of a child."""
        return replace(child, agent=self.agent, thread=self.thread)


@dataclass(frozen=True, slots=True)
class ChildPlace:
    """The thread of a child, and the request and turn that its task is submitted as."""

    key: ThreadKey
    request_id: str
    turn_id: str


def child_place(parent: ThreadKey, turn: str, call_id: str, agent: str) -> ChildPlace:
    """Where the child of a call is: in the parent's session, on a thread that nothing else uses."""
    name = f"sub-{turn.removeprefix('t-')}-{call_id.partition('-')[2]}"
    key, request_id = replace(parent, agent=agent, thread=name), f"child:{turn}/{call_id}"
    return ChildPlace(key, request_id, turn_id(key, request_id))
