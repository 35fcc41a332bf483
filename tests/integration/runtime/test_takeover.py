"""A worker dies or freezes in the middle of something: another goes on, and nothing happens twice that must not.

The other worker is a real process, killed and stopped by real signals. In place of the sweeper the thread is
woken until something happens.
"""

from pathlib import Path

import pytest

from tests.forked import Speaking
from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import Step, call, say
from turnwright.journal.entries import Entry

LEASE_S = 1.0
pytestmark = pytest.mark.slow


async def begun_elsewhere(cluster: Cluster, *steps: Step, trace: Path | None = None) -> tuple[Speaking, Turn]:
    """A turn that another worker is in the middle of."""
    cluster.task_timeout_s = 2.0  # a frozen worker takes up to two tasks more
    other = await cluster.spawn_worker(lease_s=LEASE_S)
    turn = await cluster.submit(*steps)
    if trace is None:
        await turn.until_entry("model.requested")
    else:
        await cluster.until_trace(trace, "started")
    return other, turn


def outcomes(entries: list[Entry]) -> list[str]:
    return [entry.payload.outcome for entry in entries]  # type: ignore[attr-defined]


async def call_id(turn: Turn) -> str:
    (started, *_) = await turn.of_type("tool.started")
    identity: str = started.payload.call_id  # type: ignore[attr-defined]
    return identity


async def test_a_model_call_of_a_killed_worker_is_made_again(cluster: Cluster) -> None:
    other, turn = await begun_elsewhere(cluster, {"silent": True, "times": 1}, say("here I am"))
    other.kill()
    await cluster.start_worker()
    await turn.until("completed", nudging=True)
    (lost,) = await turn.of_type("model.interrupted")
    assert lost.payload.reason == "lost"  # type: ignore[attr-defined]
    assert len(await turn.of_type("model.requested")) == 2


@pytest.mark.parametrize("tool", ["look", "charge"])
async def test_a_call_that_may_be_repeated_is_repeated_under_the_same_key(
    small_cluster: Cluster, tmp_path: Path, tool: str
) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    other, turn = await begun_elsewhere(
        small_cluster, call(tool, log=str(log), wait_for=str(gate)), say("done"), trace=log
    )
    other.kill()
    gate.touch()
    await small_cluster.start_worker()
    await turn.until("completed", nudging=True)
    first, second, done = log.read_text().splitlines()
    assert (first.split()[1], second.split()[1]) == ("1", "2")
    assert first.split()[2] == second.split()[2]
    assert done == "done 2"
    assert outcomes(await turn.of_type("tool.finished")) == ["lost", "success"]


@pytest.mark.parametrize("had_effect", [True, False], ids=["it had its effect", "it had none"])
async def test_a_tools_hook_settles_what_became_of_a_call(
    small_cluster: Cluster, tmp_path: Path, had_effect: bool
) -> None:
    log, gate, never = tmp_path / "log", tmp_path / "gate", str(tmp_path / "never")
    waits = {"linger": never} if had_effect else {"wait_for": str(gate)}
    other, turn = await begun_elsewhere(small_cluster, call("transfer", log=str(log), **waits), say("done"), trace=log)
    if had_effect:
        await small_cluster.until_trace(log, "done")
    other.kill()
    gate.touch()
    await small_cluster.start_worker()
    await turn.until("completed", nudging=True)
    assert log.read_text().count("done") == 1
    (settled,) = await turn.of_type("tool.reconciled")
    assert settled.payload.outcome == ("succeeded" if had_effect else "run_again")  # type: ignore[attr-defined]


@pytest.mark.parametrize(("answer", "starts"), [("succeeded", 1), ("failed", 1), ("run_again", 2)])
async def test_a_call_nobody_can_ask_about_waits_for_a_person_and_goes_on_with_the_answer(
    small_cluster: Cluster, tmp_path: Path, answer: str, starts: int
) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    other, turn = await begun_elsewhere(
        small_cluster, call("send", log=str(log), wait_for=str(gate)), say("ok"), trace=log
    )
    other.kill()
    gate.touch()
    await small_cluster.start_worker()
    await turn.until("waiting", nudging=True)
    await turn.until_parked()
    assert log.read_text().count("started") == 1
    assert (await turn.reconcile(await call_id(turn), answer)).status == "accepted"
    await turn.until("completed")
    assert log.read_text().count("started") == starts


async def test_a_turn_that_waits_for_a_person_can_be_cancelled_and_the_thread_goes_on(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    never = str(tmp_path / "never")
    other, turn = await begun_elsewhere(small_cluster, call("send", log=str(log), wait_for=never), say("ok"), trace=log)
    other.kill()
    await small_cluster.start_worker()
    await turn.until("waiting", nudging=True)
    await turn.cancel()
    status = await turn.until("cancelled")
    assert "send" in (status.effects_unknown or "")
    (closed,) = await turn.of_type("interaction.resolved")
    assert closed.payload.resolution == "cancelled"  # type: ignore[attr-defined]
    following = await small_cluster.submit(say("on we go"))
    await following.until("completed")


async def test_the_true_result_of_a_frozen_worker_settles_the_question_before_a_person_does(
    cluster: Cluster, tmp_path: Path
) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    other, turn = await begun_elsewhere(cluster, call("post", log=str(log), wait_for=str(gate)), say("ok"), trace=log)
    other.freeze()
    await cluster.start_worker(once_silence_s=LEASE_S)
    await turn.until("waiting", nudging=True)
    gate.touch()
    other.thaw()  # and is asked to stop, for nobody waits for it any more; which it may notice first
    await turn.until("completed", nudging=True)
    assert log.read_text().count("started") == 1
    (closed,) = await turn.of_type("interaction.resolved")
    assert closed.payload.resolution == "result_arrived"  # type: ignore[attr-defined]
    assert outcomes(await turn.of_type("tool.finished")) == ["lost", "success"]


async def test_the_result_of_a_frozen_worker_that_comes_after_the_answer_is_kept_as_late(
    small_cluster: Cluster, tmp_path: Path
) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    other, turn = await begun_elsewhere(
        small_cluster, call("post", log=str(log), wait_for=str(gate)), say("ok"), trace=log
    )
    other.freeze()
    await small_cluster.start_worker(once_silence_s=LEASE_S)
    await turn.until("waiting", nudging=True)
    await turn.reconcile(await call_id(turn), "failed")
    await turn.until("completed")
    gate.touch()
    other.thaw()
    (late,) = await turn.until_entry("tool.late")
    assert late.payload.outcome == "success"  # type: ignore[attr-defined]
    assert (await turn.status()).phase == "completed"


async def test_the_answer_of_a_frozen_model_call_comes_too_late_and_the_transcript_is_linear(
    small_cluster: Cluster,
) -> None:
    slow = say("word " * 40, chunk_characters=5, delay_s=0.05)
    other, turn = await begun_elsewhere(small_cluster, slow)
    other.freeze()
    await small_cluster.start_worker()
    await turn.until("completed", nudging=True)
    other.thaw()
    await turn.until_entry("model.late", nudging=True)
    state = await small_cluster.journal.state(turn.key)
    assert [message.role for message in state.context] == ["user", "assistant"]
    following = await small_cluster.submit(say("next"))
    await following.until("completed", nudging=True)


async def test_a_worker_that_is_taken_for_dead_gives_its_work_back(cluster: Cluster) -> None:
    ghost = await cluster.start_worker()
    await ghost.hold.release()
    turn = await cluster.submit(call("add", a=1, b=2), say("done"))
    await turn.until_entry("run.claimed")
    healthy = await cluster.start_worker()
    await turn.until("completed")
    claims = await turn.of_type("model.requested") + await turn.of_type("tool.started")
    assert {claim.payload.presence for claim in claims} == {healthy.name}  # type: ignore[attr-defined]
    history = await turn.handle.fetch_history()
    assert len(history.events) < 60
