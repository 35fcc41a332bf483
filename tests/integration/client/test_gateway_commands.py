"""Commands over HTTP: receipts, repetition, rejections and what cannot be read, each with one shape."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import running, serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from turnwright.client.command_routes import ROUTES
from turnwright.client.gateway import serve
from turnwright.client.gateway.serve import server_of
from turnwright.journal.api_keys import Grant, Role
from turnwright.journal.driver import Driver
from turnwright.journal.store_keys import create_key

STRANGE_ID = "Ä/b c?d#e%2F..;=+&"
BODY_BYTES_MAX = 100_000
ANSWER_BYTES_MAX = 4_000


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url, body_bytes_max=BODY_BYTES_MAX)) as url:
        yield url


@pytest.fixture
async def ask(url: str, driver: Driver) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(url, await token(driver, "admin")) as ask:
        yield ask


async def token(driver: Driver, role: Role, tenant: str = "acme", user: str | None = "ann") -> str:
    return (await create_key(driver, tenant, Grant(name=f"{role} of {tenant}", role=role, user=user))).token


async def submitted(ask: httpx2.AsyncClient, session: str = "s", **body: Any) -> dict[str, Any]:  # noqa: ANN401
    """A turn's receipt; the session is made if need be."""
    await ask.put(f"/sessions/{quote(session, safe='')}", json={})
    answer = await ask.post(
        f"/sessions/{quote(session, safe='')}/threads/{AGENT}/main/turns", json={"input": "hello", **body}
    )
    assert answer.status_code == httpx2.codes.ACCEPTED, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


def assert_problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """It is a problem, whole and of that kind."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code), problem
    assert problem["detail"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    return problem


async def test_a_command_is_accepted_with_its_receipt_and_a_repeated_one_is_answered_as_before(
    ask: httpx2.AsyncClient,
) -> None:
    await ask.put("/sessions/s", json={"title": "A trip"})
    path, key = f"/sessions/s/threads/{AGENT}/main/turns", {"Idempotency-Key": "r-1"}
    first = await ask.post(path, json={"input": "hello"}, headers=key)
    again = await ask.post(path, json={"input": "hello"}, headers=key)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() | {"duplicate": True} == again.json()
    other = await ask.post(path, json={"input": "something else"}, headers=key)
    assert_problem(other, 409, "request_id_reused")
    turns = (await ask.get("/turns")).json()["items"]
    assert [turn["status"]["turn_id"] for turn in turns] == [first.json()["turn_id"]]


async def test_a_rejected_command_tells_what_is_so_now(ask: httpx2.AsyncClient) -> None:
    turn = (await submitted(ask))["turn_id"]
    paused = await ask.post(f"/turns/{turn}/pause", json={"reason": "lunch"})
    stale = await ask.post(f"/turns/{turn}/resume", json={"revision": 1})
    problem = assert_problem(stale, 409, "stale_revision")
    assert problem["receipt"]["revision"] == paused.json()["revision"]
    resumed = await ask.post(f"/turns/{turn}/resume", json={"revision": problem["receipt"]["revision"]})
    assert resumed.status_code == httpx2.codes.ACCEPTED
    assert_problem(await ask.post("/sessions/nowhere/cancel"), 404, "unknown_session")
    again = await ask.put("/sessions/s", json={})
    assert (again.status_code, again.json()["duplicate"]) == (httpx2.codes.ACCEPTED, True)
    assert_problem(await ask.put("/sessions/s", json={"title": "another"}), 409, "session_exists")


async def test_ids_of_any_characters_are_one_part_of_a_path(ask: httpx2.AsyncClient) -> None:
    receipt = await submitted(ask, STRANGE_ID)
    turn = (await ask.get(f"/turns/{receipt['turn_id']}")).json()
    assert turn["key"]["session"] == STRANGE_ID
    seen = (await ask.get(f"/sessions/{quote(STRANGE_ID, safe='')}")).json()
    assert (seen["key"]["session"], seen["queued"]) == (STRANGE_ID, 1)
    assert_problem(await ask.get(f"/sessions/{STRANGE_ID[:3]}"), 404, "no_such_path")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"input": "a", "surprise": 1}', 422, "malformed"),
        (b'{"input": 5}', 422, "malformed"),
        (b'{"input": "a", "' + b"n" * (BODY_BYTES_MAX // 2) + b'": 1}', 422, "malformed"),
        (b"{}", 422, "malformed"),
        (b"no json", 422, "malformed"),
        (b'{"input": "a", "if_busy": "rejct"}', 422, "malformed"),
        (b'{"input": "  "}', 400, "invalid_input"),
        (b'{"input": {"role": "assistant", "id": "m", "blocks": []}}', 400, "invalid_input"),
        (b"\xff\xfe", 422, "malformed"),
        (b"[" * 5_000, 400, "bad_request"),
        (b'"' + b"x" * BODY_BYTES_MAX + b'"', 413, "body_too_large"),
    ],
)
async def test_what_cannot_be_a_command_changes_nothing_and_says_why(
    ask: httpx2.AsyncClient, body: bytes, status: int, code: str
) -> None:
    await ask.put("/sessions/s", json={})
    path, headers = f"/sessions/s/threads/{AGENT}/main/turns", {"Content-Type": "application/json"}
    answer = await ask.post(path, content=body, headers=headers)
    problem = assert_problem(answer, status, code)
    assert len(answer.content) < ANSWER_BYTES_MAX
    assert "surprise" not in str(problem.get("errors", [{}])[0].get("what"))
    assert (await ask.get("/turns")).json()["items"] == []


async def test_what_is_asked_wrongly_says_how_to_ask(ask: httpx2.AsyncClient) -> None:
    await ask.put("/sessions/s", json={})
    path = f"/sessions/s/threads/{AGENT}/main/turns"
    untold = await ask.post(
        path, content=b'{"input": "a"}', headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert "`Content-Type: application/json`" in assert_problem(untold, 422, "malformed")["detail"]
    broken = await ask.post(path, content=b'{"input": }', headers={"Content-Type": "application/json"})
    assert "body.10: from this character on it is no JSON" in assert_problem(broken, 422, "malformed")["detail"]
    assert "/v1/openapi.json" in assert_problem(await ask.get("/turn"), 404, "no_such_path")["detail"]
    other = await ask.delete("/me")
    assert "GET" in assert_problem(other, 405, "method_not_allowed")["detail"]
    assert other.headers["allow"] == "GET"


async def test_a_body_that_only_turns_out_too_large_is_refused_before_it_is_whole(ask: httpx2.AsyncClient) -> None:
    sent = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * BODY_BYTES_MAX:
            sent += 10_000
            yield b"x" * 10_000

    await ask.put("/sessions/s", json={})
    answer = await ask.post(f"/sessions/s/threads/{AGENT}/main/turns", content=parts())
    assert_problem(answer, 413, "body_too_large")


async def test_every_command_of_the_table_has_a_route_that_its_body_fits(ask: httpx2.AsyncClient, url: str) -> None:
    described = (await ask.get(f"{url}/v1/openapi.json")).json()
    assert described["openapi"].startswith("3.1")
    for route in ROUTES:
        operation = described["paths"][f"/v1{route.path}"][route.method.lower()]
        assert "202" in operation["responses"]
    assert {"get", "put", "delete"} <= described["paths"]["/v1/sessions/{session}"].keys()


async def test_a_caller_may_do_with_its_own_turn_what_is_the_users_and_no_more(
    url: str, driver: Driver, hands: Hands
) -> None:
    async with http(url, await token(driver, "caller")) as ask:
        turn = (await submitted(ask))["turn_id"]
        for action, body in (("pause", {}), ("steer", {"message": "faster"}), ("cancel", {})):
            assert (await ask.post(f"/turns/{turn}/{action}", json=body)).status_code == httpx2.codes.ACCEPTED, action
        for path in ("sessions/s/budget", f"sessions/s/threads/{AGENT}/main/permissions"):
            limit: dict[str, Any] = {"budget": {"steps": 1}} if "budget" in path else {"change": {"mode": "bypass"}}
            assert_problem(await ask.post(f"/{path}", json=limit), 403, "forbidden")
        assert_problem(await ask.delete("/sessions/s"), 403, "forbidden")
        assert_problem(await ask.get("/keys"), 403, "forbidden")
        me = (await ask.get("/me")).json()
    assert (me["tenant"], me["role"], me["user"]) == ("acme", "caller", "ann")


async def test_who_acted_is_the_credential_whatever_the_body_says(ask: httpx2.AsyncClient) -> None:
    turn = (await submitted(ask))["turn_id"]
    refused = await ask.post(f"/turns/{turn}/cancel", json={"principal": "the boss"})
    assert_problem(refused, 422, "malformed")
    await ask.post(f"/turns/{turn}/cancel", json={"reason": "enough"})
    by = (await ask.get(f"/turns/{turn}")).json()["cancelled_by"]
    assert (by["principal"], by["reason"]) == ("admin of acme", "enough")


async def test_a_deleted_session_gives_a_receipt_for_each_store_and_is_gone(ask: httpx2.AsyncClient) -> None:
    turn = (await submitted(ask))["turn_id"]
    assert_problem(await ask.delete("/sessions/s"), 409, "busy")
    await ask.post("/sessions/s/cancel")
    deleted = (await ask.delete("/sessions/s", params={"reason": "asked to"})).json()
    assert deleted["receipt"]["status"] == "accepted"
    assert deleted["stores"]["journal"]["entries"] > 0
    for path in (f"/turns/{turn}", "/sessions/s", "/sessions/s/timeline", f"/sessions/s/threads/{AGENT}/main/entries"):
        assert_problem(await ask.get(path), 404, "not_found")
    assert_problem(await ask.put("/sessions/s", json={}), 410, "session_deleted")


async def test_more_than_may_be_asked_is_refused_until_later(journal_url: str, driver: Driver) -> None:
    bearer = await token(driver, "caller")
    async with (
        serving(settings_of(journal_url, requests_per_s=0.01, requests_at_once=3)) as url,
        http(url, bearer) as ask,
    ):
        answers = [await ask.get("/me") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert_problem(answers[-1], 429, "too_many_requests")
        assert int(answers[-1].headers["retry-after"]) > 0
        async with http(url, await token(driver, "caller", user="ben")) as other:
            assert (await other.get("/me")).status_code == httpx2.codes.OK


async def test_what_breaks_in_the_gateway_is_answered_and_marked_as_everything_else(
    driver: Driver, journal_url: str
) -> None:
    page = {"Origin": "https://shop.example.com"}
    server = server_of(settings_of(journal_url, origins=tuple(page.values())))
    async with running(server) as url, http(url, await token(driver, "admin")) as ask:
        assert (await ask.get("/me")).is_success

        def broken(point: str) -> None:
            raise ZeroDivisionError(point)

        server.config.app.state.desk.journal.driver.hook = broken  # type: ignore[union-attr]
        answer = await ask.get("/me", headers={"X-Request-Id": "mine"} | page)
        assert assert_problem(answer, 500, "internal")["request_id"] == "mine"
        assert "ZeroDivision" not in answer.text
        assert answer.headers["x-request-id"] == "mine"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["access-control-allow-origin"] == page["Origin"]


async def test_connections_that_were_answered_and_are_kept_make_room_as_silent_ones_do(
    driver: Driver, journal_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "count_connections", lambda: 3)
    async with serving(settings_of(journal_url)) as url, AsyncExitStack() as stack:
        bearer = await token(driver, "admin")
        for _ in range(6):
            ask = await stack.enter_async_context(http(url, bearer))
            assert (await ask.get("/me")).is_success


async def test_an_export_that_is_refused_is_a_problem_and_no_beginning_of_a_file(ask: httpx2.AsyncClient) -> None:
    await submitted(ask)
    await ask.put("/sessions/other", json={})
    forked = await ask.post(f"/sessions/s/threads/{AGENT}/main/fork", json={"session": "other"})
    assert forked.status_code == httpx2.codes.ACCEPTED, forked.text
    problem = assert_problem(await ask.get("/sessions/other/export"), 409, "not_whole")
    assert "make it whole first" in problem["detail"]
    whole = await ask.get("/sessions/s/export")
    assert (whole.status_code, whole.headers["content-type"]) == (200, "application/x-ndjson")
