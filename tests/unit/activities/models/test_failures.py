"""The table of failures, and what is read from the errors themselves."""

from datetime import UTC, datetime

import pytest
from pydantic_ai import exceptions as wire

from turnwright.activities.models.failures import failure_of, message_of, parsed_retry_after_s

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "streaming", "expected"),
    [
        (wire.ModelConnectionError("m", "reset", phase="read"), True, "cut"),
        (wire.ModelConnectionError("m", "reset", phase="read"), False, "transient"),
        (wire.ModelConnectionError("m", "refused", phase="connect"), False, "transient"),
        (wire.ModelTimeoutError("m", "late", phase="read"), True, "timeout"),
        (wire.ModelRequestTimeout("m", 5), True, "timeout"),
        (wire.ModelOverloadedError("m", "busy"), True, "transient"),
        (wire.ModelQuotaExceededError("m", "empty"), False, "auth"),
        (wire.ModelContextWindowExceededError("m", "long"), False, "context_length"),
        (wire.ModelHTTPError(500, "m", "the prompt is too long for the context window"), False, "context_length"),
        (wire.ModelHTTPError(409, "m"), False, "transient"),
        (wire.ModelAPIError("m", "Failed to decode response as JSON"), True, "cut"),
        (wire.ModelAPIError("m", "Failed to decode response as JSON"), False, "transient"),
        (wire.ContentFilterError("no"), False, "refused"),
        (wire.UnexpectedModelBehavior("odd"), True, "transient"),
        (wire.UserError("no such model"), False, "invalid"),
        (NotImplementedError("video"), False, "invalid"),
        (ValueError("bad setting"), False, "invalid"),
        (ValueError("bad chunk"), True, "transient"),
        (RuntimeError("?"), False, "transient"),
    ],
)
def test_every_error_has_a_class(error: Exception, streaming: bool, expected: str) -> None:
    assert failure_of(error, streaming=streaming).failure == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("7", 7.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Wed, 02 Jan 2030 03:05:05 GMT", 60.0),
        ("Wed, 02 Jan 2030 03:00:00 GMT", 0.0),
        ("Wed Jan  2 03:05:05 2030", 60.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, expected: float | None) -> None:
    assert parsed_retry_after_s(value, NOW) == expected


def test_a_wait_is_read_from_the_headers_of_the_error_and_bounded() -> None:
    limited = wire.ModelHTTPError(429, "m", headers={"Retry-After": "1.5"})
    assert failure_of(limited, streaming=False).retry_after_s == 1.5
    endless = wire.ModelHTTPError(429, "m", headers={"Retry-After": "999999999"})
    assert failure_of(endless, streaming=False).retry_after_s == 86_400
    assert failure_of(wire.UserError("x"), streaming=False).retry_after_s is None


def test_a_message_is_bounded_storable_and_without_keys() -> None:
    text = message_of(wire.UserError("key sk-abcdefgh1234 \x00" + "x" * 10_000))
    assert "abcdefgh1234" not in text
    assert "\x00" not in text
    assert len(text) <= 2_000
    assert message_of(RuntimeError()) == "RuntimeError"


def test_a_message_repeats_no_secret_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWRIGHT_MODEL_API_KEY", "hunter2hunter2")
    text = message_of(wire.ModelHTTPError(401, "m", {"error": "the token hunter2hunter2 is not known"}))
    assert "hunter2" not in text
    assert "is not known" in text
    assert "secret" not in message_of(RuntimeError("cannot reach http://ann:secret@host/v1"))
