"""Ids of any printable text run a turn, and none of them meets another in Temporal."""

import itertools

import pytest

from tests.integration.runtime.cluster import Cluster, Turn
from tests.integration.runtime.scripts import say, task
from turnwright.activities.agent import Agent
from turnwright.journal.commands import CancelSession, CreateSession, PauseSession, Submit
from turnwright.journal.ids import SessionKey, ThreadKey, turn_id

AGENT = "a/b:c..~"
MODEL = "scripted:test"


async def submit(cluster: Cluster, key: ThreadKey, *, wake: bool = True) -> Turn:
    """A turn on whatever thread, whose session is made for it."""
    await cluster.journal.execute(key.session_key, CreateSession(request_id="create"))
    made = turn_id(key, "same")
    command = Submit(request_id="same", turn_id=made, input=task(say(f"{key.tenant}|{key.user}")))
    return Turn(cluster, key, made, await cluster.execute(key, command, wake=wake))


@pytest.mark.parametrize(
    "part",
    ["x" * 200, "\U0001f600" * 200, "é" * 200, "../../..", "a/b:c~d", "%s{0}\\", '["a",null]', " "],
    ids=["long", "emoji", "accents", "dots", "separators", "formats", "json", "a space"],
)
async def test_a_turn_runs_whatever_its_session_thread_and_agent_are_called(small_cluster: Cluster, part: str) -> None:
    await small_cluster.start_worker(agents=[Agent(part, MODEL)])
    turn = await submit(small_cluster, ThreadKey(part, part, part, part, part))
    await turn.until("completed")
    session = turn.key.session_key
    await small_cluster.execute(session, CancelSession(request_id="cancel"))
    thread = await small_cluster.thread_handle(turn.key).describe()
    assert (await thread.memo())["thread"] == turn.key.canonical
    assert len(turn.handle.id.encode()) < 200


async def test_tenants_with_the_same_ids_run_each_their_own_turn(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=[Agent(AGENT, MODEL)])
    whose = list(itertools.product(("acme", "acme/", '["acme"]'), (None, "None", "a/b")))
    turns = [await submit(small_cluster, ThreadKey(tenant, user, AGENT, "s", "s")) for tenant, user in whose]
    assert len({turn.handle.id for turn in turns}) == len(whose)
    for turn, (tenant, user) in zip(turns, whose, strict=True):
        await turn.until("completed")
        state = await small_cluster.journal.state(turn.key)
        assert [message.text for message in state.context] == ["please", f"{tenant}|{user}"]


async def test_a_command_for_one_session_never_touches_another_of_the_same_name(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=[Agent(AGENT, MODEL)])
    users = (None, "ann", "bob")
    turns = [await submit(small_cluster, ThreadKey("t", user, AGENT, "s"), wake=False) for user in users]
    await small_cluster.execute(SessionKey("t", "ann", "s"), CancelSession(request_id="cancel"))
    await small_cluster.execute(SessionKey("t", "bob", "s"), PauseSession(request_id="pause"))
    for turn in turns:
        await small_cluster.waker.thread(turn.key)
    await turns[0].until("completed")
    await turns[1].until("cancelled")
    await small_cluster.until_idle(turns[2].key)
    assert (await turns[2].status()).phase == "queued"
