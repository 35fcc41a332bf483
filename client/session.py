"""A session: one conversation of one user, with its threads and its timeline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Unpack, get_args

from turnwright.client.access import Access, How, checked
from turnwright.client.errors import NotFound, check_place
from turnwright.client.hooked import Hooked
from turnwright.client.inputs import of_kind, one_of
from turnwright.client.moving import Exporting
from turnwright.client.schedules import Scheduled
from turnwright.client.spending import SessionSpending, budget_of
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn
from turnwright.journal import store_admin
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelSession,
    CloseSession,
    CreateSession,
    DeleteSession,
    EraseEntry,
    IfBusy,
    PauseSession,
    Receipt,
    ResumeSession,
    SessionCommand,
    SetSessionBudget,
    SetTitle,
)
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.ids import MAIN_THREAD, SessionKey, ThreadKey
from turnwright.journal.messages import Message
from turnwright.journal.store import POLL_S
from turnwright.journal.store_delete import Deleted
from turnwright.journal.transact.listing import Page
from turnwright.journal.transact.overview import SessionSeen, ThreadSeen
from turnwright.journal.transact.reading import Located


class Session(Hooked, Exporting, Scheduled):
    """One conversation. It must be created before anything is submitted to it."""

    def __init__(self, access: Access, key: SessionKey) -> None:
        self.key = key.checked()
        self._access = access

    def __repr__(self) -> str:
        return f"Session({self.key.canonical})"

    async def create(
        self,
        *,
        title: str | None = None,
        metadata: dict[str, Any] | None = None,
        exist_ok: bool = False,
        **how: Unpack[How],
    ) -> Receipt:
        """Begin the session.

        One that was begun with the same title and metadata stays as it is (the receipt is a `duplicate`), with
        `exist_ok` also one that was begun otherwise.

        Raises:
            CommandRejected: `session_exists` (with another title or metadata), or `session_deleted` (an id is never
                used twice).
        """
        request_id, principal, reason = self._access.said(how)
        command = CreateSession(
            request_id=request_id, principal=principal, reason=reason, title=title, metadata=metadata or {}
        )
        receipt = await self._access.command(self.key, command, check=False)
        there = exist_ok and receipt.code == "session_exists"
        return checked(receipt, check=how.get("check", True) and not there)

    def thread(self, agent: str, thread: str = MAIN_THREAD) -> Thread:
        """A thread of the session."""
        return Thread(self._access, ThreadKey(self.key.tenant, self.key.user, agent, self.key.session, thread))

    async def submit(
        self,
        message: str | Message,
        *,
        agent: str,
        thread: str = MAIN_THREAD,
        if_busy: IfBusy = "enqueue",
        on_failure: OnFailure | None = None,
        budget: Budget | None = None,
        connection: object | None = None,
        **how: Unpack[How],
    ) -> Turn:
        """Queue a turn on a thread of the session (see `Thread.submit`)."""
        return await self.thread(agent, thread).submit(
            message, if_busy=if_busy, on_failure=on_failure, budget=budget, connection=connection, **how
        )

    async def set_title(self, title: str | None, **how: Unpack[How]) -> Receipt:
        """Say what people call the session; None: nothing, and its agent may make one again."""
        request_id, principal, reason = self._access.said(how)
        if title is not None:
            of_kind("a title", title, str, "such as 'A trip'")
        return await self._command(
            SetTitle(request_id=request_id, principal=principal, reason=reason, title=title), how
        )

    async def pause(self, **how: Unpack[How]) -> Receipt:
        """Start no operation on any thread until the session is resumed."""
        request_id, principal, reason = self._access.said(how)
        return await self._command(PauseSession(request_id=request_id, principal=principal, reason=reason), how)

    async def resume(self, revision: int | None = None, **how: Unpack[How]) -> Receipt:
        """Lift the session's pause, if it is still at `revision` (None: whatever it is at now)."""
        request_id, principal, reason = self._access.said(how)

        def build(current: int) -> ResumeSession:
            return ResumeSession(request_id=request_id, principal=principal, reason=reason, revision=current)

        return await self._access.resume(self.key, build, revision, self._revision, check=how.get("check", True))

    async def cancel(self, **how: Unpack[How]) -> Receipt:
        """Cancel every turn that was queued before this; the session stays open."""
        request_id, principal, reason = self._access.said(how)
        return await self._command(CancelSession(request_id=request_id, principal=principal, reason=reason), how)

    async def close(self, mode: CloseMode = "finish", **how: Unpack[How]) -> Receipt:
        """Take no new turn anywhere in the session; `finish` its queues, or `cancel` them."""
        request_id, principal, reason = self._access.said(how)
        command = CloseSession(
            request_id=request_id, principal=principal, reason=reason, mode=one_of("mode", mode, get_args(CloseMode))
        )
        return await self._command(command, how)

    async def budget(self) -> SessionSpending:
        """What all threads of the session may use together, and have used since it was limited. Raises `NotFound`."""
        budget = (await self.status()).control.budget
        return SessionSpending(budget, await self._access.backend.session_used(self.key))

    async def set_budget(self, budget: Budget | None, *, keep: bool = False, **how: Unpack[How]) -> Receipt:
        """Say what all threads of the session may use together; None: as much as they like.

        What is left out of the budget is without bound, or with `keep` as it is. Turns that wait for more go on if that
        is enough.
        """
        request_id, principal, reason = self._access.said(how)
        wanted = budget_of(budget, keep=keep)
        command = SetSessionBudget(request_id=request_id, principal=principal, reason=reason, budget=wanted)
        return await self._command(command, how)

    async def erase(self, seq: int, **how: Unpack[How]) -> Receipt:
        """Erase the content of an entry of the session's own log for good; its first holds title and metadata.

        That it was there stays, and the chain still verifies.

        Raises:
            CommandRejected: `unknown_thread` (there is no such session), `unknown_session` (it was deleted),
                `unknown_entry`, `not_erasable`.
        """
        request_id, principal, reason = self._access.said(how)
        command = EraseEntry(request_id=request_id, principal=principal, reason=reason, seq=seq)
        return await self._access.command(self.key.log, command, check=how.get("check", True))

    async def delete(self, *, make_forks_whole: bool = False, **how: Unpack[How]) -> Deleted:
        """Erase the session with everything in it, for good; that it was there, who deleted it and why stays.

        Gives the receipt and, for each store, how much of what was erased. Call it again if it was interrupted.
        `make_forks_whole`: forks in other sessions keep first what they begin with.

        Raises:
            CommandRejected: `busy` (cancel the session first), `needed_by_forks`, `unknown_session`, `session_deleted`.
        """
        request_id, principal, reason = self._access.said(how)
        command = DeleteSession(
            request_id=request_id, principal=principal, reason=reason, make_forks_whole=make_forks_whole
        )
        deleted = await self._access.backend.delete(self.key, command)
        checked(deleted.receipt, check=how.get("check", True), key=self.key)
        return deleted

    async def status(self) -> SessionSeen:
        """The session now: its pause, how many threads and turns it has. Raises `NotFound`."""
        seen = await self._access.backend.session(self.key)
        if seen is None:
            raise NotFound.session(self.key)
        return seen

    async def threads(self, after: str | None = None, limit: int = 50) -> Page[ThreadSeen]:
        """A page of the session's threads, oldest first. Raises `NotFound`."""
        page = await self._access.backend.threads(self.key, after, limit)
        if page is None:
            raise NotFound.session(self.key)
        return page

    async def history(self, after_position: int = 0, limit: int = store_admin.PAGE_ENTRIES_MAX) -> list[Located]:
        """A page of everything that happened in the session; an empty one is the end. Raises `NotFound`."""
        page = await self._access.backend.timeline(self.key, after_position, limit)
        if not page:
            await self.status()
        return page

    async def blob(self, sha256: str) -> bytes:
        """The bytes of media that a message or a result of the session refers to by its `blob`.

        Raises:
            NotFound: the session has none of that name, or what it belonged to was erased.
        """
        found = await self._access.backend.blob(self.key, sha256)
        if found is None:
            raise NotFound("blob", f"{sha256} in this session", self.key)
        return found

    async def follow(self, after_position: int = 0) -> AsyncIterator[Located]:
        """Everything that happens in the session, for ever, without a gap or a repetition.

        A reader may stop anywhere and come back with the last `entry.position` it got.

        Raises:
            NotFound: there is no such session.
            PlaceLost: the session has not come to that position.
        """
        check_place(after_position, (await self.status()).last_position)
        async with self._access.backend.watch(self.key) as watching:
            while True:
                page = await self._access.backend.timeline(self.key, after_position, store_admin.PAGE_ENTRIES_MAX)
                for located in page:
                    after_position = located.entry.position
                    yield located
                if not page:
                    await watching.changed(POLL_S)

    def _hooked(self) -> tuple[SessionKey, None]:
        return self.key, None

    async def _revision(self) -> int:
        return (await self.status()).control.pause.revision

    async def _command(self, command: SessionCommand, how: How) -> Receipt:
        return await self._access.command(self.key, command, check=how.get("check", True))
