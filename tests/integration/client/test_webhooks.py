"""Webhooks from Python: made, listed and removed in the same way whether there is a gateway between or not."""

from __future__ import annotations

import base64

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT
from turnwright.client import Client, InvalidInput, NotFound, Session
from turnwright.journal.errors import RequestIdReused
from turnwright.journal.webhooks import NewWebhook, Webhook

URL = "https://shop.example.com/hook"
NOT_YET = 10**9  # nothing is delivered: it is behind what there is


async def test_a_webhook_is_shown_with_its_secret_once(session: Session) -> None:
    made = await session.create_webhook(URL, types=["turn.failed", "turn.completed"])
    webhook = made.webhook
    assert (webhook.url, webhook.types, webhook.state) == (URL, ("turn.completed", "turn.failed"), "active")
    assert (webhook.session, webhook.turn_id) == (session.key, None)
    assert webhook.position == (await session.status()).last_position
    assert len(base64.b64decode(made.secret.removeprefix("whsec_"))) == 32
    assert made.secret not in repr(made)
    page = await session.webhooks()
    assert page.items == (webhook,)
    assert made.secret not in repr(page)


async def test_those_of_a_session_are_listed_in_pages_with_those_of_its_turns(session: Session) -> None:
    turn = await session.submit("hello", agent=AGENT)
    made = [(await session.create_webhook(f"{URL}/{n}")).webhook for n in range(3)]
    made.append((await turn.create_webhook(URL, after=NOT_YET)).webhook)
    assert made[-1].turn_id == turn.id
    listed: list[Webhook] = []
    after = None
    while True:
        page = await session.webhooks(after, limit=2)
        listed += page.items
        after = page.next
        if after is None:
            break
    assert listed == made
    assert (await turn.webhooks()).items == (made[-1],)


async def test_one_is_removed_by_whose_it_is(session: Session, client: Client) -> None:
    turn = await session.submit("hello", agent=AGENT)
    of_session = (await session.create_webhook(URL)).webhook
    of_turn = (await turn.create_webhook(URL, after=NOT_YET)).webhook
    with pytest.raises(NotFound):
        await turn.delete_webhook(of_session.webhook_id)
    other = client.session("ann", "other")
    await other.create()
    with pytest.raises(NotFound):
        await other.delete_webhook(of_session.webhook_id)
    await session.delete_webhook(of_turn.webhook_id)
    with pytest.raises(NotFound):
        await turn.delete_webhook(of_turn.webhook_id)
    assert (await session.webhooks()).items == (of_session,)


async def test_what_is_not_there_can_have_none(session: Session, client: Client) -> None:
    nowhere = client.session("ann", "nowhere")
    with pytest.raises(NotFound, match="no session nowhere"):
        await nowhere.create_webhook(URL)
    with pytest.raises(NotFound):
        await nowhere.webhooks()
    turn = session.thread(AGENT).turn("t-" + "0" * 32)
    with pytest.raises(NotFound, match="no turn t-0"):
        await turn.create_webhook(URL)
    with pytest.raises(NotFound):
        await turn.webhooks()


async def test_what_can_be_no_webhook_says_why(session: Session) -> None:
    with pytest.raises(InvalidInput, match="looks like https"):
        await session.create_webhook("shop.example.com")
    with pytest.raises(InvalidInput, match=r"no entry of the type turn\.done"):
        await session.create_webhook(URL, types=["turn.done"])
    assert (await session.webhooks()).items == ()


async def test_a_request_that_is_repeated_makes_one_and_shows_its_secret_to_nobody_else(
    session: Session, connect: Connect
) -> None:
    made = [await session.create_webhook(URL, request_id="hook") for _ in range(2)]
    assert made[0] == made[1]
    with pytest.raises(RequestIdReused, match="different webhook"):
        await session.create_webhook(f"{URL}/other", request_id="hook")
    colleague = await connect(principal="somebody else")
    with pytest.raises(RequestIdReused, match="somebody else"):
        await colleague.session("ann", "s").create_webhook(URL, request_id="hook")


async def test_a_webhook_of_another_user_or_tenant_is_not_there(session: Session, connect: Connect) -> None:
    made: NewWebhook = await session.create_webhook(URL)
    stranger = await connect(tenant="other", principal="eve")
    with pytest.raises(NotFound):
        await stranger.session("ann", "s").webhooks()
    with pytest.raises(NotFound):
        await stranger.session("ann", "s").delete_webhook(made.webhook.webhook_id)
    assert (await session.webhooks()).items == (made.webhook,)
