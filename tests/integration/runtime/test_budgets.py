"""Over budget a turn asks and waits; what is given then is used, and what is not given ends it."""

from pathlib import Path

from tests.integration.runtime.asking import PEOPLE, questions, respond
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say
from turnwright.journal.budgets import Budget
from turnwright.journal.commands import SetBudget, SetSessionBudget
from turnwright.journal.ids import SessionKey


async def test_a_turn_over_its_budget_waits_and_goes_on_when_it_is_raised(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker(agents=PEOPLE)
    log = tmp_path / "log"
    steps = [call("charge", log=str(log)) for _ in range(3)]
    first = await cluster.submit(say("hello"), agent="unasked")
    await first.until("completed")
    await cluster.execute(first.key, SetBudget(request_id="b", scope="turns", budget=Budget(tool_calls=2)))
    turn = await cluster.submit(*steps, say("done"), agent="unasked")
    [question] = await questions(turn)
    assert (question.kind, question.scope) == ("budget", "turn")
    assert log.read_text().count("started") == 2
    await turn.until_parked()
    short = await respond(turn, question.interaction_id, "raise", budget={"tool_calls": 2})
    assert short.code == "still_over_budget"
    await respond(turn, question.interaction_id, "raise", budget={"tool_calls": 5})
    await turn.until("completed")
    assert log.read_text().count("started") == 3


async def test_a_turn_whose_budget_is_not_raised_fails_and_says_so(cluster: Cluster) -> None:
    await cluster.start_worker(agents=PEOPLE)
    first = await cluster.submit(say("hello"), agent="unasked")
    await first.until("completed")
    await cluster.execute(first.key, SetBudget(request_id="b", scope="thread", budget=Budget(steps=1)))
    turn = await cluster.submit(say("hello again"), agent="unasked")
    [question] = await questions(turn)
    await respond(turn, question.interaction_id, "fail")
    status = await turn.until("failed")
    assert status.code == "budget"


async def test_a_budget_counts_across_workers_and_retries(cluster: Cluster, tmp_path: Path) -> None:
    old = await cluster.spawn_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    first = await cluster.submit(say("hello"))
    await first.until("completed")
    await cluster.execute(first.key, SetBudget(request_id="b", scope="turns", budget=Budget(tool_calls=2)))
    charging = call("charge", log=str(log), wait_for=str(gate))
    turn = await cluster.submit(charging, charging, say("done"))
    await cluster.until_trace(log, "started")
    old.kill()
    await cluster.start_worker(once_silence_s=0.5)
    await cluster.until_trace(log, "started 2")
    gate.touch()
    [question] = await questions(turn)
    assert log.read_text().count("started") == 2, "the attempt that was lost counts"
    await respond(turn, question.interaction_id, "raise")
    await turn.until("completed")


async def test_threads_of_a_session_use_one_budget_and_go_on_when_it_is_raised(cluster: Cluster) -> None:
    await cluster.start_worker(agents=PEOPLE)
    session = SessionKey("t", None, "s")
    await cluster.session()
    await cluster.execute(session, SetSessionBudget(request_id="b1", budget=Budget(steps=2)))
    turns = [await cluster.submit(say("hello"), agent="unasked", thread=f"t{n}") for n in range(3)]

    async def come_to_rest() -> list[str] | None:
        phases = [(await turn.status()).phase for turn in turns]
        return sorted(phases) if all(phase in ("completed", "waiting") for phase in phases) else None

    assert await cluster.until(come_to_rest) == ["completed", "completed", "waiting"]
    await cluster.execute(session, SetSessionBudget(request_id="b2", budget=Budget(steps=10)))
    for turn in turns:
        await turn.until("completed")


async def test_a_call_waits_for_what_another_ones_reserved_and_asks_nobody(cluster: Cluster) -> None:
    await cluster.start_worker(agents=PEOPLE)
    await cluster.session()
    await cluster.execute(
        SessionKey("t", None, "s"), SetSessionBudget(request_id="b", budget=Budget(tokens=500)), wake=False
    )
    first = await cluster.submit({"silent": True}, agent="unasked", thread="first")
    await first.until_entry("model.requested")
    second = await cluster.submit(say("hello"), agent="unasked", thread="second")
    await second.until_entry("run.claimed")
    assert await second.of_type("model.requested") == []
    await first.cancel()
    await first.until("cancelled")
    await second.until("completed", nudging=True)
    assert await second.of_type("interaction.requested") == []
