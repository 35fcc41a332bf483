"""Fault points: nobody has them who did not ask for one, and who asks gets exactly the one."""

import asyncio
import contextlib
import socket
from pathlib import Path

import pytest

from turnwright.activities.runtime.boundary import pass_by
from turnwright.journal.errors import InvalidInput, StoreUnavailable
from turnwright.worker.fault_connections import break_connections
from turnwright.worker.faults import VARIABLE, Fault, FaultRaised, Wanted, read_fault


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
    assert asked_for("delay=2.5@tool:claimed:7+").wanted == Wanted("delay", "tool:claimed", 7, again=True, delay_s=2.5)


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


async def test_any_is_each_commit_and_each_boundary_and_no_other_statement() -> None:
    fault = asked_for("raise@any:3")
    for point in ("begin", "append_head", "commit"):
        fault.at_statement(point)
    await fault.at_boundary("tool:ran")
    with pytest.raises(StoreUnavailable):
        fault.at_statement("committed")


async def test_a_file_says_what_is_suffered_from_now_on_counted_anew(tmp_path: Path) -> None:
    file = tmp_path / "fault"
    fault = asked_for(f"file:{file}")
    await fault.at_boundary("tool:ran")
    for _ in range(2):
        file.unlink(missing_ok=True)
        file.write_text("raise@tool:ran:2", "utf-8")
        await fault.at_boundary("tool:ran")
        with pytest.raises(FaultRaised):
            await fault.at_boundary("tool:ran")
    file.write_text("", "utf-8")
    for _ in range(2):
        await fault.at_boundary("tool:ran")


def test_a_journal_in_a_file_has_no_connections_to_drop() -> None:
    with pytest.raises(InvalidInput, match="on a server"):
        asked_for("drop@commit:1")


@pytest.mark.parametrize(("how", "arrives"), [("drop", b""), ("deafen", b"commit")])
def test_broken_connections_are_those_to_the_store_and_no_others(how: str, arrives: bytes) -> None:
    with contextlib.ExitStack() as stack:
        store, other = (stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2))
        ours, kept = (stack.enter_context(socket.create_connection(s.getsockname())) for s in (store, other))
        theirs, far = (stack.enter_context(server.accept()[0]) for server in (store, other))
        break_connections(f"postgresql://shop@127.0.0.1:{store.getsockname()[1]}/shop", hear_only=how == "deafen")
        assert ours.recv(1) == b""
        with contextlib.suppress(BrokenPipeError):
            ours.sendall(b"commit")
        ours.close()
        assert theirs.recv(100) == arrives
        kept.sendall(b"x")
        assert far.recv(1) == b"x"
