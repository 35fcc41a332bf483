"""What a gateway delivers to webhooks: everything at least once and in order, whatever the receiver does."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import httpx2
import pytest
import structlog

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import LOOK_S, serving, settings_of
from tests.integration.client.hands import Hands
from tests.integration.client.receiver import HANG, Receiver
from tests.integration.client.test_gateway_commands import assert_problem, submitted, token
from tests.integration.client.test_gateway_events import turn_of
from turnwright.client import Client
from turnwright.client.gateway import deliverer
from turnwright.client.gateway.deliverer import HOST_RUNNING_MAX
from turnwright.client.gateway.posting import WebhookSettings
from turnwright.client.webhooks import SignatureInvalid, verify
from turnwright.journal.driver import Driver
from turnwright.journal.webhooks import RetryTerms

SOON = RetryTerms(first_s=0.01, longest_s=0.02)
HERE = WebhookSettings(private=True, timeout_s=30, retry=SOON)
LAST = "turn.completed"


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url, webhooks=HERE)) as url:
        yield url


@pytest.fixture
async def ask(url: str, driver: Driver) -> AsyncIterator[httpx2.AsyncClient]:
    async with http(url, await token(driver, "operator")) as ask:
        await ask.put("/sessions/s", json={})
        yield ask


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


async def webhook(ask: httpx2.AsyncClient, of: str, url: str, **more: Any) -> tuple[str, str, int]:  # noqa: ANN401
    """The id, secret and first position of a new webhook."""
    answer = await ask.post(f"{of}/webhooks", json={"url": url, **more})
    assert answer.status_code == httpx2.codes.CREATED, answer.text
    made = answer.json()
    return made["webhook"]["webhook_id"], made["secret"], made["webhook"]["position"]


async def seen(ask: httpx2.AsyncClient, of: str = "/sessions/s") -> dict[str, Any]:
    """The one webhook there is."""
    [found] = (await ask.get(f"{of}/webhooks")).json()["items"]
    return dict(found)


async def seen_as(ask: httpx2.AsyncClient, state: str, of: str = "/sessions/s") -> dict[str, Any]:
    """The same, once it is in that state."""
    while (found := await seen(ask, of))["state"] != state:
        await asyncio.sleep(LOOK_S)
    return found


async def last_position(ask: httpx2.AsyncClient) -> int:
    return int((await ask.get("/sessions/s")).json()["last_position"])


async def caught_up(ask: httpx2.AsyncClient) -> int:
    """The last position of the session, once the webhook has come there."""
    last = await last_position(ask)
    while (await seen(ask))["position"] < last:
        await asyncio.sleep(LOOK_S)
    return last


def positions_at(receiver: Receiver, path: str) -> list[int]:
    """The positions that came under a path."""
    return [one.position for one in receiver.posted if one.path == path]


def first_times(receiver: Receiver) -> list[int]:
    """The positions that came, without repetitions."""
    return list(dict.fromkeys(one.position for one in receiver.posted))


async def test_every_entry_of_a_session_is_posted_once_in_order_and_signed(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, receiver: Receiver
) -> None:
    async with receiver.listening() as at:
        _, secret, begin = await webhook(ask, "/sessions/s", f"{at}/hook?shop=1")
        await hands.finish(await turn_of(client, ask))
        last = await caught_up(ask)
    heard = receiver.deliveries(secret)
    assert [one.data["position"] for one in heard] == list(range(begin + 1, last + 1))
    assert {one.path for one in receiver.posted} == {"/hook"}
    history = await client.session("ann", "s").history(begin)
    assert [(one.thread, one.entry) for one in heard] == [(located.thread, located.entry) for located in history]
    first = receiver.posted[0]
    with pytest.raises(SignatureInvalid):
        verify(secret, first.headers, first.body.replace(b"hello", b"jello"))


async def test_a_turns_webhook_is_told_of_all_of_it_from_its_first_entry_to_its_end(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, receiver: Receiver
) -> None:
    turn, other = await turn_of(client, ask), await turn_of(client, ask)
    await hands.ask_model(turn)
    async with receiver.listening() as at:
        _, secret, _ = await webhook(ask, f"/turns/{turn.id}", at)
        await hands.answer(turn, "done")
        await hands.finish(other)
        done = await seen_as(ask, "done", f"/turns/{turn.id}")
    heard = receiver.deliveries(secret)
    assert [one.entry for one in heard] == [entry async for entry in turn.events()]
    assert heard[-1].type == LAST
    assert done["ended_us"] is not None
    assert done["position"] == heard[-1].data["position"]


async def test_only_the_wanted_types_are_posted_and_all_is_passed(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, receiver: Receiver
) -> None:
    async with receiver.listening() as at:
        await webhook(ask, "/sessions/s", at, types=[LAST, "turn.started"])
        for _ in range(2):
            await hands.finish(await turn_of(client, ask))
        await caught_up(ask)
    assert [json.loads(one.body)["type"] for one in receiver.posted] == ["turn.started", LAST] * 2


async def test_whatever_a_receiver_answers_it_gets_everything_in_order_once_it_takes_it(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, receiver: Receiver
) -> None:
    receiver.answers.extend([500, 400, 302, 429, 404, 204, 503, 200])
    receiver.more["Location"] = "/elsewhere"
    async with receiver.listening() as at:
        _, secret, begin = await webhook(ask, "/sessions/s", f"{at}/hook")
        await hands.finish(await turn_of(client, ask))
        last = await caught_up(ask)
        assert (await seen(ask))["last_error"] is None
    tried = [one.position for one in receiver.posted]
    assert tried == [*[begin + 1] * 6, begin + 2, *range(begin + 2, last + 1)]
    assert {one.path for one in receiver.posted} == {"/hook"}, "a redirect was followed"
    assert len({one.id for one in receiver.deliveries(secret)}) == last - begin


async def test_a_receiver_that_never_answers_is_asked_again(
    driver: Driver, journal_url: str, receiver: Receiver
) -> None:
    receiver.answers.extend([HANG] * 5)
    settings = settings_of(journal_url, webhooks=replace(HERE, timeout_s=0.2))
    async with serving(settings) as url, http(url, await token(driver, "operator")) as ask, receiver.listening() as at:
        await ask.put("/sessions/s", json={})
        _, _, begin = await webhook(ask, "/sessions/s", at)
        await submitted(ask)
        assert "did not answer within 0.2 s" in (await seen_as(ask, "failing"))["last_error"]
        last = await caught_up(ask)
    assert first_times(receiver) == list(range(begin + 1, last + 1))
    assert [one.position for one in receiver.posted[:6]] == [begin + 1] * 6


async def test_a_failure_is_seen_with_why_and_when_it_is_tried_again(
    ask: httpx2.AsyncClient, receiver: Receiver, url: str
) -> None:
    receiver.answers.extend([500] * 10_000)
    async with receiver.listening() as at:
        webhook_id, secret, begin = await webhook(ask, "/sessions/s", at)
        await submitted(ask)
        failing = await seen_as(ask, "failing")
        assert failing["last_error"] == "it answered 500"
        assert failing["tries"] > 0
        assert failing["next_try_us"] > failing["failing_since_us"] > 0
        assert (failing["webhook_id"], failing["position"]) == (webhook_id, begin)
        receiver.answers.clear()
        found = await seen_as(ask, "active")
        assert (found["tries"], found["last_error"], found["next_try_us"]) == (0, None, None)
    assert secret not in json.dumps(found)


async def test_a_receiver_that_was_down_gets_what_it_missed_when_it_comes_back(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, receiver: Receiver
) -> None:
    async with receiver.listening() as at:
        _, _, begin = await webhook(ask, "/sessions/s", at)
        turn = await turn_of(client, ask)
        await caught_up(ask)
    before = len(receiver.posted)
    await hands.finish(turn)
    down = await seen_as(ask, "failing")
    assert "cannot be reached" in down["last_error"]
    assert len(receiver.posted) == before
    async with receiver.listening(int(at.rpartition(":")[2])):
        last = await caught_up(ask)
    assert first_times(receiver) == list(range(begin + 1, last + 1))


async def test_a_receiver_that_is_gone_is_told_nothing_more(
    ask: httpx2.AsyncClient, client: Client, hands: Hands, receiver: Receiver
) -> None:
    receiver.answers.extend([204, 410])
    async with receiver.listening() as at:
        _, _, begin = await webhook(ask, "/sessions/s", at)
        await hands.finish(await turn_of(client, ask))
        disabled = await seen_as(ask, "disabled")
        _, _, again = await webhook(ask, "/sessions/s", f"{at}/new", after=disabled["position"])
        last = await last_position(ask)
        while positions_at(receiver, "/new")[-1:] != [last]:
            await asyncio.sleep(LOOK_S)
    assert positions_at(receiver, "/") == [begin + 1, begin + 2]
    assert again == disabled["position"] == begin + 1
    assert disabled["last_error"] == "it answered 410"
    assert positions_at(receiver, "/new") == list(range(again + 1, last + 1))


async def test_a_receiver_that_fails_for_too_long_is_disabled(
    driver: Driver, journal_url: str, receiver: Receiver
) -> None:
    receiver.answers.extend([500] * 10_000)
    terms = RetryTerms(first_s=0.001, longest_s=0.001, give_up_s=0)
    settings = settings_of(journal_url, webhooks=WebhookSettings(private=True, retry=terms))
    bearer = await token(driver, "operator")
    with structlog.testing.capture_logs() as logs:
        async with serving(settings) as url, http(url, bearer) as ask, receiver.listening() as at:
            await ask.put("/sessions/s", json={})
            _, secret, _ = await webhook(ask, "/sessions/s", at)
            await submitted(ask)
            disabled = await seen_as(ask, "disabled")
    assert (disabled["last_error"], disabled["tries"]) == ("it answered 500", len(receiver.posted))
    [said] = [line for line in logs if line["event"] == "webhook_disabled"]
    assert said["webhook"] == disabled["webhook_id"]
    assert secret not in json.dumps(logs, default=str)
    assert at not in json.dumps(logs, default=str), "a URL may hold a password of the receiver's"


async def test_nothing_is_lost_and_no_order_is_changed_when_gateways_come_and_go(
    driver: Driver, journal_url: str, client: Client, hands: Hands, receiver: Receiver
) -> None:
    settings = settings_of(journal_url, webhooks=HERE)
    bearer = await token(driver, "operator")
    async with receiver.listening() as at:
        async with serving(settings) as url, http(url, bearer) as ask:
            await ask.put("/sessions/s", json={})
            _, _, begin = await webhook(ask, "/sessions/s", at)
            turn = await turn_of(client, ask)
            await receiver.until(1)
            receiver.answers.append(HANG)
            await hands.ask_model(turn)
            while receiver.answers:
                await asyncio.sleep(LOOK_S)
            hung = len(receiver.posted)
        await hands.answer(turn, "done")
        assert len(receiver.posted) == hung
        async with serving(settings) as url, http(url, bearer) as ask:
            last = await caught_up(ask)
    assert first_times(receiver) == list(range(begin + 1, last + 1))
    positions = [one.position for one in receiver.posted]
    assert positions == sorted(positions)


async def test_of_several_gateways_one_delivers(
    driver: Driver, journal_url: str, client: Client, hands: Hands, receiver: Receiver
) -> None:
    settings = settings_of(journal_url, webhooks=HERE)
    bearer = await token(driver, "operator")
    async with receiver.listening() as at, serving(settings) as one, serving(settings), http(one, bearer) as ask:
        await ask.put("/sessions/s", json={})
        _, _, begin = await webhook(ask, "/sessions/s", at)
        for _ in range(3):
            await hands.finish(await turn_of(client, ask))
        last = await caught_up(ask)
    assert [one.position for one in receiver.posted] == list(range(begin + 1, last + 1))


async def test_receivers_that_hang_or_fail_keep_no_other_waiting_and_are_left_alone(
    driver: Driver, journal_url: str, receiver: Receiver
) -> None:
    hanging, failing = Receiver(answers=deque([HANG])), Receiver(answers=deque([500] * 100))
    settings = settings_of(journal_url, webhooks=replace(HERE, retry=RetryTerms(first_s=3_600)))
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(settings))
        ask = await stack.enter_async_context(http(url, await token(driver, "operator")))
        far, broken, at = [await stack.enter_async_context(one.listening()) for one in (hanging, failing, receiver)]
        await ask.put("/sessions/s", json={})
        for place in (far, broken):
            await webhook(ask, "/sessions/s", place)
        _, _, begin = await webhook(ask, "/sessions/s", at)
        await submitted(ask)
        await hanging.until(1)
        await failing.until(1)
        await submitted(ask)
        await receiver.until(await last_position(ask) - begin)
    assert (len(hanging.posted), len(failing.posted)) == (1, 1)


async def test_a_host_whose_receivers_all_hang_takes_no_room_from_the_others_and_has_all_of_its_own_come(
    ask: httpx2.AsyncClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "RUNNING_MAX", HOST_RUNNING_MAX + 1)
    hanging, many = Receiver(), 2 * HOST_RUNNING_MAX
    hanging.open.clear()
    async with hanging.listening() as far, receiver.listening() as at:
        for n in range(many):
            await webhook(ask, "/sessions/s", f"{far}/{n}")
        await submitted(ask)
        await hanging.until(HOST_RUNNING_MAX)
        _, _, begin = await webhook(ask, "/sessions/s", at.replace("127.0.0.1", "localhost"))
        await submitted(ask)
        await receiver.until(await last_position(ask) - begin)
        assert len(hanging.posted) == HOST_RUNNING_MAX
        hanging.open.set()
        while len({one.path for one in hanging.posted}) < many:
            await asyncio.sleep(LOOK_S)


async def test_a_webhook_that_was_removed_is_told_nothing_more(ask: httpx2.AsyncClient, receiver: Receiver) -> None:
    async with receiver.listening() as at:
        webhook_id, _, begin = await webhook(ask, "/sessions/s", f"{at}/removed")
        turn = (await submitted(ask))["turn_id"]
        await caught_up(ask)
        assert_problem(await ask.delete(f"/turns/{turn}/webhooks/{webhook_id}"), 404, "not_found")
        removed = await ask.delete(f"/sessions/s/webhooks/{webhook_id}")
        assert removed.status_code == httpx2.codes.NO_CONTENT
        assert_problem(await ask.delete(f"/sessions/s/webhooks/{webhook_id}"), 404, "not_found")
        before = await last_position(ask)
        await webhook(ask, "/sessions/s", f"{at}/kept")
        await submitted(ask)
        last = await caught_up(ask)
    assert positions_at(receiver, "/removed") == list(range(begin + 1, before + 1))
    assert positions_at(receiver, "/kept") == list(range(before + 1, last + 1))


async def test_a_webhook_goes_with_its_session(
    ask: httpx2.AsyncClient, url: str, driver: Driver, receiver: Receiver
) -> None:
    async with receiver.listening() as at, http(url, await token(driver, "admin")) as admin:
        await webhook(ask, "/sessions/s", at)
        turn = (await submitted(ask))["turn_id"]
        await webhook(ask, f"/turns/{turn}", at)
        await ask.post("/sessions/s/cancel")
        deleted = (await admin.delete("/sessions/s")).json()
    assert deleted["stores"]["journal"]["webhooks"] == 2
    assert_problem(await ask.get("/sessions/s/webhooks"), 404, "not_found")
    assert_problem(await ask.post("/sessions/s/webhooks", json={"url": at}), 404, "not_found")


async def test_a_repeated_request_makes_one_webhook_and_is_answered_as_before_to_who_made_it(
    ask: httpx2.AsyncClient, url: str, driver: Driver
) -> None:
    said, key = {"url": "https://shop.example.com/hook"}, {"Idempotency-Key": "hook-1"}
    first, again = [await ask.post("/sessions/s/webhooks", json=said, headers=key) for _ in range(2)]
    assert (first.status_code, first.json()) == (201, again.json())
    await seen(ask)
    other = await ask.post("/sessions/s/webhooks", json={"url": "https://elsewhere.example.com"}, headers=key)
    assert_problem(other, 409, "request_id_reused")
    async with http(url, await token(driver, "admin")) as admin:
        refused = await admin.post("/sessions/s/webhooks", json=said, headers=key)
    assert_problem(refused, 409, "request_id_reused")
    assert first.json()["secret"] not in refused.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"url": "https://shop.example.com", "secret": "mine"}, 422),
        ({"url": "https://shop.example.com", "after": -1}, 422),
        ({"url": "https://shop.example.com", "types": ["turn.finished"]}, 400),
        ({"url": "https://ann:secret@shop.example.com"}, 400),
        ({"url": "https://0177.0.0.1/"}, 400),
        ({"url": "gopher://shop.example.com"}, 400),
    ],
)
async def test_what_can_be_no_webhook_is_refused(ask: httpx2.AsyncClient, body: dict[str, Any], status: int) -> None:
    refused = await ask.post("/sessions/s/webhooks", json=body)
    assert_problem(refused, status, "malformed" if status == 422 else "invalid_input")
    assert (await ask.get("/sessions/s/webhooks")).json()["items"] == []


async def test_only_operators_have_webhooks(ask: httpx2.AsyncClient, url: str, driver: Driver) -> None:
    turn = (await submitted(ask))["turn_id"]
    async with http(url, await token(driver, "caller")) as caller:
        for of in ("/sessions/s", f"/turns/{turn}"):
            said = {"url": "https://shop.example.com"}
            assert_problem(await caller.post(f"{of}/webhooks", json=said), 403, "forbidden")
            assert_problem(await caller.get(f"{of}/webhooks"), 403, "forbidden")
            assert_problem(await caller.delete(f"{of}/webhooks/wh-1"), 403, "forbidden")
