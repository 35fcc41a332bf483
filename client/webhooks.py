"""What a webhook is sent, and how its receiver knows that it is genuine (standardwebhooks.com).

    delivery = verify(secret, request.headers, body)    # the body's bytes as they came
    if first_time(delivery.id):                         # the same one may come again
        print(delivery.type, delivery.thread, delivery.entry)

Rule: a signature is over the id, the time of sending and the bytes of the body, so none of them can be changed and an
old delivery cannot be played again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from turnwright.journal.entries import Entry
from turnwright.journal.errors import InvalidInput, TurnwrightError
from turnwright.journal.ids import ThreadKey
from turnwright.journal.store_webhooks import MARK
from turnwright.journal.transact.reading import Located

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
VERSION = "v1"
TOLERANCE_S = 300


class SignatureInvalid(TurnwrightError):
    """What came was not sent by who has the secret, or not lately; answer it with 401 and do nothing."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a webhook was sent. `id` stays the same however often it is sent; `data` is the entry as JSON."""

    id: str
    type: str
    timestamp: str
    thread: ThreadKey
    data: Mapping[str, Any]

    @property
    def entry(self) -> Entry:
        """The entry itself. Raises `UnknownEntryType` if a newer version wrote it."""
        return Entry.of_json(self.data)


def verify(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance_s: float = TOLERANCE_S,
    now_s: float | None = None,
) -> Delivery:
    """What was delivered, if it is genuine.

    Args:
        secret: what was shown when the webhook was made.
        headers: those of the request, in whatever case.
        body: the bytes of the body as they came; JSON that was read and written again has another signature.
        tolerance_s: how far the sender's clock may be from this one.
        now_s: the time now in seconds since 1970 UTC; None: this machine's.

    Raises:
        SignatureInvalid: it is not genuine, or too old.
        InvalidInput: the secret is none.
    """
    given = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID, TIMESTAMP, SIGNATURE) if not given.get(name)]
    if missing:
        raise SignatureInvalid(f"the header {missing[0]} is missing")
    sent_s = given[TIMESTAMP]
    if not (sent_s.isascii() and sent_s.isdecimal()):
        raise SignatureInvalid(f"the header {TIMESTAMP} is no time")
    expected = _signature(secret, given[ID], sent_s, body).encode()
    # All are compared, however early one fits; as bytes, because a text that is not ASCII cannot be.
    fits = [hmac.compare_digest(expected, one.encode()) for one in given[SIGNATURE].split(" ")]
    if not any(fits):
        raise SignatureInvalid("the signature is not that of the body")
    if abs((time.time() if now_s is None else now_s) - int(sent_s)) > tolerance_s:
        raise SignatureInvalid(f"it was sent more than {tolerance_s:g} s ago, or in the future")
    return _delivery(given[ID], body)


def signed(secret: str, message_id: str, body: bytes, now_s: float) -> dict[str, str]:
    """The headers that go with a body."""
    sent_s = str(int(now_s))
    return {ID: message_id, TIMESTAMP: sent_s, SIGNATURE: _signature(secret, message_id, sent_s, body)}


def message_id(webhook_id: str, position: int) -> str:
    """The id of what is sent of the entry at that position; it holds no full stop, which is what separates."""
    return f"msg_{webhook_id}_{position}"


def body_of(located: Located) -> bytes:
    """What is sent of an entry."""
    entry = located.entry
    said = {
        "type": entry.type,
        "timestamp": entry.when.isoformat(),
        "data": entry.as_json(),
        "thread": asdict(located.thread),
    }
    return json.dumps(said, separators=(",", ":")).encode()


def _signature(secret: str, message: str, sent_s: str, body: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(MARK), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput(f"a webhook's secret begins with {MARK} and goes on in base64") from None
    content = b".".join((message.encode(), sent_s.encode(), body))
    return f"{VERSION},{base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()}"


def _delivery(message: str, body: bytes) -> Delivery:
    try:
        said = json.loads(body)
        return Delivery(message, said["type"], said["timestamp"], ThreadKey(**said["thread"]), said["data"])
    except (ValueError, TypeError, KeyError):
        raise SignatureInvalid("the body is nothing that Turnwright sends") from None
