"""A journal that cannot be used says why, and what to do, before anything is written."""

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from turnwright.journal.driver import Driver
from turnwright.journal.drivers import open_driver
from turnwright.journal.errors import InvalidInput, StoreError, StoreUnavailable


async def refusal(url: str) -> StoreError:
    driver = open_driver(url)
    with pytest.raises(StoreError) as refused:
        await driver.start()
    await driver.stop()
    return refused.value


@pytest.mark.parametrize(
    "url",
    [
        "mysql://host/db",
        "journal.db",
        "sqlite://relative.db",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///a.db?wal=off",
        "sqlite:///a.db?lock_timeout_s=soon",
        "postgresql://host/db?schema=Robert'); DROP",
        "postgresql://host/db?connections_max=0",
    ],
)
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        open_driver(url)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n" * 1000)
    error = await refusal(f"sqlite:///{path}")
    assert "notes.txt is not a SQLite database" in str(error)
    assert not isinstance(error, StoreUnavailable)
    assert path.read_text().startswith("buy milk")


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    assert "another program" in str(await refusal(f"sqlite:///{path}"))
    assert path.read_bytes() == before


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    error = await refusal(f"sqlite:///{tmp_path}/nowhere/journal.db")
    assert f"create {tmp_path}/nowhere" in str(error)


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    assert "check the path" in str(await refusal(f"sqlite:///{tmp_path}"))


async def test_a_file_in_place_of_the_locks_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal.db-locks").touch()
    assert "journal.db-locks" in str(await refusal(f"sqlite:///{tmp_path}/journal.db"))


async def test_a_broken_database_is_reported_as_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    driver = open_driver(f"sqlite:///{path}")
    await driver.start()
    await driver.migrate()
    await driver.stop()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(size - 100))
    driver = open_driver(f"sqlite:///{path}")
    with pytest.raises(StoreError, match=r"malformed|not a SQLite"):
        await started(driver)
    await driver.stop()


async def started(driver: Driver) -> None:
    await driver.start()
    await driver.migrate()


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = await refusal(f"postgresql://user:hunter2@127.0.0.1:{port}/journal")
    assert isinstance(error, StoreUnavailable)
    assert f"127.0.0.1:{port}/journal" in str(error)
    assert "check the server" in str(error)
    assert "hunter2" not in str(error)


async def test_a_host_that_does_not_resolve_is_unavailable() -> None:
    error = await refusal("postgresql://user@no-such-host.invalid/journal")
    assert isinstance(error, StoreUnavailable)


async def test_a_database_that_does_not_exist_is_the_callers_to_correct(postgres_server: str) -> None:
    error = await refusal(postgres_server.replace("/postgres?", "/nowhere?"))
    assert not isinstance(error, StoreUnavailable)
    assert "check user, password, database" in str(error)


async def test_a_url_the_client_cannot_read_is_refused_without_its_password() -> None:
    error = await refusal("postgresql://user:hunter2@host/journal?sslmode=nonsense")
    assert "sslmode" in str(error)
    assert "hunter2" not in str(error)
