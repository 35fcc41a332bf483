"""What the network of these tests does to packets, and that nothing is left of it."""

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.faults.hosts.network import CUT, Link, Network
from tests.forked import start_speaking

PORT = 5000
MANY = 100
LAST = b"last"
LETTER_BYTES_MAX = 100
DEADLINE_S = 30
POLL_S = 0.02


Ends: TypeAlias = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends(network: Network) -> Iterator[Ends]:
    """Two sockets that take and send single packets, on the hosts `first` and `second`."""
    with network["first"].entered():
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with network["second"].entered():
        other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with closing(one), closing(other):
        one.bind((network["first"].address, PORT))
        other.bind((network["second"].address, PORT))
        one.connect(other.getsockname())
        other.connect(one.getsockname())
        for end in (one, other):
            end.settimeout(DEADLINE_S)
        yield one, other
    network.heal()


async def test_a_cut_swallows_packets_both_ways_and_tells_nobody(network: Network, ends: Ends) -> None:
    one, other = ends
    one.send(b"before")
    assert other.recv(LETTER_BYTES_MAX) == b"before"
    hosts = network["first"], network["second"]
    network.impair(*hosts, CUT)
    one.send(b"meanwhile")
    other.send(b"meanwhile")
    async with asyncio.timeout(DEADLINE_S):
        while not (network.lost(*hosts) and network.lost(*reversed(hosts))):
            await asyncio.sleep(POLL_S)
    network.heal()
    one.send(b"after")
    other.send(b"after")
    assert (one.recv(LETTER_BYTES_MAX), other.recv(LETTER_BYTES_MAX)) == (b"after", b"after")


async def test_a_bad_link_loses_some_packets_and_keeps_the_others_in_order(network: Network, ends: Ends) -> None:
    one, other = ends
    network.impair(network["first"], network["second"], Link(delay_s=0.01, loss=0.3))
    for number in range(MANY):
        one.send(bytes([number]))
    other.setblocking(False)
    came: list[bytes] = []
    async with asyncio.timeout(DEADLINE_S):
        while LAST not in came:
            one.send(LAST)  # it may be lost, too
            await asyncio.sleep(POLL_S)
            came += arrived(other)
    numbers = [letter for letter in came if letter != LAST]
    assert numbers == sorted(numbers)
    assert 0 < len(numbers) < MANY


async def test_a_network_and_all_that_runs_on_it_go_with_who_made_them_however_that_ends(network: Network) -> None:
    maker = await start_speaking("tests.faults.hosts.opened", [])
    try:
        address, pid = (await maker.line()).split()
        assert is_ours(address)
    finally:
        maker.end()
    async with asyncio.timeout(DEADLINE_S):
        while is_ours(address) or Path(f"/proc/{pid}").exists():
            await asyncio.sleep(POLL_S)


def is_ours(address: str) -> bool:
    """Whether a device of this machine has the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trying:
        try:
            trying.bind((address, 0))
        except OSError as error:
            assert error.errno == errno.EADDRNOTAVAIL, error  # noqa: PT017 - any other is a broken test
            return False
    return True


def arrived(end: socket.socket) -> Iterator[bytes]:
    """What waits there."""
    try:
        while True:
            yield end.recv(LETTER_BYTES_MAX)
    except BlockingIOError:
        return
