"""Network namespaces: to the processes in one, a machine of their own on a network.

Rule: nothing here has a name, so nothing is left behind, whoever is killed: a namespace goes with the last file and
process that has it, and a device with the file that it was opened by. Linux only, and only for who may administer
its network.
"""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

NETWORK = 0x4000_0000  # CLONE_NEWNET
OWN = "/proc/thread-self/ns/net"
TUN = "/dev/net/tun"
TUN_NO_HEADER = 0x0001 | 0x1000
SET_TUN, SET_FLAGS, SET_ADDRESS, SET_MASK = 0x400454CA, 0x8914, 0x8916, 0x891C
UP = 1
MASK = "255.255.255.0"


def enter(namespace: str) -> None:
    """Move this thread, and all that it begins from now on, into the namespace of that file."""
    file = os.open(namespace, os.O_RDONLY)
    try:
        _ask("setns", file, NETWORK)
    finally:
        os.close(file)


@contextmanager
def entered(namespace: str) -> Iterator[None]:
    """Be in that namespace meanwhile; nothing may be awaited there."""
    home = os.open(OWN, os.O_RDONLY)
    try:
        enter(namespace)
        yield
    finally:
        _ask("setns", home, NETWORK)
        os.close(home)


def open_namespace() -> int:
    """The file of a fresh one, in which nothing but its loopback is up.

    Raises:
        OSError: nobody may make one here.
    """
    home = os.open(OWN, os.O_RDONLY)
    try:
        _ask("unshare", NETWORK)
        _set("lo", SET_FLAGS, struct.pack("h", UP))
        return os.open(OWN, os.O_RDONLY)
    finally:
        _ask("setns", home, NETWORK)
        os.close(home)


def open_device(address: str) -> int:
    """The file of a device in the namespace of this thread: IP packets that leave by it are read from the file.

    Raises:
        OSError: nobody may make one here.
    """
    file = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        made = fcntl.ioctl(file, SET_TUN, struct.pack("16sh22x", b"hosts%d", TUN_NO_HEADER))
        name = made[:16].rstrip(b"\0").decode()
        _set(name, SET_ADDRESS, _internet(address))
        _set(name, SET_MASK, _internet(MASK))
        _set(name, SET_FLAGS, struct.pack("h", UP))
    except BaseException:
        os.close(file)
        raise
    return file


def _internet(address: str) -> bytes:
    return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))


def _set(device: str, what: int, value: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        fcntl.ioctl(asking, what, struct.pack("16s24s", device.encode(), value))


def _ask(name: str, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
