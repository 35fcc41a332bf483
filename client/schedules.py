"""The schedules of a session: turns that are submitted again and again.

Rule: a schedule is in the journal before anybody is told of it; Temporal's own one is made from it by the workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, get_args

from pydantic import ValidationError

from turnwright.client.access import Access, How
from turnwright.client.errors import NotFound
from turnwright.client.inputs import as_budget, as_message, of_kind, one_of
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import (
    CreateSchedule,
    DeleteSchedule,
    PauseSchedule,
    Receipt,
    ResumeSchedule,
    TriggerSchedule,
)
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD, SessionKey
from turnwright.journal.messages import Message
from turnwright.journal.schedules import CATCH_UP_S, UTC_ZONE, Definition, Overlap, Schedule


class Scheduled:
    """What a session has of schedules."""

    key: SessionKey
    _access: Access

    async def create_schedule(  # noqa: PLR0913 - one for each part of it
        self,
        name: str,
        message: str | Message,
        *,
        agent: str,
        thread: str = MAIN_THREAD,
        cron: str | Sequence[str] = (),
        every_s: int | None = None,
        offset_s: int = 0,
        timezone: str = UTC_ZONE,
        start_at: str | None = None,
        end_at: str | None = None,
        jitter_s: int = 0,
        catch_up_s: int = CATCH_UP_S,
        overlap: Overlap = "skip",
        budget: Budget | None = None,
        **how: Unpack[How],
    ) -> Receipt:
        """Submit a turn again and again, by cron expressions or every so many seconds.

        `name`: no other schedule of the session has it now. `message`, `agent`, `thread` and `budget` of each turn are
        as with `submit`. `cron`: an expression of five fields, or several, by the clock of the `timezone`, such as
        `Europe/Berlin`; or `every_s`: at the multiples of it since 1970, `offset_s` later. It comes between `start_at`
        and `end_at`, ISO times with a zone, by chance up to `jitter_s` later. `catch_up_s`: a tick that could not be
        taken for so long, as no worker ran, is let go. `overlap`: what a tick does while the thread has a turn: `skip`
        it, `queue` behind it, or `interrupt` it.

        Raises:
            InvalidInput: expressions, zone or times are none; says what is wrong with them.
            CommandRejected: `unknown_session`, `session_closed`, `schedule_exists`, `too_many_schedules`.
        """
        times = {
            "cron": (cron,) if isinstance(cron, str) else tuple(cron), "every_s": every_s, "offset_s": offset_s,
            "timezone": timezone, "start_at": start_at, "end_at": end_at, "jitter_s": jitter_s,
            "catch_up_s": catch_up_s,
        }  # fmt: skip
        turn = {"agent": agent, "thread": thread, "input": as_message(message), "budget": as_budget(budget)}
        given = {"name": name, "times": times, "overlap": one_of("overlap", overlap, get_args(Overlap))} | turn
        return await self._create(_definition(given), how)

    async def pause_schedule(self, name: str, **how: Unpack[How]) -> Receipt:
        """Take no tick of a schedule until it is resumed. Raises `CommandRejected`: `unknown_schedule` or as it is."""
        return await self._of_schedule(PauseSchedule, name, how)

    async def resume_schedule(self, name: str, **how: Unpack[How]) -> Receipt:
        """Take the ticks of a schedule again; those that came meanwhile stay out."""
        return await self._of_schedule(ResumeSchedule, name, how)

    async def trigger_schedule(self, name: str, **how: Unpack[How]) -> Receipt:
        """Submit a schedule's turn now, as if its time had come, also while it is paused.

        The receipt has the turn's id; or, as with any tick, `code` and `reason` why there is no turn.
        """
        return await self._of_schedule(TriggerSchedule, name, how)

    async def delete_schedule(self, name: str, **how: Unpack[How]) -> Receipt:
        """Let a schedule be no more; the turns it submitted go on."""
        return await self._of_schedule(DeleteSchedule, name, how)

    async def schedules(self) -> tuple[Schedule, ...]:
        """The session's schedules, oldest first, with what became of their newest ticks. Raises `NotFound`."""
        found = await self._access.backend.schedules(self.key)
        if found is None:
            raise NotFound.session(self.key)
        return found

    async def schedule(self, name: str) -> Schedule:
        """A schedule, with what became of its last 50 ticks. Raises `NotFound`."""
        found = await self._access.backend.schedule(self.key, of_kind("a schedule's name", name, str, "such as 'news'"))
        if found is None:
            raise NotFound("schedule", f"{name} in this session", self.key)
        return found

    async def _create(self, definition: Definition, how: How) -> Receipt:
        request_id, principal, reason = self._access.said(how)
        command = CreateSchedule(request_id=request_id, principal=principal, reason=reason, definition=definition)
        return await self._access.command(self.key, command, check=how.get("check", True))

    async def _of_schedule(
        self, kind: type[PauseSchedule | ResumeSchedule | DeleteSchedule | TriggerSchedule], name: str, how: How
    ) -> Receipt:
        request_id, principal, reason = self._access.said(how)
        named = of_kind("a schedule's name", name, str, "such as 'news'")
        command = kind(request_id=request_id, principal=principal, reason=reason, name=named)
        return await self._access.command(self.key, command, check=how.get("check", True))


def _definition(given: Mapping[str, Any]) -> Definition:
    """Raises `InvalidInput`: something in it is of the wrong type."""
    try:
        return Definition.model_validate(given)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"a schedule's {wrong['loc'][-1]}: {wrong['msg']}") from None
