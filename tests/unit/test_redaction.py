"""Secrets stand in no line, whoever logs them, and what is none is told as it is."""

import logging  # noqa: TID251 - other libraries log through it
from typing import Any

import pytest
import structlog

from tests.unit.logged import configured, events, fail_saying
from turnwright.worker.logs import LogFormat
from turnwright.worker.redaction import HIDDEN, LEVELS_MAX, TEXT_CHARACTERS_MAX

pytestmark = pytest.mark.usefixtures("logs_restored")

SECRET = "s3cret"

SECRETS = [
    "cannot connect to postgresql://shop:p4ss%20word@db.internal:5432/shop: refused",
    "redis://:p4ss%20word@cache:6379/0",
    "host=db user=shop password=p4ss%20word dbname=shop",
    "ConnectionError(\"password='p4ss%20word'\")",
    "GET https://shop.example.com/hook?token=p4ss%20word&page=2",
    "Authorization: Bearer p4ss%20word",
    "sent {'Authorization': 'Basic p4ss%20word'}",
    "DB_PASSWORD=p4ss%20word",
    'answered {"access_token": "p4ss%20word", "expires_in": 5}',
    "connect(password='p4ss, p4ss) and p4ss')",
    'said "{\\"secret_key\\": \\"p4ss%20word\\"}"',
    "cannot connect to postgresql://shop:p4ss@p4ss@db/shop",
    f"cannot connect to postgresql://shop:{'p4ss' * 300}@db/shop",
    "cloned https://p4ss0123456789abcdef@git.example.com/shop.git",
    "Authorization: p4ss%20word",
    "authorization=p4ss%20word refused",
    "Set-Cookie: session=p4ss; Path=/; id=p4ss",
    "{'Cookie': 'a=p4ss; b=p4ss'}",
    "mysqldump --password p4ss%20word shop",
    "api_key = p4ss%20word",
]


@pytest.mark.parametrize("said", SECRETS)
@pytest.mark.parametrize("log_format", ["json", "console"])
def test_what_looks_like_a_secret_stands_in_no_line_whoever_logs_it(log_format: LogFormat, said: str) -> None:
    stream = configured(log_format)
    structlog.get_logger().warning(said, why=said, more={"deep": [said]}, error=ValueError(said))
    logging.getLogger("elsewhere").warning("%s", said)
    try:
        fail_saying(said)
    except ValueError:
        structlog.get_logger().exception("it failed")
    assert "p4ss" not in stream.getvalue()
    assert stream.getvalue().count(HIDDEN) >= 6
    assert "fail_saying" in stream.getvalue()


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-0123456789abcdefghij",
        "sk-ant-api03-0123456789abcdef",
        "tw_0a1b2c3d4e5f_0123456789abcdefghijklmnop",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "xoxb-123456789012-abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
    ],
)
def test_keys_are_known_by_their_look(key: str) -> None:
    stream = configured()
    structlog.get_logger().info("refused", why=f"the key {key} is not valid")
    (event,) = events(stream)
    assert HIDDEN in event["why"]
    assert key[-12:] not in event["why"] or key.endswith("KEY-----")
    assert "MIIEv" not in event["why"]


@pytest.mark.parametrize(
    "name",
    ["password", "DB_PASSWORD", "api_key", "apiKey", "x-api-key", "Authorization", "Set-Cookie", "access_token", "dsn",
     "temporal_keys", "client_secret", "credentials"],
)  # fmt: skip
def test_a_value_is_hidden_by_its_name_however_deep(name: str) -> None:
    stream = configured()
    structlog.get_logger().info("sent", **{name: SECRET}, headers={name: [SECRET]}, pairs=[(name.encode(), b"s3cret")])
    (event,) = events(stream)
    assert SECRET not in stream.getvalue()
    assert (event[name], event["headers"], event["pairs"]) == (
        HIDDEN,
        {name: HIDDEN},
        [[name, HIDDEN]],
    )


def test_what_is_no_secret_is_told_as_it_is() -> None:
    stream = configured()
    said = {
        "thread": "acme/+ann/bot/s/main",
        "input_tokens": 5,
        "tokens_before": "120",
        "key": "order",
        "url": "http://127.0.0.1:8420/v1/sessions?limit=5",
        "why": "check user, password, database and their grants; authentication failed for bearer",
        "monkey": "a",
        "asked": "sort_key=created_at key=ThreadKey(tenant) monkey='b'",
        "at": "postgres at db.internal:5432/shop (turnwright)",
        "denied": "see https://ann@shop.example.com/help: authorization: denied",
        "usage": "turnwright keys create --token-file x --role admin",
    }
    structlog.get_logger().info("ok", **said)
    (event,) = events(stream)
    assert {name: event[name] for name in said} == said


def test_secrets_of_the_environment_are_cut_out_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "a plain sentence")
    monkeypatch.setenv("TURNWRIGHT_JOURNAL_URL", "postgresql://shop:very%20secret@db/shop")
    stream = configured()
    structlog.get_logger().info("said", first="<a plain sentence>", second="auth failed: very secret")
    (event,) = events(stream)
    assert (event["first"], event["second"]) == (f"<{HIDDEN}>", f"auth failed: {HIDDEN}")


def test_where_a_file_of_keys_is_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWRIGHT_TEMPORAL_KEYS", "/etc/turnwright/temporal.keys")
    stream = configured()
    structlog.get_logger().error("cannot read /etc/turnwright/temporal.keys")
    assert "/etc/turnwright/temporal.keys" in stream.getvalue()


def test_a_line_is_bounded_and_a_secret_at_the_bound_is_not_cut_in_two() -> None:
    stream = configured()
    deep: Any = "postgresql://u:p4ssword@db"
    for _ in range(3 * LEVELS_MAX):
        deep = [deep]
    long = "x" * (TEXT_CHARACTERS_MAX - 10) + " Bearer p4ssword0123456789"
    structlog.get_logger().info("long", text=long + "y" * 10_000_000, deep=deep)
    (event,) = events(stream)
    assert len(event["text"]) == TEXT_CHARACTERS_MAX + 1
    assert "p4ss" not in stream.getvalue()
