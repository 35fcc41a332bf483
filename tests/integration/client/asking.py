"""Raw HTTP to a gateway, as any program would speak it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    id: str
    data: Any


def http(url: str, token: str | None = None) -> httpx2.AsyncClient:
    """A client with, or without, a credential."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx2.AsyncClient(base_url=f"{url}/v1", headers=headers, timeout=30)


@asynccontextmanager
async def events(asked: httpx2.AsyncClient, path: str, **params: Any) -> AsyncIterator[AsyncIterator[Event]]:  # noqa: ANN401
    """The events of a stream while it is open."""
    headers = {"Last-Event-ID": str(params.pop("last"))} if "last" in params else {}
    async with asked.stream("GET", path, params=params, headers=headers) as answer:
        assert answer.status_code == httpx2.codes.OK, await answer.aread()
        yield _events(answer)


async def _events(answer: httpx2.Response) -> AsyncIterator[Event]:
    said: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            said[name] = value.removeprefix(" ")
        elif said:
            yield Event(said.get("event", ""), said.get("id", ""), json.loads(said.get("data") or "null"))
            said = {}
