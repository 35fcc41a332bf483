"""What running model calls say, for who follows a thread or a turn, and for clients that follow from afar.

Rule: a `delta` has no id, so nobody who comes back asks for one again: what was said comes once more, all of it, as the
first delta, and when the call has ended its entry says it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from sse_starlette import ServerSentEvent

from turnwright.client.gateway.desk import AskedThread, AtDesk, WhoAsks, guarded_router
from turnwright.client.wire import dumped
from turnwright.journal.deltas import Delta, DeltaPlace, Heard

router = guarded_router("events")
WithDeltas = Annotated[
    bool, Query(description="Also what a running model call says: `delta` events, which have no id and are not kept.")
]
Number = Annotated[int, Query(ge=0, le=2**31 - 1)]


@router.get("/sessions/{session}/threads/{agent}/{thread}/said")
async def read_said(
    caller: WhoAsks,
    desk: AtDesk,
    key: AskedThread,
    turn_id: Annotated[str, Query(max_length=200)] = "",
    step: Number = 0,
    ordinal: Number = 0,
    n: Number = 0,
) -> Heard:
    """What the thread's running model call has said behind a place, the `place` of the answer before."""
    await desk.check_session(key.session_key)
    return await desk.access(caller).backend.said(key, DeltaPlace(turn_id, step, ordinal, n))


def event_of(delta: Delta) -> ServerSentEvent:
    """A delta as it is sent."""
    return ServerSentEvent(dumped(Delta, delta).decode(), event="delta", sep="\n")
