"""Server-sent events of a session, a thread and a turn: what is so, then everything that happens.

Rule: the id of an event is a place in the journal, so it never expires: a reader comes back with the last one it got,
as `Last-Event-ID` or `after`, and misses nothing. Without one the first event is a `snapshot`, then come the entries
after it; so it is too for who comes back with a place that the journal, put back to a backup, has not come to. An `end`
is always said before a stream that has an end closes. A reader that takes nothing for a while is let go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

import structlog
from fastapi import Header, Query
from pydantic import Field, TypeAdapter, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from turnwright.client.errors import NotFound
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.desk import (
    AskedSession,
    AskedThread,
    AskedTurn,
    AtDesk,
    Desk,
    TurnAsked,
    WhoAsks,
    guarded_router,
)
from turnwright.client.gateway.drafts import WithDeltas, event_of
from turnwright.client.gateway.framing import framed
from turnwright.client.gateway.leaving import Answer
from turnwright.client.listening import Listener
from turnwright.client.session import Session
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn
from turnwright.client.views import TurnView
from turnwright.client.wire import dumped
from turnwright.journal.agent_state import AgentState
from turnwright.journal.deltas import Delta
from turnwright.journal.driver import Subscription
from turnwright.journal.entries import Entry
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey
from turnwright.journal.store import POLL_S
from turnwright.journal.transact.overview import SessionSeen

router = guarded_router("events")
Events = AsyncIterator[ServerSentEvent | bytes]
LastEventId = Annotated[str | None, Header(description="The id of the last event that was received.")]
PLACE_MAX = 2**53
AfterEvent = Annotated[int | None, Query(ge=0, le=PLACE_MAX, description="As Last-Event-ID, which wins over it.")]
PAGE_ENTRIES = 200
SHOWN_CHARACTERS_MAX = 100
_PLACES = TypeAdapter(Annotated[int, Field(ge=0, le=PLACE_MAX)])  # as `after` is read

log = structlog.get_logger(__name__)


class Stream(EventSourceResponse):
    """A stream that counts as one of its caller's from its beginning to its end.

    The end of the server, and that of the caller's credential, is its end too.
    """

    media_type = "text/event-stream"

    def __init__(self, desk: Desk, caller: Caller, events: Events, status_code: int = 200) -> None:
        desk.limits.check_stream(caller)
        super().__init__(
            events,
            status_code,
            ping=desk.settings.heartbeat_s,
            send_timeout=desk.settings.send_timeout_s,
            sep="\n",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
        self._held = desk.limits.stream(caller)
        self._leaving = desk.leaving
        self._standing = desk.standing
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. Who takes nothing is let go, and its connection is closed."""
        answer = Answer(send)
        with self._held:
            try:
                telling = super().__call__(scope, receive, answer.send)
                authorization = Headers(scope=scope).get("Authorization")
                ended = partial(self._standing.until_ended, self._caller, authorization)
                word = await self._leaving.cut_short(telling, ended)
                if word is not None:
                    start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
                    await answer.end(start, word)
            except* SendTimeoutError:
                log.info("stream_let_go")


@router.get("/sessions/{session}/events", response_class=Stream)
async def follow_session(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, last_event_id: LastEventId = None, after: AfterEvent = None
) -> Stream:
    """Everything that happens in the session, for ever; ids are positions."""
    seen = await Session(desk.access(caller), key).status()
    place = _place(last_event_id, after, seen.last_position)
    return Stream(desk, caller, _of_session(desk, key, seen, place))


@router.get("/sessions/{session}/threads/{agent}/{thread}/events", response_class=Stream)
async def follow_thread(
    caller: WhoAsks,
    desk: AtDesk,
    key: AskedThread,
    last_event_id: LastEventId = None,
    after: AfterEvent = None,
    *,
    deltas: WithDeltas = False,
) -> Stream:
    """Everything that happens on the thread, for ever; ids are entry numbers. The snapshot is the agent's state."""
    access = desk.access(caller)
    thread, listener = Thread(access, key), Listener(access.backend, key, wanted=deltas)
    place = _place(last_event_id, after, (await thread.status()).seq)
    return Stream(desk, caller, _of_thread(desk, thread, listener, place))


@router.get("/turns/{turn}/events", response_class=Stream)
async def follow_turn(
    caller: WhoAsks,
    desk: AtDesk,
    turn: AskedTurn,
    last_event_id: LastEventId = None,
    after: AfterEvent = None,
    *,
    deltas: WithDeltas = False,
) -> Stream:
    """What happens to the turn, to its end; ids are entry numbers of its thread."""
    row = await desk.journal.thread(turn.key)
    place = _place(last_event_id, after, 0 if row is None else row.seq)
    return Stream(desk, caller, _of_turn(desk, caller, turn, place, deltas=deltas))


@router.get("/sessions/{session}/changes", response_class=Stream)
async def watch_session(caller: WhoAsks, desk: AtDesk, key: AskedSession) -> Stream:
    """A `change` whenever something was committed to the session, and one at once; for who reads it elsewhere."""
    await desk.check_session(key)
    return Stream(desk, caller, _changes(desk, key, desk.journal.watch(key)))


@router.get("/sessions/{session}/threads/{agent}/{thread}/changes", response_class=Stream)
async def watch_thread(caller: WhoAsks, desk: AtDesk, key: AskedThread, *, deltas: WithDeltas = False) -> Stream:
    """As of a session, with `deltas` also when a model says something; the thread need not be there yet."""
    await desk.check_session(key.session_key)
    listener = Listener(desk.access(caller).backend, key, wanted=deltas)
    return Stream(desk, caller, _changes(desk, key.session_key, listener.watch()))


async def _changes(desk: Desk, key: SessionKey, watch: Subscription) -> Events:
    """Looks for the session whenever it has become silent: nothing follows its deletion, and a busy one is there."""
    async with watch as watching:
        wait_s = POLL_S
        yield ServerSentEvent("", event="change", sep="\n")
        while True:
            if await watching.changed(wait_s):
                wait_s = POLL_S
                yield ServerSentEvent("", event="change", sep="\n")
            elif await desk.has_session(key):
                wait_s = desk.settings.heartbeat_s
            else:
                yield ServerSentEvent('{"reason":"session_deleted"}', event="end", sep="\n")
                return


async def _of_session(desk: Desk, key: SessionKey, seen: SessionSeen, after: int | None) -> Events:
    position = seen.last_position if after is None else after
    if after is None:
        yield framed("snapshot", position, dumped(SessionSeen, seen))
    async with desk.feeds.open(key, seen.last_position) as feed:
        while True:
            for piece in await feed.after(position):
                position = piece.place
                yield piece.events
            if feed.gone:
                yield framed("end", position, b'{"reason":"session_deleted"}')
                return
            await feed.news(position)


async def _of_thread(desk: Desk, thread: Thread, listener: Listener, after: int | None) -> Events:
    if after is None:
        state = await thread.state()
        after = state.as_of_seq
        yield framed("snapshot", after, dumped(AgentState, state))
    async with listener.watch() as watching:
        while True:
            page = await desk.journal.entries(thread.key, after, PAGE_ENTRIES)
            for entry in page:
                after = entry.seq
                listener.passed(entry)
                yield framed("entry", after, dumped(Entry, entry))
            for delta in await listener.heard():
                yield event_of(delta)
            if not page and not await watching.changed(POLL_S) and await desk.journal.thread(thread.key) is None:
                yield framed("end", after, b'{"reason":"session_deleted"}')
                return


async def _of_turn(desk: Desk, caller: Caller, asked: TurnAsked, after: int | None, *, deltas: bool) -> Events:
    turn = Turn(desk.access(caller), asked.key, asked.turn_id)
    if after is None:
        after = await _last_seq(desk, asked)
        yield framed("snapshot", after, dumped(TurnView, await turn.status()))
    try:
        async for item in turn.live(after) if deltas else turn.events(after):
            if isinstance(item, Delta):
                yield event_of(item)
                continue
            after = item.seq
            yield framed("entry", after, dumped(Entry, item))
        yield framed("end", after, dumped(TurnView, await turn.status()))
    except NotFound:
        yield framed("end", after, b'{"reason":"session_deleted"}')


async def _last_seq(desk: Desk, asked: TurnAsked) -> int:
    """The number of the last entry of the thread now: what comes after it is not in a snapshot taken later, or is."""
    row = await desk.journal.thread(asked.key)
    return 0 if row is None else row.seq


def _place(last_event_id: str | None, after: int | None, last: int) -> int | None:
    """Where to go on; None: begin anew. An empty id is none, as a browser's is before its first event."""
    place = _number(last_event_id) if last_event_id else after
    return None if place is None or place > last else place


def _number(last_event_id: str) -> int:
    try:
        return _PLACES.validate_python(last_event_id)
    except ValidationError:
        shown = last_event_id[:SHOWN_CHARACTERS_MAX]
        raise InvalidInput(f"Last-Event-ID {shown!r} is no id of an event; leave it out to begin anew") from None
