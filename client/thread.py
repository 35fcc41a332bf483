"""A thread: one agent's continuing context and its queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack, get_args

from turnwright.client.access import How, checked
from turnwright.client.inputs import as_budget, as_message, one_of
from turnwright.client.thread_admin import ThreadAdmin
from turnwright.client.thread_elsewhere import ThreadElsewhere
from turnwright.client.thread_tasks import ThreadTasks
from turnwright.client.turn import Turn
from turnwright.journal import ids, store_admin
from turnwright.journal.agent_state import AgentState
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CancelThread,
    CloseThread,
    ForkThread,
    IfBusy,
    Inject,
    MakeWhole,
    PauseThread,
    Receipt,
    ResumeThread,
    RewindThread,
    Submit,
)
from turnwright.journal.entries import Entry
from turnwright.journal.entries.session import CloseMode
from turnwright.journal.entries.turn import OnFailure
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import fork_name
from turnwright.journal.messages import Message


class Thread(ThreadAdmin, ThreadTasks, ThreadElsewhere):
    """One agent's context in a session. It comes into being with its first turn or injection, or an import."""

    async def submit(
        self,
        message: str | Message,
        *,
        if_busy: IfBusy = "enqueue",
        on_failure: OnFailure | None = None,
        budget: Budget | None = None,
        connection: object | None = None,
        **how: Unpack[How],
    ) -> Turn:
        """Queue a turn, at once or (`connection`) with the commit of a transaction of yours.

        Args:
            message: the task.
            if_busy: what to do while a turn is active, queued or held: `enqueue` behind it, `reject`, or `interrupt`
                (cancel the active one and come next).
            on_failure: from now on, `hold` pauses the thread when a turn fails, `continue` goes on with the queue.
            budget: what this turn may use before a person is asked; None: that of the thread's turns.
            connection: in a transaction of the journal's own PostgreSQL database: of asyncpg, or SQLAlchemy's
                `AsyncConnection` or `AsyncSession` over it. The turn is queued when that is committed, and never if it
                is rolled back; what stands against it then (`busy`, `queue_full`, …) fails it.
            **how: see `How`. The turn's id follows from the thread and the request id.

        Raises:
            CommandRejected: `unknown_session`, `session_closed`, `thread_closed`, `busy`, `queue_full`,
                `request_id_reused`.
            InvalidInput: the input cannot be one, or `connection` no such connection; its transaction goes on.
        """
        request_id, principal, reason = self._access.said(how)
        turn_id = ids.turn_id(self.key, request_id)
        command = Submit(
            request_id=request_id,
            principal=principal,
            reason=reason,
            turn_id=turn_id,
            input=as_message(message),
            if_busy=one_of("if_busy", if_busy, get_args(IfBusy)),
            on_failure=one_of("on_failure", on_failure, (*get_args(OnFailure), None)),
            budget=as_budget(budget),
        )
        if connection is None:
            receipt = await self._command(command, how)
        else:
            receipt = await self._access.enlist(self.key, command, connection, check=how.get("check", True))
        return Turn(self._access, self.key, turn_id, receipt)

    def turn(self, turn_id: str) -> Turn:
        """A handle on a turn of this thread, without asking whether there is one."""
        return Turn(self._access, self.key, turn_id)

    async def inject(self, message: str | Message, **how: Unpack[How]) -> Receipt:
        """Give the thread material that whatever runs next sees. It starts nothing."""
        request_id, principal, reason = self._access.said(how)
        command = Inject(request_id=request_id, principal=principal, reason=reason, message=as_message(message))
        return await self._command(command, how)

    async def pause(self, **how: Unpack[How]) -> Receipt:
        """Start no operation of the thread until it is resumed."""
        request_id, principal, reason = self._access.said(how)
        return await self._command(PauseThread(request_id=request_id, principal=principal, reason=reason), how)

    async def resume(self, revision: int | None = None, **how: Unpack[How]) -> Receipt:
        """Lift the thread's pause, whoever set it, if it is still at `revision` (None: whatever it is at now)."""
        request_id, principal, reason = self._access.said(how)

        def build(current: int) -> ResumeThread:
            return ResumeThread(request_id=request_id, principal=principal, reason=reason, revision=current)

        return await self._access.resume(self.key, build, revision, self._revision, check=how.get("check", True))

    async def cancel(self, **how: Unpack[How]) -> Receipt:
        """Cancel the active turn and everything queued; the thread stays open."""
        request_id, principal, reason = self._access.said(how)
        return await self._command(CancelThread(request_id=request_id, principal=principal, reason=reason), how)

    async def close(self, mode: CloseMode = "finish", **how: Unpack[How]) -> Receipt:
        """Take no new turn; `finish` the queue, or `cancel` it."""
        request_id, principal, reason = self._access.said(how)
        command = CloseThread(
            request_id=request_id, principal=principal, reason=reason, mode=one_of("mode", mode, get_args(CloseMode))
        )
        return await self._command(command, how)

    async def fork(
        self, at: int | None = None, *, thread: str | None = None, session: str | None = None, **how: Unpack[How]
    ) -> Thread:
        """Begin another thread with what the agent knew at the entry `at` (None: the last).

        Nothing is copied, and this thread goes on untouched. What runs or waits in it does not go on in the fork, which
        has used nothing yet and has no budget of its own.

        Args:
            at: the number of an entry, as `history` tells it.
            thread: the name of the new thread; None: one that follows from the request id.
            session: the session of the same user that it is in; None: this one. A session that forks elsewhere need is
                not deleted, unless they are made whole.
            **how: see `How`.

        Raises:
            CommandRejected: `unknown_thread`, `unknown_entry`, `thread_exists`, `too_many_forks`, `unknown_session`,
                `session_closed`.
        """
        request_id, principal, reason = self._access.said(how)
        command = ForkThread(
            request_id=request_id, principal=principal, reason=reason, at_seq=at, thread=thread, session=session
        )
        name = fork_name(self.key, request_id) if thread is None else thread
        made = replace(self.key, thread=name, session=self.key.session if session is None else session).checked()
        receipt = await self._access.command(self.key, command, check=False)
        missing = made.session_key if receipt.code == "unknown_session" and session else self.key
        return Thread(self._access, made, checked(receipt, check=how.get("check", True), key=missing))

    async def make_whole(self, **how: Unpack[How]) -> Receipt:
        """Keep with this fork what it begins with, and the files of it, so that its origin is needed no more.

        Raises:
            CommandRejected: `not_a_fork`, `whole_already`.
        """
        request_id, principal, reason = self._access.said(how)
        return await self._command(MakeWhole(request_id=request_id, principal=principal, reason=reason), how)

    async def rewind(self, to: int, *, expected_seq: int | None = None, **how: Unpack[How]) -> Receipt:
        """Go on as it was at the entry `to`; what came since stays in the history, and what was used counts on.

        Args:
            to: the number of an entry, as `history` tells it.
            expected_seq: the thread's last entry as you know it, so that nobody else's work is left behind unseen;
                None: as it is now. With a request id of your own say it: it is part of what you repeat.
            **how: see `How`.

        Raises:
            CommandRejected: `stale_seq`, `busy` (a turn is active or queued), `unknown_entry`, `nothing_to_rewind`.
        """
        if expected_seq is None and "request_id" in how:
            raise InvalidInput("with a request id of your own say `expected_seq`, too: it is part of what you repeat")
        request_id, principal, reason = self._access.said(how)
        seq = (await self.status()).seq if expected_seq is None else expected_seq
        command = RewindThread(request_id=request_id, principal=principal, reason=reason, to_seq=to, expected_seq=seq)
        return await self._command(command, how)

    async def state(self, at_seq: int | None = None) -> AgentState:
        """The agent's state now, or as it was after the entry `at_seq`.

        Raises:
            NotFound: there is no such thread.
            InvalidInput: the thread has not come so far.
        """
        seen = await self.status()
        if at_seq is not None and not 0 <= at_seq <= seen.seq:
            raise InvalidInput(f"the thread has the entries 1 to {seen.seq}, not {at_seq}")
        return await self._access.backend.state(self.key, at_seq)

    async def history(self, after_seq: int = 0, limit: int = store_admin.PAGE_ENTRIES_MAX) -> list[Entry]:
        """A page of the thread's entries; an empty one is the end. Raises `NotFound`."""
        page = await self._access.backend.entries(self.key, after_seq, limit)
        if not page:
            await self.status()
        return page

    async def _revision(self) -> int:
        return (await self.status()).control.pause.revision
