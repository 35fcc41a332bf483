"""An MCP server as an agent's author says it: a command to run, or a URL.

Rule: it is checked when it is written, and nothing of it is pinned or journaled but its name: what it is started with
and the headers it is sent may hold secrets.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self, TypeAlias, Unpack
from urllib.parse import urlsplit

from turnwright.activities.sources.port import OpenSource
from turnwright.activities.sources.terms import TermOptions, Terms
from turnwright.journal.errors import InvalidInput

CONNECT_TIMEOUT_S: Final = 30.0
IN_USE: Final = "turnwright.activities.mcp.source"
Headers: TypeAlias = Mapping[str, str] | Callable[[], Mapping[str, str] | Awaitable[Mapping[str, str]]]


class McpOptions(TermOptions, total=False):
    """What else an author may say of a server.

    `trust_annotations`: what it says of its own tools is believed, so those it calls read-only run unasked.
    `connect_timeout_s` is how long it may take to start, to answer the handshake, and to list its tools.
    """

    trust_annotations: bool
    connect_timeout_s: float


@dataclass(frozen=True, slots=True, eq=False)
class McpServer:
    """A server of tools; made by `McpServer.stdio` or `McpServer.http`.

    Its tools are the agent's as it lists them, before each request to the model: `McpServer.stdio("time", [...])`.
    """

    terms: Terms
    command: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    url: str | None = None
    headers: Headers | None = None
    trusted: bool = False
    connect_timeout_s: float = CONNECT_TIMEOUT_S

    @classmethod
    def stdio(
        cls,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        **options: Unpack[McpOptions],
    ) -> Self:
        """A program each worker starts for itself, and speaks to over its standard input and output.

        It is given `env` and a few variables such as PATH and HOME, and none of the worker's others.

        Raises:
            InvalidInput: something is not what it must be, or the extra `mcp` is not installed.
        """
        if isinstance(command, str) or not command or not all(isinstance(part, str) and part for part in command):
            raise InvalidInput(f"MCP server {name}: command= is a list such as ['mcp-server-time'], got {command!r}")
        return cls(
            _terms(name, options),
            command=tuple(command),
            env=env,
            cwd=None if cwd is None else str(cwd),
            trusted=_trusted(options),
            connect_timeout_s=_connect_timeout_s(name, options),
        )

    @classmethod
    def http(cls, name: str, url: str, *, headers: Headers | None = None, **options: Unpack[McpOptions]) -> Self:
        """A server reached by streamable HTTP. `headers` go with each request; a function is asked per connection.

        The function may be async; one that is not has a thread of its own. It has half of `connect_timeout_s`, 10 s
        at most.

        Raises:
            InvalidInput: something is not what it must be, or the extra `mcp` is not installed.
        """
        if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
            raise InvalidInput(f"MCP server {name}: url= is an http or https URL, got {url!r}")
        return cls(
            _terms(name, options),
            url=url,
            headers=headers,
            trusted=_trusted(options),
            connect_timeout_s=_connect_timeout_s(name, options),
        )

    @property
    def name(self) -> str:
        """The name threads know it by."""
        return self.terms.name

    def load(self) -> None:
        """Import what speaks to servers, which takes a while."""
        importlib.import_module(IN_USE)

    def open(self) -> OpenSource:
        """The server for use in this process; nothing is started yet."""
        opened: OpenSource = importlib.import_module(IN_USE).McpSource(self)
        return opened


def _terms(name: str, options: McpOptions) -> Terms:
    if find_spec("mcp") is None:
        raise InvalidInput(f"MCP server {name}: install turnwright[mcp]; what speaks to such servers is not installed")
    own = McpOptions.__annotations__.keys() - TermOptions.__annotations__.keys()
    rest = {key: value for key, value in options.items() if key not in own}
    return Terms.of(name, rest)  # type: ignore[arg-type] # the keys of a TypedDict, less some


def _trusted(options: McpOptions) -> bool:
    return options.get("trust_annotations", False)


def _connect_timeout_s(name: str, options: McpOptions) -> float:
    timeout_s = options.get("connect_timeout_s", CONNECT_TIMEOUT_S)
    if not timeout_s > 0:
        raise InvalidInput(f"MCP server {name}: connect_timeout_s must be above 0, got {timeout_s}")
    return timeout_s
