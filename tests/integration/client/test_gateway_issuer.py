"""An issuer of tokens that is slow, away, talks rubbish or changes its keys, and a gateway that trusts it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from jwt.algorithms import RSAAlgorithm

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import running, serving, settings_of
from tests.integration.client.program import NOBODY_THERE
from tests.integration.client.test_gateway_commands import assert_problem
from tests.integration.client.test_gateway_credentials import AUDIENCE, ISSUER, KEY, KID, signed
from tests.integration.client.test_gateway_webhook_places import certificate_of
from turnwright.client.gateway import key_set
from turnwright.client.gateway.credentials import JwtSettings
from turnwright.client.gateway.key_set import AWAY_AGAIN_S, AWAY_S, FRESH_S, KEPT_S, UNKNOWN_AGAIN_S, KeySet
from turnwright.client.gateway.problems import IssuerAway
from turnwright.journal.driver import Driver

AT_ONCE = 50


@dataclass
class Issuer:
    """One that publishes keys; `asked` counts how often."""

    answer: bytes = b""
    status: int = 200
    asked: int = 0
    url: str = ""
    now_s: float = 1_000.0
    open: asyncio.Event = field(default_factory=asyncio.Event)

    def publish(self, *key_ids: str, **more: str) -> None:
        public = json.loads(RSAAlgorithm.to_jwk(KEY.public_key())) | {"alg": "RS256", **more}
        self.answer = json.dumps({"keys": [public | {"kid": key_id} for key_id in key_ids]}).encode()
        self.status = 200

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
        self.asked += 1
        await self.open.wait()
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": self.answer})


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    issuer.publish(KID)
    issuer.open.set()
    async with running(uvicorn.Server(uvicorn.Config(issuer, log_config=None, lifespan="off"))) as url:
        issuer.url = url
        yield issuer
        issuer.open.set()


@pytest.fixture
def keys(issuer: Issuer) -> KeySet:
    return KeySet(issuer.url, lambda: issuer.now_s)


async def test_however_many_strangers_ask_the_issuer_is_asked_once_and_then_left_alone(
    issuer: Issuer, keys: KeySet
) -> None:
    issuer.open.clear()
    finding = [asyncio.create_task(keys.find(f"nobodys-{n}")) for n in range(AT_ONCE)]
    finding.append(asyncio.create_task(keys.find(KID)))
    while not issuer.asked:
        await asyncio.sleep(0.01)
    finding[0].cancel()
    issuer.open.set()
    *nobodys, known = await asyncio.gather(*finding[1:])
    assert set(nobodys) == {None}
    assert known is not None
    assert await keys.find("another") is None
    assert issuer.asked == 1
    issuer.publish(KID, "another")
    issuer.now_s += UNKNOWN_AGAIN_S
    assert await keys.find("another") is not None
    assert issuer.asked == 2


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"", 500),
        (b"<html>", 200),
        (b"[]", 200),
        (b'{"keys": 5}', 200),
        (b'{"keys": [7]}', 200),
        (b'{"keys": []}', 200),
        (b" " * (key_set.ANSWER_BYTES_MAX + 1), 200),
    ],
)
async def test_an_issuer_that_answers_no_keys_is_away_and_those_it_had_go_on_for_a_while(
    issuer: Issuer, keys: KeySet, answer: bytes, status: int
) -> None:
    good = issuer.answer
    assert await keys.find(KID) is not None
    issuer.answer, issuer.status = answer, status
    issuer.now_s += FRESH_S
    for _ in range(AT_ONCE):
        with pytest.raises(IssuerAway):
            await keys.find("another")
        assert await keys.find(KID) is not None
    assert issuer.asked == 2
    issuer.now_s += KEPT_S
    with pytest.raises(IssuerAway):
        await keys.find(KID)
    issuer.answer, issuer.status = good, 200
    issuer.now_s += AWAY_AGAIN_S
    assert await keys.find(KID) is not None


async def test_a_key_that_the_issuer_took_back_does_not_pass_once_more(issuer: Issuer, keys: KeySet) -> None:
    assert await keys.find(KID) is not None
    issuer.publish("another")
    issuer.now_s += FRESH_S
    assert [await keys.find(KID), await keys.find(KID)] == [None, None]
    assert await keys.find("another") is not None
    assert issuer.asked == 2


async def test_nobody_waits_for_an_issuer_that_was_found_to_be_away_just_now_and_everybody_once_it_may_be_back(
    issuer: Issuer, keys: KeySet
) -> None:
    assert await keys.find(KID) is not None
    issuer.now_s += FRESH_S
    issuer.status = 500
    assert await keys.find(KID) is not None
    issuer.now_s += AWAY_AGAIN_S
    issuer.open.clear()
    assert await keys.find(KID) is not None, "it does not answer, and is not waited for"
    issuer.publish("another")
    issuer.now_s += AWAY_S
    issuer.open.set()
    assert await keys.find(KID) is None


async def test_an_issuer_is_trusted_for_the_authorities_that_this_machine_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = Issuer()
    issuer.publish(KID)
    issuer.open.set()
    certificate, key = certificate_of("localhost", tmp_path)
    config = uvicorn.Config(issuer, log_config=None, lifespan="off", ssl_certfile=certificate, ssl_keyfile=key)
    async with running(uvicorn.Server(config)) as url:
        place = f"https://localhost:{url.rpartition(':')[2]}/keys"
        with pytest.raises(IssuerAway):
            await KeySet(place).find(KID)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert await KeySet(place).find(KID) is not None


async def test_keys_that_are_for_something_else_than_signing_are_none(issuer: Issuer, keys: KeySet) -> None:
    issuer.publish(KID, use="enc")
    assert await keys.find(KID) is None


@pytest.mark.parametrize("other", [7, {}, {"kty": "AKP", "kid": "x"}, {"alg": "none"}, {"n": 5}, {"n": "AQAB"}])
async def test_a_key_of_an_unknown_kind_makes_the_others_no_worse(issuer: Issuer, keys: KeySet, other: Any) -> None:  # noqa: ANN401
    published = json.loads(issuer.answer)["keys"]
    odd = {**published[0], "kid": "odd", **other} if isinstance(other, dict) and other else other
    issuer.answer = json.dumps({"keys": [odd, *published]}).encode()
    assert await keys.find(KID) is not None


async def test_a_token_is_not_called_bad_because_its_issuer_is_away(driver: Driver, journal_url: str) -> None:
    del driver  # its tables are there
    async with _trusting(journal_url, f"http://{NOBODY_THERE}/keys") as url, http(url, signed()) as ask:
        answer = await ask.get("/me")
        assert_problem(answer, 503, "issuer_unavailable")
        assert int(answer.headers["retry-after"]) > 0


@asynccontextmanager
async def _trusting(journal_url: str, jwks_url: str) -> AsyncIterator[str]:
    settings = JwtSettings(issuer=ISSUER, audience=AUDIENCE, jwks_url=jwks_url)
    async with serving(settings_of(journal_url, jwt=settings)) as url:
        yield url
