"""A chat front end that speaks AG-UI to a gateway over real HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import httpx2

from tests.integration.client.hands import AGENT
from turnwright.journal import ids
from turnwright.journal.ids import ThreadKey

Event: TypeAlias = dict[str, Any]
KEY = ThreadKey("acme", "ann", AGENT, "s")
PATH = f"/sessions/s/threads/{AGENT}/main/agui"


def said(text: str, message_id: str = "m-1") -> dict[str, Any]:
    return {"id": message_id, "role": "user", "content": text}


def run_input(run_id: str, *messages: dict[str, Any], resume: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    more = {} if resume is None else {"resume": resume}
    return {"threadId": "th-1", "runId": run_id, "protocolVersion": "1.0", "messages": list(messages), **more}


def turn_id(run_id: str) -> str:
    return ids.turn_id(KEY, run_id)


@asynccontextmanager
async def started(asked: httpx2.AsyncClient, given: dict[str, Any]) -> AsyncIterator[AsyncIterator[Event]]:
    """A run that has begun: its turn is there, and its first event was read."""
    headers = {"Accept": "text/event-stream"}
    async with asked.stream("POST", PATH, json=given, headers=headers) as answer:
        assert answer.status_code == httpx2.codes.OK, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = _events(answer)
        first = await anext(events)
        assert (first["type"], first["threadId"], first["runId"]) == ("RUN_STARTED", "th-1", given["runId"])
        assert first["protocolVersion"] == "1.0"
        yield events


async def run(asked: httpx2.AsyncClient, given: dict[str, Any]) -> list[Event]:
    """All events of a run whose turn needs nobody to go on; but for the first."""
    async with started(asked, given) as events:
        return [event async for event in events]


async def rest(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


async def until(events: AsyncIterator[Event], kind: str) -> list[Event]:
    """The events up to the next one of that type."""
    found: list[Event] = []
    async for event in events:
        found.append(event)
        if event["type"] == kind:
            break
    return found


async def _events(answer: httpx2.Response) -> AsyncIterator[Event]:
    async for line in answer.aiter_lines():
        assert not line or line.startswith(("data: {", ":")), line
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def kinds(events: list[Event]) -> list[str]:
    return [event["type"] for event in events]


def of(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event["type"] == kind]


def text_of(events: list[Event]) -> str:
    """What the agent said in the run."""
    return "".join(event["delta"] for event in of(events, "TEXT_MESSAGE_CONTENT"))


def outcome(events: list[Event]) -> str:
    """How the run ended."""
    last = events[-1]
    assert (last["type"], last["threadId"]) == ("RUN_FINISHED", "th-1"), last
    return str(last["outcome"]["type"])


def messages(events: list[Event]) -> list[tuple[str, str]]:
    """The roles and contents of the last snapshot of the conversation."""
    newest = of(events, "MESSAGES_SNAPSHOT")[-1]["messages"]
    return [(message["role"], message.get("content", "")) for message in newest]
