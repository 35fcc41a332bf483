"""A hook that hangs is not begun again and again: it would leave a thread behind each time."""

import asyncio
import functools
import threading

import pytest

from turnwright.activities.given_up import GIVEN_UP_MAX, Run, StillRunning
from turnwright.activities.tool_body import answer_of

NO_TIME_S = 0.0
ENOUGH_S = 20.0


class Hook:
    """A function that does not return until it may."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.threads: list[threading.Thread] = []

    def read(self, what: str) -> str:
        self.threads.append(threading.current_thread())
        self.begun.release()
        self.may_end.wait()
        return what

    async def give_up(self, what: str) -> None:
        """Begin it, and wait no longer."""
        waiting = asyncio.create_task(answer_of(functools.partial(self.read, what), ENOUGH_S, what))
        await asyncio.to_thread(self.begun.acquire)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_hook_that_hangs_is_not_begun_again_until_one_of_its_runs_has_ended() -> None:
    hook, other = Hook(), Hook()
    for n in range(GIVEN_UP_MAX):
        await hook.give_up(f"run {n}")
    refused = await answer_of(functools.partial(hook.read, "one more"), ENOUGH_S, "one more")
    assert refused is not None
    assert isinstance(refused.error, StillRunning)
    assert len(hook.threads) == GIVEN_UP_MAX
    other.may_end.set()
    ended = await answer_of(functools.partial(other.read, "of another"), ENOUGH_S, "of another")
    assert ended is not None
    assert ended.value == "of another", "it is counted for each hook"
    hook.may_end.set()
    for thread in hook.threads:
        await asyncio.to_thread(thread.join)
    ended = await answer_of(functools.partial(hook.read, "again"), ENOUGH_S, "again")
    assert ended is not None
    assert ended.value == "again"


async def test_however_many_runs_are_waited_for_none_is_refused() -> None:
    hook = Hook()
    runs = [
        asyncio.create_task(answer_of(functools.partial(hook.read, "x"), ENOUGH_S, "x"))
        for _ in range(GIVEN_UP_MAX + 2)
    ]
    for _ in runs:
        await asyncio.to_thread(hook.begun.acquire)
    hook.may_end.set()
    assert [ended and ended.value for ended in await asyncio.gather(*runs)] == ["x"] * len(runs)


async def test_async_hooks_that_let_themselves_be_cancelled_are_not_counted() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    for _ in range(GIVEN_UP_MAX + 2):
        assert await answer_of(never, NO_TIME_S, "never") is None
        await asyncio.sleep(0)
        await asyncio.sleep(0)


def test_a_thread_that_begins_after_its_task_has_ended_counts_until_it_ends_and_no_longer() -> None:
    refused: list[bool] = []

    def hook() -> None:
        if refused:
            return
        refused.append(False)
        try:
            for _ in range(GIVEN_UP_MAX):
                others.append(Run(hook))
                others[-1].give_up()
        except StillRunning:
            refused[0] = True

    others: list[Run] = []
    late = Run(hook)
    late.give_up()
    late.end()
    late.in_thread()
    assert refused == [True]
    assert len(others) == GIVEN_UP_MAX - 1
    others.append(Run(hook))
    others[-1].give_up()
    with pytest.raises(StillRunning):
        Run(hook)
    for run in others:
        run.end()
    Run(hook)
