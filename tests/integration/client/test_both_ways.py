"""The Python client on a journal and through a gateway: every public method, called both ways, does the same."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest

from tests.integration.client.conftest import Connect
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from turnwright.client import AccessDenied, Budget, Client, Session, Thread, Turn, TurnwrightError
from turnwright.journal.api_keys import Grant, NewKey
from turnwright.journal.commands import Receipt
from turnwright.journal.driver import Driver
from turnwright.journal.store_delete import Deleted
from turnwright.journal.store_keys import create_key
from turnwright.journal.transact.listing import Page
from turnwright.journal.webhooks import NewWebhook

Handle: TypeAlias = Client | Session | Thread | Turn
URL = "https://shop.example.com/hook"
NOT_YET = 10**9  # nothing is delivered: it is where the session ends
HANDLES = (Client, Session, Thread, Turn)
# A gateway sends wake-ups itself, so there is nothing to tell about them.
# A file is imported where its journal is; a gateway's client says so.
DIFFERENT = frozenset({"Client.flush", "Client.import_session"})


def methods(kind: type) -> set[str]:
    """The public methods that ask the journal."""
    found = inspect.getmembers(kind, lambda one: inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one))
    return {f"{kind.__name__}.{name}" for name, _ in found if not name.startswith("_")}


@dataclass
class Played:
    """What was called, and what came of it, in words that are the same for two sessions."""

    told: list[tuple[str, object]] = field(default_factory=list)

    async def __call__(self, handle: Handle, method: str, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        result: Any = None
        try:
            called = getattr(handle, method)(*given, **named)
            result = await _first(called) if inspect.isasyncgen(called) else await called
            said = _words(result)
        except TurnwrightError as error:
            said = (type(error).__name__, getattr(error, "code", None))
        self.told.append((f"{type(handle).__name__}.{method}", said))
        return result

    def compared(self) -> list[tuple[str, object]]:
        return [(name, None if name in DIFFERENT else said) for name, said in self.told]


async def _first(items: AsyncGenerator[Any, Any]) -> Any:  # noqa: ANN401 - an entry of whatever kind
    async with aclosing(items):
        return await anext(items, None)


def _words(result: Any) -> object:  # noqa: ANN401 - of any method
    match result:
        case Receipt():
            return result.status, result.code, result.revision, result.seq, result.duplicate
        case Deleted():
            return _words(result.receipt), result.stores
        case NewKey():
            return result.key.grant.role
        case NewWebhook():
            return result.webhook.url, result.webhook.position
        case Page():
            return [type(item).__name__ for item in result.items], result.next is None
        case list():
            return [type(item).__name__ for item in result]
        case None | bool() | str() | frozenset():
            return result
        case _:
            return type(result).__name__


@pytest.fixture
async def both(connect: Connect, driver: Driver, journal_url: str) -> AsyncIterator[tuple[Client, Client]]:
    """A client that reads the journal, and one that speaks to a gateway, of the same name."""
    made = await create_key(driver, "acme", Grant(name="ann", role="admin"))
    async with serving(settings_of(journal_url)) as url, Client.connect(gateway_url=url, token=made.token) as remote:
        yield await connect(principal="ann"), remote


async def play(client: Client, name: str, asking: Hands) -> Played:
    """Every method once at least, on a session of that name."""
    do = Played()
    session = client.session("ann", name)
    await do(session, "status")
    await do(session, "create", title="A trip")
    await do(session, "create")
    thread = session.thread(AGENT)
    await do(thread, "status")
    await do(thread, "inject", "it rains")
    turn = await do(thread, "submit", "one", request_id="one")
    await _controlled(do, session, thread, turn)
    question = await _asked(do, client, turn, asking)
    await _answered(do, client, turn, question, asking)
    await _administered(do, session, thread)
    await _hooked(do, session, turn)
    await _scheduled(do, session)
    await _moved(do, client, session)
    await _listed(do, client, turn)
    await _ended(do, client, session, thread)
    return do


async def _scheduled(do: Played, session: Session) -> None:
    await do(session, "create_schedule", "news", "the news", agent=AGENT, every_s=3_600, thread="side")
    await do(session, "create_schedule", "news", "the news", agent=AGENT, every_s=60)
    await do(session, "create_schedule", "bad", "the news", agent=AGENT, every_s=60, timezone="Nowhere")
    for method in ("pause_schedule", "resume_schedule", "trigger_schedule", "schedule", "delete_schedule", "schedule"):
        await do(session, method, "news")
        await do(session, "schedules")
    await do(session, "pause_schedule", "news")


async def _controlled(do: Played, session: Session, thread: Thread, turn: Turn) -> None:
    other = await do(session, "submit", "two", agent=AGENT, thread="side")
    for handle in (turn, thread, session):
        await do(handle, "pause", reason="lunch")
        await do(turn, "why")
        await do(handle, "resume", 7)
        await do(handle, "resume")
    await do(turn, "steer", "faster")
    await do(turn, "status")
    await do(other, "cancel")
    await do(other, "cancel")
    await do(other, "result")
    await do(turn, "wait", timeout_s=0)
    await do(turn, "events")
    await do(turn, "live")


async def _asked(do: Played, client: Client, turn: Turn, asking: Hands) -> str:
    await asking.want_tool(turn)
    [question] = await turn.questions()
    await do(turn, "questions")
    await do(client, "inbox")
    await do(client, "interaction", question.interaction_id)
    return question.interaction_id


async def _answered(do: Played, client: Client, turn: Turn, question: str, asking: Hands) -> None:
    """What answers, first wrongly by everybody, then as it should be."""
    for handle in (client, turn):
        for asked in ("q-none", question):
            await do(handle, "respond", asked, "answer", {"answer": "x"})
            await do(handle, "answer", asked, "x")
            await do(handle, "decline", asked)
            await do(handle, "deliver", asked, "x")
            await do(handle, "raise_budget", asked, Budget(steps=5))
            await do(handle, "fail_budget", asked)
            await do(handle, "approve", asked, arguments={"n": "no number"}, always="no rule((")
    await do(client, "approve", question, arguments={"n": 2})
    await do(turn, "deny", question)
    await do(client, "deny", question)
    call_id = (await client.interaction(question)).call_id or ""
    await do(turn, "reconcile", call_id, "succeeded", "x", reason="I know")
    await asking.claim(turn)
    await asking.start_tool(turn, call_id)
    await asking.finish_tool(turn, call_id)
    await asking.ask_model(turn, 2)
    await asking.answer(turn, "done", step=2)
    for method in ("wait", "result", "status", "why", "report", "events", "live", "retry", "pause"):
        await do(turn, method)


async def _administered(do: Played, session: Session, thread: Thread) -> None:
    await do(thread, "set_permissions", mode="accept_edits", allow=["ledger(n=1)"], deny=["refund"])
    await do(thread, "set_permissions", remove=["refund"])
    await do(thread, "permissions")
    await do(thread, "begin_task", "ship it", ["tests pass"])
    [requirement] = (await thread.state()).tasks.requirements
    await do(thread, "decide_objective", "rejected")
    await do(thread, "decide_requirement", requirement.id, "confirmed", reason="agreed")
    await do(thread, "decide_requirement", "none", "confirmed")
    await do(thread, "add_verification", requirement.id, passed=True, summary="green", subject="c0ffee")
    await do(thread, "deactivate_groups", "none")
    await do(thread, "write_memory", "She likes tea.")
    await do(thread, "write_memory", "She likes coffee.", expected_revision=5)
    await do(thread, "memory")
    state = await do(thread, "state")
    await do(thread, "state", 10**6)
    await do(thread, "update_state", {"summary": "x"}, expected_seq=state.as_of_seq, reason="by hand")
    await do(thread, "update_state", {"summary": "x"}, expected_seq=1, reason="by hand")
    await do(thread, "compact")
    await do(thread, "compact")
    await do(thread, "fork", 1)
    await do(thread, "fork", state.as_of_seq, thread="other")
    await do(thread, "fork", session="none")
    await do(thread, "make_whole")
    await do(session.thread(thread.key.agent, "other"), "make_whole")
    await do(thread, "rewind", 10**6)
    await do(thread, "rewind", state.as_of_seq, expected_seq=1)
    await do(thread, "rewind", state.as_of_seq)
    await do(thread, "clear_context")
    for handle in (thread, session):
        await do(handle, "set_budget", Budget(steps=50))
        await do(handle, "budget")
        await do(handle, "history")
        await do(handle, "status")
    await do(session, "set_title", "Mine")
    await do(session, "set_title", None)
    await do(thread, "erase", 1)
    await do(session, "erase", 1)
    await do(session, "threads", limit=1)
    await do(session, "blob", "0" * 64)
    await do(session, "follow")


async def _hooked(do: Played, session: Session, turn: Turn) -> None:
    for handle in (session, turn):
        made = await do(handle, "create_webhook", URL, types=["turn.completed"], after=NOT_YET)
        await do(handle, "webhooks")
        await do(handle, "delete_webhook", made.webhook.webhook_id)
        await do(handle, "delete_webhook", made.webhook.webhook_id)


async def _moved(do: Played, client: Client, session: Session) -> None:
    chat = '[{"role": "user", "content": "hello"}]'
    await do(session.thread(AGENT, "brought"), "import_conversation", "openai", chat)
    await do(session.thread(AGENT, "brought"), "import_conversation", "openai", chat)
    await do(session.thread(AGENT, "bad"), "import_conversation", "openai", "no JSON")
    await do(session.thread(AGENT, "brought"), "export_conversation")
    await do(session.thread(AGENT, "none"), "export_conversation")
    await do(session, "export")
    await do(client, "import_session", __file__)


async def _listed(do: Played, client: Client, turn: Turn) -> None:
    await do(client, "agents")
    await do(client, "turns", status="completed", limit=1)
    await do(client, "sessions", limit=1)
    await do(client, "search", "done", user="ann", limit=1)
    await do(client, "search", "* -")
    await do(client, "search", "done", session=client.session("ann", "none"))
    await do(client, "turn", turn.id)
    await do(client, "turn", "none")
    await do(client, "interaction", "q-none")
    made = await do(client, "create_key", "shop", role="operator")
    await do(client, "keys", limit=1)
    await do(client, "revoke_key", made.key.key_id)
    await do(client, "revoke_key", "none")


async def _ended(do: Played, client: Client, session: Session, thread: Thread) -> None:
    await do(thread, "cancel")
    await do(thread, "close")
    await do(thread, "submit", "three")
    await do(session, "cancel")
    await do(session, "close", "cancel")
    await do(session, "delete", reason="asked to")
    await do(session, "history")
    await do(client, "flush", 0.5)
    await do(client, "close")
    await do(client, "agents")


async def test_every_method_does_the_same_whether_there_is_a_gateway_between_or_not(
    both: tuple[Client, Client], asking: Hands
) -> None:
    direct, remote = both
    on_journal, through_gateway = await play(direct, "one", asking), await play(remote, "two", asking)
    assert through_gateway.compared() == on_journal.compared()
    called = {name for name, _ in on_journal.told}
    assert set().union(*map(methods, HANDLES)) - called == set(), "a public method is not played here"


async def test_what_is_read_is_equal_whether_there_is_a_gateway_between_or_not(
    both: tuple[Client, Client], asking: Hands
) -> None:
    direct, _ = both
    session = direct.session("ann", "s")
    await session.create(title="A trip", metadata={"of": "spring"})
    await session.set_budget(Budget(tokens=1_000))
    turn = await session.submit("one", agent=AGENT)
    await session.submit("two", agent=AGENT)
    await asking.draw(await session.submit("draw", agent=AGENT, thread="side"), b"\x89PNG")
    await asking.want_tool(turn)
    await turn.create_webhook(URL, after=NOT_YET)
    looks = [await seen(client, turn) for client in both]
    assert looks[0] == looks[1]
    assert all(looks[0].values())


async def seen(client: Client, of: Turn) -> dict[str, object]:
    """What a client sees of a turn and all around it."""
    turn = await client.turn(of.id)
    session = client.session("ann", "s")
    thread = session.thread(AGENT)
    [picture] = [
        block for block in (await session.thread(AGENT, "side").state()).context[-1].blocks if block.type == "media"
    ]
    return {
        "blob": await session.blob(str(picture.blob)),
        "turn": (turn.key, turn.id),
        "status": await turn.status(),
        "why": (await turn.why()).code,
        "report": (await turn.report()).view,
        "questions": await turn.questions(),
        "webhooks": (await turn.webhooks(), await session.webhooks()),
        "session": await session.status(),
        "spending": (await session.budget(), await thread.budget()),
        "threads": await session.threads(),
        "timeline": await session.history(),
        "thread": await thread.status(),
        "state": (await thread.state(), await thread.state(1)),
        "entries": await thread.history(),
        "permissions": await thread.permissions(),
        "turns": await client.turns(session),
        "sessions": await client.sessions(),
        "inbox": await client.inbox(),
        "search": await client.search("one", user="ann", limit=1),
        "keys": await client.keys(),
        "agents": await client.agents(),
    }


async def test_a_token_that_the_gateway_does_not_take_is_refused_with_where_a_client_says_another(
    journal_url: str, connect: Connect
) -> None:
    await connect()
    async with serving(settings_of(journal_url)) as url:
        with pytest.raises(AccessDenied, match="TURNWRIGHT_GATEWAY_TOKEN"):
            await Client.connect(gateway_url=url, token="tw_no")
