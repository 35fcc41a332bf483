"""What may run is decided with what the worker finds out: real paths, a tool's own check, and these once more at the
claim, with the arguments a person changed.
"""

from pathlib import Path
from typing import Any

from tests.integration.runtime.agents import trace
from tests.integration.runtime.asking import last_asked, respond, results
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import call, calls, say
from turnwright.activities import Agent, Check, Permissions, ToolContext, tool
from turnwright.journal.commands import Receipt
from turnwright.journal.entries import ToolDecided


def limit(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    """Small amounts pass, large ones are asked, very large ones never."""
    assert ctx.state is not None
    if arguments["amount"] > 1_000:
        return Check.deny("Nobody refunds more than 1000.")
    return Check.ask("More than 100.") if arguments["amount"] > 100 else Check.allow()


@tool(check=limit)
async def refund(amount: int, log: str) -> str:
    """Refund."""
    trace(log, f"refunded {amount}")
    return f"refunded {amount}"


@tool(effect="idempotent", paths=["path"])
def write(path: str) -> str:
    """Write a file."""
    return f"wrote {path}"


def clerk(permissions: Permissions | None = None) -> Agent:
    return Agent("clerk", "scripted:test", tools=[refund, write], permissions=permissions or Permissions())


async def decided(turn: Turn) -> list[tuple[str, str]]:
    payloads = [entry.payload for entry in await turn.of_type("tool.decided")]
    return [(payload.decision, payload.source) for payload in payloads if isinstance(payload, ToolDecided)]


async def answer(turn: Turn, resolution: str, **given: Any) -> Receipt:  # noqa: ANN401
    return await respond(turn, (await last_asked(turn)).interaction_id, resolution, **given)


async def test_a_path_counts_where_its_links_really_lead(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "shop" / "out").symlink_to(tmp_path / "secret")
    work = [str(tmp_path / "shop")]
    held = Permissions(mode="accept_edits", deny=["write(path:secret/**)"], working_directories=work)
    await cluster.start_worker(agents=[clerk(held)])
    paths = ("notes.md", "out/key", "../shop/a/../b")
    turn = await cluster.submit(calls(*(("write", {"path": path}) for path in paths)), say("done"), agent="clerk")
    await turn.until("completed")
    assert await decided(turn) == [
        ("allow", "mode:accept_edits"),
        ("deny", "rule:deny write(path:secret/**)"),
        ("allow", "mode:accept_edits"),
    ]
    assert sorted(outcome for _, outcome, _ in await results(turn)) == ["denied", "success", "success"]


async def test_a_path_that_leads_out_of_the_working_directories_is_asked(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "out").symlink_to(tmp_path)
    held = Permissions(mode="accept_edits", working_directories=[str(tmp_path / "shop")])
    await cluster.start_worker(agents=[clerk(held)])
    turn = await cluster.submit(call("write", path="out/key"), say("done"), agent="clerk")
    asked = await last_asked(turn)
    assert asked.kind == "approval"
    assert f"write(path:{tmp_path}/**)" in asked.asked["suggestions"]
    await answer(turn, "approve")
    await turn.until("completed")
    assert await results(turn) == [("write", "success", "wrote out/key")]


async def test_the_tools_own_check_allows_asks_and_denies(cluster: Cluster, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    await cluster.start_worker(agents=[clerk()])
    wanted = calls(*(("refund", {"amount": amount, "log": log}) for amount in (5, 500, 5_000)))
    turn = await cluster.submit(wanted, say("done"), agent="clerk")
    assert (await last_asked(turn)).asked["message"] == "More than 100."
    assert not (tmp_path / "log").exists()
    await answer(turn, "approve")
    await turn.until("completed")
    assert (await decided(turn))[:3] == [("allow", "check"), ("ask", "check"), ("deny", "check")]
    assert sorted((tmp_path / "log").read_text().splitlines()) == ["refunded 5", "refunded 500"]
    [said] = [text for _, outcome, text in await results(turn) if outcome == "denied"]
    assert "Nobody refunds more than 1000." in said


async def test_arguments_that_a_person_changed_are_checked_again_when_the_call_is_claimed(
    cluster: Cluster, tmp_path: Path
) -> None:
    log = str(tmp_path / "log")
    await cluster.start_worker(agents=[clerk()])
    turn = await cluster.submit(call("refund", amount=500, log=log), say("done"), agent="clerk")
    await answer(turn, "approve", arguments={"amount": 5_000, "log": log})
    await turn.until("completed")
    [(_, outcome, text)] = await results(turn)
    assert outcome == "denied"
    assert "Nobody refunds more than 1000." in text
    assert not (tmp_path / "log").exists()


async def test_arguments_that_a_person_changed_are_what_runs(cluster: Cluster, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    await cluster.start_worker(agents=[clerk()])
    turn = await cluster.submit(call("refund", amount=500, log=log), say("done"), agent="clerk")
    await answer(turn, "approve", arguments={"amount": 300, "log": log})
    await turn.until("completed")
    assert await results(turn) == [("refund", "success", "refunded 300")]
    assert (tmp_path / "log").read_text() == "refunded 300\n"


async def test_a_step_of_an_agent_whose_check_this_worker_does_not_have_is_left_to_one_that_has_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    agent = clerk()
    first = await cluster.start_worker(agents=[agent])
    opening = await cluster.submit(say("hello"), agent="clerk")
    await opening.until("completed")
    await first.stop()
    without = Agent("clerk", "scripted:test", tools=[write])
    await cluster.start_worker(agents=[without])
    turn = await cluster.submit(call("refund", amount=5, log=str(tmp_path / "log")), say("done"), agent="clerk")

    async def given_back() -> bool:
        described = await turn.handle.describe()
        return any(pending.attempt > 1 for pending in described.raw_description.pending_activities)

    await turn.until_entry("run.claimed")
    await cluster.until(given_back)
    assert await turn.of_type("model.requested") == []
    knowing = await cluster.start_worker(agents=[agent])
    await turn.until("completed")
    assert await decided(turn) == [("allow", "check")]
    requested = await turn.of_type("model.requested")
    assert {entry.payload.presence for entry in requested} == {knowing.name}  # type: ignore[attr-defined]
