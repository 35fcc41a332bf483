"""The key of a dev's gateway is made once and kept from others, and its port is one that it can have."""

import asyncio
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.store_keys import find_bearer, list_keys, revoke_key
from turnwright.worker import loopback
from turnwright.worker.child import Child
from turnwright.worker.dev_gateway import DevGateway, keep_key
from turnwright.worker.dev_place import DevFailed
from turnwright.worker.settings import Settings


async def kept(file: Path, driver: Driver, tenant: str) -> str:
    """The token of the file, once it is kept there."""
    await keep_key(file, driver, tenant)
    return file.read_text().removesuffix("\n")


async def test_a_key_is_made_once_and_only_its_owner_reads_it(driver: Driver, tmp_path: Path) -> None:
    file = tmp_path / "gateway.key"
    token = await kept(file, driver, "acme")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert await kept(file, driver, "acme") == token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    [key] = (await list_keys(driver, "acme")).items
    assert (key.grant.name, key.grant.role, key.grant.user) == ("dev", "admin", None)
    assert await find_bearer(driver, token) == key


@pytest.mark.parametrize("left", ["revoked", "of another tenant", "no token", "no text"])
async def test_a_key_that_is_of_no_use_is_replaced(left: str, driver: Driver, tmp_path: Path) -> None:
    file = tmp_path / "gateway.key"
    old = await kept(file, driver, "other" if left == "of another tenant" else "acme")
    match left:
        case "revoked":
            assert await revoke_key(driver, "acme", old.split("_")[1])
        case "no token":
            file.write_text("tw_x_y\n")
        case "no text":
            file.write_bytes(b"\xff\xfe")
    new = await kept(file, driver, "acme")
    found = await find_bearer(driver, new)
    assert found is not None
    assert (found.tenant, new != old) == ("acme", True)


def usually(port: int) -> Settings:
    """Settings in which nobody named a port."""
    return Settings.model_construct(_fields_set=set(), gateway_port=port)


@pytest.fixture
def strangers() -> Iterator[list[socket.socket]]:
    """Who took ports."""
    taken: list[socket.socket] = []
    yield taken
    for one in taken:
        one.close()


def saying(text: str) -> Child:
    """A process that says something and ends."""
    return Child([sys.executable, "-c", f"print({text!r})"])


async def test_a_port_that_a_stranger_was_faster_to_take_is_left_to_it(strangers: list[socket.socket]) -> None:
    ports: list[int] = []

    def launch(port: int) -> Child:
        ports.append(port)
        strangers.append(socket.socket())
        strangers[-1].bind((loopback.HOST, port))
        return saying("gateway_listening" if len(ports) == 3 else "error: the gateway cannot listen on it")

    gateway = DevGateway(usually(loopback.find_free()), launch)
    gateway.start()
    await gateway.until_ready(asyncio.Event())
    assert len(set(ports)) == 3
    assert gateway.url == f"http://127.0.0.1:{ports[-1]}"
    end(gateway)


async def test_a_gateway_that_ends_for_another_reason_is_said() -> None:
    gateway = DevGateway(usually(loopback.find_free()), lambda _: saying("error: no such thing"))
    gateway.start()
    with pytest.raises(DevFailed, match="the gateway did not start: error: no such thing"):
        await gateway.until_ready(asyncio.Event())
    end(gateway)


async def test_a_gateway_that_starts_and_never_listens_is_not_waited_for_without_end() -> None:
    mute = [sys.executable, "-c", "import time; print('opening', flush=True); time.sleep(3_600)"]
    gateway = DevGateway(usually(loopback.find_free()), lambda _: Child(mute))
    gateway.start()
    assert gateway.child is not None
    while "opening" not in gateway.child.read_head():
        await asyncio.sleep(0.01)
    with pytest.raises(DevFailed, match=r"the gateway did not listen within 0\.1 s: opening"):
        await gateway.until_ready(asyncio.Event(), timeout_s=0.1)
    assert gateway.child.is_running
    end(gateway)


def test_a_port_that_the_settings_name_is_not_given_up_and_the_usual_one_is() -> None:
    with socket.create_server((loopback.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        named = DevGateway(Settings(gateway_port=port), lambda _: saying(""))
        with pytest.raises(InvalidInput, match=f"port {port} is taken: free it or choose another"):
            named.start()
        usual = DevGateway(usually(port), lambda _: saying(""))
        usual.start()
        assert usual.url != f"http://{loopback.HOST}:{port}"
        end(usual)


def end(gateway: DevGateway) -> None:
    assert gateway.child is not None
    gateway.child.kill()
