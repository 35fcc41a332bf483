"""Permissions are tightened while a turn runs, and loosened only when none does."""

from pathlib import Path

from tests.integration.runtime.asking import PEOPLE, asked, permit, questions, respond, results
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.permissions.rules import parse_rule

NO_LETTERS = PermissionChange(add=(("deny", parse_rule("send")),))
EXPLORE = PermissionChange(mode="explore")
BYPASS = PermissionChange(mode="bypass")


async def test_a_rule_set_while_a_turn_runs_counts_for_its_next_call(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    log, gate = tmp_path / "log", tmp_path / "gate"
    steps = (call("charge", log=str(log), wait_for=str(gate)), call("send", log=str(tmp_path / "sent")), say("done"))
    turn = await cluster.submit(*steps, agent="unasked")
    await cluster.until_trace(log, "started")
    assert (await permit(turn, NO_LETTERS)).status == "accepted"
    assert (await permit(turn, PermissionChange(mode="default"))).status == "accepted"
    assert (await permit(turn, BYPASS)).code == "turn_active"
    gate.touch()
    await turn.until("completed")
    assert [(name, outcome) for name, outcome, _ in await results(turn)] == [("charge", "success"), ("send", "denied")]
    assert not (tmp_path / "sent").exists()


async def test_a_rule_set_between_the_approval_and_the_start_still_denies(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="asking")
    [question] = await questions(turn)
    await turn.pause()
    await respond(turn, question.interaction_id, "approve")
    await permit(turn, NO_LETTERS)
    await turn.resume()
    await turn.until("completed")
    [(_, outcome, said)] = await results(turn)
    assert outcome == "denied"
    assert "rule:deny send" in said
    assert not (tmp_path / "log").exists()


async def test_an_approval_against_a_rule_is_refused_and_the_question_stays(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    turn = await cluster.submit(call("send", log=str(tmp_path / "log")), say("done"), agent="asking")
    [question] = await questions(turn)
    await permit(turn, NO_LETTERS)
    assert (await respond(turn, question.interaction_id, "approve")).code == "forbidden"
    await respond(turn, question.interaction_id, "deny")
    await turn.until("completed")


async def test_in_explore_only_what_reads_runs(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    first = await cluster.submit(say("hello"), agent="unasked")
    await first.until("completed")
    await permit(first, EXPLORE)
    log = str(tmp_path / "log")
    turn = await cluster.submit(call("look", log=log), call("send", log=log), say("done"), agent="unasked")
    await turn.until("completed")
    assert [(name, outcome) for name, outcome, _ in await results(turn)] == [("look", "success"), ("send", "denied")]
    assert await asked(turn) == []
    await permit(turn, BYPASS)
    again = await cluster.submit(call("send", log=log), say("done"), agent="unasked")
    await again.until("completed")
    assert [outcome for _, outcome, _ in await results(again)] == ["success"]
