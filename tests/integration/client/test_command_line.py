"""The commands of the terminal: what they print where, and with which code they end."""

import asyncio
import json
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, invoke, lines, refused
from turnwright.client import Client, ClientSettings, Session
from turnwright.client.cli import group, register
from turnwright.journal.driver import Driver
from turnwright.journal.messages import Text
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms


async def test_a_turn_is_submitted_followed_and_ends_with_its_answer_alone_on_standard_output(
    run: Run, client: Client, hands: Hands
) -> None:
    submit = ("submit", "-", "-s", "trip", "-u", "ann", "-a", AGENT, "--create", "--request-id", "r", "--follow")
    running = asyncio.create_task(run(*submit, given="find a train"))
    session = client.session("ann", "trip")
    while not (await client.turns()).items:
        await asyncio.sleep(0.01)
    [seen] = (await client.turns()).items
    turn = session.thread(AGENT).turn(seen.status.turn_id)
    await hands.finish(turn, "the 8:15")
    result = await running
    assert (result.exit_code, result.stdout) == (0, "the 8:15\n")
    assert turn.id in result.stderr
    for word in ("find a train", "turn.started", "model.requested", "turn.completed", "Temporal was not told"):
        assert word in result.stderr
    again = await run(*submit[:-1], "--json", given="find a train")
    assert lines(again)[0]["receipt"]["duplicate"] is True
    followed = lines(await run(*submit, "--json", given="find a train"))
    assert [line["entry"]["type"] for line in followed[1:-1]] == [e.type async for e in turn.events()]
    assert followed[-1]["turn"]["status"] == "completed"
    assert followed[-1]["answer"]["blocks"] == [{"type": "text", "text": "the 8:15"}]


async def test_what_an_agent_drew_is_written_to_a_file(
    run: Run, session: Session, hands: Hands, tmp_path: Path
) -> None:
    name = await hands.draw(await session.submit("draw", agent=AGENT), b"\x89PNG\r\n")
    file = tmp_path / "picture.png"
    written = await run("journal", "blob", "s", name, "-u", "ann", "--to", str(file), "--json")
    assert (lines(written), file.read_bytes()) == ([{"file": str(file), "bytes": 6}], b"\x89PNG\r\n")
    assert "there is no blob none" in refused(await run("journal", "blob", "s", "none", "-u", "ann", "--to", str(file)))
    away = str(tmp_path / "none" / "picture.png")
    assert "No such file" in refused(await run("journal", "blob", "s", name, "-u", "ann", "--to", away), 3)


async def test_lists_and_looks_show_the_same_to_people_and_to_programs(
    run: Run, session: Session, hands: Hands
) -> None:
    running = await session.submit("one", agent=AGENT)
    queued = await session.submit("two", agent=AGENT)
    await hands.ask_model(running)
    at = ("s", AGENT, "-u", "ann")
    told = {
        "turns": (await run("turns")).stdout,
        "sessions": (await run("session", "list")).stdout,
        "session": (await run("session", "show", "s", "-u", "ann")).stdout,
        "thread": (await run("thread", "show", *at)).stdout,
        "turn": (await run("turn", "show", running.id)).stdout,
        "why": (await run("turn", "why", queued.id)).stdout,
        "tail": (await run("journal", "tail", "s", "-u", "ann", "-n", "2")).stdout,
        "entries": (await run("journal", "show", *at)).stdout,
        "state": (await run("journal", "state", *at)).stdout,
    }
    expected = {
        "turns": [running.id[:10], queued.id[:10], "running", "queued", AGENT],
        "sessions": ["A session", "ann", "open"],
        "session": ["A session", running.id, "1 active, 1 queued"],
        "thread": [running.id, queued.id],
        "turn": [running.id, "running (phase running, pause none, revision 2)"],
        "why": ["queued behind one other turn", running.id, hands.presence],
        "tail": ["input.applied", "model.requested"],
        "entries": ["turn.queued", '"text": "two"'],
        "state": ["one", "1 messages no model has seen"],
    }
    for name, words in expected.items():
        for word in words:
            assert word in told[name], (name, told[name])
    assert "turn.queued" not in told["tail"]
    [listed] = lines(await run("turns", "--json"))
    assert [turn["turn_id"] for turn in listed["turns"]] == [queued.id, running.id]
    [paged] = lines(await run("turns", "--json", "-n", "1"))
    [rest] = lines(await run("turns", "--json", "-n", "1", "--after", paged["next"]))
    assert [turn["turn_id"] for turn in rest["turns"]] == [running.id]
    [why] = lines(await run("turn", "why", running.id, "--json"))
    assert (why["code"], why["turn_id"]) == ("operation", running.id)
    whole = lines(await run("journal", "show", *at, "--json"))
    assert [entry["seq"] for entry in whole] == list(range(1, len(whole) + 1))
    timeline = lines(await run("journal", "tail", "s", "-u", "ann", "--after", "0", "--json"))
    assert [entry["position"] for entry in timeline] == list(range(1, len(whole) + 2))
    [state] = lines(await run("journal", "state", *at, "--at", "2", "--json"))
    assert (state["as_of_seq"], state["context"]) == (2, [])


async def test_every_control_is_a_command(run: Run, session: Session, hands: Hands) -> None:
    turn = await session.submit("one", agent=AGENT)
    at = ("s", AGENT, "-u", "ann")
    of = ("s", "-u", "ann")
    steps = [
        (("turn", "pause", turn.id, "--reason", "lunch"), "is paused"),
        (("turn", "resume", turn.id, "--revision", "2"), "is queued"),
        (("turn", "steer", turn.id, "and this"), "is queued"),
        (("thread", "inject", *at, "material"), "accepted"),
        (("thread", "pause", *at), "is paused (revision 1), by local at"),
        (("thread", "resume", *at), "is open"),
        (("session", "pause", *of), "is paused"),
        (("session", "resume", *of), "is open"),
        (("turn", "cancel", turn.id), "is cancelled"),
        (("submit", "two", "-s", "s", "-u", "ann", "-a", AGENT, "--if-busy", "reject"), "accepted as turn t-"),
        (("thread", "cancel", *at), "accepted"),
        (("thread", "close", *at, "--mode", "cancel"), "is closed"),
        (("session", "cancel", *of), "stays open: every turn"),
        (("session", "create", *of, "--exist-ok"), "exists already"),
        (("session", "close", *of), "is closed"),
        (("session", "create", "new", "--title", "T", "--json"), '"status": "accepted"'),
    ]
    for words, told in steps:
        result = await run(*words)
        assert result.exit_code == 0, (words, result.output)
        assert told in result.stdout, (words, result.output)


async def test_a_failed_turn_is_retried_from_the_command_line(run: Run, session: Session, hands: Hands) -> None:
    turn = await session.submit("one", agent=AGENT, on_failure="hold")
    await hands.ask_model(turn)
    await hands.fail_model(turn, "auth")
    failed = await run("turn", "wait", turn.id)
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert "model_error" in failed.stderr
    assert "`retry`" in (await run("turn", "why", turn.id)).stdout
    assert (await run("turn", "retry", turn.id)).exit_code == 0
    await hands.claim(turn)
    call_id = await hands.call_tool(turn, 2)
    refused = await run("turn", "reconcile", turn.id, call_id, "succeeded", "--reason", "seen", "--json")
    assert (refused.exit_code, json.loads(refused.stderr.splitlines()[-1])["error"]["code"]) == (1, "not_unknown")
    await hands.finish_tool(turn, call_id, step=2)
    await hands.ask_model(turn, 3)
    await hands.answer(turn, "all done", step=3)
    waited = await run("turn", "wait", turn.id, "--follow")
    assert (waited.exit_code, waited.stdout) == (0, "all done\n")


async def test_an_unknown_outcome_is_settled_from_the_command_line(
    run: Run, session: Session, hands: Hands, driver: Driver
) -> None:
    hold = await driver.hold_presence("w-mortal", {}, lease_s=60)
    turn = await session.submit("one", agent=AGENT)
    call_id = await Hands(Journal(driver, Terms(presence="w-mortal")), "w-mortal").call_tool(turn)
    await hold.release()
    await hands.claim(turn)
    shown = await run("turn", "show", turn.id)
    assert call_id in shown.stdout
    [question] = await turn.questions()
    name = question.interaction_id
    for words in (("turn", "show", turn.id), ("turn", "why", turn.id), ("approvals", "show", name)):
        told = (await run(*words)).stdout
        for part in ('arguments        {"n": 1}', f"idempotency key  {turn.id}/{call_id}", "started          "):
            assert part in told, (words, told)
    [whole] = lines(await run("approvals", "show", name, "--json"))
    started = datetime.fromtimestamp((question.started_us or 0) / 1_000_000, UTC).isoformat()
    assert (whole["called_with"], whole["idempotency_key"]) == ({"n": 1}, f"{turn.id}/{call_id}")
    assert whole["started_at"] == started
    [why] = lines(await run("turn", "why", turn.id, "--json"))
    assert why["questions"] == [whole]
    command = f"(`turnwright turn reconcile {turn.id} {call_id} "
    assert f"what became of the call {call_id} of ledger {command}" in (await run("turn", "why", turn.id)).stdout
    unreasoned = await run("turn", "reconcile", turn.id, call_id, "succeeded")
    assert (unreasoned.exit_code, "--reason" in unreasoned.stderr) == (2, True)
    settled = await run("turn", "reconcile", turn.id, call_id, "succeeded", "--output", "seen", "--reason", "I looked")
    assert settled.exit_code == 0, settled.output
    again = await run("turn", "reconcile", turn.id, call_id, "failed", "--reason", "I looked too")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "was settled already by" in again.stderr
    await hands.ask_model(turn, 2)
    await hands.answer(turn, "so it was", step=2)
    assert (await run("turn", "wait", turn.id)).stdout == "so it was\n"
    [result] = [r for message in (await session.thread(AGENT).state()).context for r in message.results]
    assert (result.id, result.outcome, result.output) == (call_id, "success", (Text(text="seen"),))


async def test_what_goes_wrong_is_one_line_on_standard_error_and_a_code(
    run: Run, session: Session, journal_url: str
) -> None:
    turn = await session.submit("one", agent=AGENT)
    wrong = [
        (("turn", "show", "t-ffff"), 1, "turnwright turns"),
        (("turn", "resume", turn.id), 1, "not paused"),
        (("session", "show", "none"), 1, "there is no session none of the anonymous user"),
        (("session", "create", "s", "-u", "ann"), 1, "exists already"),
        (("submit", "x", "-s", "none", "-a", AGENT), 1, "create it first"),
        (("turns", "--phase", "sleeping"), 2, "none of queued"),
        (("turns", "-u", "ann", "--anonymous"), 2, "exclude"),
        (("turns", "--after", "x"), 2, "no place in a list"),
        (("turns", "--thread", "x"), 2, "--session"),
        (("submit", "  ", "-s", "s", "-u", "ann", "-a", AGENT), 2, "input is empty"),
        (("journal", "state", "s", AGENT, "-u", "ann", "--at", "9"), 2, "entries 1 to 1"),
        (("turn", "wait", turn.id, "--timeout", "0.01"), 4, "it goes on"),
        (("submit", "x", "-s", "s", "-u", "ann", "-a", AGENT, "-f", "--timeout", "0.01"), 4, "turnwright turn wait"),
    ]
    for words, code, told in wrong:
        result = await run(*words)
        assert (result.exit_code, result.stdout) == (code, ""), (words, result.output)
        assert told in result.stderr.splitlines()[-1], (words, result.stderr)
    assert (await run("turn", "frob")).exit_code == 2
    assert (await run("submit", "x")).exit_code == 2


@pytest.mark.parametrize(
    ("url", "code", "told"),
    [
        ("sqlite:////nowhere/at/all.db", 3, "turnwright journal migrate"),
        ("postgresql://nobody@127.0.0.1:9/none", 3, "127.0.0.1"),
        ("mysql://x", 2, "sqlite:///file.db or postgresql://"),
    ],
)
async def test_a_journal_that_cannot_be_used_is_told_by_code_and_in_one_line(url: str, code: int, told: str) -> None:
    app = typer.Typer()
    register(app, lambda: ClientSettings(journal_url=url))
    for words in (("turns",), ("turns", "--json")):
        result = await invoke(app, *words)
        assert (result.exit_code, result.stdout) == (code, "")
        [line] = result.stderr.splitlines()
        assert told in line


async def test_settings_that_cannot_be_used_are_told_like_any_other_error() -> None:
    def provide() -> ClientSettings:
        raise ValueError("tenant in turnwright.toml must not be empty")

    app = typer.Typer()
    register(app, provide)
    result = await invoke(app, "turns")
    assert (result.exit_code, result.stderr) == (2, "error: tenant in turnwright.toml must not be empty\n")


async def test_the_commands_join_a_group_that_is_there_already(sqlite_url: str) -> None:
    app = typer.Typer()
    upkeep = group(app, "journal", "Upkeep.")

    @upkeep.command("verify")
    def verify() -> None:
        """Verify."""
        typer.echo("verified")

    register(app, lambda: ClientSettings(journal_url=sqlite_url))
    assert (await invoke(app, "journal", "verify")).stdout == "verified\n"
    assert "tail" in (await invoke(app, "journal", "--help")).stdout


async def test_text_of_others_cannot_command_the_terminal(run: Run, session: Session, hands: Hands) -> None:
    turn = await session.submit("\x1b]0;owned\x07 \x1b[2J [red]x[/red]", agent=AGENT)
    await hands.finish(turn, "\x1b[31mred\x1b[0m \u202e")
    for words in (("turn", "wait", turn.id, "-f"), ("journal", "tail", "s", "-u", "ann"), ("turns",)):
        result = await run(*words)
        assert result.exit_code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(result.output), words
    assert "[red]x[/red]" in (await run("journal", "tail", "s", "-u", "ann")).stdout


async def test_an_interrupted_follower_ends_with_130_and_the_turn_goes_on(session: Session, journal_url: str) -> None:
    turn = await session.submit("one", agent=AGENT)
    before = await session.history()
    program = (sys.executable, "-m", "tests.integration.client.program", journal_url)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*program, "turn", "wait", turn.id, "-f", stdout=pipe, stderr=pipe)
    assert process.stderr is not None
    assert b"turn.queued" in await process.stderr.readline()
    process.send_signal(signal.SIGINT)
    told = await process.stderr.read()
    assert await process.wait() == 130
    assert b"goes on" in told
    assert b"Traceback" not in told
    assert await session.history() == before


async def test_a_reader_of_the_output_that_leaves_is_no_error(session: Session, journal_url: str) -> None:
    for n in range(200):
        await session.submit("x" * 2_000, agent=AGENT, thread=f"{n}")
    command = (
        f"{sys.executable} -m tests.integration.client.program '{journal_url}' journal tail s -u ann -n 500 --json"
    )
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_shell(f"{command} | head -c 10", stdout=pipe, stderr=pipe)
    out, told = await process.communicate()
    assert (len(out), told) == (10, b"")
