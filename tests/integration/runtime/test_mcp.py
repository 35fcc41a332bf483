"""Servers of the Model Context Protocol: their tools are an agent's, whatever they do, and whoever dies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import pytest
from structlog.testing import capture_logs

from tests.integration.runtime import mcp_plain, served
from tests.integration.runtime.agents import UNASKED, add
from tests.integration.runtime.asking import last_asked, respond
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.mcp_http import HttpServer
from tests.integration.runtime.scripts import call, say
from turnwright.activities import Agent, McpServer
from turnwright.activities.mcp.server import McpOptions
from turnwright.journal.agents import Effect
from turnwright.journal.entries import ModelFailed, ToolFinished, ToolsListed
from turnwright.journal.messages import Media, Text
from turnwright.journal.store_admin import explain_turn, see_turn

SERVED = "tests.integration.runtime.served:agents"


def plain(log: Path, *mischief: str, **options: Unpack[McpOptions]) -> McpServer:
    return McpServer.stdio("plain", [sys.executable, mcp_plain.__file__, str(log), *mischief], **options)


def agent(*servers: McpServer) -> Agent:
    return Agent("bot", "scripted:test", tools=[add, *servers], permissions=UNASKED)


async def finished(turn: Turn) -> list[ToolFinished]:
    return [entry.payload for entry in await turn.entries() if isinstance(entry.payload, ToolFinished)]


async def listed(turn: Turn) -> list[ToolsListed]:
    return [entry.payload for entry in await turn.entries() if isinstance(entry.payload, ToolsListed)]


def text(payload: ToolFinished) -> str:
    return "".join(block.text for block in payload.output if isinstance(block, Text))


def starts(log: Path) -> list[int]:
    return [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("begun")]


async def test_public_servers_tell_the_time_and_read_a_repository(cluster: Cluster, tmp_path: Path) -> None:
    time = McpServer.stdio("time", [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"])
    git = McpServer.stdio("git", [sys.executable, "-m", "mcp_server_git"], include=["git_status", "git_log"])
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "new.txt").touch()
    await cluster.start_worker(agents=[agent(time, git)])
    turn = await cluster.submit(
        call("time_get_current_time", timezone="Europe/Berlin"),
        call("git_status", repo_path=str(tmp_path)),
        say("done"),
    )
    await turn.until("completed")
    told, status = await finished(turn)
    assert "Europe/Berlin" in text(told)
    assert "new.txt" in text(status)
    names = {one.source: [tool.name for tool in one.tools] for one in await listed(turn)}
    assert names == {"time": ["time_get_current_time", "time_convert_time"], "git": ["git_status", "git_log"]}


async def _is_in(one: object, others: Sequence[object]) -> bool:
    return one in others


async def test_what_a_server_returns_is_kept_whole_and_its_session_is_one(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with capture_logs() as logs:
        await small_cluster.start_worker(agents=[agent(plain(log))])
        turn = await small_cluster.submit(
            call("plain_echo", text="hello"),
            call("plain_weigh"),
            call("plain_picture"),
            call("plain_fail"),
            say("done"),
        )
        await turn.until("completed")
        heard = {"event": "mcp_server_said", "server": "plain", "text": "echoing hello", "log_level": "info"}
        await small_cluster.until(partial(_is_in, heard, logs))
    said, weighed, shown, failed = await finished(turn)
    assert text(said) == "hello"
    assert [block.text for block in weighed.output if isinstance(block, Text)] == ["light", '{"kg":1.5}']
    assert [block.mime for block in shown.output if isinstance(block, Media)] == ["image/png"]
    assert (failed.outcome, text(failed)) == ("error", "There is no such customer.")
    assert len(starts(log)) == 1


async def test_a_list_that_changes_is_offered_with_the_next_request(small_cluster: Cluster, tmp_path: Path) -> None:
    await small_cluster.start_worker(agents=[agent(plain(tmp_path / "log"))])
    turn = await small_cluster.submit(call("plain_grow"), call("plain_fail"), say("done"))
    await turn.until("completed")
    before, after = await listed(turn)
    assert {tool.name for tool in after.tools} - {tool.name for tool in before.tools} == {"plain_grown"}
    _, gone = await finished(turn)
    assert (gone.outcome, text(gone)) == ("error", "There is no tool named 'plain_fail'.")


async def test_a_server_that_is_away_is_waited_for_and_why_says_so(cluster: Cluster, tmp_path: Path) -> None:
    program = tmp_path / "server"
    server = McpServer.stdio("plain", [str(program), str(tmp_path / "log")])
    await cluster.start_worker(agents=[agent(server)])
    turn = await cluster.submit(call("plain_echo", text="at last"), say("done"))
    failed = await turn.until_entry("model.failed")
    assert isinstance(failed[0].payload, ModelFailed)
    assert failed[0].payload.failure == "tools_away"
    scene = await see_turn(cluster.journal, turn.key, turn.turn_id)
    assert scene is not None
    why = await explain_turn(cluster.journal, scene)
    assert "no program" in why.text
    program.write_text(f"#!{sys.executable}\n{Path(mcp_plain.__file__).read_text()}")
    program.chmod(0o755)
    await turn.until("completed")
    assert [text(one) for one in await finished(turn)] == ["at last"]


@pytest.mark.parametrize("mischief", ["mute", "listless", "stillborn"])
async def test_a_server_that_does_not_answer_is_away_and_its_process_ends(
    small_cluster: Cluster, tmp_path: Path, mischief: str
) -> None:
    log = tmp_path / "log"
    await small_cluster.start_worker(agents=[agent(plain(log, mischief, connect_timeout_s=0.5))])
    turn = await small_cluster.submit(say("done"))
    await turn.until_entry("model.failed")
    pid = starts(log)[0]

    async def ended() -> bool:
        return not Path(f"/proc/{pid}").exists()

    await small_cluster.until(ended)


async def test_a_known_list_stands_while_the_server_is_away(small_cluster: Cluster, tmp_path: Path) -> None:
    log, program = tmp_path / "log", tmp_path / "server"
    program.write_text(Path(mcp_plain.__file__).read_text())
    server = McpServer.stdio("plain", [sys.executable, str(program), str(log)])
    await small_cluster.start_worker(agents=[agent(server)])
    turn = await small_cluster.submit(call("plain_die", log=str(log)), call("add", a=1, b=2), say("done"))
    await small_cluster.until_trace(log, "started")
    program.unlink()
    await turn.until("waiting")
    await turn.reconcile((await turn.of_type("interaction.requested"))[0].payload.call_id, "failed")  # type: ignore[attr-defined]
    await turn.until("completed")
    assert [one.name for one in await finished(turn) if one.outcome == "success"] == ["add"]


async def test_a_once_call_whose_server_dies_is_an_unknown_outcome_and_another_is_made_again(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    await small_cluster.start_worker(agents=[agent(plain(log))])
    turn = await small_cluster.submit(call("plain_die", log=str(log)), say("done"))
    await turn.until("waiting")
    (asked,) = await turn.of_type("interaction.requested")
    assert asked.payload.kind == "unknown_outcome"  # type: ignore[attr-defined]
    assert log.read_text().count("started") == 1
    await turn.cancel()
    await turn.until("cancelled")

    again = await small_cluster.submit(call("plain_echo", text="here again"), say("done"))
    await again.until("completed")
    gate = str(tmp_path / "gate")
    third = await small_cluster.submit(call("plain_charge", log=str(log), wait_for=gate), say("done"))
    await small_cluster.until_trace(log, "started", 2)
    os.kill(starts(log)[-1], signal.SIGKILL)
    await small_cluster.until_trace(log, "started", 3)
    Path(gate).touch()
    await third.until("completed")
    keys = [line.split()[1] for line in log.read_text().splitlines() if line.startswith("started")][1:]
    assert keys[0] == keys[1]
    assert len(starts(log)) == 3


async def test_a_cancel_is_told_to_the_server(small_cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "log"
    await small_cluster.start_worker(agents=[agent(plain(log))])
    turn = await small_cluster.submit(call("plain_send", log=str(log), wait_for=str(tmp_path / "never")), say("no"))
    await small_cluster.until_trace(log, "started")
    await turn.cancel()
    await turn.until("cancelled")
    await small_cluster.until_trace(log, "cancelled")


@pytest.mark.slow
async def test_a_killed_worker_takes_its_server_along_and_a_call_is_repeated_as_its_effect_says(
    small_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    monkeypatch.setenv(served.LOG, str(log))
    worker = await small_cluster.spawn_worker(agents=SERVED)
    once = await small_cluster.submit(call("plain_send", log=str(log), wait_for=str(gate)), say("done"))
    again = await small_cluster.submit(
        call("plain_charge", log=str(log), wait_for=str(gate)), say("done"), thread="another"
    )
    await small_cluster.until_trace(log, "started", 2)
    (pid,) = starts(log)
    worker.kill()

    async def ended() -> bool:
        return not Path(f"/proc/{pid}").exists()

    await small_cluster.until(ended)
    gate.touch()
    await small_cluster.spawn_worker(agents=SERVED)
    await once.until("waiting", nudging=True)
    (asked,) = await once.of_type("interaction.requested")
    assert asked.payload.kind == "unknown_outcome"  # type: ignore[attr-defined]
    await again.until("completed", nudging=True)
    keys = [line.split()[1] for line in log.read_text().splitlines() if line.startswith("started")]
    assert keys.count(f"{once.turn_id}/{asked.payload.call_id}") == 1  # type: ignore[attr-defined]
    assert sorted(map(keys.count, set(keys))) == [1, 2]


async def test_nothing_runs_unasked_by_a_servers_own_word(small_cluster: Cluster, tmp_path: Path) -> None:
    told = plain(tmp_path / "log")
    trusted = plain(tmp_path / "log", trust_annotations=True, prefix="trusted_", effects={"send": "read"})
    agents = [
        Agent("wary", "scripted:test", tools=[told]),
        Agent("trusting", "scripted:test", tools=[trusted]),
    ]
    await small_cluster.start_worker(agents=agents)
    asked = await small_cluster.submit(call("plain_echo", text="hello"), say("done"), agent="wary")
    await asked.until("waiting")
    unasked = await small_cluster.submit(call("trusted_echo", text="hello"), say("done"), agent="trusting")
    await unasked.until("completed")
    effects = {tool.name_there: tool.effect for tool in (await listed(asked))[0].tools}
    assert (effects["echo"], effects["charge"], effects["send"]) == ("idempotent", "idempotent", "once")
    effects = {tool.name_there: tool.effect for tool in (await listed(unasked))[0].tools}
    assert (effects["echo"], effects["charge"], effects["send"]) == ("read", "idempotent", "read")


async def test_a_server_over_http_is_reached_again_after_it_has_forgotten_the_session(small_cluster: Cluster) -> None:
    async with HttpServer.started(modern=False) as server:
        shop = McpServer.http("shop", server.url, headers=lambda: {"X-Key": "sesame"})
        await small_cluster.start_worker(agents=[agent(shop)])
        first = await small_cluster.submit(call("shop_who_asks"), say("done"))
        await first.until("completed")
        await server.begin_anew()
        second = await small_cluster.submit(call("shop_who_asks"), say("done"))
        await second.until("completed")
    assert [text(one) for turn in (first, second) for one in await finished(turn)] == ["sesame", "sesame"]


async def test_a_server_of_the_newest_protocol_says_that_its_list_has_changed(small_cluster: Cluster) -> None:
    async with HttpServer.started() as server:
        await small_cluster.start_worker(agents=[agent(McpServer.http("shop", server.url))])
        turn = await small_cluster.submit(call("shop_grow"), say("done"))
        await turn.until("completed")
        following = await small_cluster.submit(call("shop_grown"), say("done"))
        await following.until("completed")
    assert [text(one) for one in await finished(following)] == ["new"]


async def test_what_a_server_asks_is_a_form_and_the_call_goes_on_with_its_answer(cluster: Cluster) -> None:
    async with HttpServer.started() as server:
        await cluster.start_worker(agents=[agent(McpServer.http("shop", server.url))])
        turn = await cluster.submit(call("shop_order", item="socks"), say("done"))
        form = await last_asked(turn)
        await turn.until_parked()
        assert (form.kind, form.asked["prompt"], form.asked["schema"]["required"]) == (
            "form",
            "Which size of socks?",
            ["size"],
        )
        wrong = await respond(turn, form.interaction_id, "answer", size="L")
        assert wrong.code == "invalid_answer"
        await respond(turn, form.interaction_id, "answer", size=42)
        await turn.until("completed")
    (deferred, ordered) = await finished(turn)
    assert (deferred.outcome, ordered.outcome, text(ordered)) == ("deferred", "success", "ordered socks in size 42")


@pytest.mark.parametrize(("answer", "action"), [("answer", "accept"), ("decline", "decline")])
async def test_a_server_of_before_that_asks_in_the_middle_is_answered_when_its_call_is_made_again(
    small_cluster: Cluster, tmp_path: Path, answer: str, action: str
) -> None:
    log = tmp_path / "log"
    await small_cluster.start_worker(agents=[agent(plain(log, effects={"confirm": "idempotent"}))])
    turn = await small_cluster.submit(call("plain_confirm", log=str(log)), say("done"))
    await turn.until("waiting")
    await small_cluster.until_trace(log, "answered")
    given = {"sure": True} if answer == "answer" else {}
    await respond(turn, (await last_asked(turn)).interaction_id, answer, **given)
    await turn.until("completed")
    *_, done = await finished(turn)
    assert text(done) == f"the answer is {action}"
    keys = [line for line in log.read_text().splitlines() if line.startswith("started")]
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_a_once_call_of_a_server_of_before_is_told_that_nobody_answers(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    await small_cluster.start_worker(agents=[agent(plain(log))])
    turn = await small_cluster.submit(call("plain_confirm", log=str(log)), say("done"))
    await turn.until("completed")
    assert [text(one) for one in await finished(turn)] == ["the answer is cancel"]


@pytest.mark.parametrize(("effect", "outcome"), [("idempotent", "success"), ("once", "error")])
async def test_an_answer_counts_although_worker_and_server_have_forgotten_that_it_was_asked(
    small_cluster: Cluster, effect: Effect, outcome: str
) -> None:
    async with HttpServer.started() as server:
        shop = McpServer.http("shop", server.url, effect=effect)
        first = await small_cluster.start_worker(agents=[agent(shop)])
        turn = await small_cluster.submit(call("shop_order", item="socks"), say("done"))
        form = await last_asked(turn)
        await first.stop()
        await first.activities.stop()
        await server.begin_anew()
        await small_cluster.start_worker(agents=[agent(shop)])
        await respond(turn, form.interaction_id, "answer", size=42)
        await turn.until("completed")
    *_, done = await finished(turn)
    assert done.outcome == outcome
    assert len(await turn.of_type("interaction.requested")) == 1
    assert done.outcome == "error" or text(done) == "ordered socks in size 42"


@pytest.mark.slow
async def test_a_server_that_stands_still_holds_up_neither_a_call_nor_the_end_of_its_worker(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    worker = await small_cluster.start_worker(agents=[agent(plain(log, timeout_s=1, connect_timeout_s=1))])
    turn = await small_cluster.submit(call("plain_echo", text="here"), say("done"))
    await turn.until("completed")
    (pid,) = starts(log)
    os.kill(pid, signal.SIGSTOP)
    late = await small_cluster.submit(call("plain_send", log=str(log)), call("add", a=1, b=2), say("done"))
    await late.until("completed")
    timed_out, added = await finished(late)
    assert "Timed out" in text(timed_out)
    assert text(added) == "3"
    await worker.stop()
    async with asyncio.timeout(10):
        await worker.activities.stop()
    assert not Path(f"/proc/{pid}").exists()
