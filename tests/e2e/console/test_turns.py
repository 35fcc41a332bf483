"""Turns and threads as they are seen and controlled in the console, live, and through an outage."""

from __future__ import annotations

import asyncio
import base64
from functools import partial
from urllib.parse import urlencode

import pytest
from playwright.async_api import Route, expect

from tests.e2e.console.stage import Stage, address_of, card, photograph
from tests.integration.client.hands import AGENT
from turnwright.client import Turn
from turnwright.journal.messages import Text

EVIL = '<img src=x onerror="window.owned=1"><script>window.owned=1</script><b>bold</b>'
TURNS = 130
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGNwaPgPRAwQCgAt9gb9K5p4SgAAAABJRU5ErkJggg=="
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_turn_is_paused_resumed_steered_and_cancelled_with_keys(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.ask_model(turn)
    page = await stage.page("turns")
    row = page.get_by_role("row")
    await expect(row).to_contain_text("running")
    await expect(row).to_contain_text("Book a flight to Oslo")
    await page.keyboard.press("j")
    await page.keyboard.press("p")
    await expect(row).to_contain_text("pausing")
    await page.keyboard.press("r")
    await expect(row).to_contain_text("running")
    await page.keyboard.press("s")
    await page.get_by_label("What it is told").fill("Only direct flights")
    await page.get_by_role("button", name="Steer", exact=True).last.click()
    await stage.entries(turn, "input.steered")
    await page.keyboard.press("c")
    await page.get_by_role("button", name="Cancel the turn of trip").click()
    await expect(row).to_contain_text("cancelling")
    await stage.hands.interrupt_model(turn)
    await expect(row).to_contain_text("cancelled")


async def test_many_turns_are_paused_at_once(stage: Stage) -> None:
    turns = [await stage.submit(thread=f"t{n}") for n in range(3)]
    page = await stage.page("turns")
    await page.get_by_role("row").nth(2).get_by_label("Choose").check()
    await page.get_by_role("button", name="All that are loaded").click()
    await expect(page.get_by_text("3 chosen")).to_be_visible()
    await page.get_by_role("button", name="Pause", exact=True).click()
    await expect(page.get_by_role("row").filter(has_text="paused")).to_have_count(3)
    assert [(await turn.status()).pause for turn in turns] == ["effective"] * 3


async def test_a_long_list_is_read_in_pages_and_only_rows_in_sight_exist(stage: Stage) -> None:
    for n in range(TURNS):
        await stage.submit(thread=f"t{n}")
    page = await stage.page("turns")
    await expect(page.get_by_role("row").first).to_contain_text(f"t{TURNS - 1}")
    await expect(page.get_by_text("50+")).to_be_visible()
    oldest = page.locator("[aria-selected=true]").filter(has_text="/ t0")
    while not await oldest.count():  # the cursor stays at the end of a page until the next one is there
        await page.keyboard.press("j")
    await expect(oldest).to_have_attribute("aria-rowindex", str(TURNS))
    assert await page.get_by_role("row").count() < 40


async def test_a_thread_is_seen_live_with_its_calls_takeovers_and_totals(stage: Stage) -> None:
    turn = await stage.submit()
    page = await stage.page(address_of(turn))
    conversation, timeline = page.get_by_label("Conversation", exact=True), page.get_by_label("Timeline", exact=True)
    await expect(conversation).to_contain_text("Book a flight to Oslo")
    call_id = await stage.hands.call_tool(turn)
    await expect(timeline).to_contain_text("shop-worker 4711")
    await expect(conversation.locator(".call")).to_contain_text("running")
    await stage.hands.finish_tool(turn, call_id, "booked: seat 12A")
    await expect(conversation.locator(".call .result")).to_contain_text("seat 12A")
    await stage.hands.claim(turn)
    await expect(conversation).to_contain_text("Goes on in another run (epoch 2)")
    await stage.hands.ask_model(turn, step=2)
    await stage.hands.answer(turn, "Your flight is booked.", step=2)
    await expect(conversation).to_contain_text("Your flight is booked.")
    await expect(timeline.locator(".line.turn")).to_contain_text("20 tokens")
    await expect(timeline).to_contain_text("Completed")
    await page.get_by_text("ledger").last.click()
    await expect(timeline.locator(".inside").last).to_contain_text(f"{turn.id}/{call_id}")


async def test_what_a_thread_asks_is_answered_on_its_page_and_by_keys_only_where_it_is_seen(stage: Stage) -> None:
    turn = await stage.asked()
    page = await stage.page(address_of(turn))
    question = page.get_by_label("Conversation", exact=True).get_by_role("article")
    await expect(question).to_contain_text("May ledger run?")
    await expect(page.locator(".line.turn")).to_contain_text("waiting")
    await page.keyboard.press("a")
    await expect(question).to_be_focused()
    assert (await turn.status()).status == "waiting"
    await page.keyboard.press("a")
    await expect(question).to_have_count(0)
    [answer] = await stage.entries(turn, "interaction.resolved")
    said = answer.payload.model_dump()
    assert (said["resolution"], said["principal"]) == ("approve", "olga")


async def test_only_a_run_that_finds_something_running_is_said_to_take_over(stage: Stage) -> None:
    lost, rested = await stage.lost("refunds"), await stage.asked()
    await rested.approve((await rested.questions())[0].interaction_id)
    await stage.hands.claim(rested)
    page = await stage.page(address_of(lost))
    conversation, timeline = page.get_by_label("Conversation", exact=True), page.get_by_label("Timeline", exact=True)
    await expect(conversation).to_contain_text("Taken over by another run (epoch 2)")
    [question] = await lost.questions()
    await lost.reconcile(str(question.call_id), "run_again", reason="the ledger does not have it")
    await stage.hands.claim(lost)
    await stage.hands.start_tool(lost, str(question.call_id))
    await expect(conversation.locator(".call")).to_contain_text("running")
    await page.goto(f"{stage.url}/console/#/{address_of(rested)}")
    await expect(timeline).to_contain_text("A new run (epoch 2)")
    await expect(timeline.locator(".line.turn")).to_contain_text("running")
    await expect(conversation).not_to_contain_text("run (epoch")


async def test_what_a_model_says_is_seen_while_it_speaks_and_once_when_it_has_ended(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.ask_model(turn)
    page = await stage.page(address_of(turn))
    conversation = page.get_by_label("Conversation", exact=True)
    await expect(conversation).to_contain_text("Book a flight")
    await stage.speak(turn, 1, "Let me ")
    await expect(conversation.locator(".draft")).to_contain_text("Let me")
    await stage.speak(turn, 2, "look.")
    await expect(conversation.locator(".draft")).to_contain_text("Let me look.")
    await stage.hands.answer(turn, "Let me look. It is booked.")
    await expect(conversation.locator(".draft")).to_have_count(0)
    await expect(conversation.get_by_text("Let me look. It is booked.")).to_have_count(1)


async def test_a_picture_is_shown_and_what_could_hold_a_script_is_not(stage: Stage) -> None:
    drawn, written = await stage.submit("Draw"), await stage.submit("Write", thread="side")
    await stage.hands.draw(drawn, PICTURE)
    await stage.hands.draw(written, EVIL.encode(), "image/svg+xml")
    page = await stage.page(address_of(drawn))
    conversation = page.get_by_label("Conversation", exact=True)
    await expect(conversation.locator("img")).to_have_js_property("naturalWidth", 2)
    await page.goto(f"{stage.url}/console/#/{address_of(written)}")
    await expect(conversation.locator("figure")).to_contain_text("image/svg+xml")
    await expect(conversation.locator("img")).to_have_count(0)
    async with page.expect_download() as saving:
        await conversation.get_by_role("button", name="Save").click()
    assert (await (await saving.value).path()).read_bytes() == EVIL.encode()


async def test_a_pause_is_seen_with_who_set_it_and_why_and_lifted(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.claim(turn)
    await stage.client.session("ann", "trip").thread(AGENT).pause(principal="bob", reason="stocktaking")
    page = await stage.page(address_of(turn))
    await expect(page.get_by_text("The thread is paused by bob, because: stocktaking")).to_be_visible()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    await page.keyboard.press("p")
    await expect(page.get_by_text("Its turn is paused")).to_be_visible()
    await page.keyboard.press("r")
    await stage.entries(turn, "turn.resumed")


async def test_a_thread_whose_model_still_speaks_is_pausing_and_not_paused(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.ask_model(turn)
    page = await stage.page(address_of(turn))
    how = page.locator(".page-head .chip")
    await expect(how).to_have_text("running")
    await page.keyboard.press("p")
    await expect(page.get_by_text("Its turn pauses when what runs has ended")).to_be_visible()
    await expect(how).to_have_text("pausing")
    await stage.hands.answer_with_call(turn)
    await expect(how).to_have_text("paused")


async def test_a_key_that_comes_before_the_thread_is_known_does_nothing_to_it(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.ask_model(turn)
    known = asyncio.Event()

    async def late(route: Route) -> None:
        await known.wait()
        await route.continue_()

    page = await stage.page()
    await page.route(f"**/threads/{AGENT}/main?*", late)
    await page.goto(f"{stage.url}/console/#/{address_of(turn)}")
    await expect(page.get_by_role("heading", name=AGENT)).to_be_visible()
    await page.keyboard.press("p")
    known.set()
    await page.get_by_role("button", name="Pause").click()
    await stage.entries(turn, "turn.pause_requested")
    assert not (await stage.client.session("ann", "trip").thread(AGENT).status()).control.pause.on


async def test_the_state_is_seen_at_any_entry_and_what_changed_to_it(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.finish(turn, "It is booked")
    page = await stage.page(address_of(turn))
    await expect(page.get_by_label("Conversation", exact=True)).to_contain_text("It is booked")
    await page.get_by_role("tab", name="State").click()
    last = await stage.client.session("ann", "trip").thread(AGENT).status()
    answered = (await stage.entries(turn, "model.responded"))[0].seq
    await page.get_by_label("To entry").fill(str(answered))
    await page.get_by_label("From entry").fill(str(answered - 1))
    await expect(page.locator(".changes ins")).to_contain_text(["It is booked"])
    await photograph(page, "state-dark")
    await page.get_by_label("To entry").fill(str(answered - 1))
    await page.get_by_label("the whole state").check()
    await expect(page.locator(".state")).not_to_contain_text("It is booked")
    await page.get_by_role("button", name="Now").click()
    await expect(page.locator(".state")).to_contain_text("It is booked")
    assert last.seq > answered


async def test_a_gateway_that_comes_back_is_found_and_nothing_is_missed(stage: Stage) -> None:
    turn = await stage.submit()
    await stage.hands.ask_model(turn)
    page = await stage.page(address_of(turn))
    conversation = page.get_by_label("Conversation", exact=True)
    await expect(conversation).to_contain_text("Book a flight")
    await stage.stop()
    await expect(page.get_by_text("The connection is lost")).to_be_visible()
    await photograph(page, "lost-dark")
    await stage.hands.answer(turn, "Booked while nobody looked.")
    await stage.start()
    await expect(page.get_by_text("The connection is lost")).to_be_hidden()
    await expect(conversation.get_by_text("Booked while nobody looked.")).to_have_count(1)
    await expect(conversation.get_by_text("Book a flight")).to_have_count(1)
    await stage.submit("And a hotel")
    await expect(conversation).to_contain_text("And a hotel")


async def test_a_thread_that_was_put_back_to_before_what_is_shown_is_shown_anew_and_goes_on(stage: Stage) -> None:
    turn = await stage.submit()
    page = await stage.page(address_of(turn))
    conversation = page.get_by_label("Conversation", exact=True)
    await expect(conversation).to_contain_text("Book a flight")
    await page.evaluate("window.before = true")
    await stage.stop()
    async with page.expect_event("load"):
        ahead = partial(_continued, {"last-event-id": "1000"})
        await page.route("**/events?*", ahead, times=1)
        await stage.start()
    assert await page.evaluate("window.before") is None
    await stage.submit("And a hotel")
    await expect(conversation).to_contain_text("And a hotel")


async def _continued(headers: dict[str, str], route: Route) -> None:
    await route.continue_(headers=route.request.headers | headers)


async def test_what_was_said_is_found_and_a_click_opens_the_thread_there(stage: Stage) -> None:
    turn = await stage.submit("Book a <b>quiet</b> hotel near Köln")
    await stage.hands.ask_model(turn)
    await stage.hands.answer(turn, "line\n" * 300)
    page = await stage.page("sessions")
    await page.get_by_label("What was said").first.fill("koln quiet")
    hits = page.get_by_role("list", name="What was said")
    await expect(hits.locator("mark")).to_have_text(["quiet", "Köln"])
    await expect(hits).to_contain_text("<b>quiet</b>")
    await photograph(page, "search-dark")
    await hits.get_by_role("link").click()
    said = page.get_by_label("Conversation", exact=True).locator("[aria-current]")
    await expect(said).to_contain_text("hotel near Köln")
    await expect(said).to_be_in_viewport()
    await page.go_back()
    await expect(hits.get_by_role("link")).to_have_count(1)
    await page.get_by_label("What was said").first.fill("* -")
    await expect(page.get_by_text("there is no word to search for")).to_be_visible()


async def test_markup_in_whatever_was_said_is_shown_as_text(stage: Stage) -> None:
    turn = await stage.submit(EVIL, session=EVIL[:150])
    call_id = await stage.hands.call_tool(turn)
    await stage.hands.finish_tool(turn, call_id, EVIL)
    await stage.hands.ask_model(turn, step=2)
    await stage.hands.answer(turn, Text(text=EVIL), step=2)
    waiting = await stage.asked({"html": EVIL}, session="evil")
    page = await stage.page()
    await expect(card(page)).to_contain_text("<b>bold</b>")
    for place in (address_of(waiting), "turns", "sessions", "thread?" + query_of(turn)):
        await page.goto(f"{stage.url}/console/#/{place}")
        await expect(
            page.get_by_text("<img src=x" if place != address_of(waiting) else "<b>bold</b>").first
        ).to_be_visible()
        assert await page.locator("main :is(b:text-is('bold'), script, img)").count() == 0
        assert await page.evaluate("window.owned") is None


def query_of(turn: Turn) -> str:
    key = turn.key
    return urlencode({"user": key.user or "", "session": key.session, "agent": key.agent, "thread": key.thread})


async def test_a_conversation_from_elsewhere_is_seen_with_its_pictures_and_what_was_repaired(stage: Stage) -> None:
    picture = {"type": "image_url", "image_url": f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"}
    call = {"id": "a", "function": {"name": "ledger", "arguments": '{"n": 1}'}}
    session = stage.client.session("ann", "elsewhere")
    await session.create()
    thread = session.thread(AGENT)
    await thread.import_conversation(
        "openai",
        [
            {"role": "user", "content": [{"type": "text", "text": EVIL}, picture]},
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        ],
    )
    turn = await thread.submit("And now?")
    page = await stage.page(address_of(turn))
    conversation = page.get_by_label("Conversation", exact=True)
    await expect(conversation).to_contain_text(EVIL)
    await expect(conversation.get_by_role("img")).to_have_js_property("naturalWidth", 2)
    for words in ("I look.", "ledger", "had no result when the conversation was brought", "And now?"):
        await expect(conversation).to_contain_text(words)
    await expect(conversation).not_to_contain_text("queued")
    await expect(page.get_by_label("Timeline", exact=True)).to_contain_text("Brought from openai")
    await photograph(page, "elsewhere")
