"""The tools of the MCP server: submit, status, wait, respond and questions, over the Python client.

Rule: nothing here decides anything. What goes wrong is told in the client's own words with its code, so that who calls
knows what to do; and each command has a request id that stays the same when it is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field, ValidationError

from turnwright.client.client import Client
from turnwright.client.errors import CommandRejected, NotFound, WaitTimeout
from turnwright.client.mcp.told import Answered, Questions, Submitted, TurnTold, asked_of, told_of
from turnwright.client.turn import Turn
from turnwright.client.views import TurnView
from turnwright.journal.canonical import digest_of
from turnwright.journal.commands import IfBusy
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.ids import MAIN_THREAD, ThreadKey

P = ParamSpec("P")
T = TypeVar("T")
WAIT_S, WAIT_S_MAX = 25.0, 300.0
QUESTIONS, QUESTIONS_MAX = 20, 100
PROBLEMS_MAX = 10
WHOLE_TURN_ID = re.compile(r"t-[0-9a-f]{32}")

Session = Annotated[str, Field(description="The session's id.")]
TurnId = Annotated[str, Field(description="The turn's id, as `submit` gave it.")]
Message = Annotated[str, Field(description="The task, in words.")]
Agent = Annotated[str, Field(description="The agent's name.")]
Request = Annotated[
    str, Field(description="Your id of this request. The same one again is the same turn, so it is safe to repeat.")
]
ThreadName = Annotated[str, Field(description="The agent's thread in the session.")]
Busy = Annotated[IfBusy, Field(description="What to do while the thread has a turn.")]
Timeout = Annotated[float, Field(ge=0, le=WAIT_S_MAX, description="How long to wait at most, in seconds.")]
InteractionId = Annotated[str, Field(description="The question's id, as `questions`, `status` or `wait` gave it.")]
Resolution = Annotated[str, Field(description="One of the question's `resolutions`, such as approve, deny or answer.")]
AnswerGiven = Annotated[
    dict[str, Any] | None,
    Field(
        description="approve: `arguments` to run with instead. deny, decline: `message`. answer: what the form's "
        "schema wants. succeeded, failed: `output`. raise: `budget`."
    ),
]
Reason = Annotated[str | None, Field(description="Why, for the records.")]
Some = Annotated[int, Field(ge=1, le=QUESTIONS_MAX, description="How many at most.")]


def told(tool: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The tool, whose errors are those of the protocol: what went wrong, with its code."""

    @wraps(tool)
    async def run(*given: P.args, **named: P.kwargs) -> T:
        try:
            return await tool(*given, **named)
        except (TurnwrightError, OSError) as error:
            raise ToolError(_words(error)) from error

    return run


def unfit(tool: str, error: ValidationError) -> str:
    """What who calls reads about arguments that do not fit: each problem on a line."""
    problems = error.errors(include_url=False, include_context=False)
    lines = [f"- {'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in problems[:PROBLEMS_MAX]]
    more = [f"- and {len(problems) - PROBLEMS_MAX} more"] if len(problems) > PROBLEMS_MAX else []
    return "\n".join([f"invalid_input: nothing was done, the arguments do not fit the schema of {tool}", *lines, *more])


class Tools:
    """The tools, for the sessions of one user (None: the anonymous one's)."""

    def __init__(self, client: Client, user: str | None) -> None:
        self._client = client
        self._user = user

    async def submit(
        self,
        session: Session,
        agent: Agent,
        message: Message,
        request_id: Request,
        thread: ThreadName = MAIN_THREAD,
        if_busy: Busy = "enqueue",
    ) -> Submitted:
        """Give an agent a task. It is accepted at once and goes on whatever happens; `wait` tells its answer.

        The session is made if it is not there.
        """
        chosen = self._client.session(self._user, session)
        await chosen.create(exist_ok=True)
        turn = await chosen.submit(message, agent=agent, thread=thread, if_busy=if_busy, request_id=request_id)
        assert turn.receipt is not None, "it comes from a submit"
        return Submitted(turn_id=turn.id, duplicate=turn.receipt.duplicate)

    async def status(self, turn_id: TurnId) -> TurnTold:
        """Tell where a turn stands: whether it runs, what it waits for, its answer, its open questions."""
        return await self._told(await self._turn(turn_id))

    async def wait(self, turn_id: TurnId, timeout_s: Timeout = WAIT_S) -> TurnTold:
        """Wait until a turn has ended, is paused or asks something, and tell it as `status` does.

        After `timeout_s` it tells where the turn stands, with `timed_out`; the turn goes on, and `wait` may be called
        again.
        """
        turn = await self._turn(turn_id)
        try:
            await turn.wait(timeout_s, until=_stands_still)
        except WaitTimeout:
            return await self._told(turn, timed_out=True)
        return await self._told(turn)

    async def respond(
        self,
        interaction_id: InteractionId,
        resolution: Resolution,
        answer: AnswerGiven = None,
        reason: Reason = None,
    ) -> Answered:
        """Answer an open question of a turn: approve or deny a call, fill a form, deliver a result, raise a budget."""
        request_id = f"mcp-{digest_of({'id': interaction_id, 'resolution': resolution, 'answer': answer})[:32]}"
        question = await self._client.interaction(interaction_id)
        if not self._reaches(question.key):
            raise NotFound("question", interaction_id)
        turn = self._client.turn_of(question)
        try:
            receipt = await turn.respond(interaction_id, resolution, answer or {}, request_id=request_id, reason=reason)
            duplicate = receipt.duplicate
        except CommandRejected as error:
            duplicate = error.code == "request_id_reused"  # the same answer, for another reason: the first one stays
            if not duplicate:
                raise
        return Answered(interaction_id=interaction_id, turn_id=question.turn_id, duplicate=duplicate)

    async def questions(self, session: Session | None = None, limit: Some = QUESTIONS) -> Questions:
        """List the questions that wait for an answer, the oldest first: of all sessions, or of one."""
        of = None if session is None else self._client.session(self._user, session)
        page = await self._client.inbox(of, user=self._user if of is None else ..., limit=limit)
        return Questions(questions=[asked_of(question) for question in page.items], more=page.next is not None)

    async def _turn(self, turn_id: str) -> Turn:
        """The user's turn of that whole id."""
        if not WHOLE_TURN_ID.fullmatch(turn_id):
            raise NotFound("turn", f"{turn_id}; give the whole id that `submit` told")
        turn = await self._client.turn(turn_id)
        if not self._reaches(turn.key):
            raise NotFound("turn", turn_id)
        return turn

    def _reaches(self, key: ThreadKey) -> bool:
        """Whether it is the user's; through a gateway it may be its key that says whose."""
        by_key = self._user is None and self._client.settings.gateway_url is not None
        return by_key or key.user == self._user

    async def _told(self, turn: Turn, *, timed_out: bool = False) -> TurnTold:
        questions = await turn.questions()
        return told_of(await turn.report(), questions, timed_out=timed_out)


def _stands_still(view: TurnView) -> bool:
    """Whether it is at its end, or goes on only when somebody answers or resumes it; children work by themselves."""
    return view.finished or view.status == "paused" or bool(view.asked)


def _words(error: BaseException) -> str:
    code = error.code if isinstance(error, CommandRejected) else "not_found" if isinstance(error, NotFound) else None
    said = "; ".join([str(error) or type(error).__name__, *getattr(error, "__notes__", ())])
    return f"{code}: {said}" if code is not None and not said.startswith(code) else said
