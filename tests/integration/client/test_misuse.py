"""What a program gets wrong is refused in one sentence that says what to write, before anything is done."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import turnwright.client
from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT
from turnwright.client import Client, ClientClosed, InvalidInput, Session, TurnwrightError

pytestmark = pytest.mark.parametrize("journal_url", ["sqlite"], indirect=True)  # no store has a part in this

WRONG: dict[str, tuple[Callable[[Any], Awaitable[object]], str]] = {
    "no text": (lambda s: s.submit(["x"], agent=AGENT), "an input is a text or a Message, not list"),
    "no budget": (lambda s: s.submit("x", agent=AGENT, budget={"steps": 3}), r"a budget is a Budget, such as Budget"),
    "no budget of a thread": (lambda s: s.thread(AGENT).set_budget(3), "a budget is a Budget, .* not int"),
    "no choice": (lambda s: s.submit("x", agent=AGENT, if_busy="rejct"), r"'reject' or 'interrupt', not 'rejct'"),
    "no policy": (lambda s: s.submit("x", agent=AGENT, on_failure="stop"), "not 'stop'"),
    "no mode": (lambda s: s.close("now"), "mode is 'finish' or 'cancel', not 'now'"),
    "no agent": (lambda s: s.submit("x", agent=None), "agent must be a text"),
    "no request id": (lambda s: s.pause(request_id=7), "request_id must be a text"),
    "no principal": (lambda s: s.pause(principal=7), "a principal is a str, such as 'ann', not int"),
    "no reason": (lambda s: s.pause(reason=["x"]), "a reason is a str"),
    "no such argument": (lambda s: s.pause(why="lunch"), "no command takes why; .* takes request_id, .*reason"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_of_the_wrong_type_is_refused_and_nothing_is_done(session: Session, name: str) -> None:
    call, told = WRONG[name]
    before = await session.history()
    with pytest.raises(InvalidInput, match=told):
        await call(session)
    assert await session.history() == before


async def test_a_turn_is_asked_for_by_its_id(client: Client) -> None:
    with pytest.raises(InvalidInput, match="a turn's id is a str"):
        await client.turn(5)  # type: ignore[arg-type]


def test_a_journal_is_given_by_name(journal_url: str) -> None:
    with pytest.raises(InvalidInput, match="and a journal is `journal_url=…`, not str"):
        Client.connect(journal_url)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"journal_url is a str, such as 'sqlite:///journal.db', not PosixPath"):
        Client.connect(journal_url=Path("journal.db"))  # type: ignore[arg-type]


async def test_a_closed_client_says_so_whatever_it_is_asked(connect: Connect) -> None:
    client = await connect()
    session = client.session("ann", "s")
    await session.create()
    turn = await session.submit("one", agent=AGENT)
    await client.close()
    await client.close()
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "submit": lambda: session.submit("two", agent=AGENT),
        "status": turn.status,
        "wait": turn.wait,
        "pause": turn.pause,
        "history": session.history,
        "turns": client.turns,
        "turn": lambda: client.turn(turn.id),
        "events": lambda: anext(turn.events()),
    }
    for call in calls.values():
        with pytest.raises(ClientClosed, match=r"closed; connect another one with Client\.connect"):
            await call()


def test_everything_public_is_exported_and_every_error_is_one_of_ours(journal_url: str) -> None:
    del journal_url
    public = {name: getattr(turnwright.client, name) for name in turnwright.client.__all__}
    raised = [kind for kind in public.values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(raised) > 5
    assert all(issubclass(kind, TurnwrightError) for kind in raised)
