"""Ports on this machine's loopback, chosen so that a server can have the same one again after a restart.

They lie below the range the system hands out to outgoing connections. A client that keeps connecting to a
port of that range while its server is down can be given the same number as its source: it connects to itself
and has taken the port away from the server.
"""

import random
import socket

HOST = "127.0.0.1"
PORT_FIRST, PORT_LAST = 20_000, 29_999
TRIES_MAX = 100


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now, though connections of its predecessor still close."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen()
        except OSError:
            return False
    return True


def find_free() -> int:
    """A port nobody listens on now; someone may still take it before the caller does."""
    for _ in range(TRIES_MAX):
        port = random.randint(PORT_FIRST, PORT_LAST)  # noqa: S311 - not a secret
        if is_free(port):
            return port
    raise OSError(f"no free port found on {HOST} between {PORT_FIRST} and {PORT_LAST}")
