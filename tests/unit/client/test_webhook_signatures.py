"""A delivery is known by its signature, and nothing of it can be changed or played again."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from turnwright.client.webhooks import SIGNATURE, SignatureInvalid, body_of, message_id, signed, verify
from turnwright.journal.entries import Draft, TurnCancelRequested
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey
from turnwright.journal.transact.reading import Located

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW_S = 1_614_265_330
KEY = ThreadKey("acme", "ann", "travel", "s")
ENTRY = Draft("e-1", TurnCancelRequested(revision=2, principal="ann", reason="zu spät"), turn_id="t-1").at(7, 5_000_001)
BODY = body_of(Located(KEY, ENTRY))


def headers(body: bytes = BODY, now_s: float = NOW_S, secret: str = SECRET) -> dict[str, str]:
    return signed(secret, message_id("wh-1", 7), body, now_s)


def test_a_signature_is_that_of_the_standards_own_example() -> None:
    made = signed(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', NOW_S)
    assert made[SIGNATURE] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_what_was_sent_is_read_back_as_it_was() -> None:
    delivery = verify(SECRET, headers(), BODY, now_s=NOW_S)
    assert (delivery.id, delivery.type, delivery.thread) == ("msg_wh-1_7", "turn.cancel_requested", KEY)
    assert delivery.entry == ENTRY
    assert delivery.timestamp == ENTRY.when.isoformat()
    assert json.loads(BODY)["thread"] == asdict(KEY)


def test_headers_are_known_in_any_case_and_one_of_several_signatures_is_enough() -> None:
    shouted = {name.upper(): value for name, value in headers().items()}
    shouted[SIGNATURE.upper()] = f"v1a,other v1,AAAA {shouted[SIGNATURE.upper()]}"
    assert verify(SECRET, shouted, BODY, now_s=NOW_S).id == "msg_wh-1_7"


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "msg_wh-1_8"},
        {"webhook-timestamp": str(NOW_S + 1)},
        {"webhook-timestamp": "now"},
        {"webhook-timestamp": "٣"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,é"},
        {"webhook-signature": "v2," + headers()[SIGNATURE].removeprefix("v1,")},
        {"webhook-id": ""},
    ],
)
def test_a_changed_header_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(SignatureInvalid):
        verify(SECRET, headers() | change, BODY, now_s=NOW_S)


def test_a_changed_body_another_secret_and_a_missing_header_are_refused() -> None:
    for body in (BODY + b" ", BODY.replace(b"ann", b"ben"), b""):
        with pytest.raises(SignatureInvalid, match="not that of the body"):
            verify(SECRET, headers(), body, now_s=NOW_S)
    with pytest.raises(SignatureInvalid):
        verify(SECRET, headers(secret="whsec_eHh4"), BODY, now_s=NOW_S)
    for name in headers():
        with pytest.raises(SignatureInvalid, match=f"{name} is missing"):
            verify(SECRET, {k: v for k, v in headers().items() if k != name}, BODY, now_s=NOW_S)


def test_an_old_delivery_cannot_be_played_again_nor_one_from_the_future() -> None:
    assert verify(SECRET, headers(), BODY, now_s=NOW_S + 299).id == "msg_wh-1_7"
    for now_s in (NOW_S + 301, NOW_S - 301):
        with pytest.raises(SignatureInvalid, match="300 s"):
            verify(SECRET, headers(), BODY, now_s=now_s)


def test_a_secret_that_is_none_is_said() -> None:
    with pytest.raises(InvalidInput, match="whsec_"):
        verify("whsec_not base64", headers(), BODY, now_s=NOW_S)


def test_a_signed_body_of_somebody_else_is_none_of_ours() -> None:
    for body in (b"[]", b"{}", b"no json", b'{"type":"x","timestamp":"y","thread":{"a":1},"data":{}}'):
        with pytest.raises(SignatureInvalid, match="nothing that Turnwright sends"):
            verify(SECRET, headers(body), body, now_s=NOW_S)
