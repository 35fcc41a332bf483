"""Model calls that fail, and the limits of an agent: counted in the journal, never by Temporal's attempts."""

import pytest

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import call, say, task
from turnwright.journal.commands import Inject
from turnwright.journal.entries import ModelFailed, ModelRequested


async def failures(turn: Turn) -> list[ModelFailed]:
    return [entry.payload for entry in await turn.of_type("model.failed") if isinstance(entry.payload, ModelFailed)]


async def test_a_provider_that_fails_for_a_while_is_asked_again(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit({"fail": "transient", "times": 2}, say("back again"))
    await turn.until("completed")
    assert [failure.ordinal for failure in await failures(turn)] == [1, 2]
    requested = [e.payload for e in await turn.of_type("model.requested")]
    assert [request.ordinal for request in requested if isinstance(request, ModelRequested)] == [1, 2, 3]


async def test_a_provider_that_asks_for_patience_is_not_asked_earlier(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit({"fail": "cut", "retry_after_s": 1.5, "times": 1}, say("now"))
    await turn.until("completed")
    (failed,) = await turn.of_type("model.failed")
    second = (await turn.of_type("model.requested"))[1]
    # Both times are the store's.
    assert second.at_us - failed.at_us >= 1_500_000


async def test_attempts_that_are_used_up_fail_the_turn_with_what_went_wrong(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit({"fail": "cut", "message": "the line is bad"}, say("never"), agent="fickle")
    status = await turn.until("failed")
    assert (status.code, status.retryable) == ("model_error", True)
    assert "the line is bad" in (status.message or "")
    assert len(await failures(turn)) == 2


@pytest.mark.parametrize("failure", ["invalid", "refused"])
async def test_a_request_that_can_never_succeed_is_not_repeated(small_cluster: Cluster, failure: str) -> None:
    await small_cluster.start_worker()
    turn = await small_cluster.submit({"fail": failure}, say("never"))
    status = await turn.until("failed")
    assert (status.code, status.retryable) == ("model_error", False)
    assert len(await failures(turn)) == 1


async def test_a_stream_that_is_cut_keeps_its_words_and_is_asked_again(cluster: Cluster) -> None:
    await cluster.start_worker()
    turn = await cluster.submit({"cut": "Once upon a", "times": 1}, say("Once upon a time."))
    await turn.until("completed")
    (failed,) = await failures(turn)
    assert failed.failure == "cut"
    assert [block.text for block in failed.partial] == ["Once upon a"]  # type: ignore[union-attr]
    state = await cluster.journal.state(turn.key)
    assert [message.text for message in state.context if message.role == "assistant"] == ["Once upon a time."]


@pytest.mark.parametrize(("agent", "code"), [("short", "max_steps"), ("frugal", "max_tokens"), ("hasty", "tool_time")])
async def test_an_agent_that_reaches_its_own_limit_fails_with_its_name(cluster: Cluster, agent: str, code: str) -> None:
    await cluster.start_worker()
    steps = [call("dawdle") for _ in range(8)] if code == "tool_time" else [call("add", a=1, b=2) for _ in range(8)]
    turn = await cluster.submit(*steps, say("never"), agent=agent)
    assert (await turn.until("failed")).code == code


async def test_after_a_failure_the_queue_goes_on(cluster: Cluster) -> None:
    await cluster.start_worker()
    failing = await cluster.submit({"fail": "invalid"}, say("never"))
    following = await cluster.submit(say("next"))
    await failing.until("failed")
    await following.until("completed")


async def test_a_thread_that_holds_on_failure_waits_for_a_retry_which_goes_on_with_the_queue(cluster: Cluster) -> None:
    await cluster.start_worker()
    failing = await cluster.submit({"fail": "auth"}, say("never"), on_failure="hold")
    following = await cluster.submit(say("next"))
    await failing.until("failed")
    row = await cluster.journal.thread(failing.key)
    assert row is not None
    assert (row.control.pause.on, row.control.pause.source) == (True, "on_failure")
    assert (await following.status()).phase == "queued"
    await cluster.execute(failing.key, Inject(request_id="i", message=task(say("It works now."))))
    assert (await following.status()).phase == "queued"
    assert (await failing.retry()).status == "accepted"
    await following.until("completed")
    ended = [(e.type, e.turn_id) for e in await cluster.entries(failing.key) if e.type == "turn.completed"]
    assert ended == [("turn.completed", failing.turn_id), ("turn.completed", following.turn_id)]
