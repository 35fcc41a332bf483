"""What a worker finds out about a call: real paths through real links, and the tool's own check, which fails closed."""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.activities.calling import context
from turnwright.activities.check import Check
from turnwright.activities.permission_facts import facts_of
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import Tool, tool
from turnwright.journal.permissions.facts import CallFacts, Checked

Checking = Callable[[ToolContext, dict[str, Any]], Any]


@tool(paths=["path", "others"])
def edit(path: Path = Path("notes.md"), others: list[str] | None = None) -> None:
    """Edit files."""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder `work`, reached by the link `w` as well, with links that lead out of it."""
    root = Path(os.path.realpath(tmp_path))
    for name in ("shop/src", "secret"):
        (root / name).mkdir(parents=True)
    (root / "shop" / "src" / "a.py").touch()
    (root / "secret" / "key").touch()
    (root / "w").symlink_to(root / "shop")
    (root / "shop" / "out").symlink_to(root / "secret")
    (root / "shop" / "again").symlink_to("src/../out")
    (root / "shop" / "loop").symlink_to("loop")
    return root


async def found(directory: Path, **arguments: object) -> CallFacts:
    return await facts_of(edit, edit.spec, arguments, context(), [str(directory)])


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("src/a.py", "shop/src/a.py"),
        ("./src//a.py", "shop/src/a.py"),
        ("src/../src/a.py", "shop/src/a.py"),
        ("../secret/key", "secret/key"),
        ("out/key", "secret/key"),
        ("again/key", "secret/key"),
        ("out/../shop/src", "shop/src"),
        ("new/file", "shop/new/file"),
        ("out/new", "secret/new"),
        ("", "shop"),
        (".", "shop"),
    ],
)
async def test_a_path_is_where_its_links_and_dots_really_lead(work: Path, path: str, real: str) -> None:
    facts = await found(work / "w", path=path)
    assert facts.resolved == {"path": (str(work / real),)}
    assert facts.directories == {str(work / "w"): str(work / "shop")}


async def test_an_absolute_path_needs_no_working_directory_and_a_relative_one_has_the_process_folder(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work / "secret")
    arguments = {"path": str(work / "w" / "out" / "key"), "others": ["key", "../w/src"]}
    facts = await facts_of(edit, edit.spec, arguments, context(), [])
    assert facts.resolved == {
        "path": (str(work / "secret/key"),),
        "others": (str(work / "secret/key"), str(work / "shop/src")),
    }
    assert facts.directories == {}


async def test_the_home_is_the_one_of_the_worker(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(work / "w"))
    assert (await found(work, path="~/out/key")).resolved == {"path": (str(work / "secret/key"),)}


@pytest.mark.parametrize("others", [["src", "~nobody-has-this-name"], ["~nobody-has-this-name/x"], ["x"] * 1_001])
async def test_paths_of_which_one_leads_nowhere_have_no_real_path_at_all(work: Path, others: list[str]) -> None:
    facts = await found(work, path="src", others=others)
    assert set(facts.resolved) == {"path"}


async def test_what_is_no_path_has_no_real_path(work: Path) -> None:
    assert (await found(work, path=5, others={"x": "y"})).resolved == {}
    assert (await found(work, path=["x", 5])).resolved == {}


async def test_a_link_that_leads_to_itself_leads_nowhere_else(work: Path) -> None:
    (place,) = (await found(work / "shop", path="loop/x")).resolved["path"]
    assert place.startswith(str(work / "shop"))


async def test_a_path_the_model_left_out_is_the_one_the_tool_takes(work: Path) -> None:
    facts = await found(work / "shop")
    assert facts.received == {"path": "notes.md", "others": None}
    assert facts.resolved == {"path": (str(work / "shop/notes.md"),)}


async def test_a_tool_that_this_worker_does_not_have_still_has_the_paths_it_was_pinned_with(work: Path) -> None:
    facts = await facts_of(None, edit.spec, {"path": "out/key"}, context(), [str(work / "shop")])
    assert facts.resolved == {"path": (str(work / "secret/key"),)}
    assert (facts.received, facts.check) == (None, None)
    assert (await facts_of(None, edit.spec, {"path": "a\0b"}, context(), [])).resolved == {}


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ({"amount": "1_00"}, {"amount": 100, "currency": "USD"}),
        ({"amount": 100.0, "currency": "EUR"}, {"amount": 100, "currency": "EUR"}),
        ({"amount": "much"}, None),
        ({}, None),
    ],
)
async def test_arguments_are_known_as_the_tool_gets_them(
    arguments: dict[str, Any], received: dict[str, Any] | None
) -> None:
    @tool
    def refund(ctx: ToolContext, amount: int, currency: str = "USD") -> None:
        """Refund."""

    assert (await facts_of(refund, refund.spec, arguments, context(), [])).received == received


def paying(check: Checking) -> Tool[..., None]:
    @tool(check=check)
    def pay(amount: int, note: str = "none") -> None:
        """Pay."""

    return pay


async def checked(check: Checking, timeout_s: float = 10.0) -> Checked | None:
    pay = paying(check)
    facts = await facts_of(pay, pay.spec, {"amount": 5}, context(), [], check_timeout_s=timeout_s)
    return facts.check


def sync_check(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    assert threading.current_thread() is not threading.main_thread()
    return Check.deny(f"{ctx.call_id} {arguments['amount']} {arguments['note']}")


async def async_check(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    await asyncio.sleep(0)
    arguments["amount"] = 0
    return Check.allow()


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (sync_check, Checked(verdict="deny", message="c 5 none")),
        (async_check, Checked(verdict="allow")),
        (lambda *given: async_check(*given), Checked(verdict="allow")),  # noqa: PLW0108 - it is no async function
        (lambda *_: Check.pass_(), Checked(verdict="pass")),
        (lambda *_: Check.ask("a lot"), Checked(verdict="ask", message="a lot")),
    ],
)
async def test_a_check_sync_or_async_gives_its_verdict_on_the_whole_arguments(
    check: Checking, expected: Checked
) -> None:
    assert await checked(check) == expected


async def test_what_a_check_does_to_its_arguments_changes_nothing() -> None:
    pay = paying(async_check)
    facts = await facts_of(pay, pay.spec, {"amount": 5}, context(), [])
    assert facts.received == {"amount": 5, "note": "none"}


async def breaks(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    raise ValueError("secret words")


async def leaves(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    raise SystemExit


async def cancels(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    raise asyncio.CancelledError


def also_breaks(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (breaks, "The tool's own check failed (ValueError)."),
        (leaves, "The tool's own check failed (SystemExit)."),
        (cancels, "The tool's own check failed (CancelledError)."),
        (also_breaks, "The tool's own check failed (KeyboardInterrupt)."),
        (lambda *_: True, "The tool's own check gave no verdict."),
        (lambda *_: None, "The tool's own check gave no verdict."),
        (lambda *_: Check("maybe"), "The tool's own check gave no verdict."),  # type: ignore[arg-type]
    ],
)
async def test_a_check_that_fails_or_gives_no_verdict_asks(check: Checking, message: str) -> None:
    assert await checked(check) == Checked(verdict="ask", message=message)


async def test_a_check_that_does_not_answer_in_time_asks_even_if_it_will_not_stop() -> None:
    let_go = asyncio.Event()

    async def stubborn(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return Check.allow()

    said = await checked(stubborn, timeout_s=0.01)
    assert said == Checked(verdict="ask", message="The tool's own check did not answer within 0.01 s.")
    let_go.set()


async def test_a_sync_check_that_does_not_answer_in_time_asks() -> None:
    let_go = threading.Event()
    said = await checked(lambda *_: let_go.wait(60), timeout_s=0.01)
    assert said == Checked(verdict="ask", message="The tool's own check did not answer within 0.01 s.")
    let_go.set()


async def test_a_check_is_not_made_on_arguments_that_do_not_fit() -> None:
    pay = paying(sync_check)
    facts = await facts_of(pay, pay.spec, {"amount": "much"}, context(), [])
    assert facts.check is not None
    assert facts.check.verdict == "ask"


async def test_a_check_that_this_worker_does_not_know_asks() -> None:
    pay = paying(sync_check)
    unknown = Checked(verdict="ask", message="This worker does not know the tool's own check.")
    assert (await facts_of(None, pay.spec, {"amount": 5}, context(), [])).check == unknown


async def test_a_check_that_was_added_after_the_agent_was_pinned_is_made() -> None:
    pay = paying(sync_check)
    pinned = pay.spec.model_copy(update={"checked": False})
    facts = await facts_of(pay, pinned, {"amount": 5}, context(), [])
    assert facts.check == Checked(verdict="deny", message="c 5 none")
