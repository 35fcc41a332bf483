"""Lists: paged without shifting, filtered, and never across tenants."""

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import Client, NotFound, Session, Turn
from turnwright.journal.errors import InvalidInput

SAME = ["a/b", "a:b", "..", "../..", "\U0001f600", "x" * 200, "None", "null", "~", "a/b/", "\u00e9", "e\u0301"]


async def test_pages_do_not_shift_when_something_new_arrives(client: Client, session: Session) -> None:
    turns = [await session.submit(f"{n}", agent=AGENT) for n in range(7)]
    seen: list[str] = []
    after: str | None = None
    while True:
        page = await client.turns(after=after, limit=2)
        seen += [item.status.turn_id for item in page.items]
        await session.submit("new", agent=AGENT)
        if page.next is None:
            break
        after = page.next
    assert seen == [turn.id for turn in reversed(turns)]
    with pytest.raises(InvalidInput, match="no place in a list"):
        await client.turns(after="5")


async def test_turns_are_filtered_by_whose_they_are_and_by_what_is_shown(
    client: Client, session: Session, hands: Hands
) -> None:
    other = client.session(None, "s")
    await other.create()
    done = await session.submit("1", agent=AGENT, thread="x")
    await hands.finish(done)
    running = await session.submit("2", agent=AGENT)
    await hands.ask_model(running)
    held = await session.submit("3", agent=AGENT)
    await held.pause()
    waiting = await session.submit("4", agent=AGENT)
    anonymous = await other.submit("5", agent="second")

    async def listed(**wanted: object) -> list[str]:
        return [item.status.turn_id for item in (await client.turns(**wanted)).items]  # type: ignore[arg-type]

    assert await listed() == [t.id for t in (anonymous, waiting, held, running, done)]
    assert await listed(session=session) == [t.id for t in (waiting, held, running, done)]
    assert await listed(session=session, thread="x") == [done.id]
    assert await listed(user="ann", phases=("queued",)) == [waiting.id, held.id]
    assert await listed(user=None) == [anonymous.id]
    assert await listed(agent="second") == [anonymous.id]
    assert await listed(status="paused") == [held.id]
    await session.thread(AGENT).pause()
    assert await listed(status="pausing") == [running.id]
    assert await listed(status="paused") == [waiting.id, held.id]
    await session.thread(AGENT).resume()
    await session.pause()
    assert await listed(status="paused", session=session, limit=1) == [waiting.id]
    assert await listed(status="completed") == [done.id]
    with pytest.raises(NotFound):
        await client.turns(client.session("ann", "other"))


async def test_sessions_and_threads_are_listed_with_what_is_in_them(
    client: Client, session: Session, hands: Hands
) -> None:
    for name in ("b", "c"):
        await client.session(None, name).create()
    running = await session.submit("1", agent=AGENT)
    await session.submit("2", agent=AGENT)
    await session.submit("3", agent=AGENT, thread="x")
    await hands.ask_model(running)
    assert [seen.key.session for seen in (await client.sessions()).items] == ["c", "b", "s"]
    assert [seen.key.session for seen in (await client.sessions(user=None)).items] == ["c", "b"]
    page = await client.sessions(limit=2)
    assert [seen.key.session for seen in (await client.sessions(limit=2, after=page.next)).items] == ["s"]
    [seen] = (await client.sessions(user="ann")).items
    assert (seen.threads, seen.active, seen.queued, seen.control.title) == (2, 1, 2, "A session")
    first, second = (await session.threads()).items
    assert (first.key.thread, second.key.thread) == ("main", "x")
    assert (first.control.queued, second.control.queued) == (1, 1)
    page_of_threads = await session.threads(limit=1)
    assert [seen.key.thread for seen in (await session.threads(page_of_threads.next)).items] == ["x"]


async def test_a_turn_is_found_by_the_beginning_of_its_id_and_by_none_of_another_tenant(
    connect: Connect, client: Client, session: Session
) -> None:
    turns = [await session.submit(f"{n}", agent=AGENT) for n in range(40)]
    whole = turns[0].id
    assert (await client.turn(whole)).id == whole
    assert (await client.turn(whole[2:20])).key == turns[0].key
    with pytest.raises(InvalidInput, match="several"):
        await client.turn("t-" + _shared(turns))
    for strange in ("t-", "t-zz", "%", "t-" + "0" * 32, "", whole + "0"):
        with pytest.raises(NotFound):
            await client.turn(strange)
    with pytest.raises(NotFound):
        await (await connect(tenant="other")).turn(whole)


async def test_tenants_and_users_with_the_same_ids_never_meet(connect: Connect) -> None:
    clients = [await connect(tenant=tenant) for tenant in ("acme", "acme/", '["acme"]')]
    made: dict[str, str] = {}
    for client in clients:
        for user in (None, "None", "a/b"):
            for part in SAME[:3]:
                session = client.session(user, part)
                await session.create(title=f"{client.settings.tenant}|{user}|{part}")
                turn = await session.submit("x", agent=part, thread=part, request_id="same")
                made[turn.id] = turn.key.canonical
    assert len(made) == len(set(made.values())) == 27
    for client in clients:
        listed = (await client.turns()).items
        assert {item.key.tenant for item in listed} == {client.settings.tenant}
        assert len(listed) == 9
        assert len((await client.turns(user=None)).items) == 3
        assert len((await client.turns(user="None")).items) == 3


async def test_ids_of_any_printable_text_are_exact(client: Client) -> None:
    for part in SAME:
        session = client.session(part, part)
        await session.create(title=part)
        turn = await session.submit("x", agent=part, thread=part, request_id=part)
        assert (await client.turn(turn.id)).key == turn.key
    titles = {seen.key.session: seen.control.title for seen in (await client.sessions()).items}
    assert titles == {part: part for part in SAME}
    for bad in ("", "x" * 201, "a\nb", "a\x00"):
        with pytest.raises(InvalidInput):
            client.session("ann", bad)
        with pytest.raises(InvalidInput):
            client.session("ann", "s").thread(bad)


def _shared(turns: list[Turn]) -> str:
    """A hexadecimal digit that two ids begin with: of 40 there are such."""
    first = [turn.id[2] for turn in turns]
    return max(set(first), key=first.count)
