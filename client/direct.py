"""A client inside the trust boundary: it reads and writes the stores itself.

Rule: a command is answered when its transaction is committed; only then is anything woken.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from turnwright.client.access import checked
from turnwright.client.bringing import Brought, WantedConversation, bringing
from turnwright.client.enlisting import statements_of
from turnwright.client.errors import ClientClosed
from turnwright.client.questions import Question, question_of
from turnwright.client.tracing.commands import Giver, identity_of, tell_rejections
from turnwright.client.turn_report import Reading, TurnReport
from turnwright.client.views import TurnView, view_of
from turnwright.client.wakes import Wakes
from turnwright.journal import (
    store_admin,
    store_enlisting,
    store_keys,
    store_schedules,
    store_search,
    store_webhooks,
)
from turnwright.journal.agent_state import AgentState
from turnwright.journal.api_keys import ApiKey, Grant, NewKey
from turnwright.journal.budgets import Used
from turnwright.journal.commands import (
    ClientCommand,
    CreateSchedule,
    DeleteSchedule,
    DeleteSession,
    PauseSchedule,
    Receipt,
    Respond,
    ResumeSchedule,
    SessionCommand,
    Submit,
)
from turnwright.journal.deltas import DeltaPlace, Heard
from turnwright.journal.driver import Subscription
from turnwright.journal.entries import Entry
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.schedules import Schedule
from turnwright.journal.store import Journal
from turnwright.journal.store_children import asked_below
from turnwright.journal.store_delete import Deleted, delete_session
from turnwright.journal.store_export import export_session
from turnwright.journal.store_import import Imported, Target, import_session
from turnwright.journal.takers import known_agents
from turnwright.journal.transact.inbox import InboxFilter
from turnwright.journal.transact.listing import Page, TurnFilter, TurnSeen
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen, TurnPage
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.searching import SearchFilter, SearchHit
from turnwright.journal.webhooks import NewWebhook, WantedWebhook, Webhook
from turnwright.journal.why import Why

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

RETRY_S = 0.2
CLOSE_S = 2.0
# No thread has anything to do for them; the workers hear of them from the store.
UNHEARD = (CreateSchedule, PauseSchedule, ResumeSchedule, DeleteSchedule)
T = TypeVar("T")


class Direct:
    """The `Backend` of a journal and its wake-ups; `tracer`: for the spans of commands, None: the process's own."""

    def __init__(self, journal: Journal, tenant: str, wakes: Wakes, tracer: Tracer | None = None) -> None:
        self._opened = journal
        self._tenant = tenant
        self._wakes = wakes
        self._giver = Giver(journal.journal_id, tracer)

    @property
    def journal(self) -> Journal:
        """The journal. Raises `ClientClosed`."""
        if self._wakes.closed:
            raise ClientClosed
        return self._opened

    async def close(self) -> None:
        """Send what is left of the wake-ups, for a moment, and disconnect."""
        await self._wakes.close(CLOSE_S)
        await self._opened.close()

    async def flush(self, timeout_s: float) -> str | None:
        """Wait for wake-ups that are on their way; why the last one was not sent, None when all were."""
        if await self._wakes.flush(timeout_s):
            return None
        return self._wakes.failure or f"no answer in {timeout_s:g} s"

    async def execute(self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> Receipt:
        """Carry out a command, and wake what it concerns; an answer to what a child asks is given to the child."""
        (receipt,) = await self._giver.give(key, [command], lambda: self._execute(key, command))
        return receipt

    async def _execute(
        self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand
    ) -> tuple[Receipt, ...]:
        receipt = await _twice(lambda: self.journal.execute(key, command), command.request_id)
        if isinstance(command, Respond) and receipt.status == "rejected":
            below = await _twice(lambda: asked_below(self.journal, self._tenant, command), command.request_id)
            if below is not None:
                key, theirs = below
                receipt = await _twice(lambda: self.journal.execute(key, theirs), command.request_id)
        silent = isinstance(command, UNHEARD) or (isinstance(key, ThreadKey) and key.is_session_log)
        if receipt.status != "rejected" and not silent:
            self._wakes.send(key)
        return (receipt,)

    async def execute_together(
        self, key: ThreadKey, commands: Sequence[ClientCommand], moot: Collection[str]
    ) -> tuple[Receipt, ...]:
        """Carry out all of them, or none; one that is rejected with a `moot` code is let go.

        Raises:
            CommandRejected: one is rejected for another reason.
            StoreUnavailable: whether they were committed is open; repeat them with the same request ids.
        """
        ids = ", ".join(command.request_id for command in commands)
        receipts = await self._giver.give(
            key, commands, lambda: _twice(lambda: self.journal.execute_together(key, commands, moot), ids)
        )
        for receipt in receipts:
            checked(receipt, check=receipt.code not in moot, key=key)
        self._wakes.send(key)
        return receipts

    async def delete(self, key: SessionKey, command: DeleteSession) -> Deleted:
        """Erase it piece by piece; what a crash leaves over is erased by the workers."""
        with self._giver.within("delete_session", identity_of(key)) as span:
            deleted = await delete_session(self.journal, key, command)
            tell_rejections(span, deleted.receipt)
            return deleted

    async def import_session(
        self, path: Path, target: Target, principal: str, reason: str | None, *, go_on: bool
    ) -> Imported:
        """Take in an exported session, and wake what may go on."""
        with self._giver.within("import_session", {"turnwright.tenant": target.tenant}) as span:
            done = await import_session(self.journal, path, target, principal=principal, reason=reason, go_on=go_on)
            if span is not None:  # before, only the file knew it
                span.set_attributes(identity_of(done.key))
        if done.unfinished:
            self._wakes.send(done.key)
        return done

    async def enlist(self, key: ThreadKey, command: Submit, connection: object) -> Receipt:
        """Whoever sees the caller's commit queues the turn and wakes the thread."""
        store_enlisting.schema_of(self.journal)
        ask = await statements_of(connection)

        async def enlist() -> tuple[Receipt, ...]:
            return (await store_enlisting.enlist(self.journal, key, command, ask),)

        (receipt,) = await self._giver.give(key, [command], enlist)
        return receipt

    async def bring(
        self, key: ThreadKey, wanted: WantedConversation, request_id: str, principal: str, reason: str | None
    ) -> Brought:
        """Begin a thread with it; nothing is to be woken."""
        found = await wanted.read()
        command = bringing(found, request_id, principal, reason)

        async def begin() -> tuple[Receipt, ...]:
            return (await _twice(lambda: self.journal.execute(key, command), request_id),)

        (receipt,) = await self._giver.give(key, [command], begin)
        return Brought(receipt, len(found.messages), found.notes)

    async def create_key(self, grant: Grant, expires_in_s: int | None) -> NewKey:
        """Make an API key of the tenant."""
        return await store_keys.create_key(self.journal.driver, self._tenant, grant, expires_in_s=expires_in_s)

    async def revoke_key(self, key_id: str) -> bool:
        """Let a key be valid no more."""
        return await store_keys.revoke_key(self.journal.driver, self._tenant, key_id)

    async def keys(self, after: str | None, limit: int) -> Page[ApiKey]:
        """API keys, oldest first."""
        return await store_keys.list_keys(self.journal.driver, self._tenant, after, limit)

    async def create_webhook(
        self, key: SessionKey, wanted: WantedWebhook, principal: str, request_id: str
    ) -> NewWebhook | None:
        """Make a webhook."""
        return await store_webhooks.create_webhook(self.journal.driver, key, wanted, principal, request_id)

    async def delete_webhook(self, key: SessionKey, turn_id: str | None, webhook_id: str) -> bool:
        """Remove a webhook of a session, or of a turn."""
        return await store_webhooks.delete_webhook(self.journal.driver, key, turn_id, webhook_id)

    async def webhooks(
        self, key: SessionKey, turn_id: str | None, after: str | None, limit: int
    ) -> Page[Webhook] | None:
        """Webhooks of a session, or of a turn, oldest first."""
        return await store_webhooks.list_webhooks(self.journal.driver, key, turn_id, after, limit)

    async def sessions(self, user: str, after: str | None, limit: int) -> Page[SessionSeen]:
        """Sessions, newest first."""
        return await store_admin.list_sessions(self.journal, self._tenant, user, after, limit)

    async def threads(self, key: SessionKey, after: str | None, limit: int) -> Page[ThreadSeen] | None:
        """Threads of a session, oldest first."""
        return await store_admin.list_threads(self.journal, key, after, limit)

    async def turns(self, wanted: TurnFilter, after: str | None, limit: int) -> Page[TurnSeen] | None:
        """Turns, newest first."""
        return await store_admin.list_turns(self.journal, wanted, after, limit)

    async def turns_named(self, beginning: str, limit: int) -> tuple[tuple[str, ThreadKey], ...]:
        """Turns whose id begins so, with their threads."""
        return await store_admin.find_turns_named(self.journal, self._tenant, beginning, limit)

    async def inbox(self, wanted: InboxFilter, after: str | None, limit: int) -> Page[Question] | None:
        """Questions, oldest first."""
        page = await store_admin.read_inbox(self.journal, wanted, after, limit)
        return None if page is None else Page(tuple(question_of(found) for found in page.items), page.next)

    async def search(self, wanted: SearchFilter, after: str | None, limit: int) -> Page[SearchHit] | None:
        """What was said that fits, the best first."""
        return await store_search.search(self.journal, wanted, after, limit)

    async def schedules(self, key: SessionKey) -> tuple[Schedule, ...] | None:
        """Schedules of a session, oldest first."""
        return await store_schedules.list_schedules(self.journal, key)

    async def schedule(self, key: SessionKey, name: str) -> Schedule | None:
        """A schedule of a session by its name."""
        return await store_schedules.find_schedule(self.journal, key, name)

    async def agents(self) -> frozenset[str] | None:
        """The agents that live workers know."""
        return known_agents(await self.journal.driver.presences())

    async def session(self, key: SessionKey) -> SessionSeen | None:
        """A session as it is now."""
        return await store_admin.see_session(self.journal, key)

    async def session_used(self, key: SessionKey) -> Used | None:
        """What the session's threads used of its budget."""
        return await store_admin.session_used(self.journal, key)

    async def timeline(self, key: SessionKey, after_position: int, limit: int) -> list[Located]:
        """A page of the entries of all of a session's threads."""
        return await self.journal.timeline(key, after_position, limit)

    async def blob(self, key: SessionKey, sha256: str) -> bytes | None:
        """The bytes of one of a session's media."""
        return await self.journal.blob(key, sha256)

    async def thread(self, key: ThreadKey) -> ThreadSeen | None:
        """A thread as it is now."""
        return await store_admin.see_thread(self.journal, key)

    async def state(self, key: ThreadKey, at_seq: int | None) -> AgentState:
        """The agent's state now, or at an earlier entry."""
        return await self.journal.state(key, at_seq)

    async def entries(self, key: ThreadKey, after_seq: int, limit: int) -> list[Entry]:
        """A page of a thread's entries."""
        return await self.journal.entries(key, after_seq, limit)

    def export(self, key: SessionKey) -> AsyncIterator[bytes]:
        """The lines of a session's file."""
        return export_session(self.journal, key)

    def watch(self, key: ThreadKey | SessionKey) -> Subscription:
        """Watch commits of this and of other processes."""
        return self.journal.watch(key)

    async def said(self, key: ThreadKey, after: DeltaPlace) -> Heard:
        """What the thread's running model call has said behind a place."""
        return await self.journal.deltas.read(key, after)

    def watch_said(self, key: ThreadKey) -> Subscription:
        """Watch commits to a thread, and what its model calls say."""
        return self.journal.deltas.watch(key)

    async def turn(self, key: ThreadKey, turn_id: str, *, children: bool = True) -> TurnView | None:
        """A turn as it is now, with its `children` or without."""
        scene = await store_admin.see_turn(self.journal, key, turn_id, children=children)
        return None if scene is None else view_of(scene)

    async def why(self, key: ThreadKey, turn_id: str) -> Why | None:
        """What a turn waits for."""
        scene = await store_admin.see_turn(self.journal, key, turn_id)
        return None if scene is None else await store_admin.explain_turn(self.journal, scene)

    async def report(self, key: ThreadKey, turn_id: str) -> TurnReport | None:
        """A turn, and all of it up to now; the view is of the moment before its entries are read."""
        scene = await store_admin.see_turn(self.journal, key, turn_id)
        if scene is None:
            return None
        reading, after = Reading(), 0
        while page := await self.turn_page(key, turn_id, after):
            reading.add(page.entries)
            if page.last or not page.entries:
                break
            after = page.through_seq
        return reading.report(view_of(scene), await store_admin.explain_turn(self.journal, scene))

    async def turn_page(self, key: ThreadKey, turn_id: str, after_seq: int) -> TurnPage | None:
        """Entries of a turn after a place in its thread."""
        return await store_admin.read_turn_page(self.journal, key, turn_id, after_seq)

    async def turn_entry(self, key: ThreadKey, turn_id: str, entry_id: str) -> Entry | None:
        """One entry of a turn."""
        return await store_admin.find_turn_entry(self.journal, key, turn_id, entry_id)

    async def interaction(self, interaction_id: str) -> Question | None:
        """A question by its id."""
        found = await store_admin.find_interaction(self.journal, self._tenant, interaction_id)
        return None if found is None else question_of(found)


async def _twice(execute: Callable[[], Awaitable[T]], request_id: str) -> T:
    """Try twice: a connection that died with a restarted server is only found out by using it."""
    try:
        return await execute()
    except StoreUnavailable:
        await asyncio.sleep(RETRY_S)
    try:
        return await execute()
    except StoreUnavailable as error:
        error.add_note(f"whether it was committed is open: repeat it with request id {request_id!r}")
        raise
