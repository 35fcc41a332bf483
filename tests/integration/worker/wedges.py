"""Workflows under the names of ours that stand still in the ways a rouser must tell apart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RawValue


@workflow.defn(name="Turn")
class Deaf:
    """Waits for something that never comes, and hears nothing."""

    @workflow.run
    async def run(self, given: RawValue) -> None:
        del given
        await asyncio.Event().wait()

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        del name, args


@workflow.defn(name="Turn")
class Raising:
    """Its code raises in every task."""

    @workflow.run
    async def run(self, given: RawValue) -> None:
        del given
        raise RuntimeError("a bug in workflow code")

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        del name, args


@workflow.defn(name="Turn")
class Starved:
    """Waits for an activity that no worker has room for."""

    @workflow.run
    async def run(self, given: RawValue) -> None:
        del given
        await workflow.execute_activity(
            "nobody_runs_this", task_queue="no worker", start_to_close_timeout=timedelta(hours=1)
        )

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        del name, args


@workflow.defn(name="Turn")
class Calling:
    """Has an operation carried out, and counts its signals meanwhile; gives what the operation gave, and the count."""

    def __init__(self) -> None:
        self._count = 0

    @workflow.run
    async def run(self, given: RawValue) -> tuple[int, int]:
        del given
        attempt: int = await workflow.execute_activity(
            hanging_at_first, start_to_close_timeout=timedelta(hours=1), heartbeat_timeout=timedelta(hours=1)
        )
        return attempt, self._count

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        del name, args
        self._count += 1


@activity.defn
async def hanging_at_first() -> int:
    """As if its worker had died, the first time; then the number of the attempt."""
    attempt = activity.info().attempt
    if attempt == 1:
        await asyncio.Event().wait()
    return attempt


@workflow.defn(name="Turn")
class Counting:
    """Counts its signals; a query tells how many."""

    def __init__(self) -> None:
        self._count = 0

    @workflow.run
    async def run(self, given: RawValue) -> int:
        del given
        await workflow.wait_condition(lambda: self._count > 1)
        return self._count

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        del name, args
        self._count += 1


@workflow.defn(name="Thread")
class Thread:
    """Looks and ends."""

    @workflow.run
    async def run(self, given: RawValue) -> None:
        del given

    @workflow.signal(dynamic=True)
    def on_signal(self, name: str, args: Sequence[RawValue]) -> None:
        del name, args
