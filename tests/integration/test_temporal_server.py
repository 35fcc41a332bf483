import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from turnwright.worker import loopback, temporal_command
from turnwright.worker.child import Child
from turnwright.worker.temporal_server import TemporalServer, TemporalServerError

DEADLINE_S = 30

OWNER = """
import asyncio, sys
from pathlib import Path
from turnwright.worker.temporal_server import TemporalServer

async def main():
    server = TemporalServer(Path(sys.argv[1]))
    await server.start()
    Path(sys.argv[2]).write_text(f"{server.pid}\\n")
    await asyncio.Event().wait()

asyncio.run(main())
"""
WATCHED = """
import os
from turnwright.worker import lifeline

lifeline.leave_watcher()
print(os.getpid(), flush=True)
os.execv("/bin/sleep", ["sleep", "1000"])
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[TemporalServer]:
    log_file = tmp_path / "temporal.log"
    async with TemporalServer(tmp_path / "data" / "temporal.db", log_file=log_file) as running:
        yield running


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@contextlib.contextmanager
def run_python(source: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", source, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not holds():
            await asyncio.sleep(0.02)


async def start_workflow(client: Client, workflow_id: str) -> None:
    await client.start_workflow("NobodyRunsThis", id=workflow_id, task_queue="nobody")


async def knows(client: Client, workflow_id: str) -> bool:
    try:
        await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


def hosts_listened_on(pid: int) -> set[str]:
    return {address.partition(":")[0] for address in addresses_listened_on(pid)}


def listened_on(pid: int) -> set[str]:
    return {str(int(address.partition(":")[2], 16)) for address in addresses_listened_on(pid)}


def addresses_listened_on(pid: int) -> set[str]:
    sockets = {entry.readlink().as_posix() for entry in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="utf-8").splitlines()[1:]
    ]
    return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}


async def test_a_started_server_answers_and_serves_its_user_interface(server: TemporalServer) -> None:
    client = await server.connect()
    await start_workflow(client, "first")
    assert await knows(client, "first")
    reader, writer = await asyncio.open_connection(loopback.HOST, server.ui_port)
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    assert (await reader.readline()).split()[1] == b"200"
    writer.close()
    await writer.wait_closed()


async def test_no_port_of_the_server_can_be_reached_from_another_machine(server: TemporalServer) -> None:
    assert hosts_listened_on(server.pid) == {"0100007F"}


async def test_a_server_that_was_stopped_keeps_what_it_knew(server: TemporalServer) -> None:
    address = server.address
    await start_workflow(await server.connect(), "kept")
    await server.stop()
    await server.start()
    assert server.address == address
    assert await knows(await server.connect(), "kept")


async def test_a_server_that_was_killed_keeps_what_it_knew(server: TemporalServer) -> None:
    await start_workflow(await server.connect(), "kept")
    server.kill()
    await server.start()
    assert await knows(await server.connect(), "kept")


async def test_a_server_whose_data_was_erased_starts_on_the_same_port_and_knows_nothing(
    server: TemporalServer,
) -> None:
    # The old client stays connected the whole time, as a worker's does.
    client = await server.connect()
    await start_workflow(client, "forgotten")
    address, ui_url = server.address, server.ui_url
    await server.stop()
    server.erase()
    assert list((server.data_file or Path()).parent.iterdir()) == []
    await server.start()
    assert (server.address, server.ui_url) == (address, ui_url)
    assert not await knows(client, "forgotten")
    await start_workflow(client, "fresh")


async def test_a_stopped_server_is_gone_and_may_be_stopped_again(server: TemporalServer) -> None:
    pid = server.pid
    await server.stop()
    await server.stop()
    assert not server.is_running
    assert not is_alive(pid)
    with pytest.raises(TemporalServerError, match="not running"):
        _ = server.pid


async def test_a_frozen_server_is_killed_when_it_does_not_stop(tmp_path: Path) -> None:
    server = TemporalServer(tmp_path / "temporal.db", stop_timeout_s=0.1)
    await server.start()
    pid = server.pid
    os.kill(pid, signal.SIGSTOP)
    await server.stop()
    assert not is_alive(pid)


async def test_a_running_server_refuses_a_second_start_and_the_erasure_of_its_data(
    server: TemporalServer,
) -> None:
    with pytest.raises(TemporalServerError, match="already runs"):
        await server.start()
    with pytest.raises(TemporalServerError, match="stop the embedded Temporal"):
        server.erase()


async def test_a_namespace_of_another_name_exists_when_the_server_is_ready(tmp_path: Path) -> None:
    async with TemporalServer(tmp_path / "temporal.db", namespace="elsewhere") as server:
        client = await server.connect()
        assert client.namespace == "elsewhere"
        await start_workflow(client, "first")


async def test_a_server_without_a_data_file_runs_in_memory() -> None:
    async with TemporalServer() as server:
        await start_workflow(await server.connect(), "first")


async def test_a_given_port_that_is_taken_is_an_error_even_if_temporal_answers_there(
    server: TemporalServer,
) -> None:
    with pytest.raises(TemporalServerError, match=f"port {server.port} is taken"):
        await TemporalServer(port=server.port).start()


async def test_a_port_that_is_taken_after_it_was_chosen_is_chosen_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server((loopback.HOST, 0)) as taken:
        chosen = iter((taken.getsockname()[1], loopback.find_free()))
        find_free = loopback.find_free
        monkeypatch.setattr(loopback, "find_free", lambda: next(chosen, None) or find_free())
        async with TemporalServer() as server:
            assert server.port != taken.getsockname()[1]


async def test_servers_that_want_the_same_ports_at_once_get_one_each(tmp_path: Path) -> None:
    # Not waiting for each other: all of them see the ports free, and one of them has them in the end.
    usual = loopback.find_free(), loopback.find_free()
    async with contextlib.AsyncExitStack() as exits:
        servers = [
            TemporalServer(tmp_path / f"{n}.db", usual_ports=usual, namespace=f"of-{n}", log_file=tmp_path / f"{n}.log")
            for n in range(4)
        ]
        for server in servers:
            exits.push_async_callback(server.stop)
        await asyncio.gather(*(server.start() for server in servers))
        assert len({server.port for server in servers}) == len({server.ui_port for server in servers}) == 4
        assert all(server.is_running for server in servers)
        for server in servers:  # each answers for itself
            assert str(server.port) in listened_on(server.pid)
            await start_workflow(await server.connect(), "mine")


async def test_the_answer_of_a_neighbour_on_the_port_is_not_taken_for_the_servers_own(
    server: TemporalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the neighbour had taken it between the look and the bind; ours lives for a while and never listens.
    monkeypatch.setattr(loopback, "is_free", lambda _port: True)
    monkeypatch.setattr(temporal_command, "build", lambda *_given: ["sleep", "1"])
    other = TemporalServer(tmp_path / "other.db", port=server.port, ui_port=server.ui_port)
    with pytest.raises(TemporalServerError, match="did not start: it said nothing"):
        await other.start()


async def test_a_server_that_cannot_start_says_why_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "temporal.db").mkdir()
    server = TemporalServer(tmp_path / "temporal.db")
    with pytest.raises(TemporalServerError, match=r"did not start: .*database") as caught:
        await server.start()
    assert "\n" not in str(caught.value)
    assert not server.is_running


async def test_a_server_that_does_not_answer_in_time_is_ended(tmp_path: Path) -> None:
    server = TemporalServer(tmp_path / "temporal.db", ready_timeout_s=0)
    with pytest.raises(TemporalServerError, match="did not answer within 0 s"):
        await server.start()
    assert not server.is_running


async def test_a_machine_without_the_program_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", absent)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(TemporalServerError, match="dev-server"):
        await TemporalServer().start()


def test_the_environment_of_another_temporal_does_not_reach_the_embedded_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "elsewhere:7233")
    assert "TEMPORAL_ADDRESS" not in temporal_command.build_environment()


async def test_a_killed_owner_leaves_no_server_behind(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with run_python(OWNER, str(tmp_path / "temporal.db"), str(pid_file)) as owner:
        await until(lambda: pid_file.exists() and pid_file.read_text(encoding="utf-8").endswith("\n"))
        pid = int(pid_file.read_text(encoding="utf-8"))
        assert is_alive(pid)
        owner.kill()
        await until(lambda: not is_alive(pid))


async def test_a_watched_command_dies_when_its_owner_lets_go() -> None:
    with run_python(WATCHED) as watched:
        assert watched.stdin is not None
        assert watched.stdout is not None
        await asyncio.to_thread(watched.stdout.readline)
        assert watched.poll() is None
        watched.stdin.close()
        await until(lambda: watched.poll() is not None)
        assert watched.returncode == -signal.SIGKILL


async def test_a_child_keeps_one_older_log_when_its_log_has_grown_large(tmp_path: Path) -> None:
    log_file = tmp_path / "child.log"
    log_file.write_bytes(b"x" * 10_000_001)
    child = Child(["echo", "hello"], log_file=log_file)
    await until(lambda: not child.is_running)
    assert child.read_tail() == "hello"
    child.kill()
    assert (tmp_path / "child.log.1").stat().st_size == 10_000_001
