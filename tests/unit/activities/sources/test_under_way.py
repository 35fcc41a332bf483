"""Whose a question of an MCP server is, and when its session may not go on."""

from __future__ import annotations

import asyncio
from contextvars import Context, copy_context
from itertools import count

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)

from turnwright.activities.mcp.fate import Fate
from turnwright.activities.mcp.under_way import UNANSWERED_MAX, UnderWay

QUESTION = ElicitRequestFormParams(message="Really?", requested_schema={"type": "object", "properties": {}})


class Call:
    """A call in a task of its own, which answers a question with its key."""

    def __init__(self, key: str, number: int) -> None:
        self.key = key
        self.number = number
        self.context = Context()
        self.sent, self.over = asyncio.Event(), asyncio.Event()

    async def elicited(self, params: ElicitRequestParams) -> ElicitResult:
        assert params is QUESTION
        return ElicitResult(action="accept", content={"key": self.key})

    async def made(self, under_way: UnderWay) -> None:
        with under_way.hearing(self):
            under_way.sent(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=self.number, method="tools/call")))
            self.context = copy_context()
            self.sent.set()
            await self.over.wait()


class Session:
    """A session without a server: what the server says, the test says."""

    def __init__(self) -> None:
        self.fate = Fate()
        self.under_way = UnderWay("shop", self.fate)
        self._numbers = count(1)
        self._tasks: dict[Call, asyncio.Task[None]] = {}

    async def begun(self, key: str) -> Call:
        call = Call(key, next(self._numbers))
        self._tasks[call] = asyncio.create_task(call.made(self.under_way))
        await call.sent.wait()
        return call

    async def given_up(self, call: Call) -> None:
        call.over.set()
        await self._tasks.pop(call)

    def answered(self, call: Call) -> None:
        self.under_way.received(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=call.number, result={})))

    async def asks(self, context: Context | None = None) -> object:
        """Whose call the question is put to, or what the server is told."""
        answer = await asyncio.create_task(self.under_way.elicited(QUESTION), context=context)
        return answer.content["key"] if answer.content else answer.action

    @property
    def is_left(self) -> bool:
        return self.fate.left.is_set()


@pytest.fixture
async def session() -> Session:
    return Session()


async def test_the_only_call_there_is_is_asked_and_of_two_none(session: Session) -> None:
    first = await session.begun("first")
    assert await session.asks() == "first"
    second = await session.begun("second")
    assert await session.asks() == "cancel"
    session.answered(first)
    await session.given_up(first)
    assert await session.asks() == "second"
    await session.given_up(second)
    assert await session.asks() == "cancel"
    assert session.is_left


async def test_of_calls_that_are_under_way_each_is_asked_what_comes_in_its_own_answer(session: Session) -> None:
    first, second = await session.begun("first"), await session.begun("second")
    assert [await session.asks(call.context) for call in (first, second)] == ["first", "second"]
    await session.given_up(first)
    assert await session.asks(first.context) == "cancel"
    assert not session.is_left


async def test_while_a_call_given_up_is_not_answered_nobody_else_is_asked_and_the_session_is_left(
    session: Session,
) -> None:
    await session.given_up(await session.begun("first"))
    await session.begun("second")
    assert not session.is_left
    assert await session.asks() == "cancel"
    assert session.is_left


async def test_an_earlier_attempt_of_a_call_is_no_other(session: Session) -> None:
    await session.given_up(await session.begun("first"))
    await session.begun("first")
    assert await session.asks() == "first"


async def test_an_answer_that_was_cut_off_is_none(session: Session) -> None:
    first = await session.begun("first")
    closed = ErrorData(code=CONNECTION_CLOSED, message="cut off")
    session.under_way.received(SessionMessage(JSONRPCError(jsonrpc="2.0", id=first.number, error=closed)))
    await session.given_up(first)
    await session.begun("second")
    assert await session.asks() == "cancel"


async def test_more_calls_than_are_kept_make_no_question_certain(session: Session) -> None:
    for _ in range(UNANSWERED_MAX):
        await session.given_up(await session.begun("first"))
    await session.given_up(await session.begun("one more"))
    await session.begun("first")
    assert await session.asks() == "cancel"


async def test_a_session_in_doubt_is_left_when_the_calls_of_that_moment_are_over(session: Session) -> None:
    first, second = await session.begun("first"), await session.begun("second")
    session.under_way.doubt()
    await session.begun("later")
    await session.given_up(first)
    assert not session.is_left
    await session.given_up(second)
    assert session.is_left
    assert not session.under_way.idle.is_set()


async def test_whatever_the_server_says_ends_the_doubt(session: Session) -> None:
    first = await session.begun("first")
    session.under_way.doubt()
    session.under_way.received(ValueError("no JSON, but it lives"))
    await session.given_up(first)
    assert not session.is_left
    session.under_way.doubt()
    assert session.is_left
