"""The client that waits does what the async one does, without a loop of its caller's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.client.hands import AGENT
from tests.integration.client.program import NOBODY_THERE
from turnwright.client import CommandRejected, NotFound, WaitTimeout
from turnwright.client.blocking import BlockingClient, BlockingTurn


@contextmanager
def connected(journal_url: str) -> Iterator[BlockingClient]:
    with BlockingClient.connect(
        journal_url=journal_url, tenant="acme", temporal_address=NOBODY_THERE, migrate=True
    ) as client:
        yield client


def test_commands_and_reads_wait_and_handles_come_back_as_ones_that_wait(sqlite_url: str) -> None:
    with connected(sqlite_url) as client:
        session = client.session("ann", "s")
        session.create(title="A trip")
        turn = session.submit("hello", agent=AGENT)
        assert isinstance(turn, BlockingTurn)
        assert turn.status().status == "queued"
        assert client.turn(turn.id).key == turn.key == session.thread(AGENT).turn(turn.id).key
        assert [seen.key.session for seen in client.sessions().items] == ["s"]
        assert len(client.turns(session).items) == 1  # a handle is taken as an argument, too
        with pytest.raises(CommandRejected, match="paused"):
            turn.resume(7)
        with pytest.raises(NotFound):
            client.turn("t-0000000000000")
        with pytest.raises(WaitTimeout):
            turn.wait(timeout_s=0.01)


def test_what_is_followed_is_iterated_plainly_and_may_be_left_early(sqlite_url: str) -> None:
    with connected(sqlite_url) as client:
        session = client.session("ann", "s")
        session.create()
        turn = session.submit("hello", agent=AGENT)
        heard = []
        for located in session.follow():
            heard.append(located.entry.type)
            if located.entry.type == "turn.queued":
                break
        assert heard[0] == "session.created"
        turn.cancel()
        assert "turn.cancelled" in [entry.type for entry in turn.events()]


def test_several_threads_use_one_client_and_nothing_of_it_is_left(sqlite_url: str) -> None:
    before = threading.active_count()
    with connected(sqlite_url) as client:
        client.session("ann", "s").create()
        made: list[str] = []
        threads = [
            threading.Thread(target=lambda n=n: made.append(client.session("ann", "s").submit(f"{n}", agent=AGENT).id))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(made)) == len(client.turns().items) == 8
    client.close()
    assert threading.active_count() <= before + 1  # one of the interpreter's own may take its time


def test_a_client_that_cannot_connect_leaves_no_thread(tmp_path_factory: pytest.TempPathFactory) -> None:
    before = threading.active_count()
    missing = tmp_path_factory.mktemp("nothing") / "journal.db"
    with pytest.raises(Exception, match="no journal"):
        BlockingClient.connect(journal_url=f"sqlite:///{missing}")
    assert threading.active_count() <= before + 1
