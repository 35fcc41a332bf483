"""What becomes of a webhook after a failure, and what can be one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import Draft, Payload, TurnCancelled, TurnCompleted, TurnFailed
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey
from turnwright.journal.webhooks import (
    TRIES_MIN_BEFORE_DISABLED,
    DueWebhook,
    Failure,
    Progress,
    RetryTerms,
    after_failure,
    checked_types,
    checked_url,
    retry_s,
)

TERMS = RetryTerms()
DOWN = Failure("it answered 500")
SESSION = SessionKey("acme", "ann", "s")
DUE = DueWebhook("wh-1", SESSION, "t-1", "https://shop.example.com", frozenset(), "whsec_eA==", 3)


def failed(before: Progress, now_s: float, failure: Failure = DOWN, position: int = 5) -> Progress:
    return after_failure(before, position, failure, round(now_s * SECOND_US), TERMS, "wh-1")


def test_a_receiver_that_fails_is_tried_again_later_and_later_up_to_an_hour() -> None:
    waits = [retry_s(tries, TERMS, "wh-1") for tries in range(1, 40)]
    for tries, wait_s in enumerate(waits, start=1):
        longest = min(TERMS.first_s * 2 ** (tries - 1), TERMS.longest_s)
        assert longest / 2 <= wait_s <= longest
    assert waits[-1] >= TERMS.longest_s / 2


def test_receivers_that_fail_at_once_are_not_tried_at_once() -> None:
    assert len({retry_s(3, TERMS, f"wh-{n}") for n in range(100)}) > 50


def test_failures_of_one_entry_count_together_and_those_of_the_next_anew() -> None:
    first = failed(Progress(5), 100)
    second = failed(first, 110)
    assert (first.tries, second.tries) == (1, 2)
    assert first.failing_since_us == second.failing_since_us == 100 * SECOND_US
    assert second.next_try_us > 110 * SECOND_US
    moved = failed(second, 120, position=6)
    assert (moved.tries, moved.failing_since_us, moved.position) == (1, 120 * SECOND_US, 6)


def test_who_fails_for_three_days_is_disabled_and_not_before() -> None:
    day = 86_400
    failing = Progress(5, tries=TRIES_MIN_BEFORE_DISABLED, failing_since_us=0, last_error="x")
    assert failed(failing, 3 * day - 1).state == "active"
    gone = failed(failing, 3 * day)
    assert (gone.state, gone.ended_us, gone.next_try_us) == ("disabled", 3 * day * SECOND_US, 0)
    assert failed(replace(failing, tries=1), 3 * day).state == "active", "the gateway was away meanwhile"


def test_what_a_gateway_could_not_do_disables_nobody_and_counts_not_towards_the_three_days() -> None:
    day, ours = 86_400, Failure("the session cannot be read", ours=True)
    failing = Progress(5, tries=TRIES_MIN_BEFORE_DISABLED, failing_since_us=0, last_error="x")
    kept = failed(failing, 30 * day, ours)
    assert (kept.state, kept.last_error) == ("active", ours.error)
    assert failed(kept, 33 * day - 1).state == "active"
    assert failed(kept, 33 * day).state == "disabled"


def test_who_is_gone_is_disabled_at_once() -> None:
    assert failed(Progress(5), 1, Failure("it answered 410", gone=True)).state == "disabled"


def test_a_receiver_says_when_to_come_again_but_not_for_how_many_days() -> None:
    later = failed(Progress(5), 0, Failure("it answered 503", wait_s=600))
    assert later.next_try_us == 600 * SECOND_US
    assert failed(Progress(5), 0, Failure("it answered 503", wait_s=10**9)).next_try_us == TERMS.longest_s * SECOND_US


def entry(payload: Payload, turn_id: str = "t-1") -> Draft:
    return Draft("e", payload, turn_id=turn_id)


def test_a_turns_webhook_is_told_of_that_turn_up_to_its_end() -> None:
    done = entry(TurnCompleted(revision=2, output_message="m")).at(1, 0)
    other = entry(TurnCompleted(revision=2, output_message="m"), "t-2").at(1, 0)
    assert (DUE.wants(done), DUE.wants(other)) == (True, False)
    assert (DUE.ends_with(done), DUE.ends_with(other)) == (True, False)
    whole = replace(DUE, turn_id=None)
    assert (whole.wants(other), whole.ends_with(other)) == (True, False)
    picky = replace(DUE, types=frozenset({TurnCancelled.TYPE}))
    assert (picky.wants(done), picky.ends_with(done)) == (False, True)


def test_a_failed_turn_may_go_on_so_its_webhook_stays() -> None:
    failure = entry(TurnFailed(revision=2, code="x", message="y", retryable=True)).at(1, 0)
    assert (DUE.wants(failure), DUE.ends_with(failure)) == (True, False)


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example.com",
        "https://shop.example.com:8443/hook?a=b&c=%20#"[:-1],
        "http://127.0.0.1/",
        "https://[2001:db8::1]:1/x",
        "https://a_b.internal?x",
    ],
)
def test_what_can_be_the_url_of_a_receiver(url: str) -> None:
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example.com",
        "ftp://shop.example.com",
        "file:///etc/passwd",
        "https://",
        "https://user:secret@shop.example.com/",
        "https://shop.example.com#fragment",
        "https://shop.example.com\\@10.0.0.1/",
        "https://shop.example.com:443:80/",
        "https://shop.example.com:0/",
        "https://shop.example.com:65536/",
        "https://shop.example.com:٤٤٣/",
        "https://shop example.com/",
        "https://shop.example.com/\r\nX: y",
        "https://shop.example.com/\n",
        "https://münchen.example.com/",
        "https://shop.example.com/" + "x" * 2_000,
        "HTTPS://shop.example.com/",
    ],
)
def test_what_can_not(url: str) -> None:
    with pytest.raises(InvalidInput, match="a webhook's URL looks like"):
        checked_url(url)


def test_types_are_those_of_entries_each_once() -> None:
    assert checked_types(["turn.failed", "turn.completed", "turn.failed"]) == ("turn.completed", "turn.failed")
    with pytest.raises(InvalidInput, match=r"no entry of the type turn\.complete;"):
        checked_types(["turn.complete"])
