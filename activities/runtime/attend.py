"""Keeps an attempt going from its claim to its report, whatever Temporal and the worker do meanwhile.

Rule: nothing breaks into an attempt, for one that was broken off between claim and report would leave an
operation that runs for ever. A shutdown of the worker asks it to stop. Temporal's cancel only says that
nobody waits there any more (the run was terminated, reset or replaced): whether the operation is still
wanted is the journal's to say, which the watcher hears. An error nobody foresaw is tried again a bounded
number of times; what only waits for a repair is tried for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError

from turnwright.activities.runtime.attempt import Attempt, given_back
from turnwright.activities.runtime.parts import Parts
from turnwright.journal.errors import JournalError
from turnwright.journal.transact.runs import ThreadGone
from turnwright.workflows.payloads import Next, StepInput

GONE = Next("stop", why="finished")
log = structlog.get_logger(__name__)


async def attend(parts: Parts, given: StepInput, carry_out: Callable[[Attempt], Awaitable[Next]]) -> Next:
    """Run `carry_out` to its end, heartbeating."""
    attempt = Attempt.begin(parts, given)
    work = asyncio.create_task(_whole(attempt, carry_out))
    helpers = [asyncio.create_task(attempt.pulse.run()), asyncio.create_task(_drain(attempt))]
    try:
        while not work.done():
            await _listen(attempt, work)
        return work.result()
    finally:
        for helper in helpers:
            helper.cancel()


async def _whole(attempt: Attempt, carry_out: Callable[[Attempt], Awaitable[Next]]) -> Next:
    """The attempt with everything that belongs to it, in a task that nobody cancels."""
    settings = attempt.parts.settings
    if not attempt.presence:
        raise given_back("PresenceLost", "others would take this process for dead", settings.give_back_s)
    try:
        return await carry_out(attempt)
    except ThreadGone:
        return GONE
    except ApplicationError:
        raise
    except JournalError as error:
        log.exception("journal_refuses")
        raise given_back(type(error).__name__, str(error), settings.repair_retry_s) from error
    except Exception as error:
        log.exception("operation_broke", attempt=activity.info().attempt)
        await attempt.forsake()
        raise _broken(error, settings.broken_attempts_max) from error


async def _listen(attempt: Attempt, work: asyncio.Task[Next]) -> None:
    try:
        await asyncio.wait({work})
    except asyncio.CancelledError:
        attempt.pulse.unheard()
        if activity.is_worker_shutdown():
            attempt.stop.ask("drained")


async def _drain(attempt: Attempt) -> None:
    """Ask it to stop when the worker ends: Temporal cancels an attempt only once, and may have done so before."""
    await activity.wait_for_worker_shutdown()
    await asyncio.sleep(attempt.parts.settings.drain_s)
    attempt.stop.ask("drained")


def _broken(error: Exception, attempts_max: int) -> ApplicationError:
    last = activity.info().attempt >= attempts_max
    return ApplicationError(f"{type(error).__name__}: {error}", type="OperationBroke", non_retryable=last)
