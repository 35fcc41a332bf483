"""Looking up names, on threads of its own.

Rule: a look-up cannot be stopped, so it has a thread until the system gives up. Nobody waits that long for it, nothing
else of the gateway waits for these threads, and however many ask for one name, one thread does.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

THREADS_MAX = 8
LOOK_UP_S = 5.0


class Names:
    """The look-ups that are under way."""

    def __init__(self, threads_max: int = THREADS_MAX, look_up_s: float = LOOK_UP_S) -> None:
        self._threads = ThreadPoolExecutor(threads_max, thread_name_prefix="names")
        self._look_up_s = look_up_s
        self._asked: dict[str, asyncio.Future[list[str]]] = {}

    def close(self) -> None:
        """Begin no more of them."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def addresses(self, host: str) -> list[str]:
        """The addresses that a name has now.

        Raises:
            OSError, UnicodeError: it has none, or that is not known in time.
        """
        asked = self._asked.get(host)
        if asked is None:
            asked = self._asked[host] = asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
            asked.add_done_callback(lambda done: self._end(host, done))
        try:
            async with asyncio.timeout(self._look_up_s):
                return await asyncio.shield(asked)
        except TimeoutError:
            raise OSError(f"its name was not looked up within {self._look_up_s:g} s") from None

    def _end(self, host: str, done: asyncio.Future[list[str]]) -> None:
        del self._asked[host]
        if not done.cancelled():
            done.exception()  # there may be nobody left who wants to know


def _look_up(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))
