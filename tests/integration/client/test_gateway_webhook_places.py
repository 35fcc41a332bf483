"""Where a gateway delivers: to the address it has judged, under the name it was given, and nowhere else."""

from __future__ import annotations

import asyncio
import datetime as dt
import socket
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import LOOK_S, running, serving, settings_of
from tests.integration.client.receiver import Receiver
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from turnwright.client import Client, Session
from turnwright.client.gateway.posting import WebhookSettings
from turnwright.journal.driver import Driver
from turnwright.journal.webhooks import RetryTerms

SHOP = "shop.example.com"
SOON = RetryTerms(first_s=0.01, longest_s=0.02)


@pytest.fixture
async def session(client: Client) -> Session:
    session = client.session("ann", "s")
    await session.create()
    return session


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name leads to this machine, as its owner may say at any time; how often that was asked."""
    looked_up: list[str] = []
    system = socket.getaddrinfo

    def answered(host: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401 - as the system's
        if host != SHOP or named.get("flags"):
            return system(host, *more, **named)
        looked_up.append(host)
        return system("127.0.0.1", *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", answered)
    return looked_up


async def errors_of(session: Session) -> list[str]:
    """Why each webhook of the session fails, once all do."""
    while not all(found := [one.last_error for one in (await session.webhooks()).items]):
        await asyncio.sleep(LOOK_S)
    return [str(error) for error in found]


async def test_a_place_that_is_not_public_is_refused_when_named_and_again_when_delivered_to(
    driver: Driver, journal_url: str, session: Session
) -> None:
    receiver, bearer = Receiver(), await token(driver, "operator")
    settings = settings_of(journal_url, webhooks=WebhookSettings(retry=SOON))
    async with serving(settings) as url, http(url, bearer) as ask, receiver.listening() as at:
        port = at.rpartition(":")[2]
        for place in (at, f"https://127.0.0.1:{port}", f"https://localhost:{port}", "https://169.254.169.254/latest"):
            refused = await ask.post("/sessions/s/webhooks", json={"url": place})
            assert_problem(refused, 400, "invalid_input")
        # Of a name it is only known later; and whoever reaches the journal itself asks no gateway.
        assert (await ask.post("/sessions/s/webhooks", json={"url": f"https://{SHOP}:{port}"})).status_code == 201
        await session.create_webhook(at)
        await session.create_webhook(f"https://127.0.0.1:{port}")
        await submitted(ask)
        by_name, in_the_clear, by_address = await errors_of(session)
    assert "its address is not public" in by_name
    assert "its address is not public" in by_address
    assert "begins with https" in in_the_clear
    assert receiver.posted == []


async def test_the_receiver_is_told_the_name_and_connected_to_at_the_address_that_was_judged(
    driver: Driver, journal_url: str, session: Session, asked: list[str]
) -> None:
    receiver, bearer = Receiver(), await token(driver, "operator")
    settings = settings_of(journal_url, webhooks=WebhookSettings(private=True))
    async with serving(settings) as url, http(url, bearer) as ask, receiver.listening() as at:
        place = at.replace("127.0.0.1", SHOP)
        made = await session.create_webhook(f"{place}/hook")
        await submitted(ask)
        await receiver.until(1)
    assert receiver.posted[0].headers["host"] == place.removeprefix("http://")
    assert receiver.deliveries(made.secret)[0].thread.session == "s"
    assert asked == [SHOP] * len(receiver.posted), "between two answers a name may come to mean another place"


@pytest.mark.parametrize("certified", [SHOP, "other.example.com"])
async def test_a_receiver_must_be_certified_for_the_name_and_not_for_the_address(
    driver: Driver,
    journal_url: str,
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    certified: str,
) -> None:
    certificate, key = certificate_of(certified, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    receiver, bearer = Receiver(), await token(driver, "operator")
    config = uvicorn.Config(receiver, log_config=None, lifespan="off", ssl_certfile=certificate, ssl_keyfile=key)
    settings = settings_of(journal_url, webhooks=WebhookSettings(private=True, retry=SOON))
    async with serving(settings) as url, http(url, bearer) as ask, running(uvicorn.Server(config)) as at:
        await session.create_webhook(f"https://{SHOP}:{at.rpartition(':')[2]}")
        await submitted(ask)
        if certified == SHOP:
            await receiver.until(1)
        else:
            [error] = await errors_of(session)
            assert "certificate" in error
            assert receiver.posted == []


def certificate_of(name: str, folder: Path) -> tuple[Path, Path]:
    """A certificate for that name that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private
