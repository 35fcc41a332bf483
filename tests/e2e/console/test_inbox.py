"""What waits for a person is answered in the inbox, and what was answered stands in the journal."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.e2e.console.stage import Stage, card
from turnwright.journal.commands import Ask

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_call_is_approved_with_one_key(stage: Stage) -> None:
    turn = await stage.asked()
    page = await stage.page()
    await expect(card(page)).to_contain_text("ACME Airlines")
    await page.keyboard.press("j")
    await page.keyboard.press("a")
    await expect(card(page)).to_have_count(0)
    decided = (await stage.entries(turn, "tool.decided"))[-1].payload.model_dump()
    assert (decided["decision"], decided["source"]) == ("allow", "person:olga")


async def test_a_call_is_denied_and_the_model_is_told_why(stage: Stage) -> None:
    turn = await stage.asked()
    page = await stage.page()
    await page.get_by_role("button", name="Deny with words").click()
    await page.get_by_label("What the model is told").fill("Too dear; take the train")
    await page.keyboard.press("Control+Enter")
    await expect(card(page)).to_have_count(0)
    finished = (await stage.entries(turn, "tool.finished"))[0].payload.model_dump()
    assert (finished["outcome"], finished["output"][0]["text"]) == ("denied", "Too dear; take the train")


async def test_what_a_subagent_asks_leads_to_the_turn_it_works_for(stage: Stage) -> None:
    turn = await stage.asked_below()
    page = await stage.page()
    await expect(card(page)).to_contain_text("Asked by a subagent of")
    await card(page).get_by_role("link", name=turn.key.agent, exact=True).click()
    await expect(page).to_have_url(re.compile(turn.id))
    await expect(page.get_by_text("Task given to a subagent")).to_be_visible()


async def test_a_call_is_approved_with_other_arguments(stage: Stage) -> None:
    turn = await stage.asked({"amount": 120})
    page = await stage.page()
    await expect(card(page)).to_have_count(1)
    await page.keyboard.press("j")
    await page.keyboard.press("e")
    editor = page.get_by_label("As JSON")
    await editor.fill("{not json")
    await page.get_by_role("button", name="Approve with these").click()
    await expect(page.get_by_role("alert").filter(has_text="JSON")).to_be_visible()
    await editor.fill('{"amount": 90}')
    await page.get_by_role("button", name="Approve with these").click()
    await expect(card(page)).to_have_count(0)
    assert (await stage.entries(turn, "tool.decided"))[-1].payload.model_dump()["arguments"] == {"amount": 90}


async def test_always_allow_adds_the_rule_that_is_chosen(stage: Stage) -> None:
    turn = await stage.asked({"amount": 120})
    page = await stage.page()
    await page.get_by_label("The rule").select_option("ledger")
    await page.get_by_role("button", name="Always allow").click()
    await expect(card(page)).to_have_count(0)
    changed = (await stage.entries(turn, "permissions.changed"))[0].payload.model_dump()
    assert [rule["tool"] for rule in changed["permissions"]["allow"]] == ["ledger"]


async def test_a_form_is_answered_in_place(stage: Stage) -> None:
    turn = await stage.submit()
    schema = {
        "type": "object",
        "properties": {
            "seat": {"enum": ["aisle", "window"], "title": "Which seat?"},
            "bags": {"type": "integer", "title": "How many bags?"},
            "note": {"type": "string"},
        },
        "required": ["seat", "bags"],
    }
    question = Ask(kind="form", asked={"prompt": "About your flight", "schema": schema})
    await stage.hands.defer_tool(turn, await stage.hands.call_tool(turn), question)
    page = await stage.page()
    await expect(card(page)).to_contain_text("About your flight")
    await page.get_by_label("Which seat?").select_option("window")
    await page.get_by_label("How many bags?").fill("2")
    await page.get_by_role("button", name="Answer").click()
    await expect(card(page)).to_have_count(0)
    answer = (await stage.entries(turn, "interaction.resolved"))[0].payload.model_dump()["answer"]
    assert answer == {"seat": "window", "bags": 2}


async def test_an_unknown_outcome_is_settled_with_a_reason_and_not_without(stage: Stage) -> None:
    turn = await stage.lost()
    page = await stage.page()
    await expect(card(page)).to_contain_text("Look for it by its key")
    await page.get_by_role("button", name="It was done").click()
    assert (await stage.client.inbox()).items, "it was settled without a reason"
    await page.get_by_label("How you know").fill("the bank's list shows it")
    await page.get_by_role("button", name="It was done").click()
    await expect(card(page)).to_have_count(0)
    said = (await stage.entries(turn, "tool.reconciled"))[0].payload.model_dump()
    assert (said["outcome"], said["reason"]) == ("succeeded", "the bank's list shows it")


async def test_a_budget_is_raised_in_place(stage: Stage) -> None:
    turn = await stage.over_budget()
    page = await stage.page()
    await page.get_by_label("steps, of which 1 are used").fill("7")
    await page.get_by_role("button", name="Raise the budget of the turn").click()
    await expect(card(page)).to_have_count(0)
    assert (await stage.entries(turn, "budget.changed"))[0].payload.model_dump()["budget"]["steps"] == 7


async def test_a_failed_turn_is_tried_again_or_dismissed(stage: Stage) -> None:
    turn = await stage.failed()
    await stage.failed("other")
    page = await stage.page()
    await expect(card(page, "auth")).to_have_count(2)
    for left in ("no JSON", '"no list"'):
        await page.evaluate("left => localStorage.setItem('turnwright.failed-seen', left)", left)
        await page.reload()
        await expect(card(page, "auth")).to_have_count(2)
    await card(page, "other").get_by_role("button", name="Dismiss").click()
    await expect(card(page, "auth")).to_have_count(1)
    await page.get_by_role("button", name="Try again").click()
    await stage.entries(turn, "turn.retried")
    await expect(card(page, "auth")).to_have_count(0)


async def test_what_is_answered_elsewhere_leaves_the_inbox_and_what_is_typed_meanwhile_stays(stage: Stage) -> None:
    first, second = await stage.asked(session="one"), await stage.asked({"amount": 1}, session="two")
    page = await stage.page()
    await card(page, "two").get_by_role("button", name="Deny with words").click()
    await page.get_by_label("What the model is told").fill("half a sen")
    [question] = await first.questions()
    await first.approve(question.interaction_id)
    await expect(card(page)).to_have_count(1)
    await expect(page.get_by_label("What the model is told")).to_have_value("half a sen")
    await expect(page.get_by_label("What the model is told")).to_be_focused()
    assert await second.questions()
