"""A turn: control it, wait for it, read it.

Rule: observing never changes anything. A wait that times out, a reader that goes away and a lost connection are
nothing a turn could notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from contextlib import aclosing
from typing import Any, Literal, TypeVar, Unpack

from turnwright.client.access import Access, How, HowElse
from turnwright.client.answering import Answering
from turnwright.client.errors import NotFound, TurnCancelled, TurnFailed, WaitTimeout, check_place
from turnwright.client.hooked import Hooked
from turnwright.client.inputs import as_message, one_of
from turnwright.client.listening import Listener
from turnwright.client.questions import Question
from turnwright.client.turn_report import TurnReport, answer_of
from turnwright.client.views import TurnView
from turnwright.journal.commands import (
    CancelTurn,
    PauseTurn,
    Receipt,
    Reconcile,
    Respond,
    ResumeTurn,
    RetryTurn,
    Steer,
    TurnCommand,
)
from turnwright.journal.deltas import Delta
from turnwright.journal.entries import Entry, ModelResponded
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.messages import Media, Message, Text
from turnwright.journal.shown import ShownStatus
from turnwright.journal.turn_status import FINISHED
from turnwright.journal.why import Why

T = TypeVar("T")
POLL_S = 1.0


class Turn(Answering, Hooked):
    """One submitted task. `receipt` is that of its submit, if this handle comes from one."""

    def __init__(self, access: Access, key: ThreadKey, turn_id: str, receipt: Receipt | None = None) -> None:
        self.key = key
        self.id = turn_id
        self.receipt = receipt
        self._access = access

    def __repr__(self) -> str:
        return f"Turn({self.id!r}, {self.key.canonical})"

    # -- control -------------------------------------------------------------------------------

    async def pause(self, **how: Unpack[How]) -> Receipt:
        """Stop at the next boundary: what runs ends, nothing new starts."""
        request_id, principal, reason = self._access.said(how)
        command = PauseTurn(request_id=request_id, principal=principal, reason=reason, turn_id=self.id)
        return await self._command(command, how)

    async def resume(self, revision: int | None = None, **how: Unpack[How]) -> Receipt:
        """End the turn's own pause, if it is still at `revision` (None: whatever it is at now).

        With a request id of your own give the revision too: it is part of what you repeat.
        """
        request_id, principal, reason = self._access.said(how)

        def build(current: int) -> ResumeTurn:
            return ResumeTurn(
                request_id=request_id, principal=principal, reason=reason, turn_id=self.id, revision=current
            )

        return await self._access.resume(self.key, build, revision, self._revision, check=how.get("check", True))

    async def cancel(self, **how: Unpack[How]) -> Receipt:
        """Stop for good. What a model has streamed so far is kept."""
        request_id, principal, reason = self._access.said(how)
        command = CancelTurn(request_id=request_id, principal=principal, reason=reason, turn_id=self.id)
        return await self._command(command, how)

    async def steer(self, message: str | Message, **how: Unpack[How]) -> Receipt:
        """Give the turn another message, which its next model call sees."""
        request_id, principal, reason = self._access.said(how)
        command = Steer(
            request_id=request_id, principal=principal, reason=reason, turn_id=self.id, message=as_message(message)
        )
        return await self._command(command, how)

    async def retry(self, **how: Unpack[How]) -> Receipt:
        """Put a failed turn back at the head, as long as no later one has started."""
        request_id, principal, reason = self._access.said(how)
        command = RetryTurn(request_id=request_id, principal=principal, reason=reason, turn_id=self.id)
        return await self._command(command, how)

    async def respond(
        self, interaction_id: str, resolution: str, answer: Mapping[str, Any] | None = None, **how: Unpack[How]
    ) -> Receipt:
        """Answer an open question of the turn or of a child of it (see `questions`).

        `approve` and the like say it in their own words. The receipt names the turn that asked.
        """
        request_id, principal, reason = self._access.said(how)
        command = Respond(
            request_id=request_id,
            principal=principal,
            reason=reason,
            turn_id=self.id,
            interaction_id=interaction_id,
            resolution=resolution,
            answer=dict(answer or {}),
        )
        return await self._command(command, how)

    async def reconcile(
        self,
        call_id: str,
        outcome: Literal["succeeded", "failed", "run_again"],
        output: str | tuple[Text | Media, ...] = (),
        *,
        reason: str,
        **how: Unpack[HowElse],
    ) -> Receipt:
        """Say what became of a call that started and left no result.

        Args:
            call_id: the call.
            outcome: it did what it should, it did not, or it is to run again.
            output: what the model is told.
            reason: how you know; it is recorded with who said so.
            **how: see `HowElse`.

        Raises:
            CommandRejected: `not_unknown` (it says who settled it, if somebody did), `reason_required` (it is empty),
                `wrong_phase`.
        """
        said: How = {**how, "reason": reason}
        request_id, principal, _ = self._access.said(said)
        command = Reconcile(
            request_id=request_id,
            principal=principal,
            reason=reason,
            turn_id=self.id,
            call_id=call_id,
            outcome=one_of("outcome", outcome, ("succeeded", "failed", "run_again")),
            output=(Text(text=output),) if isinstance(output, str) else output,
        )
        return await self._command(command, said)

    # -- observe -------------------------------------------------------------------------------

    async def status(self, *, children: bool = True) -> TurnView:
        """The turn now, with the `children` it waits for or without. Raises `NotFound`."""
        return self._found(await self._access.backend.turn(self.key, self.id, children=children))

    async def questions(self) -> tuple[Question, ...]:
        """The open questions of the turn and of its children, with what is asked. Raises `NotFound`."""
        asked = [i.interaction_id for i in (await self.status()).asked]
        found = [await self._access.backend.interaction(interaction_id) for interaction_id in asked]
        return tuple(one for one in found if one is not None and one.state == "open")

    async def why(self) -> Why:
        """What the turn waits for, in one sentence. Raises `NotFound`."""
        return self._found(await self._access.backend.why(self.key, self.id))

    async def report(self) -> TurnReport:
        """The turn with what it was asked, what it did and used, and its answer. It reads all of the turn's entries.

        Raises:
            NotFound: there is no such turn.
        """
        return self._found(await self._access.backend.report(self.key, self.id))

    async def wait(
        self,
        timeout_s: float | None = None,
        *,
        until: Collection[ShownStatus] | Callable[[TurnView], bool] = tuple(FINISHED),
    ) -> TurnView:
        """Wait until the turn has ended, is shown as one of `until`, or is what `until` is true of.

        Raises:
            WaitTimeout: `timeout_s` is over. The turn goes on.
            NotFound: there is no such turn.
        """
        clock = asyncio.timeout(timeout_s)
        try:
            async with clock, self._access.backend.watch(self.key) as watching:
                while (view := await self._come(until)) is None:
                    await watching.changed(POLL_S)
                return view
        except TimeoutError:
            if not clock.expired():
                raise
            raise WaitTimeout(f"turn {self.id} has not come so far in {timeout_s:g} s; it goes on") from None

    async def _come(self, until: Collection[ShownStatus] | Callable[[TurnView], bool]) -> TurnView | None:
        """The turn, if it has come so far. For a status its children, which may be many, are looked at only then."""
        if callable(until):
            view = await self.status()
            return view if until(view) else None
        view = await self.status(children=False)
        if view.status in until and view.children_unseen:
            view = await self.status()
        return view if view.status in until else None

    async def result(self, timeout_s: float | None = None) -> Message:
        """Wait for the turn's end and give its answer.

        Raises:
            TurnFailed: it failed.
            TurnCancelled: it was cancelled.
            WaitTimeout: `timeout_s` is over. The turn goes on.
        """
        view = await self.wait(timeout_s)
        if view.phase == "failed":
            code, message = view.code or "internal", view.message or "no message"
            raise TurnFailed(self.id, code, message, retryable=view.row.retryable)
        if view.phase == "cancelled":
            raise TurnCancelled(self.id, view.code or "cancelled", view.cancelled_by, view.row.effects_unknown)
        return await self._answer(view.row.output_message or "")

    async def events(self, after: int = 0) -> AsyncIterator[Entry]:
        """The turn's entries behind the entry number `after`, as they are committed.

        It ends when the turn has ended and nothing more of it is in the journal: behind its last entry, and at once
        for a reader who has that already. A retry that came before is part of it; of a later one, `after` the last
        entry's `seq` tells. A reader may stop anywhere and come back with the last `seq` it got.

        Raises:
            NotFound: there is no such turn.
            PlaceLost: its thread has not come to that number.
        """
        deaf = Listener(self._access.backend, self.key, wanted=False)
        async with aclosing(self._follow(deaf, after)) as items:
            async for item in items:
                assert isinstance(item, Entry), "nothing else was wanted"
                yield item

    async def live(self, after: int = 0) -> AsyncIterator[Entry | Delta]:
        """As `events`, and what the model says while it speaks, before the entry that holds all of it.

        Words come a tenth of a second late, those of a call that nobody followed so far within about a second; then
        all that was said comes at once. An attempt with a new `ordinal` begins anew.

        Raises:
            NotFound: there is no such turn.
            PlaceLost: its thread has not come to that number.
        """
        listener = Listener(self._access.backend, self.key, self.id)
        async with aclosing(self._follow(listener, after)) as items:
            async for item in items:
                yield item

    async def _follow(self, listener: Listener, after: int) -> AsyncGenerator[Entry | Delta, None]:
        if after:
            thread = await self._access.backend.thread(self.key)
            check_place(after, 0 if thread is None else thread.seq)
        async with listener.watch() as watching:
            while True:
                page = self._found(await self._access.backend.turn_page(self.key, self.id, after))
                for entry in page.entries:
                    listener.passed(entry)
                    yield entry
                after = page.through_seq
                if page.last:
                    return
                for delta in await listener.heard():
                    yield delta
                if not page.entries:
                    await watching.changed(POLL_S)

    def _found(self, found: T | None) -> T:
        if found is not None:
            return found
        enlisted = self.receipt is not None and self.receipt.status == "enlisted"
        raise NotFound.enlisted(self.id) if enlisted else NotFound("turn", self.id)

    def _hooked(self) -> tuple[SessionKey, str]:
        return self.key.session_key, self.id

    async def _revision(self) -> int:
        return (await self.status()).revision

    async def _answer(self, entry_id: str) -> Message:
        entry = await self._access.backend.turn_entry(self.key, self.id, entry_id)
        if entry is None or not isinstance(entry.payload, ModelResponded):
            raise NotFound("answer", f"{entry_id!r} of turn {self.id}: it was erased")
        return answer_of(entry, entry.payload)

    async def _command(self, command: TurnCommand, how: How) -> Receipt:
        return await self._access.command(self.key, command, check=how.get("check", True))
