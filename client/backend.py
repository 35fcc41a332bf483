"""What a client is connected to: the stores themselves, or a gateway that speaks for them.

Rule: it takes commands and answers reads, each of one moment; whatever waits or repeats is written once, above it.
None stands for what is not there; nothing but what stands under "commands" changes anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from turnwright.client.bringing import Brought, WantedConversation
from turnwright.client.questions import Question
from turnwright.client.turn_report import TurnReport
from turnwright.client.views import TurnView
from turnwright.journal.agent_state import AgentState
from turnwright.journal.api_keys import ApiKey, Grant, NewKey
from turnwright.journal.budgets import Used
from turnwright.journal.commands import ClientCommand, DeleteSession, Receipt, SessionCommand, Submit
from turnwright.journal.deltas import DeltaPlace, Heard
from turnwright.journal.driver import Subscription
from turnwright.journal.entries import Entry
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.schedules import Schedule
from turnwright.journal.store_delete import Deleted
from turnwright.journal.store_import import Imported, Target
from turnwright.journal.transact.inbox import InboxFilter
from turnwright.journal.transact.listing import Page, TurnFilter, TurnSeen
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen, TurnPage
from turnwright.journal.transact.reading import Located
from turnwright.journal.transact.searching import SearchFilter, SearchHit
from turnwright.journal.webhooks import NewWebhook, WantedWebhook, Webhook
from turnwright.journal.why import Why


class Backend(Protocol):
    """A journal, seen by one tenant's client. Lists hold what the tenant has, and nothing of another one."""

    async def close(self) -> None:
        """Finish what is on its way, for a moment, and disconnect. Harmless twice."""
        ...

    async def flush(self, timeout_s: float) -> str | None:
        """Wait until what follows from accepted commands was sent; why it was not, None when it was."""
        ...

    # -- commands ------------------------------------------------------------------------------

    async def execute(self, key: ThreadKey | SessionKey, command: ClientCommand | SessionCommand) -> Receipt:
        """Carry out a command, and wake what it concerns when it was accepted.

        Raises:
            StoreUnavailable: whether it was committed is open; repeat it with the same request id.
        """
        ...

    async def delete(self, key: SessionKey, command: DeleteSession) -> Deleted:
        """Erase a session with everything in it."""
        ...

    async def import_session(
        self, path: Path, target: Target, principal: str, reason: str | None, *, go_on: bool
    ) -> Imported:
        """Take in an exported session.

        Raises:
            InvalidInput: the file is not whole or not what was exported, or this is not done here.
        """
        ...

    async def enlist(self, key: ThreadKey, command: Submit, connection: object) -> Receipt:
        """Submit in a transaction of the caller.

        Raises:
            InvalidInput: the connection can be in no transaction of the journal's database, or is in none.
        """
        ...

    async def bring(
        self, key: ThreadKey, wanted: WantedConversation, request_id: str, principal: str, reason: str | None
    ) -> Brought:
        """Begin a thread with a conversation from elsewhere.

        Raises:
            InvalidInput: it cannot be read.
        """
        ...

    async def create_key(self, grant: Grant, expires_in_s: int | None) -> NewKey:
        """Make an API key of the tenant."""
        ...

    async def revoke_key(self, key_id: str) -> bool:
        """Let a key be valid no more; False when the tenant has none of that id."""
        ...

    async def create_webhook(
        self, key: SessionKey, wanted: WantedWebhook, principal: str, request_id: str
    ) -> NewWebhook | None:
        """Make a webhook; None when there is no such session, or no such turn in it."""
        ...

    async def delete_webhook(self, key: SessionKey, turn_id: str | None, webhook_id: str) -> bool:
        """Remove a webhook of a session, or of a turn; False when it has none of that id."""
        ...

    # -- lists ---------------------------------------------------------------------------------

    async def sessions(self, user: str, after: str | None, limit: int) -> Page[SessionSeen]:
        """Sessions, newest first; `user` as in `TurnFilter`."""
        ...

    async def threads(self, key: SessionKey, after: str | None, limit: int) -> Page[ThreadSeen] | None:
        """Threads of a session, oldest first."""
        ...

    async def turns(self, wanted: TurnFilter, after: str | None, limit: int) -> Page[TurnSeen] | None:
        """Turns, newest first; None when the filter names a session that does not exist."""
        ...

    async def turns_named(self, beginning: str, limit: int) -> tuple[tuple[str, ThreadKey], ...]:
        """Turns whose id begins so, with their threads."""
        ...

    async def inbox(self, wanted: InboxFilter, after: str | None, limit: int) -> Page[Question] | None:
        """Questions, oldest first; None when the filter names a session that does not exist."""
        ...

    async def search(self, wanted: SearchFilter, after: str | None, limit: int) -> Page[SearchHit] | None:
        """What was said that fits, the best first; None when the filter names a session that does not exist.

        Raises:
            InvalidInput: there is no word in what is searched for, or `after` is no place of a search.
        """
        ...

    async def keys(self, after: str | None, limit: int) -> Page[ApiKey]:
        """API keys, oldest first."""
        ...

    async def webhooks(
        self, key: SessionKey, turn_id: str | None, after: str | None, limit: int
    ) -> Page[Webhook] | None:
        """Webhooks of a session, or of a turn, oldest first; None when there is no such session or turn."""
        ...

    async def agents(self) -> frozenset[str] | None:
        """The agents that live workers know; None when one of these does not say, or not all of its own."""
        ...

    async def schedules(self, key: SessionKey) -> tuple[Schedule, ...] | None:
        """Schedules of a session, oldest first; None when there is no such session."""
        ...

    async def schedule(self, key: SessionKey, name: str) -> Schedule | None:
        """A schedule of a session by its name."""
        ...

    # -- sessions and threads ------------------------------------------------------------------

    async def session(self, key: SessionKey) -> SessionSeen | None:
        """A session as it is now."""
        ...

    async def session_used(self, key: SessionKey) -> Used | None:
        """What the session's threads used of its budget; None: it has none."""
        ...

    async def timeline(self, key: SessionKey, after_position: int, limit: int) -> list[Located]:
        """A page of the entries of all of a session's threads, by position."""
        ...

    async def blob(self, key: SessionKey, sha256: str) -> bytes | None:
        """The bytes of one of a session's media."""
        ...

    async def thread(self, key: ThreadKey) -> ThreadSeen | None:
        """A thread as it is now."""
        ...

    async def state(self, key: ThreadKey, at_seq: int | None) -> AgentState:
        """The agent's state now, or at an earlier entry."""
        ...

    async def entries(self, key: ThreadKey, after_seq: int, limit: int) -> list[Entry]:
        """A page of a thread's entries."""
        ...

    def export(self, key: SessionKey) -> AsyncIterator[bytes]:
        """The lines of a session's file."""
        ...

    def watch(self, key: ThreadKey | SessionKey) -> Subscription:
        """Watch commits to a thread, or to all of a session."""
        ...

    async def said(self, key: ThreadKey, after: DeltaPlace) -> Heard:
        """What the thread's running model call has said behind a place; whoever asks counts as one who listens."""
        ...

    def watch_said(self, key: ThreadKey) -> Subscription:
        """Watch commits to a thread, and what its model calls say."""
        ...

    # -- turns and questions -------------------------------------------------------------------

    async def turn(self, key: ThreadKey, turn_id: str, *, children: bool = True) -> TurnView | None:
        """A turn as it is now, with its `children` or without."""
        ...

    async def why(self, key: ThreadKey, turn_id: str) -> Why | None:
        """What a turn waits for."""
        ...

    async def report(self, key: ThreadKey, turn_id: str) -> TurnReport | None:
        """A turn, and all of it up to now."""
        ...

    async def turn_page(self, key: ThreadKey, turn_id: str, after_seq: int) -> TurnPage | None:
        """Entries of a turn after a place in its thread."""
        ...

    async def turn_entry(self, key: ThreadKey, turn_id: str, entry_id: str) -> Entry | None:
        """One entry of a turn."""
        ...

    async def interaction(self, interaction_id: str) -> Question | None:
        """A question by its id, open or settled."""
        ...
