"""Fault points: nobody has them who did not ask for one, and who asks gets exactly the one."""

import asyncio

import pytest

from turnwright.activities.runtime.boundary import pass_by
from turnwright.journal.errors import InvalidInput, StoreUnavailable
from turnwright.worker.faults import VARIABLE, Fault, FaultRaised, read_fault


def asked_for(text: str) -> Fault:
    fault = read_fault({VARIABLE: text})
    assert fault is not None
    return fault


@pytest.mark.parametrize("environment", [{}, {VARIABLE: ""}, {"TURNWRIGHT_FAULTS": "kill@commit:1"}])
def test_without_the_variable_there_is_no_fault(environment: dict[str, str]) -> None:
    assert read_fault(environment) is None


async def test_the_boundary_of_production_does_nothing() -> None:
    await pass_by("tool:ran")


def test_a_fault_is_read_as_it_is_written() -> None:
    fault = asked_for("delay=2.5@tool:claimed:7+")
    assert (fault.kind, fault.point, fault.at, fault.again, fault.delay_s) == ("delay", "tool:claimed", 7, True, 2.5)


WRONG = ("kill", "kill@commit", "maim@commit:1", "kill@commit:one", "kill@commit:0", "delay@commit:1", "delay=.@x:1")


@pytest.mark.parametrize("wrong", WRONG)
def test_a_fault_nobody_understands_is_an_error_and_not_ignored(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="KIND@POINT:N"):
        asked_for(wrong)


async def test_it_strikes_at_the_nth_passing_and_no_other() -> None:
    fault = asked_for("raise@tool:ran:2")
    await fault.at_boundary("tool:ran")
    await fault.at_boundary("tool:claimed")
    with pytest.raises(FaultRaised, match="tool:ran"):
        await fault.at_boundary("tool:ran")
    await fault.at_boundary("tool:ran")


async def test_with_a_plus_it_strikes_from_then_on() -> None:
    fault = asked_for("raise@tool:ran:2+")
    await fault.at_boundary("tool:ran")
    for _ in range(3):
        with pytest.raises(FaultRaised):
            await fault.at_boundary("tool:ran")


def test_only_commits_of_transactions_that_append_are_counted() -> None:
    fault = asked_for("raise@commit:2")
    for statements in (("append", "commit"), ("thread_heads", "commit"), ("commit",)):
        for point in ("begin", *statements, "committed"):
            assert fault.at_statement(point) is None
    fault.at_statement("begin")
    fault.at_statement("append_head")
    with pytest.raises(StoreUnavailable):
        fault.at_statement("commit")


async def test_transactions_that_run_at_the_same_time_are_told_apart() -> None:
    fault = asked_for("raise@commit:1")
    looking, writing = asyncio.Event(), asyncio.Event()

    async def look() -> None:
        fault.at_statement("begin")
        looking.set()
        await writing.wait()
        fault.at_statement("commit")

    async def write() -> None:
        await looking.wait()
        fault.at_statement("begin")
        fault.at_statement("append")
        writing.set()

    await asyncio.gather(look(), write())


async def test_a_delay_gives_something_to_wait_for() -> None:
    fault = asked_for("delay=0.01@begin:1")
    waiting = fault.at_statement("begin")
    assert waiting is not None
    await waiting
    assert fault.at_statement("begin") is None
