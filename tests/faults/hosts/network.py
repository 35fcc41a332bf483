"""Hosts on one network: each has an address of its own, and every packet between two passes a router of ours.

    with Network.open("database", "worker") as network:
        database, worker = network["database"], network["worker"]
        with worker.entered():
            ...                                    # what is begun here is on that host
        network.impair(database, worker, CUT)      # packets vanish: nobody is told, nothing is refused
        network.heal()

Rule: the hosts' kernels and their TCP are real, and only what a cable or a router does to packets is done here. The
test itself is on the network too, and nothing comes between it and the others unless it says so.
"""

import contextlib
import heapq
import itertools
import os
import random
import select
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.namespaces import entered, open_device, open_namespace

NETWORKS_MAX = 256
PACKET_BYTES_MAX = 65_536
AT_ONCE_MAX = 64
IDLE_S = 1.0
KILL_S_MAX = 30.0
VERSION_4 = 4
OURS = "ours"
Way: TypeAlias = tuple[str, str]
"""From a host to another."""


@dataclass(frozen=True)
class Link:
    """What happens to packets on a way: `loss` is the part that vanishes, `delay_s` how long the others take."""

    delay_s: float = 0.0
    loss: float = 0.0


GOOD, CUT = Link(), Link(loss=1.0)


@dataclass(frozen=True)
class Host:
    """One host; `namespace` is the file of its network."""

    name: str
    address: str
    device: int
    namespace: str = ""

    def entered(self) -> AbstractContextManager[None]:
        """Begin processes there; nothing may be awaited meanwhile."""
        return entered(self.namespace)

    def processes(self) -> list[int]:
        """All that runs there."""
        return [pid for pid in (int(entry.name) for entry in Path("/proc").glob("[0-9]*")) if self._has(pid)]

    def _has(self, pid: int) -> bool:
        with contextlib.suppress(OSError):  # it has ended, or is ending
            return Path(f"/proc/{pid}/ns/net").stat().st_ino == Path(self.namespace).stat().st_ino
        return False


class Network:
    """Made by `open`."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self._links: dict[Way, Link] = {}
        self._lost = Counter[Way]()
        self._underway: list[tuple[float, int, Host, Host, bytes]] = []
        self._numbers = itertools.count()
        self._chance = random.Random(1)
        self._closed = threading.Event()

    @classmethod
    @contextmanager
    def open(cls, *names: str) -> "Iterator[Network]":
        """Hosts of these names, and the way to them.

        Raises:
            OSError: nobody may make any here.
        """
        network = cls()
        with ExitStack() as stack:
            prefix = stack.enter_context(_free_prefix())
            network._add(stack, Host(OURS, f"{prefix}.1", open_device(f"{prefix}.1")))
            for number, name in enumerate(names, 2):
                network._add(stack, _make_host(stack, name, f"{prefix}.{number}"))
            routing = threading.Thread(target=network._route, name="router", daemon=True)
            routing.start()
            try:
                yield network
            finally:
                network._closed.set()
                routing.join()

    def __getitem__(self, name: str) -> Host:
        return self._hosts[name]

    def impair(self, one: Host, other: Host, link: Link, *, back: bool = True) -> None:
        """What happens from now on to packets from one to the other and, with `back`, to those that come back."""
        self._links[one.name, other.name] = link
        if back:
            self._links[other.name, one.name] = link

    def unplug(self, host: Host) -> None:
        """Cut it off from everybody."""
        for other in self._hosts.values():
            if other is not host:
                self.impair(host, other, CUT)

    def heal(self) -> None:
        """Let everything through at once, and count anew."""
        self._links.clear()
        self._lost.clear()

    def lost(self, one: Host, other: Host) -> int:
        """How many packets from one to the other have vanished."""
        return self._lost[one.name, other.name]

    def kill(self, host: Host) -> None:
        """Its power fails: nobody hears of it, and everything that ran there is gone.

        Raises:
            TimeoutError: something there does not end, such as a process that waits for a disk.
        """
        self.unplug(host)
        until_s = time.monotonic() + KILL_S_MAX
        while running := host.processes():  # what one of them began meanwhile is met in the next look
            if time.monotonic() > until_s:
                raise TimeoutError(f"on {host.name} still run {running}")
            for pid in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _add(self, stack: ExitStack, host: Host) -> None:
        stack.callback(os.close, host.device)
        self._hosts[host.name] = host

    def _route(self) -> None:
        """The router's thread, until the network is closed."""
        by_device = {host.device: host for host in self._hosts.values()}
        by_address = {socket.inet_aton(host.address): host for host in self._hosts.values()}
        with select.epoll() as ready:
            for device in by_device:
                ready.register(device, select.EPOLLIN)
            while not self._closed.is_set():
                for device, _ in ready.poll(self._until_next_s()):
                    for packet in _packets(device):
                        if to := by_address.get(_destination(packet)):
                            self._take(by_device[device], to, packet)
                self._deliver()

    def _take(self, sender: Host, to: Host, packet: bytes) -> None:
        link = self._between(sender, to)
        if self._chance.random() < link.loss:
            self._lost[sender.name, to.name] += 1
        elif link.delay_s:
            due = (time.monotonic() + link.delay_s, next(self._numbers), sender, to, packet)
            heapq.heappush(self._underway, due)
        else:
            _hand_over(to, packet)

    def _deliver(self) -> None:
        """What has been underway for long enough, unless its way was cut meanwhile."""
        while self._underway and self._underway[0][0] <= time.monotonic():
            *_, sender, to, packet = heapq.heappop(self._underway)
            if self._between(sender, to) != CUT:
                _hand_over(to, packet)

    def _between(self, sender: Host, to: Host) -> Link:
        return self._links.get((sender.name, to.name), GOOD)

    def _until_next_s(self) -> float:
        return max(0.0, self._underway[0][0] - time.monotonic()) if self._underway else IDLE_S


def _packets(device: int) -> Iterator[bytes]:
    """Those that wait, not too many at a time."""
    with contextlib.suppress(BlockingIOError):
        for _ in range(AT_ONCE_MAX):
            yield os.read(device, PACKET_BYTES_MAX)


def _destination(packet: bytes) -> bytes:
    return packet[16:20] if packet[0] >> 4 == VERSION_4 else b""


def _hand_over(to: Host, packet: bytes) -> None:
    with contextlib.suppress(OSError):  # as a host that is off takes nothing
        os.write(to.device, packet)


def _make_host(stack: ExitStack, name: str, address: str) -> Host:
    file = open_namespace()
    stack.callback(os.close, file)
    namespace = f"/proc/{os.getpid()}/fd/{file}"
    with entered(namespace):
        return Host(name, address, open_device(address), namespace)


@contextmanager
def _free_prefix() -> Iterator[str]:
    """Three numbers of addresses for tests of networks, which no other network on this machine has meanwhile."""
    for number in range(NETWORKS_MAX):
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"\0turnwright-hosts-{number}")  # the kernel frees it, whatever becomes of us
            except OSError:
                continue
            yield f"198.18.{number}"
            return
    raise OSError(f"{NETWORKS_MAX} networks of hosts are open on this machine")
