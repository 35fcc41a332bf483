"""The gateway of `turnwright dev`: on loopback only, for whoever sits at this machine, with a key that is made once.

Rule: the key's secret is in one file, which only its owner may read; no log, environment or command line ever holds
it. The port is chosen at the first start and kept at later ones, so that an open console finds its gateway again.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from turnwright.journal.api_keys import Grant
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.store_keys import create_key, find_bearer
from turnwright.worker import loopback
from turnwright.worker.child import Child
from turnwright.worker.dev_place import DevFailed
from turnwright.worker.settings import Settings

GATEWAY = "gateway"
KEY_FILE = "gateway.key"
KEY_NAME = "dev"
READY_POLL_S = 0.05
READY_S_MAX = 30.0
PORTS_TRIED_MAX = 5
# What its log says, which is at least at the level of "info".
LISTENS = "gateway_listening"
PORT_LOST = "cannot listen on"


class DevGateway:
    """The gateway's process and its place; `launch` starts the process on a port."""

    def __init__(self, settings: Settings, launch: Callable[[int], Child]) -> None:
        self._usual = settings.gateway_port
        self._given = "gateway_port" in settings.model_fields_set and settings.gateway_port != 0
        self._launch = launch
        self._port: int | None = None
        self._child: Child | None = None

    @property
    def child(self) -> Child | None:
        """The process, once it was started; it may have ended by itself."""
        return self._child

    @property
    def url(self) -> str:
        """Where it is found, once it was started."""
        return f"http://{loopback.HOST}:{self._port}"

    def start(self) -> None:
        """Start the process, also again.

        Raises:
            InvalidInput: the port that the settings name is taken.
        """
        if self._child is not None:
            self._child.kill()
        if self._port is None:
            self._port = self._choose_port()
        self._child = self._launch(self._port)

    async def until_ready(self, stopping: asyncio.Event, timeout_s: float = READY_S_MAX) -> None:
        """Until it has said that it listens: an answer could be a stranger's, who was faster to take the port.

        Raises:
            DevFailed: it ended before that, or has not said so in time.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._until_it_listens(stopping)
        except TimeoutError:
            raise DevFailed(f"the gateway did not listen within {timeout_s:g} s: {self._last_said}") from None

    async def _until_it_listens(self, stopping: asyncio.Event) -> None:
        tries_left = PORTS_TRIED_MAX
        while self._child is not None and not stopping.is_set():
            ended = not self._child.is_running
            said = self._child.read_head()
            if LISTENS in said:
                return
            if ended:
                tries_left -= 1
                if self._given or PORT_LOST not in said or not tries_left:
                    raise DevFailed(f"the gateway did not start: {self._last_said}")
                self._port = loopback.find_free()
                self.start()
            await asyncio.sleep(READY_POLL_S)

    @property
    def _last_said(self) -> str:
        return "" if self._child is None else self._child.read_tail().splitlines()[-1]

    def _choose_port(self) -> int:
        if self._usual and loopback.is_free(self._usual):
            return self._usual
        if self._given:
            raise InvalidInput(f"port {self._usual} is taken: free it or choose another with gateway_port")
        return loopback.find_free()


async def keep_key(file: Path, driver: Driver, tenant: str) -> None:
    """Have the file hold the token of an administrator of the tenant: the one it has, or else a new one."""
    token = _read(file)
    found = await find_bearer(driver, token)
    if found is None or (found.tenant, found.grant.role) != (tenant, "admin"):
        token = (await create_key(driver, tenant, Grant(name=KEY_NAME, role="admin"))).token
    _write(file, token)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _write(file: Path, token: str) -> None:
    """Anew each time, so that nobody else can read it, whoever made the file that was there."""
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        out.write(f"{token}\n")
    new.replace(file)
