"""Servers of the tests' own, on sockets in a folder of theirs, which end with the process of the tests."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

START_S_MAX = 60
LOOK_S = 0.05


@contextmanager
def running(command: list[str], is_there: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """The server, once it answers, for as long as this is open."""
    dying_with_us = ("setpriv", "--pdeathsig", "KILL")  # also when the tests are killed
    process = subprocess.Popen((*dying_with_us, *command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_s = time.monotonic() + START_S_MAX
        while not is_there():
            assert process.poll() is None, f"{command[0]} ended with {process.returncode}"
            assert time.monotonic() < until_s, f"{command[0]} does not answer"
            time.sleep(LOOK_S)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def running_redis() -> Iterator[str]:
    """The URL of an empty Redis."""
    _wanted("redis-server", "redis-server")
    with _folder() as folder:
        socket = folder / "redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
        with running([*command, "--dir", str(folder)], socket.exists):
            yield f"unix://{socket}"


@contextmanager
def running_mariadb() -> Iterator[str]:
    """The URL of an empty database of a MariaDB."""
    _wanted("mariadbd", "mariadb-server")
    with _folder() as folder:
        data, socket = folder / "data", folder / "mariadb.sock"
        shared = ["--no-defaults", "--user=root", f"--datadir={data}"]
        made = ["mariadb-install-db", *shared, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run(made, check=True, capture_output=True)
        small = ["--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--max-allowed-packet=64M"]
        command = ["mariadbd", *shared, "--skip-networking", f"--socket={socket}", *small]
        ask = ["mariadb", "--no-defaults", "-uroot", f"--socket={socket}", "-e", "CREATE DATABASE IF NOT EXISTS shop"]
        with running(command, lambda: subprocess.run(ask, check=False, capture_output=True).returncode == 0):
            yield f"mysql+asyncmy://root@localhost/shop?unix_socket={socket}"


@contextmanager
def _folder() -> Iterator[Path]:
    """With a short path, for a socket."""
    with tempfile.TemporaryDirectory(prefix="tw-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _wanted(program: str, package: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}: apt-get install {package}")
