"""Who may ask a gateway: keys and tokens, what they reach, and what is never told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import jwt
import pytest
import structlog
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import running, serving, settings_of
from tests.integration.client.hands import AGENT
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from tests.integration.worker.conftest import run_sql
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.credentials import Doorkeeper, JwtSettings
from turnwright.client.gateway.leaving import CREDENTIAL_ENDED
from turnwright.client.gateway.serve import server_of
from turnwright.client.gateway.standing import Standing
from turnwright.client.gateway.this_machine import is_loopback
from turnwright.journal.api_keys import LIFE_S_MAX, Grant
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput, StoreUnavailable
from turnwright.journal.store_keys import create_key, revoke_key

KEY = rsa.generate_private_key(65_537, 2_048)
OTHER_KEY = rsa.generate_private_key(65_537, 2_048)
DEADLINE_S, ENOUGH = 60, 5
SOON_S = 30  # less than a body is waited for
ISSUER, AUDIENCE, KID = "https://login.example.com", "turnwright", "k1"


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url)) as url:
        yield url


async def test_without_a_valid_key_nothing_is_answered(url: str, driver: Driver) -> None:
    good = await token(driver, "admin")
    mark, key_id, secret = good.split("_", 2)
    wrong = [
        None,
        "tw",
        "tw__",
        f"{mark}_{key_id}_",
        f"{mark}_{key_id}_{secret[:-1]}",
        f"{mark}_{key_id}_{secret}x",
    ]
    wrong += [f"{mark}_000000000000_{secret}", f"xx_{key_id}_{secret}", "a.b.c", "x" * 10_000]
    for bearer in wrong:
        async with http(url, bearer) as ask:
            answer = await ask.get("/me")
            assert_problem(answer, 401, "unauthenticated")
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert_problem(await ask.post("/keys", json={"name": "x", "role": "admin"}), 401, "unauthenticated")
    async with http(url, good) as ask:
        assert (await ask.get("/me")).status_code == httpx2.codes.OK


async def test_the_body_of_a_stranger_is_not_waited_for(url: str) -> None:
    """Whoever brings no credential is told so before anything of the body is here."""
    host, port = url.removeprefix("http://").split(":")
    for path in ("/v1/sessions/s/threads/a/main/turns", "/v1/keys", "/v1/sessions/s/threads/a/main/agui"):
        for length in (f"Content-Length: {10**15}", "Content-Length: 10", "Transfer-Encoding: chunked"):
            reader, writer = await asyncio.open_connection(host, int(port))
            head = (f"POST {path} HTTP/1.1", "Host: g", "Content-Type: application/json", length, "", "")
            writer.write("\r\n".join(head).encode())
            async with asyncio.timeout(SOON_S):
                said = await reader.readuntil(b"}")
            assert b"HTTP/1.1 401" in said
            assert b"unauthenticated" in said
            writer.close()


async def test_a_key_that_was_revoked_or_has_expired_is_refused_from_then_on(url: str, driver: Driver) -> None:
    made = await create_key(driver, "acme", Grant(name="shop", role="caller"), expires_in_s=3_600)
    async with http(url, made.token) as ask:
        assert (await ask.get("/me")).status_code == httpx2.codes.OK
        assert not await revoke_key(driver, "other", made.key.key_id)
        assert (await ask.get("/me")).status_code == httpx2.codes.OK
        assert await revoke_key(driver, "acme", made.key.key_id)
        assert_problem(await ask.get("/me"), 401, "unauthenticated")
    late = await create_key(driver, "acme", Grant(name="shop", role="caller"), expires_in_s=1)
    async with http(url, late.token) as ask:
        while (answer := await ask.get("/me")).status_code == httpx2.codes.OK:
            await asyncio.sleep(0.05)
        assert_problem(answer, 401, "unauthenticated")


async def test_open_streams_end_when_their_key_is_revoked_and_no_others(driver: Driver, journal_url: str) -> None:
    """Silent ones and busy ones, without a word of an end that was not: who comes back is told what is so."""
    made = await create_key(driver, "acme", Grant(name="shop", role="caller", user="ann"))
    agui: dict[str, Any] = {
        "threadId": "chat",
        "runId": "r",
        "messages": [{"id": "m", "role": "user", "content": "hi"}],
    }
    agui |= {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    main = f"/sessions/s/threads/{AGENT}/main"
    async with (
        serving(settings_of(journal_url, heartbeat_s=0.1)) as url,
        http(url, made.token) as ask,
        http(url, await token(driver, "operator")) as other,
        AsyncExitStack() as held,
    ):
        turn = (await submitted(ask))["turn_id"]
        streams = [
            await held.enter_async_context(ask.stream("GET", path))
            for path in ("/sessions/s/events", f"{main}/events", f"{main}/changes", f"/turns/{turn}/events")
        ]
        streams.append(await held.enter_async_context(ask.stream("POST", f"{main}/agui", json=agui)))
        async with other.stream("GET", "/sessions/s/changes") as kept:
            lines = kept.aiter_lines()
            assert await anext(lines) == "event: change"
            await revoke_key(driver, "acme", made.key.key_id)
            async with asyncio.timeout(DEADLINE_S):
                for stream in streams:
                    said = [line async for line in stream.aiter_lines() if line]
                    assert said[-1] == CREDENTIAL_ENDED.decode().strip()
                    assert "event: end" not in said
                await submitted(other)
                while await anext(lines) != "event: change":
                    pass


async def test_a_stream_outlasts_a_journal_that_does_not_answer_for_its_key(driver: Driver) -> None:
    """Nobody can tell then, and a good credential would be thrown away."""

    class Away:
        asked = 0

        def takes(self, _: str) -> bool:
            return True

        async def caller(self, _: str) -> Caller | None:
            self.asked += 1
            if self.asked < ENOUGH:
                raise StoreUnavailable("nobody answers")
            return None

    away = Away()
    standing = Standing(Doorkeeper((away,)), again_s=0.001)
    async with asyncio.timeout(DEADLINE_S):
        await standing.until_ended(Caller("acme", Grant(name="shop", role="caller")), "Bearer x")
    assert away.asked == ENOUGH


async def test_an_administrator_makes_lists_and_revokes_keys_of_its_own_tenant_only(url: str, driver: Driver) -> None:
    async with (
        http(url, await token(driver, "admin")) as ask,
        http(url, await token(driver, "admin", "other")) as other,
    ):
        made = (await ask.post("/keys", json={"name": "shop", "role": "operator"})).json()
        key_id = made["key"]["key_id"]
        listed = (await ask.get("/keys")).text
        assert key_id in listed
        assert made["token"].split("_", 2)[2] not in listed
        assert key_id not in (await other.get("/keys")).text
        assert_problem(await other.delete(f"/keys/{key_id}"), 404, "not_found")
        async with http(url, made["token"]) as shop:
            assert (await shop.get("/me")).json()["role"] == "operator"
            assert (await ask.delete(f"/keys/{key_id}")).status_code == httpx2.codes.NO_CONTENT
            assert_problem(await shop.get("/me"), 401, "unauthenticated")


async def test_a_key_that_would_outlive_everybody_is_refused_wherever_it_is_asked_for(url: str, driver: Driver) -> None:
    grant = Grant(name="shop", role="caller")
    async with http(url, await token(driver, "admin")) as ask:
        for lasts_s, status in ((LIFE_S_MAX, 201), (LIFE_S_MAX + 1, 422), (10**30, 422), (0, 422)):
            wanted = {"name": "shop", "expires_in_s": lasts_s}
            assert (await ask.post("/keys", json=wanted)).status_code == status
            if status != httpx2.codes.CREATED:
                with pytest.raises(InvalidInput, match="a key is valid for 1 to"):
                    await create_key(driver, "acme", grant, expires_in_s=lasts_s)


async def test_secrets_stand_in_no_log_and_no_table(url: str, driver: Driver, journal_url: str) -> None:
    with structlog.testing.capture_logs() as logs:
        made = await create_key(driver, "acme", Grant(name="shop", role="admin"))
        async with http(url, made.token) as ask:
            await submitted(ask)
            await ask.get("/me", params={"token": made.token})
        async with http(url, f"{made.token}x") as ask:
            await ask.get("/me")
    assert logs
    secret = made.token.split("_", 2)[2]
    assert secret not in json.dumps(logs, default=str)
    assert secret not in repr(made)
    kept = await run_sql(journal_url, "SELECT * FROM api_keys")
    assert made.key.key_id in str(kept)
    assert not any(secret.encode() in _bytes(value) for row in kept for value in row)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.mark.usefixtures("driver")
async def test_an_open_gateway_listens_on_this_machine_only(journal_url: str) -> None:
    for host in ("0.0.0.0", "192.168.1.5", "example.com", "::"):  # noqa: S104 - that is what is refused
        with pytest.raises(InvalidInput, match="this machine only"):
            server_of(settings_of(journal_url, open=True, host=host))
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    async with serving(settings_of(journal_url, open=True)) as url, http(url) as ask:
        assert (await ask.get("/me")).json()["role"] == "admin"
        assert_problem(await ask.get("/me", headers={"Authorization": "Bearer wrong"}), 401, "unauthenticated")


@pytest.mark.usefixtures("driver")
async def test_an_open_gateway_takes_nothing_from_a_web_page_of_somebody_elses(journal_url: str) -> None:
    named, behind = "https://shop.example.com", "agents.example.com"
    settings = settings_of(journal_url, open=True, origins=(named, f"https://{behind}"))
    async with serving(settings) as url, http(url) as ask:
        host = url.removeprefix("http://")
        port = host.rpartition(":")[2]
        asked: tuple[tuple[dict[str, str], int], ...] = (
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "http://127.0.0.1:1"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": "http://["}, 403),
            ({"Host": f"evil.example:{port}"}, 403),
            ({"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"}, 403),
            ({"Host": "127.0.0.1.evil.example"}, 403),
            ({"Host": f"[::1:{port}"}, 403),
            ({}, 202),
            ({"Origin": url}, 202),
            ({"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}, 202),
            ({"Host": f"[::1]:{port}"}, 202),
            ({"Host": behind, "Origin": f"https://{behind}"}, 202),
            ({"Origin": named}, 202),
        )
        for n, (given, status) in enumerate(asked):
            answer = await ask.put(f"/sessions/s{n}", headers=given)
            assert answer.status_code == status, (given, answer.text)
            if status == httpx2.codes.FORBIDDEN:
                assert_problem(answer, 403, "forbidden")
        made = {one["key"]["session"] for one in (await ask.get("/sessions")).json()["items"]}
        assert made == {f"s{n}" for n, (_, status) in enumerate(asked) if status == httpx2.codes.ACCEPTED}


# -- tokens of an issuer -----------------------------------------------------------------------


@pytest.fixture
async def jwt_url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    """A gateway that trusts an issuer whose keys are published over HTTP."""
    public = json.loads(RSAAlgorithm.to_jwk(KEY.public_key())) | {"kid": KID, "use": "sig", "alg": "RS256"}

    async def published(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
        if scope["type"] == "http":
            body = json.dumps({"keys": [public]}).encode()
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
            )
            await send({"type": "http.response.body", "body": body})

    server = uvicorn.Server(uvicorn.Config(published, log_config=None, lifespan="off"))
    async with running(server) as issuer:
        settings = JwtSettings(issuer=ISSUER, audience=AUDIENCE, jwks_url=f"{issuer}/keys")
        async with serving(settings_of(journal_url, jwt=settings, heartbeat_s=3_600)) as url:
            yield url


def signed(key: Any = KEY, algorithm: str = "RS256", kid: str = KID, **claims: Any) -> str:  # noqa: ANN401
    now = int(time.time())
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "tenant": "acme", "exp": now + 600, "iat": now, **claims}
    said = {name: value for name, value in said.items() if value is not None}
    return jwt.encode(said, key, algorithm, headers={"kid": kid})


async def test_a_token_of_the_issuer_says_tenant_user_and_role(jwt_url: str) -> None:
    async with http(jwt_url, signed()) as ask:
        me = (await ask.get("/me")).json()
        assert (me["tenant"], me["user"], me["role"], me["principal"]) == ("acme", "ann", "caller", "ann")
        await submitted(ask)
    async with http(jwt_url, signed(sub="ben")) as ben:
        assert_problem(await ben.get("/sessions/s"), 404, "not_found")
        assert_problem(await ben.get("/sessions/s", params={"user": "ann"}), 404, "not_found")
    async with http(jwt_url, signed(sub="ben", role="operator")) as operator:
        assert (await operator.get("/sessions/s", params={"user": "ann"})).status_code == httpx2.codes.OK


async def test_a_stream_ends_when_its_token_does(jwt_url: str) -> None:
    """By then and not at the next heartbeat, of which there is none before the deadline of this test."""
    async with http(jwt_url, signed(role="operator")) as other:
        await submitted(other)
    async with (
        http(jwt_url, signed(role="operator", exp=int(time.time()) + 2)) as ask,
        asyncio.timeout(SOON_S),
        ask.stream("GET", "/sessions/s/changes") as stream,
    ):
        said = [line async for line in stream.aiter_lines() if line]
    assert said[-1] == CREDENTIAL_ENDED.decode().strip()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://elsewhere.example.com"},
        {"aud": "another"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"tenant": None},
        {"tenant": ""},
        {"tenant": 5},
        {"tenant": "a\x00b"},
        {"role": "root"},
        {"nbf": 2**33},
        {"key": OTHER_KEY},
        {"kid": "k2"},
        {"key": "secret-of-thirty-two-characters-at-least", "algorithm": "HS256"},
        {"key": None, "algorithm": "none"},
    ],
)
async def test_a_token_that_is_not_whole_good_and_ours_is_refused(jwt_url: str, claims: dict[str, Any]) -> None:
    async with http(jwt_url, signed(**claims)) as ask:
        assert_problem(await ask.get("/me"), 401, "unauthenticated")


# -- from a page in a browser ------------------------------------------------------------------


async def test_another_origin_may_ask_only_if_it_is_named(journal_url: str, driver: Driver) -> None:
    bearer = await token(driver, "caller")
    page = {"Origin": "https://shop.example.com"}
    async with serving(settings_of(journal_url)) as url, http(url, bearer) as ask:
        assert "access-control-allow-origin" not in (await ask.get("/me", headers=page)).headers
        for name in ("x-content-type-options", "content-security-policy", "x-frame-options", "referrer-policy"):
            assert (await ask.get("/me")).headers[name]
    async with (
        serving(settings_of(journal_url, origins=("https://shop.example.com",))) as url,
        http(url, bearer) as ask,
    ):
        assert (await ask.get("/me", headers=page)).headers["access-control-allow-origin"] == page["Origin"]
        elsewhere = {"Origin": "https://evil.example.com"}
        assert "access-control-allow-origin" not in (await ask.get("/me", headers=elsewhere)).headers
