"""A thread's conversation over HTTP: forked, rewound, made whole, compacted, remembered; and titles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from turnwright.client import Client
from turnwright.journal.driver import Driver

MAIN = f"/sessions/s/threads/{AGENT}/main"


@dataclass(frozen=True)
class Gateway:
    """One of a journal that has a conversation of two turns; each ended at one of these entries."""

    url: str
    ask: httpx2.AsyncClient
    first: int
    last: int

    async def does(self, path: str, request_id: str = "", **body: Any) -> dict[str, Any]:  # noqa: ANN401 - any body
        """The receipt of a command that must be accepted."""
        headers = {"Idempotency-Key": request_id} if request_id else {}
        answer = await self.ask.post(path, json=body, headers=headers)
        assert answer.status_code == httpx2.codes.ACCEPTED, answer.text
        receipt: dict[str, Any] = answer.json()
        return receipt

    async def texts(self, thread: str = "main", session: str = "s") -> list[str]:
        state = (await self.ask.get(f"/sessions/{session}/threads/{AGENT}/{thread}/state")).json()
        return ["".join(block["text"] for block in message["blocks"]) for message in state["context"]]


@pytest.fixture
async def gateway(driver: Driver, journal_url: str, client: Client, hands: Hands) -> AsyncIterator[Gateway]:
    async with (
        serving(settings_of(journal_url)) as url,
        http(url, await token(driver, "admin")) as ask,
    ):
        ends = []
        for text in ("one", "two"):
            await hands.finish(await client.turn((await submitted(ask, input=text))["turn_id"]))
            ends.append((await ask.get(MAIN)).json()["seq"])
        yield Gateway(url, ask, *ends)


async def test_a_thread_is_forked_and_rewound_and_a_repeated_request_is_answered_as_before(gateway: Gateway) -> None:
    wanted: dict[str, Any] = {"at_seq": gateway.first, "thread": "side", "reason": "to try"}
    made = await gateway.does(f"{MAIN}/fork", "f", **wanted)
    assert (made["thread"], await gateway.texts("side")) == ("side", ["one", "done"])
    assert await gateway.does(f"{MAIN}/fork", "f", **wanted) == made | {"duplicate": True}
    other = await gateway.ask.post(f"{MAIN}/fork", json={}, headers={"Idempotency-Key": "f"})
    assert_problem(other, 409, "request_id_reused")
    back = {"to_seq": gateway.first, "expected_seq": gateway.last}
    rewound = await gateway.does(f"{MAIN}/rewind", "r", **back)
    assert await gateway.texts() == ["one", "done"]
    assert await gateway.does(f"{MAIN}/rewind", "r", **back) == rewound | {"duplicate": True}
    assert_problem(await gateway.ask.post(f"{MAIN}/rewind", json=back), 409, "stale_seq")


async def test_a_fork_in_another_session_keeps_its_origin_until_it_is_whole(gateway: Gateway) -> None:
    await gateway.ask.put("/sessions/other", json={})
    await gateway.does(f"{MAIN}/fork", thread="side", session="other")
    assert_problem(await gateway.ask.delete("/sessions/s"), 409, "needed_by_forks")
    await gateway.does(f"/sessions/other/threads/{AGENT}/side/make-whole")
    assert (await gateway.ask.delete("/sessions/s")).is_success
    assert await gateway.texts("side", "other") == ["one", "done", "two", "done"]


async def test_a_compaction_a_memory_and_a_title_are_accepted_and_seen(gateway: Gateway) -> None:
    asked = await gateway.does(f"{MAIN}/compact", reason="it is slow")
    await gateway.does(f"{MAIN}/change-state", op={"op": "write_memory", "document": "She likes tea."})
    state = (await gateway.ask.get(f"{MAIN}/state")).json()
    assert state["compaction"]["requested_seq"] == asked["seq"]
    assert (state["memory"]["revision"], state["memory"]["document"]) == (1, "She likes tea.")
    for title in ("My trip", None):
        await gateway.does("/sessions/s/title", title=title)
        assert (await gateway.ask.get("/sessions/s")).json()["control"].get("title") == title


async def test_what_cannot_be_is_a_problem_with_its_code_and_changes_nothing(gateway: Gateway) -> None:
    ask = gateway.ask
    await ask.put("/sessions/closed", json={})
    await ask.post("/sessions/closed/close")
    await ask.post(f"{MAIN}/compact")
    await ask.post(f"{MAIN}/change-state", json={"op": {"op": "write_memory", "document": "x"}})
    before = (await ask.get("/sessions/s/timeline")).json()
    last = (await ask.get(MAIN)).json()["seq"]
    nothing = MAIN.replace("main", "none")
    stale = {"op": "write_memory", "document": "y", "expected_revision": 0}
    for path, body, status, code in (
        (f"{MAIN}/fork", {"at_seq": 99}, 404, "unknown_entry"),
        (f"{MAIN}/fork", {"at_seq": "x"}, 422, "malformed"),
        (f"{MAIN}/fork", {"at": 1}, 422, "malformed"),
        (f"{MAIN}/fork", {"thread": "main"}, 409, "thread_exists"),
        (f"{MAIN}/fork", {"session": "none"}, 404, "unknown_session"),
        (f"{MAIN}/fork", {"session": "closed"}, 409, "session_closed"),
        (f"{nothing}/fork", {}, 404, "unknown_thread"),
        (f"{MAIN}/rewind", {"to_seq": 1}, 422, "malformed"),
        (f"{MAIN}/rewind", {"to_seq": 99, "expected_seq": last}, 404, "unknown_entry"),
        (f"{MAIN}/rewind", {"to_seq": last, "expected_seq": last}, 409, "nothing_to_rewind"),
        (f"{MAIN}/make-whole", {}, 409, "not_a_fork"),
        (f"{nothing}/make-whole", {}, 404, "unknown_thread"),
        (f"{MAIN}/compact", {}, 409, "already_requested"),
        (f"{nothing}/compact", {}, 404, "unknown_thread"),
        (f"{MAIN}/change-state", {"op": stale}, 409, "refused"),
        (f"{MAIN}/change-state", {"op": {"op": "write_memory"}}, 422, "malformed"),
        ("/sessions/s/title", {"title": 5}, 422, "malformed"),
        ("/sessions/none/title", {"title": "T"}, 404, "unknown_session"),
    ):
        assert_problem(await ask.post(path, json=body), status, code)
    assert (await ask.get("/sessions/s/timeline")).json() == before
    assert (await ask.get("/sessions/closed/threads")).json()["items"] == []


async def test_a_caller_may_compact_and_name_but_not_bring_back_what_was(gateway: Gateway, driver: Driver) -> None:
    async with http(gateway.url, await token(driver, "caller")) as ask:
        write = {"op": {"op": "write_memory", "document": "x"}}
        for path, body in (
            ("fork", {}),
            ("rewind", {"to_seq": gateway.first, "expected_seq": gateway.last}),
            ("make-whole", {}),
            ("change-state", write),
        ):
            assert_problem(await ask.post(f"{MAIN}/{path}", json=body), 403, "forbidden")
        assert (await ask.post(f"{MAIN}/compact", json={})).status_code == httpx2.codes.ACCEPTED
        assert (await ask.post("/sessions/s/title", json={"title": "Mine"})).status_code == httpx2.codes.ACCEPTED
    async with http(gateway.url, await token(driver, "admin", user="ben")) as ask:
        assert_problem(await ask.post(f"{MAIN}/fork", json={}), 404, "unknown_thread")
