"""What a model says is heard while it speaks, by whoever listens, and costs the call nothing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable

import pytest

from tests.integration.client.asking import Event, events, http
from tests.integration.client.gateway_server import serving
from tests.integration.client.program import NOBODY_THERE
from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.gated import GatedModels
from tests.integration.runtime.scripts import say
from tests.integration.runtime.workers import DEADLINE_S, LocalWorker
from tests.integration.stores.conftest import look_at
from turnwright.activities.runtime import drafting
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.settings import ClientSettings
from turnwright.journal.deltas import NOTHING_HEARD, Delta
from turnwright.journal.entries import ModelResponded
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import ThreadKey

KEY = ThreadKey("t", None, "bot", "s", "main")
SAID = "Once upon a time there was a \U0001f600, and it was happy."
THOUGHT = "A fairy tale?"
SPOKEN = say(SAID, thinking=THOUGHT, chunk_characters=3, delay_s=0.005)


@pytest.fixture(autouse=True)
def _looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of the test's own process need not wait a second before they look who listens."""
    monkeypatch.setattr(drafting, "FIRST_LOOK_S", 0.02)
    monkeypatch.setattr(drafting, "LOOK_S", 0.1)


class Statements:
    """A hook that counts what a worker's store is asked; it refuses some, loses answers, and holds some up."""

    def __init__(self, worker: LocalWorker, *, refusals: float = 0, lost: int = 0, held: str = "") -> None:
        self.seen: list[str] = []
        self.free = asyncio.Event()
        self._refusals = refusals
        self._lost = lost
        self._held = held
        self._wrote_words = False
        worker.journal.driver.hook = self

    def __call__(self, point: str) -> Awaitable[None] | None:
        self.seen.append(point)
        if point == "insert_draft":
            self._wrote_words = True
            if self.seen.count(point) <= self._refusals:
                raise StoreUnavailable("the store does not take it")
        if point == "committed" and self._wrote_words and self._lost:
            self._wrote_words, self._lost = False, self._lost - 1
            raise StoreUnavailable("the connection broke after the commit")
        return self._wait() if point == self._held else None

    async def _wait(self) -> None:
        await self.free.wait()

    async def until(self, cluster: Cluster, point: str, count: int = 1) -> None:
        async def reached() -> bool:
            return self.seen.count(point) >= count

        await cluster.until(reached)


async def words_in_store(cluster: Cluster) -> int:
    [(count,)] = await look_at(cluster.journal_url, "SELECT count(*) FROM drafts")
    return int(count)


async def heard(cluster: Cluster, text: str, *, ordinal: int = 1) -> list[Delta]:
    """Listen until an attempt has said that much."""
    deltas, place, said = cluster.journal.deltas, NOTHING_HEARD, list[Delta]()
    async with asyncio.timeout(DEADLINE_S), deltas.watch(KEY) as watching:
        while joined(said, "text") != text:
            new = await deltas.read(KEY, place)
            place = new.place
            said += [delta for delta in new.deltas if delta.ordinal == ordinal]
            if not new.deltas:
                await watching.changed(0.5)
    return said


def joined(said: list[Delta], kind: str) -> str:
    return "".join(delta.text for delta in said if delta.kind == kind)


async def test_a_follower_at_the_gateway_hears_a_model_while_it_speaks_and_then_gets_the_entry(
    cluster: Cluster,
) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    client = ClientSettings(journal_url=cluster.journal_url, tenant="t", temporal_address=NOBODY_THERE)
    turn = await cluster.submit(SPOKEN)
    async with (
        serving(GatewaySettings(client=client, open=True)) as url,
        http(url) as ask,
        events(ask, f"/turns/{turn.turn_id}/events", deltas="true") as stream,
    ):
        said = await _said(stream)
        assert "model.responded" not in await turn.types()
        models.allow()
        rest = [event async for event in stream]
    assert [event.name for event in rest[:-1]] == ["entry"] * (len(rest) - 1)
    assert "model.responded" in [event.data["type"] for event in rest[:-1]]
    (entry,) = await turn.of_type("model.responded")
    assert isinstance(entry.payload, ModelResponded)
    assert said == {block.type: block.text for block in entry.payload.blocks}  # type: ignore[union-attr]
    assert said == {"text": SAID, "thinking": THOUGHT}
    assert await words_in_store(cluster) == 0


async def _said(stream: AsyncIterator[Event]) -> dict[str, str]:
    """What the deltas of a stream say, as soon as all of it was said."""
    said = {"text": "", "thinking": ""}
    async for event in stream:
        if event.name == "delta":
            assert event.id == ""
            said[event.data["kind"]] += event.data["text"]
        if said["text"] == SAID:
            break
    return said


async def test_nothing_is_written_while_nobody_listens(cluster: Cluster) -> None:
    models = GatedModels()
    statements = Statements(await cluster.start_worker(models=models))
    turn = await cluster.submit(SPOKEN)
    await statements.until(cluster, "find_listened", 10)
    models.allow()
    await turn.until("completed")
    assert {"insert_draft", "delete_drafts"} & set(statements.seen) == set()


async def test_who_comes_in_the_middle_hears_at_once_what_was_said_so_far(cluster: Cluster) -> None:
    models = GatedModels()
    statements = Statements(await cluster.start_worker(models=models))
    turn = await cluster.submit(SPOKEN)
    await statements.until(cluster, "find_listened", 10)
    assert [(delta.kind, delta.text) for delta in await heard(cluster, SAID)] == [("thinking", THOUGHT), ("text", SAID)]
    models.allow()
    await turn.until("completed")


async def test_a_new_attempt_begins_anew(cluster: Cluster) -> None:
    models = GatedModels()
    await cluster.start_worker(models=models)
    turn = await cluster.submit({"cut": "Once upon", "times": 1}, SPOKEN)
    assert joined(await heard(cluster, SAID, ordinal=2), "thinking") == THOUGHT
    (failed,) = await turn.of_type("model.failed")
    assert failed.payload.partial[0].text == "Once upon"  # type: ignore[attr-defined]
    models.allow()
    await turn.until("completed")


async def test_the_words_of_a_killed_worker_vanish_and_the_next_one_s_are_heard(cluster: Cluster) -> None:
    cluster.task_timeout_s = 2.0
    other = await cluster.spawn_worker(lease_s=1.0)
    turn = await cluster.submit({"silent": "Once upon", "times": 1}, SPOKEN)
    await heard(cluster, "Once upon")
    other.kill()
    assert await words_in_store(cluster) == 1
    models = GatedModels()
    await cluster.start_worker(models=models)
    await turn.until_entry("model.requested", 2, nudging=True)
    assert {delta.ordinal for delta in await heard(cluster, SAID, ordinal=2)} == {2}
    models.allow()
    await turn.until("completed", nudging=True)
    assert await words_in_store(cluster) == 0


async def test_a_store_that_takes_no_words_does_not_fail_the_call(cluster: Cluster) -> None:
    models = GatedModels()
    statements = Statements(await cluster.start_worker(models=models), refusals=float("inf"))
    turn = await cluster.submit(SPOKEN)
    await cluster.journal.deltas.read(KEY, NOTHING_HEARD)
    await statements.until(cluster, "insert_draft")
    models.allow()
    await turn.until("completed")
    assert len(await turn.of_type("model.requested")) == 1


@pytest.mark.parametrize(("refusals", "lost"), [(2, 0), (0, 2)], ids=["refused", "lost answers"])
async def test_words_that_were_not_taken_come_later_once_and_whole(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, refusals: int, lost: int
) -> None:
    monkeypatch.setattr(drafting, "AGAIN_S", 0.01)
    monkeypatch.setattr(drafting, "BATCH_S", 0.01)
    models = GatedModels()
    Statements(await cluster.start_worker(models=models), refusals=refusals, lost=lost)
    turn = await cluster.submit(SPOKEN)
    assert joined(await heard(cluster, SAID), "thinking") == THOUGHT
    models.allow()
    await turn.until("completed")


@pytest.mark.parametrize("journal_url", ["postgres"], indirect=True)
async def test_a_store_that_is_slow_with_words_does_not_hold_the_call(cluster: Cluster) -> None:
    """On a file all that is written waits in one line, and so does the report."""
    models = GatedModels()
    statements = Statements(await cluster.start_worker(models=models), held="insert_draft")
    turn = await cluster.submit(SPOKEN)
    await cluster.journal.deltas.read(KEY, NOTHING_HEARD)
    await statements.until(cluster, "insert_draft")
    models.allow()
    await turn.until("completed")
    statements.free.set()
