"""Who sees what in the console, and how it looks: every page, wide and narrow, dark and light."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.async_api import expect

from tests.e2e.console.stage import NARROWEST, PHONE, Stage, address_of, photograph

pytestmark = pytest.mark.asyncio(loop_scope="session")

WATCH_SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
    }).observe({ type: "layout-shift", buffered: false });
"""
NAMELESS = """
    [...document.querySelectorAll("button, input, select, textarea, a")]
        .filter((one) => one.offsetParent && !one.getAttribute("aria-label"))
        .filter((one) => !one.textContent.trim() && !one.labels?.length)
        .map((one) => one.outerHTML)
"""


async def test_another_tenants_key_sees_nothing_even_at_the_address(stage: Stage) -> None:
    turn = await stage.asked()
    page = await stage.page(token=await stage.token(tenant="rival"))
    await expect(page.get_by_text("Nobody is waiting for you.")).to_be_visible()
    for place, said in (
        ("turns", "No turn is like that."),
        ("sessions", "No session is like that."),
        (address_of(turn), "there is no thread"),
        ("session?user=ann&session=trip", "there is no session"),
    ):
        await page.goto(f"{stage.url}/console/#/{place}")
        await expect(page.get_by_text(said)).to_be_visible()
        assert "ACME" not in (await page.locator("main").inner_text())


async def test_a_callers_key_sees_its_users_work_and_not_the_machinery(stage: Stage) -> None:
    turn = await stage.asked()
    await stage.client.session("bob", "secret").create()
    page = await stage.page("sessions", token=await stage.token("caller"))
    await expect(page.get_by_role("row")).to_have_count(1)
    await page.goto(f"{stage.url}/console/#/{address_of(turn)}")
    await expect(page.get_by_label("Conversation", exact=True)).to_contain_text("ACME Airlines")
    await page.goto(f"{stage.url}/console/#/system")
    await expect(page.get_by_text("this needs the role operator")).to_be_visible()


async def test_a_key_that_is_none_is_refused_and_one_that_is_revoked_signs_out(stage: Stage) -> None:
    page = await stage.page()
    await page.get_by_role("button", name="Sign out").click()
    field = page.get_by_label("API key or token")
    await field.fill("tw_nonsense")
    await field.press("Enter")
    await expect(page.get_by_text("This key is not valid here.")).to_be_visible()
    token = await stage.token()
    await field.fill(token)
    await field.press("Enter")
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    assert token not in page.url
    for key in (await stage.client.keys()).items:
        await stage.client.revoke_key(key.key_id)
    await expect(field).to_be_visible()
    assert await page.evaluate("sessionStorage.length") == 0


async def test_a_session_is_found_by_the_beginning_of_its_title_and_proven(stage: Stage) -> None:
    await stage.submit(session="alpha")
    await stage.submit(session="beta")
    page = await stage.page("sessions")
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.keyboard.press("/")
    await page.keyboard.type("the alp")
    await expect(page.get_by_role("row")).to_have_count(1)
    await page.get_by_role("row").click()
    await page.get_by_role("button", name="Verify").click()
    await expect(page.get_by_text("alpha is whole")).to_be_visible()


async def test_the_machinery_is_seen(stage: Stage) -> None:
    await stage.asked()
    page = await stage.page("system")
    workers = page.get_by_role("list", name="Workers")
    await expect(workers).to_contain_text("shop-worker")
    await expect(workers).to_contain_text("process 4711")
    await expect(page.get_by_role("link", name="1 waiting")).to_be_visible()
    await page.get_by_role("button", name="Verify everything").click()
    await expect(page.get_by_text("are whole")).to_be_visible()
    await expect(page.get_by_role("link", name="Temporal")).to_have_attribute(
        "href", "http://127.0.0.1:8233/namespaces/default"
    )


async def test_every_page_fits_every_width_and_does_not_jump(stage: Stage) -> None:
    """Pictures of all of them stand under build/console afterwards."""
    places = await scene(stage)
    for name, context in (
        ("dark", {"color_scheme": "dark"}),
        ("light", {"color_scheme": "light"}),
        ("phone", {"viewport": PHONE}),
        ("narrow", {"viewport": NARROWEST, "color_scheme": "light"}),
    ):
        page = await stage.page(**context)
        await page.evaluate(WATCH_SHIFTS)
        for place, (at, ready) in places.items():
            await page.goto(f"{stage.url}/console/#/{at}")
            await expect(page.get_by_text(ready).first).to_be_visible()
            await photograph(page, f"{place}-{name}")
            wide = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1], f"{place} is wider than {name}"
        assert await page.evaluate("window.shifted") < 0.1, name
        await page.context.close()


async def test_every_key_is_on_the_page_of_keys_and_every_control_has_a_name(stage: Stage) -> None:
    places = await scene(stage)
    page = await stage.page()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_contain_text("approve")
    await photograph(page, "keys-dark")
    await page.keyboard.press("Escape")
    for at, ready in places.values():
        await page.goto(f"{stage.url}/console/#/{at}")
        await expect(page.get_by_text(ready).first).to_be_visible()
        assert await page.evaluate(NAMELESS) == []


async def scene(stage: Stage) -> dict[str, tuple[str, str]]:
    """Something of everything; pages, with what shows that each has been read."""
    await stage.asked({"amount": 120, "to": "ACME Airlines", "note": "window seat, vegetarian meal, one bag"})
    await stage.asked({"command": "rm -rf build && make deploy"}, session="release-2026-11")
    await stage.lost("refunds")
    await stage.over_budget("research")
    await stage.failed("billing")
    long = await stage.submit("Find me the cheapest way to Oslo, with a bag, and book it.", session="oslo")
    call_id = await stage.hands.call_tool(long)
    await stage.hands.finish_tool(long, call_id, "SAS 120 EUR, Norwegian 95 EUR, both with one bag")
    await long.pause(reason="let me look at this")
    await long.resume()
    await stage.hands.claim(long)
    await stage.hands.ask_model(long, step=2)
    await long.steer("Norwegian, please")
    await stage.submit("And a hotel near the station", session="oslo")
    return {
        "inbox": ("inbox", "ACME Airlines"),
        "turns": ("turns", "research"),
        "thread": (address_of(long), "Norwegian, please"),
        "sessions": ("sessions", "release-2026-11"),
        "session": ("session?user=ann&session=oslo", "entries"),
        "system": ("system", "shop-worker"),
    }


async def test_a_session_that_cannot_be_read_is_not_said_to_be_whole(stage: Stage) -> None:
    for name in ("good", "bad"):
        await stage.submit(session=name)
    page = await stage.page("system")
    await page.route("**/sessions/bad/proof*", lambda route: route.abort())
    await page.get_by_role("button", name="Verify everything").click()
    await expect(page.get_by_text("not whole")).to_be_visible()
    await expect(page.get_by_text("bad: read")).to_be_visible()
    await page.goto(f"{stage.url}/console/#/session?user=ann&session=bad")
    await page.get_by_role("button", name="Verify").click()
    await expect(page.get_by_text("the gateway does not answer")).to_be_visible()


async def test_ids_that_mean_something_to_a_browser_or_to_javascript_are_ids(stage: Stage) -> None:
    page = await stage.page()
    for name in ("..", "~.", "a/b?c#d", "constructor"):
        turn = await stage.submit(f"Book for {name}", session=name, thread=name)
        await page.goto(f"{stage.url}/console/#/sessions?{urlencode({'q': name, 'user': 'ann'})}")
        await page.get_by_role("row").click()
        await page.get_by_role("link", name=f"/ {name}").click()
        await expect(page.get_by_label("Timeline")).to_contain_text(f"Book for {name}")
        await page.goto(f"{stage.url}/console/#/constructor")
        await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        await page.goto(f"{stage.url}/console/#/{address_of(turn)}")
        await expect(page.get_by_label("Timeline")).to_contain_text(f"Book for {name}")


async def test_a_journal_that_is_away_when_the_console_opens_is_waited_for(stage: Stage) -> None:
    page = await stage.page("turns")
    await page.route("**/v1/me", lambda route: route.fulfill(status=500, json={"detail": "the journal is away"}))
    await page.reload()
    await expect(page.get_by_text("the journal is away")).to_be_visible()
    await page.unroute("**/v1/me")
    await expect(page.get_by_role("heading", name="Turns")).to_be_visible()
