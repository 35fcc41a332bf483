"""The routes that look: sessions, threads, turns, questions, state, history, search.

Rule: observing changes nothing. A list is a page with the place to go on; what the credential does not reach is not
found. The shapes are those of the Python client.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from fastapi import Path, Query
from fastapi.responses import Response
from pydantic import BaseModel

from turnwright.client.errors import NotFound
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.desk import (
    After,
    AskedSession,
    AskedThread,
    AskedTurn,
    AtDesk,
    Limit,
    OfNobody,
    OfUser,
    WhoAsks,
    guarded_router,
)
from turnwright.client.on_the_wire import from_path
from turnwright.client.questions import Question
from turnwright.client.session import Session
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn
from turnwright.client.turn_report import TurnReport
from turnwright.client.views import TurnView
from turnwright.journal.agent_state import AgentState
from turnwright.journal.api_keys import Role
from turnwright.journal.budgets import Used
from turnwright.journal.entries import Entry
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.search.query import QUERY_CHARACTERS_MAX
from turnwright.journal.shown import PHASES, ShownStatus
from turnwright.journal.store_admin import find_turns_named
from turnwright.journal.transact.inbox import InboxFilter, Wanted
from turnwright.journal.transact.listing import ANONYMOUS, ANY_USER, Page, TurnFilter, TurnSeen
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen, TurnPage
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.searching import HITS_MAX, SearchFilter, SearchHit
from turnwright.journal.turn_status import Phase
from turnwright.journal.why import Why

T = TypeVar("T")
router = guarded_router()
EntryLimit = Annotated[int, Query(ge=1, le=1_000, description="How many at most.")]
AfterNumber = Annotated[int, Query(ge=0, le=2**53, description="Go on behind this number.")]
Name = Annotated[str, Query(max_length=200)]
SessionName = Annotated[str | None, Query(description="Only this session of the user.", max_length=200)]


class Download(Response):
    """Bytes that somebody else made: no browser takes them for a page, or shows them by itself."""

    media_type = "application/octet-stream"

    def __init__(self, content: bytes, status_code: int = 200) -> None:
        super().__init__(content, status_code, headers={"Content-Disposition": "attachment"})


class Me(BaseModel):
    """Who asks, as the credential says."""

    tenant: str
    principal: str
    role: Role
    user: str | None
    journal_id: str


@router.get("/me", tags=["credentials"])
async def who_asks(caller: WhoAsks, desk: AtDesk) -> Me:
    """Who asks, and what the credential reaches."""
    grant = caller.grant
    return Me(
        tenant=caller.tenant, principal=grant.name, role=grant.role, user=grant.user,
        journal_id=await desk.journal.journal_id(),
    )  # fmt: skip


@router.get("/agents", tags=["workers"])
async def list_agents(caller: WhoAsks, desk: AtDesk) -> list[str] | None:
    """The agents that live workers know; null when one of these does not say."""
    known = await desk.access(caller).backend.agents()
    return None if known is None else sorted(known)


# -- sessions and threads ----------------------------------------------------------------------


@router.get("/sessions", tags=["sessions"])
async def list_sessions(
    caller: WhoAsks,
    desk: AtDesk,
    user: OfUser = None,
    *,
    anonymous: OfNobody = False,
    after: After = None,
    limit: Limit = 50,
) -> Page[SessionSeen]:
    """A page of sessions, newest first; an operator's holds every user's, unless one is named."""
    return await desk.access(caller).backend.sessions(_whose(caller, user, anonymous=anonymous), after, limit)


@router.get("/sessions/{session}", tags=["sessions"])
async def see_session(caller: WhoAsks, desk: AtDesk, key: AskedSession) -> SessionSeen:
    """A session now."""
    return await Session(desk.access(caller), key).status()


@router.get("/sessions/{session}/used", tags=["sessions"])
async def see_session_used(caller: WhoAsks, desk: AtDesk, key: AskedSession) -> Used | None:
    """What the session's threads used of its budget; null: it has none."""
    return (await Session(desk.access(caller), key).budget()).used


@router.get("/sessions/{session}/threads", tags=["sessions"])
async def list_threads(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, after: After = None, limit: Limit = 50
) -> Page[ThreadSeen]:
    """A page of the session's threads, oldest first."""
    return await Session(desk.access(caller), key).threads(after, limit)


@router.get("/sessions/{session}/timeline", tags=["sessions"])
async def read_timeline(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, after: AfterNumber = 0, limit: EntryLimit = 500
) -> list[Located]:
    """A page of everything that happened in the session, by position; an empty one is the end."""
    return await Session(desk.access(caller), key).history(after, limit)


@router.get("/sessions/{session}/blobs/{blob}", tags=["sessions"], response_class=Download)
async def read_blob(
    caller: WhoAsks, desk: AtDesk, key: AskedSession, blob: Annotated[str, Path(description="Its SHA-256.")]
) -> Download:
    """The bytes of a picture, sound or file that a message or a result of the session names by its `blob`."""
    return Download(await Session(desk.access(caller), key).blob(from_path(blob)))


@router.get("/sessions/{session}/threads/{agent}/{thread}", tags=["threads"])
async def see_thread(caller: WhoAsks, desk: AtDesk, key: AskedThread) -> ThreadSeen:
    """A thread now: its pause, its active turn, its queue."""
    return await Thread(desk.access(caller), key).status()


@router.get("/sessions/{session}/threads/{agent}/{thread}/state", tags=["threads"])
async def read_state(
    caller: WhoAsks, desk: AtDesk, key: AskedThread, at: Annotated[int | None, Query(ge=0, le=2**53)] = None
) -> AgentState:
    """The agent's state now, or as it was after the entry `at`."""
    return await Thread(desk.access(caller), key).state(at)


@router.get("/sessions/{session}/threads/{agent}/{thread}/entries", tags=["threads"])
async def read_entries(
    caller: WhoAsks, desk: AtDesk, key: AskedThread, after: AfterNumber = 0, limit: EntryLimit = 500
) -> list[Entry]:
    """A page of the thread's entries; an empty one is the end."""
    return await Thread(desk.access(caller), key).history(after, limit)


# -- turns -------------------------------------------------------------------------------------


@router.get("/turns", tags=["turns"])
async def list_turns(  # noqa: PLR0913 - one for each filter
    caller: WhoAsks,
    desk: AtDesk,
    session: SessionName = None,
    user: OfUser = None,
    *,
    anonymous: OfNobody = False,
    agent: Name = "",
    thread: Name = "",
    phase: Annotated[list[Phase] | None, Query()] = None,
    status: ShownStatus | None = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[TurnSeen]:
    """A page of turns, newest first; with filters there may be fewer than `limit` although more follow (`next`)."""
    key = None if session is None else caller.session(session, user, anonymous=anonymous)
    wanted = TurnFilter(
        caller.tenant, key, _whose(caller, user, anonymous=anonymous), agent, thread, tuple(phase or PHASES), status
    )
    backend = desk.access(caller).backend
    page = await desk.readings.take((wanted, after, limit), lambda: backend.turns(wanted, after, limit))
    return _listed(page, key)


@router.get("/turns-named", tags=["turns"])
async def list_turns_named(
    caller: WhoAsks,
    desk: AtDesk,
    beginning: Annotated[str, Query(pattern=r"^t-[0-9a-f]{0,32}$")],
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
) -> list[tuple[str, ThreadKey]]:
    """Turns whose id begins so, with their threads."""
    whose = _whose(caller, None, anonymous=False)
    return list(await find_turns_named(desk.journal, caller.tenant, beginning, limit, whose))


@router.get("/turns/{turn}", tags=["turns"])
async def see_turn(
    caller: WhoAsks,
    desk: AtDesk,
    turn: AskedTurn,
    children: Annotated[bool, Query(description="Whether to look at its children, too.")] = True,  # noqa: FBT002 - FastAPI gives it by name
) -> TurnView:
    """A turn now."""
    return await Turn(desk.access(caller), turn.key, turn.turn_id).status(children=children)


@router.get("/turns/{turn}/why", tags=["turns"])
async def explain_turn(caller: WhoAsks, desk: AtDesk, turn: AskedTurn) -> Why:
    """What a turn waits for, in one sentence."""
    return await Turn(desk.access(caller), turn.key, turn.turn_id).why()


@router.get("/turns/{turn}/report", tags=["turns"])
async def report_turn(caller: WhoAsks, desk: AtDesk, turn: AskedTurn) -> TurnReport:
    """A turn with what it was asked, what it did and used, and its answer."""
    return await Turn(desk.access(caller), turn.key, turn.turn_id).report()


@router.get("/turns/{turn}/entries", tags=["turns"])
async def read_turn(caller: WhoAsks, desk: AtDesk, turn: AskedTurn, after: AfterNumber = 0) -> TurnPage:
    """The turn's entries behind one of its thread."""
    page = await desk.access(caller).backend.turn_page(turn.key, turn.turn_id, after)
    if page is None:
        raise NotFound("turn", turn.turn_id)
    return page


@router.get("/turns/{turn}/entries/{entry}", tags=["turns"])
async def read_turn_entry(caller: WhoAsks, desk: AtDesk, turn: AskedTurn, entry: Annotated[str, Path()]) -> Entry:
    """One entry of the turn, by its id."""
    found = await desk.access(caller).backend.turn_entry(turn.key, turn.turn_id, from_path(entry))
    if found is None:
        raise NotFound("entry", from_path(entry))
    return found


# -- search ------------------------------------------------------------------------------------


@router.get("/search", tags=["search"])
async def search(
    caller: WhoAsks,
    desk: AtDesk,
    q: Annotated[str, Query(description='Words, "phrases", -without, begin*.', max_length=QUERY_CHARACTERS_MAX)],
    session: SessionName = None,
    user: OfUser = None,
    *,
    anonymous: OfNobody = False,
    after: After = None,
    limit: Annotated[int, Query(ge=1, le=HITS_MAX, description="How many at most.")] = 20,
) -> Page[SearchHit]:
    """A page of what was said that fits, the best first; an operator's holds every user's, unless one is named."""
    key = None if session is None else caller.session(session, user, anonymous=anonymous)
    wanted = SearchFilter(caller.tenant, q, key, _whose(caller, user, anonymous=anonymous))
    return _listed(await desk.access(caller).backend.search(wanted, after, limit), key)


# -- questions ---------------------------------------------------------------------------------


@router.get("/interactions", tags=["interactions"])
async def list_interactions(  # noqa: PLR0913 - one for each filter
    caller: WhoAsks,
    desk: AtDesk,
    session: SessionName = None,
    user: OfUser = None,
    *,
    anonymous: OfNobody = False,
    agent: Name = "",
    thread: Name = "",
    kind: InteractionKind | None = None,
    tool: Name = "",
    state: Wanted = "open",
    after: After = None,
    limit: Limit = 50,
) -> Page[Question]:
    """A page of questions, the oldest first."""
    key = None if session is None else caller.session(session, user, anonymous=anonymous)
    wanted = InboxFilter(
        caller.tenant, key, _whose(caller, user, anonymous=anonymous), agent, thread, kind or "", tool, state
    )
    backend = desk.access(caller).backend
    page = await desk.readings.take((wanted, after, limit), lambda: backend.inbox(wanted, after, limit))
    return _listed(page, key)


@router.get("/interactions/{interaction}", tags=["interactions"])
async def see_interaction(caller: WhoAsks, desk: AtDesk, interaction: Annotated[str, Path()]) -> Question:
    """A question, open or settled, with what is asked."""
    found = await desk.access(caller).backend.interaction(from_path(interaction))
    if found is None or not caller.reaches(found.key):
        raise NotFound("question", from_path(interaction))
    return found


def _whose(caller: Caller, user: str | None, *, anonymous: bool) -> str:
    """Which users' a list holds, as in `TurnFilter`; one that is out of reach has nothing in it to be found."""
    if not caller.reaches_all:
        named = None if anonymous else caller.grant.user if user is None else user
        if named != caller.grant.user:
            raise NotFound("user", "the anonymous one" if named is None else named)
        return ANONYMOUS if named is None else f"+{named}"
    return ANONYMOUS if anonymous else ANY_USER if user is None else f"+{user}"


def _listed(page: Page[T] | None, key: SessionKey | None) -> Page[T]:
    if page is None:
        assert key is not None, "only a session can be missing"
        raise NotFound.session(key)
    return page
