"""Break this process's connections to the journal's server, as a network does: for a fault point, nothing else.

Rule: the sockets themselves are shut down, so whatever uses them finds out as it would about any other connection.
"""

import contextlib
import os
import socket
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PORT = 5432


def break_connections(journal_url: str, *, hear_only: bool = False) -> int:
    """Shut down every one of them, or with `hear_only` the way back alone; returns how many there were."""
    how = socket.SHUT_RD if hear_only else socket.SHUT_RDWR
    broken = 0
    for place in Path("/dev/fd").iterdir():
        with contextlib.suppress(OSError), _socket(int(place.name)) as found:
            if _leads_to(found.getpeername(), journal_url):
                found.shutdown(how)
                broken += 1
    return broken


def _socket(descriptor: int) -> socket.socket:
    """A second handle to the same socket, so that closing it closes nothing."""
    copy = os.dup(descriptor)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _leads_to(peer: object, journal_url: str) -> bool:
    parts = urlsplit(journal_url)
    options = parse_qs(parts.query)
    if isinstance(peer, str):
        folders = options.get("host", [])
        return any(Path(peer).parent == Path(folder) for folder in folders)
    port = parts.port or int(options.get("port", [str(PORT)])[0])
    return isinstance(peer, tuple) and peer[1] == port
