"""What is said to a turn while it runs: each word once, in order, before the next model call."""

from pathlib import Path

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.scripts import call, say
from turnwright.journal.commands import Inject
from turnwright.journal.messages import user


async def said(turn: Turn) -> list[tuple[str, str]]:
    state = await turn.cluster.journal.state(turn.key)
    return [(message.role, message.text) for message in state.context if message.text]


async def test_a_steer_during_a_tool_call_is_seen_by_the_next_model_call(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call("look", log=str(log), wait_for=str(gate)), say("you said: {user}"))
    await cluster.until_trace(log, "started")
    assert (await turn.steer("be quick")).status == "accepted"
    gate.touch()
    await turn.until("completed")
    assert await said(turn) == [("user", "please"), ("user", "be quick"), ("assistant", "you said: be quick")]
    assert len(await turn.of_type("model.requested")) == 2


async def test_a_steer_during_the_last_call_forces_one_more_step(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(say("the end"), say("after all: {user}"))
    await turn.until_entry("model.requested")
    await turn.steer("one more thing")
    models.allow(2)
    await turn.until("completed")
    assert (await said(turn))[-3:] == [
        ("assistant", "the end"),
        ("user", "one more thing"),
        ("assistant", "after all: one more thing"),
    ]


async def test_a_steer_to_a_queued_turn_joins_its_input(cluster: Cluster) -> None:
    turn = await cluster.submit(say("{messages} messages, the last: {user}"), wake=False)
    await turn.steer("and this", wake=False)
    await cluster.start_worker()
    await cluster.waker.thread(turn.key)
    await turn.until("completed")
    assert (await said(turn))[-1] == ("assistant", "2 messages, the last: and this")


async def test_a_steer_to_a_paused_turn_is_seen_when_it_goes_on(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit(call("add", a=1, b=2), say("you said: {user}"))
    await turn.until_entry("model.requested")
    await turn.pause()
    models.allow(2)
    await turn.until_pause("effective")
    await turn.steer("while you slept")
    await turn.resume()
    await turn.until("completed")
    assert (await said(turn))[-1] == ("assistant", "you said: while you slept")


async def test_five_messages_to_a_busy_turn_arrive_in_order_exactly_once_however_often_they_are_sent(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start_worker()
    log, gate = tmp_path / "log", tmp_path / "gate"
    turn = await cluster.submit(call("look", log=str(log), wait_for=str(gate)), say("ok"))
    await cluster.until_trace(log, "started")
    for n in range(5):
        await turn.steer(f"message {n}", wake=n % 2 == 0)
    gate.touch()
    await turn.until("completed")
    words = [text for role, text in await said(turn) if role == "user"]
    assert words == ["please", *(f"message {n}" for n in range(5))]


async def test_injected_material_starts_nothing_and_joins_whatever_runs_next(cluster: Cluster) -> None:
    await cluster.start_worker()
    first = await cluster.submit(say("done"))
    await first.until("completed")
    await cluster.execute(first.key, Inject(request_id="i", message=user("the weather is fine")))
    await cluster.until_idle(first.key)
    assert (await cluster.entries(first.key))[-1].type == "input.injected"
    second = await cluster.submit(say("{messages}"))
    await second.until("completed")
    words = [text for role, text in await said(second) if role == "user"]
    assert sorted(words) == sorted(["please", "the weather is fine", "please"])
