"""A run of an AG-UI front end: which turn it is about, and from where in the thread it is told.

Rule: a run is a turn's, by its id, so the same run asked for again is the same turn. What a front end sends along of
the conversation is its copy: only the newest message of the person is taken in, with the context that came along, or
what it resumes with, all of that in one transaction or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ag_ui.core import ResumeEntry, RunAgentInput, UserMessage

from turnwright.client.direct import Direct
from turnwright.client.errors import NotFound
from turnwright.client.gateway.agui.history import History
from turnwright.client.gateway.agui.interrupts import Abandonment, Decision, Response, Settlement, decision
from turnwright.client.gateway.agui.messages import are_shown, as_input, as_surroundings, name_of
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.commands import NEEDED_ROLE
from turnwright.client.gateway.desk import Desk
from turnwright.client.inputs import as_message
from turnwright.client.questions import Question
from turnwright.client.thread import Thread
from turnwright.journal import entry_ids
from turnwright.journal.canonical import digest, repair_text
from turnwright.journal.commands import CancelTurn, Receipt, Reconcile, Respond, Steer, TurnCommand
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey, checked_request_id
from turnwright.journal.messages import Text

RESUMED_MAX = 100
# The question is settled, or its turn has moved on: the run is told so, and goes on with what is so now.
MOOT = frozenset({"already_answered", "expired", "not_open", "not_unknown", "unknown_interaction", "wrong_phase"})
NEVER_ASKED = {"code": "unknown_interaction", "reason": "this thread was never asked it"}


@dataclass(frozen=True, slots=True)
class Run:
    """A run to be told: what the thread was after the entry `after_seq`, then what became of the turn.

    `ignored` is what could not be taken in and why; `current`: whether the front end speaks 1.0 or later;
    `tools_ignored`: those it has and the agent was not made with.
    """

    key: ThreadKey
    turn_id: str
    thread_id: str
    run_id: str
    after_seq: int
    ignored: tuple[Mapping[str, Any], ...] = ()
    current: bool = True
    tools_ignored: tuple[str, ...] = ()


async def begin(desk: Desk, caller: Caller, key: ThreadKey, asked: RunAgentInput) -> Run:
    """Take in what a front end sent: submit its message as a turn, or answer with what it resumes.

    Raises:
        InvalidInput: there is no message of the person, or it is empty.
        CommandRejected: the turn cannot be queued, or an answer is not taken; nothing else of the run is, then.
        BadAnswer: what it resumes with does not fit what was asked.
        Forbidden: an answer is not this caller's to give; none of the others is taken then.
        NotFound: it resumes nothing that was asked on this thread.
    """
    checked_request_id(asked.run_id)
    if asked.resume:
        return await _resume(desk, caller, key, asked, asked.resume)
    message = next((one for one in reversed(asked.messages) if isinstance(one, UserMessage)), None)
    if message is None:
        raise InvalidInput("there is no message of the role user, so there is nothing to do")
    thread = Thread(desk.access(caller), key)
    turn = await thread.submit(as_input(message, asked.context or ()), request_id=asked.run_id)
    assert turn.receipt is not None, "it was submitted"
    return _run(key, turn.id, asked, turn.receipt.seq)


async def _resume(desk: Desk, caller: Caller, key: ThreadKey, asked: RunAgentInput, entries: list[ResumeEntry]) -> Run:
    if len(entries) > RESUMED_MAX:
        raise InvalidInput(f"a run is resumed with {RESUMED_MAX} answers at most, and not with {len(entries):,}")
    direct = desk.direct(caller)
    head = (await Thread(desk.access(caller), key).status()).seq
    ignored: list[Mapping[str, Any]] = []
    decided: list[tuple[Question, Decision]] = []
    for entry in entries:
        question = await direct.interaction(entry.interrupt_id)
        if question is None or question.key != key:
            ignored.append({"interruptId": entry.interrupt_id, **NEVER_ASKED})
            continue
        chosen = decision(question, entry)
        if isinstance(chosen, Settlement):
            caller.needs(NEEDED_ROLE[Reconcile])
        decided.append((question, chosen))
    if not decided:
        raise NotFound("question", entries[0].interrupt_id)
    turn_id = decided[0][0].turn_id
    steering = await _steering(caller, turn_id, History(direct, key, turn_id, head), asked)
    answers = [_answer(caller, asked.run_id, question, chosen) for question, chosen in decided]
    receipts = await direct.execute_together(key, [*steering, *answers], MOOT)
    named = [
        *(("messageId", name_of(one.message)) for one in steering),
        *(("interruptId", one.interaction_id) for one, _ in decided),
    ]
    ignored += [
        dict([name]) | {"code": receipt.code, "reason": receipt.reason}
        for name, receipt in zip(named, receipts, strict=True)
        if receipt.status == "rejected"
    ]
    return _run(key, turn_id, asked, await _before(direct, key, receipts, head), tuple(ignored))


async def _steering(caller: Caller, turn_id: str, history: History, asked: RunAgentInput) -> list[Steer]:
    """A message that comes along with answers and that the thread does not have yet joins the turn.

    Without one what the front end shows does, if that is something else than the model was told last.
    """
    newest, context = asked.messages[-1] if asked.messages else None, asked.context or ()
    if isinstance(newest, UserMessage) and newest.id not in await history.names():
        what, message = "message", as_message(as_input(newest, context))
    elif context and not are_shown(context, await history.messages()):
        what, message = "context", as_surroundings(context)
    else:
        return []
    request_id = _request_id(asked.run_id, what)
    return [Steer(request_id=request_id, principal=caller.principal, turn_id=turn_id, message=message)]


def _answer(caller: Caller, run_id: str, question: Question, chosen: Decision) -> TurnCommand:
    said: dict[str, Any] = {
        "request_id": _request_id(run_id, question.interaction_id),
        "principal": caller.principal,
        "turn_id": question.turn_id,
    }
    match chosen:
        case Response(resolution=resolution, answer=answer):
            return Respond(**said, interaction_id=question.interaction_id, resolution=resolution, answer=answer)
        case Settlement(call_id=call_id, outcome=outcome, output=output, reason=reason):
            return Reconcile(**said, call_id=call_id, outcome=outcome, output=(Text(text=output),), reason=reason)
        case Abandonment(reason=reason):
            return CancelTurn(**said, reason=reason)


async def _before(direct: Direct, key: ThreadKey, receipts: Iterable[Receipt], head: int) -> int:
    """The place before the first entry of these commands, which is the same when they are repeated."""
    firsts = [
        await direct.turn_entry(key, receipt.turn_id or "", entry_ids.command(receipt.request_id, 0))
        for receipt in receipts
        if receipt.status != "rejected"
    ]
    return min([head, *(entry.seq - 1 for entry in firsts if entry is not None)])


def _run(
    key: ThreadKey, turn_id: str, asked: RunAgentInput, after_seq: int, ignored: tuple[Mapping[str, Any], ...] = ()
) -> Run:
    # One from before 1.0 says none. It knows neither content of several parts nor that a run can be cancelled.
    current = asked.protocol_version is not None
    tools = tuple(repair_text(tool.name) for tool in asked.tools or ())
    return Run(key, turn_id, repair_text(asked.thread_id), asked.run_id, after_seq, ignored, current, tools)


def _request_id(run_id: str, what: str) -> str:
    """The request id of one of several commands of a run: the same when the run is asked for again."""
    return f"agui-{digest(run_id.encode(), what.encode()).hex()[:32]}"
