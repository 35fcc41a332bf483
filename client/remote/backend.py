"""A gateway as a `Backend`: each method is one request, and gives what the stores themselves would."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel

from turnwright.client.bringing import Brought, WantedConversation
from turnwright.client.command_routes import PATHS, path_of, route_of, said_in_body
from turnwright.client.questions import Question
from turnwright.client.remote.http import Http, Params, error_of, problem_in, where
from turnwright.client.remote.watch import RemoteWatch
from turnwright.client.tracing.commands import Giver, identity_of, tell_rejections
from turnwright.client.turn_report import TurnReport
from turnwright.client.views import TurnView
from turnwright.client.wire import dumped, loaded, plain
from turnwright.journal.agent_state import AgentState
from turnwright.journal.api_keys import ApiKey, Grant, NewKey, Role
from turnwright.journal.budgets import Used
from turnwright.journal.canonical import encode, repair
from turnwright.journal.commands import ClientCommand, DeleteSession, Receipt, SessionCommand, Submit, TurnCommand
from turnwright.journal.deltas import DeltaPlace, Heard
from turnwright.journal.driver import Subscription
from turnwright.journal.entries import Entry
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.schedules import Schedule
from turnwright.journal.shown import PHASES
from turnwright.journal.store_delete import Deleted
from turnwright.journal.store_import import Imported, Target
from turnwright.journal.transact.inbox import InboxFilter
from turnwright.journal.transact.listing import ANONYMOUS, Page, TurnFilter, TurnSeen
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen, TurnPage
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.searching import HITS_MAX, SearchFilter, SearchHit
from turnwright.journal.webhooks import NewWebhook, WantedWebhook, Webhook
from turnwright.journal.why import Why

T = TypeVar("T")
NOT_FOUND = 404
NOTHING = b"null"
SESSION, THREAD, TURN = PATHS["session"], PATHS["thread"], PATHS["turn"]


class Me(BaseModel):
    """Who the gateway takes the token's bearer for."""

    tenant: str
    principal: str
    role: Role
    user: str | None
    journal_id: str


class Remote:
    """The `Backend` of a gateway."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._journal_id = ""
        self._giver = Giver(self._journal, accepts=False)

    async def me(self) -> Me:
        """Who the gateway takes the client for. Raises `AccessDenied`."""
        found = await self._find(Me, where("/me"))
        if found is None:
            raise InvalidInput("there is no gateway of Turnwright at this URL; give the one `turnwright gateway` shows")
        self._journal_id = found.journal_id
        return found

    async def _journal(self) -> str:
        """The id of the journal behind the gateway, as it was when the client connected."""
        return self._journal_id or (await self.me()).journal_id

    async def close(self) -> None:
        """Disconnect."""
        await self._http.close()

    async def flush(self, timeout_s: float) -> str | None:
        """Nothing is left to send: the gateway sends the wake-ups."""
        return None

    async def execute(self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> Receipt:
        """Carry out a command."""
        (receipt,) = await self._giver.give(key, [command], lambda: self._execute(key, command))
        return receipt

    async def _execute(
        self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand
    ) -> tuple[Receipt, ...]:
        route = route_of(key, command)
        turn_id = command.turn_id if isinstance(command, TurnCommand) else ""
        path = path_of(route.path, key, turn=turn_id)
        body = encode(repair(plain(dict[str, Any], _sendable(said_in_body(command)))))
        answer = await self._http.ask(route.method, path, _owner(key), body, command.request_id)
        return (loaded(Receipt, answer.content) if answer.is_success else _rejection(answer, command.request_id),)

    async def delete(self, key: SessionKey, command: DeleteSession) -> Deleted:
        """Erase a session with everything in it."""
        params = dict(_owner(key)) | ({} if command.reason is None else {"reason": command.reason})
        params |= {"make_forks_whole": True} if command.make_forks_whole else {}
        with self._giver.within("delete_session", identity_of(key)) as span:
            answer = await self._http.ask("DELETE", path_of(SESSION, key), params, None, command.request_id)
            if answer.is_success:
                return loaded(Deleted, answer.content)
            rejected = _rejection(answer, command.request_id)
            tell_rejections(span, rejected)
            return Deleted(rejected)

    async def import_session(
        self, path: Path, target: Target, principal: str, reason: str | None, *, go_on: bool
    ) -> Imported:
        """Nothing is imported through a gateway: a file of any size is read twice, and bodies are bounded."""
        del path, target, principal, reason, go_on
        raise InvalidInput("a session is imported where its journal is: give `journal_url=…` (--journal), no gateway")

    async def enlist(self, key: ThreadKey, command: Submit, connection: object) -> Receipt:
        """A transaction cannot be joined from outside."""
        raise InvalidInput(
            "a submit joins a transaction only where the client reads the journal itself; connect with journal_url=…"
        )

    async def bring(
        self, key: ThreadKey, wanted: WantedConversation, request_id: str, principal: str, reason: str | None
    ) -> Brought:
        """Begin a thread with it; the gateway reads it."""
        body = await wanted.as_json(reason)
        with self._giver.within("import_thread", identity_of(key)) as span:
            answer = await self._http.ask("POST", path_of(THREAD + "/import", key), _owner(key), body, request_id)
            if answer.is_success:
                return loaded(Brought, answer.content)
            rejected = _rejection(answer, request_id)
            tell_rejections(span, rejected)
            return Brought(rejected)

    async def create_key(self, grant: Grant, expires_in_s: int | None) -> NewKey:
        """Make an API key of the tenant."""
        body = dumped(dict[str, Any], {**grant.model_dump(), "expires_in_s": expires_in_s})
        answer = await self._http.ask("POST", where("/keys"), None, body)
        if not answer.is_success:
            raise error_of(answer)
        return loaded(NewKey, answer.content)

    async def revoke_key(self, key_id: str) -> bool:
        """Let a key be valid no more."""
        return await self._delete(path_of("/keys/{api_key}", api_key=key_id))

    async def keys(self, after: str | None, limit: int) -> Page[ApiKey]:
        """API keys, oldest first."""
        return await self._listed(Page[ApiKey], where("/keys"), _place(after, limit))

    async def create_webhook(
        self,
        key: SessionKey,
        wanted: WantedWebhook,
        principal: str,
        request_id: str,
    ) -> NewWebhook | None:
        """Make a webhook."""
        said = {"url": wanted.url, "types": wanted.types, "after": wanted.after}
        where_to, params = _hooked(key, wanted.turn_id)
        answer = await self._http.ask("POST", where_to, params, dumped(dict[str, Any], said), request_id)
        if answer.status_code == NOT_FOUND:
            return None
        if not answer.is_success:
            raise error_of(answer)
        return loaded(NewWebhook, answer.content)

    async def delete_webhook(self, key: SessionKey, turn_id: str | None, webhook_id: str) -> bool:
        """Remove a webhook of a session, or of a turn."""
        where_to, params = _hooked(key, turn_id, "/{webhook}", webhook=webhook_id)
        return await self._delete(where_to, params)

    async def webhooks(
        self, key: SessionKey, turn_id: str | None, after: str | None, limit: int
    ) -> Page[Webhook] | None:
        """Webhooks of a session, or of a turn, oldest first."""
        where_to, params = _hooked(key, turn_id)
        return await self._find(Page[Webhook], where_to, dict(params) | _place(after, limit))

    async def sessions(self, user: str, after: str | None, limit: int) -> Page[SessionSeen]:
        """Sessions, newest first."""
        return await self._listed(Page[SessionSeen], where("/sessions"), _users(user) | _place(after, limit))

    async def threads(self, key: SessionKey, after: str | None, limit: int) -> Page[ThreadSeen] | None:
        """Threads of a session, oldest first."""
        return await self._find(
            Page[ThreadSeen], path_of(SESSION, key) + "/threads", dict(_owner(key)) | _place(after, limit)
        )

    async def turns(self, wanted: TurnFilter, after: str | None, limit: int) -> Page[TurnSeen] | None:
        """Turns, newest first."""
        params = _scope(wanted.session, wanted.user) | _place(after, limit)
        params |= {"agent": wanted.agent, "thread": wanted.thread}
        if wanted.phases != PHASES:
            params["phase"] = list(wanted.phases)
        if wanted.shown is not None:
            params["status"] = wanted.shown
        return await self._find(Page[TurnSeen], where("/turns"), params)

    async def turns_named(self, beginning: str, limit: int) -> tuple[tuple[str, ThreadKey], ...]:
        """Turns whose id begins so."""
        found = await self._find(
            tuple[tuple[str, ThreadKey], ...], where("/turns-named"), {"beginning": beginning, "limit": limit}
        )
        return found or ()

    async def inbox(self, wanted: InboxFilter, after: str | None, limit: int) -> Page[Question] | None:
        """Questions, oldest first."""
        params = _scope(wanted.session, wanted.user) | _place(after, limit)
        params |= {"agent": wanted.agent, "thread": wanted.thread, "tool": wanted.tool, "state": wanted.state}
        if wanted.kind:
            params["kind"] = wanted.kind
        return await self._find(Page[Question], where("/interactions"), params)

    async def search(self, wanted: SearchFilter, after: str | None, limit: int) -> Page[SearchHit] | None:
        """What was said that fits, the best first."""
        params = _scope(wanted.session, wanted.user) | _place(after, max(1, min(limit, HITS_MAX))) | {"q": wanted.text}
        return await self._find(Page[SearchHit], where("/search"), params)

    async def schedules(self, key: SessionKey) -> tuple[Schedule, ...] | None:
        """Schedules of a session, oldest first."""
        return await self._find(tuple[Schedule, ...], path_of(SESSION, key) + "/schedules", _owner(key))

    async def schedule(self, key: SessionKey, name: str) -> Schedule | None:
        """A schedule of a session by its name."""
        return await self._find(Schedule, path_of(SESSION + "/schedules/{schedule}", key, schedule=name), _owner(key))

    async def agents(self) -> frozenset[str] | None:
        """The agents that live workers know."""
        return await self._find(frozenset[str], where("/agents"))

    async def session(self, key: SessionKey) -> SessionSeen | None:
        """A session as it is now."""
        return await self._find(SessionSeen, path_of(SESSION, key), _owner(key))

    async def session_used(self, key: SessionKey) -> Used | None:
        """What the session's threads used of its budget."""
        return await self._find(Used, path_of(SESSION, key) + "/used", _owner(key))

    async def timeline(self, key: SessionKey, after_position: int, limit: int) -> list[Located]:
        """A page of the entries of all of a session's threads."""
        params = dict(_owner(key)) | {"after": after_position, "limit": limit}
        return await self._find(list[Located], path_of(SESSION, key) + "/timeline", params) or []

    async def blob(self, key: SessionKey, sha256: str) -> bytes | None:
        """The bytes of one of a session's media."""
        return await self._http.get(path_of(SESSION + "/blobs/{blob}", key, blob=sha256), _owner(key))

    async def thread(self, key: ThreadKey) -> ThreadSeen | None:
        """A thread as it is now."""
        return await self._find(ThreadSeen, path_of(THREAD, key), _owner(key))

    async def state(self, key: ThreadKey, at_seq: int | None) -> AgentState:
        """The agent's state now, or at an earlier entry."""
        params = dict(_owner(key)) | ({} if at_seq is None else {"at": at_seq})
        return await self._listed(AgentState, path_of(THREAD, key) + "/state", params)

    async def entries(self, key: ThreadKey, after_seq: int, limit: int) -> list[Entry]:
        """A page of a thread's entries."""
        params = dict(_owner(key)) | {"after": after_seq, "limit": limit}
        return await self._find(list[Entry], path_of(THREAD, key) + "/entries", params) or []

    async def export(self, key: SessionKey) -> AsyncIterator[bytes]:
        """The lines of a session's file."""
        path, params = path_of(SESSION, key) + "/export", _owner(key)
        async with self._http.parts(path, params) as chunks:
            async for chunk in chunks:
                yield chunk

    def watch(self, key: ThreadKey | SessionKey) -> Subscription:
        """Watch through a stream of the gateway."""
        template = SESSION if isinstance(key, SessionKey) else THREAD
        return RemoteWatch(self._http, path_of(template, key), _owner(key))

    async def said(self, key: ThreadKey, after: DeltaPlace) -> Heard:
        """What the thread's running model call has said behind a place."""
        params = dict(_owner(key)) | asdict(after)
        return await self._find(Heard, path_of(THREAD, key) + "/said", params) or Heard(place=after)

    def watch_said(self, key: ThreadKey) -> Subscription:
        """Watch commits to a thread, and what its model calls say, through a stream of the gateway."""
        return RemoteWatch(self._http, path_of(THREAD, key), {**_owner(key), "deltas": True})

    async def turn(self, key: ThreadKey, turn_id: str, *, children: bool = True) -> TurnView | None:
        """A turn as it is now, with its `children` or without."""
        return await self._find(TurnView, path_of(TURN, turn=turn_id), None if children else {"children": False})

    async def why(self, key: ThreadKey, turn_id: str) -> Why | None:
        """What a turn waits for."""
        return await self._find(Why, path_of(TURN, turn=turn_id) + "/why")

    async def report(self, key: ThreadKey, turn_id: str) -> TurnReport | None:
        """A turn, and all of it up to now."""
        return await self._find(TurnReport, path_of(TURN, turn=turn_id) + "/report")

    async def turn_page(self, key: ThreadKey, turn_id: str, after_seq: int) -> TurnPage | None:
        """Entries of a turn after a place in its thread."""
        return await self._find(TurnPage, path_of(TURN, turn=turn_id) + "/entries", {"after": after_seq})

    async def turn_entry(self, key: ThreadKey, turn_id: str, entry_id: str) -> Entry | None:
        """One entry of a turn."""
        return await self._find(Entry, path_of(TURN + "/entries/{entry}", turn=turn_id, entry=entry_id))

    async def interaction(self, interaction_id: str) -> Question | None:
        """A question by its id."""
        return await self._find(Question, path_of("/interactions/{interaction}", interaction=interaction_id))

    async def _delete(self, path: str, params: Params | None = None) -> bool:
        answer = await self._http.ask("DELETE", path, params)
        if answer.status_code == NOT_FOUND:
            return False
        if not answer.is_success:
            raise error_of(answer)
        return True

    async def _find(self, kind: type[T], path: str, params: Params | None = None) -> T | None:
        """What is there; None if nothing is, or nothing this token reaches, or if that is what is said of it."""
        found = await self._http.get(path, params)
        return None if found is None or found == NOTHING else loaded(kind, found)

    async def _listed(self, kind: type[T], path: str, params: Params) -> T:
        found = await self._find(kind, path, params)
        if found is None:
            raise InvalidInput("there is nothing of that name that this client's token reaches")
        return found


def _rejection(answer: httpx2.Response, request_id: str) -> Receipt:
    """The receipt of a command that was decided against. Raises what else the answer means."""
    problem = problem_in(answer)
    if (receipt := problem.get("receipt")) is not None:
        return Receipt(**receipt)
    if problem.get("code") == "not_found":
        return Receipt(request_id, "rejected", f"unknown_{problem.get('what', 'thing')}", problem.get("detail"))
    raise error_of(answer)


def _owner(key: SessionKey | ThreadKey) -> Mapping[str, str | bool]:
    return {"anonymous": True} if key.user is None else {"user": key.user}


def _hooked(key: SessionKey, turn_id: str | None, more: str = "", **named: str) -> tuple[str, Mapping[str, str | bool]]:
    """Where the webhooks of a session or a turn are, and whose they are."""
    if turn_id is not None:
        return path_of(f"{TURN}/webhooks{more}", None, turn=turn_id, **named), {}
    return path_of(f"{SESSION}/webhooks{more}", key, **named), _owner(key)


def _users(user: str) -> dict[str, Any]:
    return {"anonymous": True} if user == ANONYMOUS else {"user": user[1:]} if user else {}


def _scope(session: SessionKey | None, user: str) -> dict[str, Any]:
    if session is None:
        return _users(user)
    return {"session": session.session, **_owner(session)}


def _place(after: str | None, limit: int) -> dict[str, Any]:
    return {"limit": limit} if after is None else {"limit": limit, "after": after}


def _sendable(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.model_dump(mode="json", exclude_unset=True) if isinstance(value, BaseModel) else value
        for name, value in fields.items()
    }
