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
from typing import TypeAlias

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError

from turnwright.activities.runtime.attempt import Attempt, given_back
from turnwright.activities.runtime.parts import Parts
from turnwright.activities.runtime.pulse import Pulse
from turnwright.activities.runtime.stop import Stop
from turnwright.journal.errors import JournalError
from turnwright.journal.transact.runs import ThreadGone
from turnwright.workflows.payloads import HEARTBEAT_TIMEOUT_S, Next, StepInput

GONE = Next("stop", why="finished")
# Temporal keeps what a failure says and what caused it; an error's own words may hold those of a conversation.
SEE_LOG = "the worker's log says more"
SILENCE_S_MAX = HEARTBEAT_TIMEOUT_S * 0.6
CarryOut: TypeAlias = Callable[[Attempt], Awaitable[Next]]
log = structlog.get_logger(__name__)


async def attend(parts: Parts, given: StepInput, carry_out: CarryOut) -> Next:
    """Run `carry_out` to its end, heartbeating."""
    stop, pulse = Stop(), Pulse(parts.settings.heartbeat_interval_s, SILENCE_S_MAX)
    work = asyncio.create_task(_whole(parts, given, stop, pulse, carry_out))
    helpers = [asyncio.create_task(pulse.run()), asyncio.create_task(_drain(stop, parts.settings.drain_s))]
    try:
        while not work.done():
            await _listen(work, stop, pulse)
        return work.result()
    finally:
        for helper in helpers:
            helper.cancel()


async def _whole(parts: Parts, given: StepInput, stop: Stop, pulse: Pulse, carry_out: CarryOut) -> Next:
    """The attempt with everything that belongs to it, in a task that nobody cancels."""
    attempt: Attempt | None = None
    try:
        attempt = await Attempt.begin(parts, given, stop, pulse)
        return await carry_out(attempt)
    except ThreadGone:
        return GONE
    except ApplicationError:
        raise
    except JournalError as error:
        if parts.seldom.is_due("journal_refuses", given.turn, str(given.step), given.call):
            log.exception("journal_refuses", then="it is tried again until somebody upgrades or repairs")
        await _forsake(attempt)
        raise given_back(type(error).__name__, SEE_LOG, parts.settings.repair_retry_s) from None
    except Exception as error:
        log.exception("operation_broke", attempt=activity.info().attempt)
        await _forsake(attempt)
        raise _broken(error, parts.settings.broken_attempts_max) from None


async def _forsake(attempt: Attempt | None) -> None:
    """Give the claim back, if it came to one and not to its report."""
    if attempt is not None and attempt.lost is not None:
        await attempt.report(attempt.lost, attempt.lost)


async def _listen(work: asyncio.Task[Next], stop: Stop, pulse: Pulse) -> None:
    try:
        await asyncio.wait({work})
    except asyncio.CancelledError:
        pulse.unheard()
        if activity.is_worker_shutdown():
            stop.ask("drained")


async def _drain(stop: Stop, drain_s: float) -> None:
    """Ask it to stop when the worker ends: Temporal cancels an attempt only once, and may have done so before."""
    await activity.wait_for_worker_shutdown()
    await asyncio.sleep(drain_s)
    stop.ask("drained")


def _broken(error: Exception, attempts_max: int) -> ApplicationError:
    last = activity.info().attempt >= attempts_max
    return ApplicationError(f"{type(error).__name__}: {SEE_LOG}", type="OperationBroke", non_retryable=last)
