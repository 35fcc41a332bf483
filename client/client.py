"""The client: give commands and observe, in any process that reaches the journal, or a gateway.

    async with Client.connect(journal_url="postgresql://…", tenant="acme", principal="alice") as client:
        session = client.session("alice", "trip to Oslo")
        await session.create(exist_ok=True)
        turn = await session.submit("Book a train.", agent="travel")
        print((await turn.result()).text)

Rule: a command is accepted when it is committed to the journal. Whether Temporal or any worker is up makes no
difference to that, only to when it is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import replace
from types import EllipsisType, TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from turnwright.client.access import Access, How
from turnwright.client.answering import Answering
from turnwright.client.direct import Direct
from turnwright.client.errors import NotFound
from turnwright.client.inputs import of_kind, one_of
from turnwright.client.moving import Importing
from turnwright.client.opening import open_journal
from turnwright.client.questions import Question
from turnwright.client.quiet import quiet_logs
from turnwright.client.session import Session
from turnwright.client.settings import ClientSettings
from turnwright.client.turn import Turn
from turnwright.client.wakes import Wakes
from turnwright.journal.api_keys import ROLES, ApiKey, Grant, NewKey, Role
from turnwright.journal.commands import Receipt
from turnwright.journal.entries.operation import InteractionKind
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, checked_part
from turnwright.journal.shown import PHASES, ShownStatus
from turnwright.journal.store import Journal
from turnwright.journal.transact.inbox import InboxFilter, Wanted
from turnwright.journal.transact.listing import ANONYMOUS, ANY_USER, Page, TurnFilter, TurnSeen
from turnwright.journal.transact.overview import SessionSeen
from turnwright.journal.transact.searching import SearchFilter, SearchHit
from turnwright.journal.turn_status import Phase

if TYPE_CHECKING:
    from temporalio.client import Client as TemporalClient

FLUSH_S = 2.0
_TURN_ID = re.compile(r"t-[0-9a-f]{1,32}")
CANDIDATES_MAX = 5


class Client(Answering, Importing):
    """Commands and reads for one tenant. Get one with `Client.connect`."""

    def __init__(self, access: Access, settings: ClientSettings) -> None:
        self.settings = settings
        self._access = access

    @classmethod
    def of(cls, journal: Journal, settings: ClientSettings) -> Self:
        """A client of a journal that is open already; it closes it."""
        connect = settings.connect_temporal if settings.wake else None
        tenant = checked_part("tenant", settings.tenant)
        backend = Direct(journal, tenant, Wakes(journal, connect, settings.task_queue))
        return cls(Access(backend, tenant, settings.principal), settings)

    @classmethod
    def connect(  # noqa: PLR0913 - one for each thing that can be said
        cls,
        settings: ClientSettings | None = None,
        *,
        journal_url: str | None = None,
        gateway_url: str | None = None,
        token: str | None = None,
        tenant: str | None = None,
        principal: str | None = None,
        temporal_address: str | None = None,
        temporal: TemporalClient | None = None,
        migrate: bool = False,
    ) -> Connecting:
        """Connect to the journal, or to a gateway that speaks for it.

        Temporal is reached with the first wake-up, in the background; a gateway does that by itself.

            client = await Client.connect(...)          # close it yourself
            async with Client.connect(...) as client:   # or like this

        Args:
            settings: where to connect; what else is given here wins over it.
            journal_url: the journal, as in `turnwright.journal.drivers`.
            gateway_url: the gateway, such as `https://agents.example.com`, instead of a journal.
            token: the API key, or another token that the gateway takes.
            tenant: whose data, from authentication; a gateway knows it by the token.
            principal: who acts, for the records; likewise.
            temporal_address: host:port of Temporal.
            temporal: a Temporal client you have already.
            migrate: make or update the journal's tables first.

        Raises:
            InvalidInput: the URL or the tenant cannot be used.
            StoreError: there is no journal of this version there.
            StoreUnavailable: the journal, or the gateway, cannot be reached.
            AccessDenied: the gateway does not take the token.
        """
        if settings is not None:
            of_kind("the settings of a client", settings, ClientSettings, "and a journal is `journal_url=…`")
        given = {
            "journal_url": journal_url,
            "gateway_url": gateway_url,
            "token": token,
            "tenant": tenant,
            "principal": principal,
            "temporal_address": temporal_address,
            "temporal": None if temporal is None else _given(temporal),
        }
        return Connecting(replace(settings or ClientSettings(), **_chosen(given)), migrate=migrate)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Send what is left of the wake-ups, for a moment, and disconnect. Harmless twice."""
        await self._access.backend.close()

    async def flush(self, timeout_s: float = FLUSH_S) -> str | None:
        """Wait for wake-ups that are on their way; why the last one was not sent, None when all were."""
        return await self._access.backend.flush(timeout_s)

    def session(self, user: str | None, session_id: str) -> Session:
        """A session of a user (None: anonymous). Raises `InvalidInput` for an id that can be none."""
        return Session(self._access, SessionKey(self._access.tenant, user, session_id))

    async def turn(self, turn_id: str) -> Turn:
        """Find a turn by its id, or by the beginning of it when no other turn's begins so.

        Raises:
            NotFound: no turn of the tenant has it.
            InvalidInput: several have.
        """
        of_kind("a turn's id", turn_id, str, "such as the `id` of a turn")
        wanted = turn_id if turn_id.startswith("t-") else f"t-{turn_id}"
        if _TURN_ID.fullmatch(wanted) is None:
            raise NotFound("turn", turn_id)
        found = await self._access.backend.turns_named(wanted, CANDIDATES_MAX)
        if not found:
            raise NotFound("turn", turn_id)
        if len(found) > 1:
            names = ", ".join(name for name, _ in found)
            raise InvalidInput(f"several turns begin with {turn_id}: {names}; give more of it")
        [(whole, key)] = found
        return Turn(self._access, key, whole)

    async def turns(
        self,
        session: Session | None = None,
        *,
        user: str | EllipsisType | None = ...,
        agent: str | None = None,
        thread: str | None = None,
        phases: tuple[Phase, ...] = PHASES,
        status: ShownStatus | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Page[TurnSeen]:
        """A page of turns, newest first; go on with `after=page.next`.

        Args:
            session: only its turns.
            user: only this user's (None: the anonymous one's; left out: everybody's).
            agent: only this agent's.
            thread: with `session`, only threads of this name.
            phases: only turns in these.
            status: only turns that are shown so.
            after: the `next` of the page before.
            limit: how many; there may be fewer although more follow, where few of many turns are wanted.

        Raises:
            NotFound: there is no such session.
        """
        wanted = TurnFilter(
            self._access.tenant,
            None if session is None else session.key,
            _user(user),
            agent or "",
            thread or "",
            phases,
            status,
        )
        page = await self._access.backend.turns(wanted, after, limit)
        if page is None:
            assert session is not None, "only a session can be missing"
            raise NotFound.session(session.key)
        return page

    async def inbox(
        self,
        session: Session | None = None,
        *,
        user: str | EllipsisType | None = ...,
        agent: str | None = None,
        kind: InteractionKind | None = None,
        tool: str | None = None,
        state: Wanted = "open",
        after: str | None = None,
        limit: int = 50,
    ) -> Page[Question]:
        """A page of questions across sessions, the oldest first; go on with `after=page.next`.

        Args:
            session: only its questions.
            user: as in `turns`.
            agent: only this agent's.
            kind: `approval`, `form`, `external`, `unknown_outcome` or `budget`.
            tool: only about calls of this tool.
            state: `open`, `resolved`, `expired`, `cancelled`, or `any`.
            after: the `next` of the page before.
            limit: how many.

        Raises:
            NotFound: there is no such session.
        """
        wanted = InboxFilter(
            self._access.tenant,
            None if session is None else session.key,
            _user(user),
            agent=agent or "",
            kind=kind or "",
            tool=tool or "",
            state=state,
        )
        page = await self._access.backend.inbox(wanted, after, limit)
        if page is None:
            assert session is not None, "only a session can be missing"
            raise NotFound.session(session.key)
        return page

    async def search(
        self,
        text: str,
        *,
        user: str | EllipsisType | None = ...,
        session: Session | None = None,
        after: str | None = None,
        limit: int = 20,
    ) -> Page[SearchHit]:
        """A page of what people and agents said that fits, and titles, the best first; go on with `after=page.next`.

        All words must occur; `"a phrase"`, `-without` and `begin*` mean what they say. Of very many that fit the
        newest are ranked.

        Args:
            text: what to search for.
            user: as in `turns`.
            session: only what was said in it.
            after: the `next` of the page before.
            limit: how many, 100 at most.

        Raises:
            InvalidInput: there is no word in the text that must occur.
            NotFound: there is no such session.
        """
        of_kind("what is searched for", text, str, "such as 'night train'")
        key = None if session is None else session.key
        wanted = SearchFilter(self._access.tenant, text, key, _user(user))
        page = await self._access.backend.search(wanted, after, limit)
        if page is None:
            assert key is not None, "only a session can be missing"
            raise NotFound.session(key)
        return page

    async def interaction(self, interaction_id: str) -> Question:
        """A question by its id, open or settled. Raises `NotFound`."""
        found = await self._access.backend.interaction(interaction_id)
        if found is None:
            raise NotFound("question", interaction_id)
        return found

    def turn_of(self, question: Question) -> Turn:
        """The turn that a question is of."""
        return Turn(self._access, question.key, question.turn_id)

    async def respond(
        self, interaction_id: str, resolution: str, answer: Mapping[str, Any] | None = None, **how: Unpack[How]
    ) -> Receipt:
        """Answer a question of any turn of the tenant; `approve` and the like say it in their own words.

        Raises:
            NotFound: there is no such question.
            CommandRejected: see `Answering.respond`.
        """
        turn = self.turn_of(await self.interaction(interaction_id))
        return await turn.respond(interaction_id, resolution, answer, **how)

    async def agents(self) -> frozenset[str] | None:
        """The agents that live workers know; None when one of these does not say, or not all of its own."""
        return await self._access.backend.agents()

    async def create_key(
        self, name: str, *, role: Role = "caller", user: str | None = None, expires_in_s: int | None = None
    ) -> NewKey:
        """Make an API key for the gateway; its token is shown only now.

        Args:
            name: who acts with it, for the records.
            role: `caller` (what is the user's), `operator` (all users'), `admin` (also keys, and what erases).
            user: whose sessions it reaches, or for the other roles whose are meant where none is named; None: the
                anonymous user's.
            expires_in_s: for how long it is valid; None: until it is revoked.

        Raises:
            InvalidInput: the name, the role, the user or the time can be none.
            AccessDenied: through a gateway, the client's own token is no admin's.
        """
        grant = Grant(name=name, role=one_of("role", role, ROLES), user=user)
        return await self._access.backend.create_key(grant, expires_in_s)

    async def keys(self, *, after: str | None = None, limit: int = 50) -> Page[ApiKey]:
        """A page of the tenant's API keys, oldest first, those that are no longer valid too."""
        return await self._access.backend.keys(after, limit)

    async def revoke_key(self, key_id: str) -> None:
        """Let an API key be valid no more, from its next use on, and end its open streams. Raises `NotFound`."""
        if not await self._access.backend.revoke_key(key_id):
            raise NotFound("key", key_id)

    async def sessions(
        self, *, user: str | EllipsisType | None = ..., after: str | None = None, limit: int = 50
    ) -> Page[SessionSeen]:
        """A page of sessions, newest first; `user` as in `turns`."""
        return await self._access.backend.sessions(_user(user), after, limit)


class Connecting:
    """A client that is being connected: await it, or enter it with `async with`."""

    def __init__(self, settings: ClientSettings, *, migrate: bool) -> None:
        self._settings = settings
        self._migrate = migrate
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        return self._connect().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._connect()
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()

    async def _connect(self) -> Client:
        quiet_logs("warning")
        settings = self._settings
        if settings.gateway_url is not None:
            # Here, because who reads the journal itself needs no HTTP.
            from turnwright.client.remote.connecting import gateway_access  # noqa: PLC0415

            access = await gateway_access(settings.gateway_url, settings.token)
            return Client(access, replace(settings, tenant=access.tenant, principal=access.principal))
        checked_part("tenant", settings.tenant)
        return Client.of(await open_journal(settings.journal_url, migrate=self._migrate), settings)


def _given(temporal: TemporalClient) -> Any:  # noqa: ANN401 - a factory, as the settings want it
    async def give() -> TemporalClient:
        return temporal

    return give


def _chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, if it can be that. Raises `InvalidInput`."""
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen.keys() - {"temporal"}:
        of_kind(name, chosen[name], str, "such as 'sqlite:///journal.db'" if name == "journal_url" else "a name")
    return chosen


def _user(user: str | EllipsisType | None) -> str:
    if user is None:
        return ANONYMOUS
    return ANY_USER if isinstance(user, EllipsisType) else f"+{user}"
