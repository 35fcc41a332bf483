"""What the routes work with: the journal, the wake-ups, who may ask, and a handle for each request."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from turnwright.client.access import Access
from turnwright.client.direct import Direct
from turnwright.client.errors import NotFound
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.continuing import continued
from turnwright.client.gateway.credentials import Doorkeeper
from turnwright.client.gateway.edge import note
from turnwright.client.gateway.feeds import Feeds
from turnwright.client.gateway.leaving import Leaving
from turnwright.client.gateway.limits import Limits
from turnwright.client.gateway.pulse import Pulse
from turnwright.client.gateway.readings import Readings
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.gateway.standing import Standing
from turnwright.client.on_the_wire import from_path
from turnwright.client.tracing.ids import JOURNAL_ID
from turnwright.client.wakes import Wakes
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.store import Journal

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


@dataclass(frozen=True, slots=True)
class Desk:
    """A running gateway's parts, as `app.state.desk`. `tracer` None: no spans are asked for."""

    settings: GatewaySettings
    journal: Journal
    wakes: Wakes
    doorkeeper: Doorkeeper
    limits: Limits
    feeds: Feeds
    leaving: Leaving
    pulse: Pulse
    standing: Standing
    readings: Readings = field(default_factory=Readings)
    tracer: Tracer | None = None

    async def has_session(self, key: SessionKey) -> bool:
        """Whether there is such a session, and it is not deleted."""
        row = await self.journal.session(key)
        return row is not None and not row.deleted

    async def check_session(self, key: SessionKey) -> None:
        """Raises `NotFound` if there is no such session."""
        if not await self.has_session(key):
            raise NotFound.session(key)

    def access(self, caller: Caller) -> Access:
        """The journal as this caller may use it."""
        return Access(self.direct(caller), caller.tenant, caller.principal)

    def direct(self, caller: Caller) -> Direct:
        """The journal itself, as the caller's tenant's."""
        return Direct(self.journal, caller.tenant, self.wakes, self.tracer)


def desk_of(request: Request) -> Desk:
    """The gateway a request came to."""
    desk: Desk = request.app.state.desk
    return desk


class Guarded(APIRoute):
    """A route that finds out who asks before anything of the body is read: a stranger's is not held."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's handler, behind the question who asks, which raises `Unauthenticated` or `TooMany`."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            desk = desk_of(request)
            caller = await desk.doorkeeper.caller(request.headers.get("Authorization"))
            desk.limits.take(caller)
            request.state.caller = caller
            JOURNAL_ID.set(desk.pulse.journal_id)
            note(request, tenant=caller.tenant, principal=caller.principal)
            with continued(desk.tracer, request) as answered:
                return answered(await handle(request))

        return guarded


def guarded_router(*tags: str, route_class: type[Guarded] = Guarded) -> APIRouter:
    """A router whose routes are guarded; only there is somebody who asks."""
    return APIRouter(tags=list(tags), route_class=route_class)


async def caller_of(request: Request) -> Caller:
    """Who asks, as the route found out."""
    caller: Caller = request.state.caller
    return caller


WhoAsks = Annotated[Caller, Depends(caller_of)]
AtDesk = Annotated[Desk, Depends(desk_of)]
OfUser = Annotated[
    str | None, Query(description="Whose session it is; without it, the credential's own user's. For operators.")
]
OfNobody = Annotated[bool, Query(description="The anonymous user's session. For operators.")]
After = Annotated[str | None, Query(description="Go on behind the page before: its `next`.", max_length=500)]
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]


def session_asked(
    request: Request,
    caller: WhoAsks,
    session: Annotated[str, Path()],
    user: OfUser = None,
    *,
    anonymous: OfNobody = False,
) -> SessionKey:
    """The session of a path."""
    key = caller.session(from_path(session), user, anonymous=anonymous)
    note(request, user=key.user, session=key.session)
    return key


AskedSession = Annotated[SessionKey, Depends(session_asked)]


def thread_asked(
    request: Request, session: AskedSession, agent: Annotated[str, Path()], thread: Annotated[str, Path()]
) -> ThreadKey:
    """The thread of a path."""
    key = ThreadKey(session.tenant, session.user, from_path(agent), session.session, from_path(thread)).checked()
    note(request, thread=key.canonical)
    return key


AskedThread = Annotated[ThreadKey, Depends(thread_asked)]


@dataclass(frozen=True, slots=True)
class TurnAsked:
    """A turn of a path, and the thread it is of."""

    key: ThreadKey
    turn_id: str


async def turn_asked(request: Request, caller: WhoAsks, desk: AtDesk, turn: Annotated[str, Path()]) -> TurnAsked:
    """The turn of a path, if the caller reaches it. Raises `NotFound`."""
    wanted = from_path(turn)
    found = await desk.access(caller).backend.turns_named(wanted, 1)
    for turn_id, key in found:
        if turn_id == wanted and caller.reaches(key):
            note(request, turn=turn_id, thread=key.canonical)
            return TurnAsked(key, turn_id)
    raise NotFound("turn", wanted)


AskedTurn = Annotated[TurnAsked, Depends(turn_asked)]
