"""A run of an AG-UI front end: which turn it is about, and from where in the thread it is told.

Rule: a run is a turn's, by its id, so the same run asked for again is the same turn. What a front end sends along of
the conversation is its copy: only the newest message of the person is taken in, with the context that came along, or
what it resumes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ag_ui.core import ResumeEntry, RunAgentInput, UserMessage

from turnwright.client.access import Access
from turnwright.client.errors import CommandRejected, NotFound
from turnwright.client.gateway.agui.history import History
from turnwright.client.gateway.agui.interrupts import Abandonment, Decision, Response, Settlement, decision
from turnwright.client.gateway.agui.messages import are_shown, as_input, as_surroundings
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.commands import NEEDED_ROLE
from turnwright.client.questions import Question
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn
from turnwright.journal import entry_ids
from turnwright.journal.canonical import digest, repair_text
from turnwright.journal.commands import Receipt, Reconcile, Steer
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import ThreadKey, checked_request_id

RESUMED_MAX = 100
# The question is settled, or its turn has moved on: the run is told so, and goes on with what is so now.
MOOT = frozenset({"already_answered", "expired", "not_open", "not_unknown", "unknown_interaction", "wrong_phase"})


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


async def begin(access: Access, caller: Caller, key: ThreadKey, asked: RunAgentInput) -> Run:
    """Take in what a front end sent: submit its message as a turn, or answer with what it resumes.

    Raises:
        InvalidInput: there is no message of the person, or it is empty.
        CommandRejected: the turn cannot be queued, or an answer is not taken.
        BadAnswer: what it resumes with does not fit what was asked.
        Forbidden: an answer is not this caller's to give; none of the others is taken then.
        NotFound: it resumes nothing that was asked on this thread.
    """
    checked_request_id(asked.run_id)
    if asked.resume:
        return await _resume(access, caller, key, asked, asked.resume)
    message = next((one for one in reversed(asked.messages) if isinstance(one, UserMessage)), None)
    if message is None:
        raise InvalidInput("there is no message of the role user, so there is nothing to do")
    turn = await Thread(access, key).submit(as_input(message, asked.context or ()), request_id=asked.run_id)
    assert turn.receipt is not None, "it was submitted"
    return _run(key, turn.id, asked, turn.receipt.seq)


async def _resume(
    access: Access, caller: Caller, key: ThreadKey, asked: RunAgentInput, entries: list[ResumeEntry]
) -> Run:
    if len(entries) > RESUMED_MAX:
        raise InvalidInput(f"a run is resumed with {RESUMED_MAX} answers at most, and not with {len(entries):,}")
    head = (await Thread(access, key).status()).seq
    ignored: list[Mapping[str, Any]] = []
    decided: list[tuple[Question, Decision]] = []
    for entry in entries:
        question = await access.backend.interaction(entry.interrupt_id)
        if question is None or question.key != key:
            ignored.append(_ignored(entry.interrupt_id, "unknown_interaction", "this thread was never asked it"))
            continue
        chosen = decision(question, entry)
        if isinstance(chosen, Settlement):
            caller.needs(NEEDED_ROLE[Reconcile])
        decided.append((question, chosen))
    if not decided:
        raise NotFound("question", entries[0].interrupt_id)
    turn = Turn(access, key, decided[0][0].turn_id)
    receipts = await _steer(access, turn, History(access.backend, key, turn.id, head), asked)
    for question, chosen in decided:
        request_id = _request_id(asked.run_id, question.interaction_id)
        receipt = await _carry_out(Turn(access, key, question.turn_id), question, chosen, request_id)
        if receipt.status != "rejected":
            receipts.append(receipt)
        elif receipt.code in MOOT:
            ignored.append(_ignored(question.interaction_id, receipt.code, receipt.reason or ""))
        else:
            raise CommandRejected(receipt, key)
    return _run(key, turn.id, asked, await _before(access, turn, receipts, head), tuple(ignored))


async def _steer(access: Access, turn: Turn, history: History, asked: RunAgentInput) -> list[Receipt]:
    """A message that comes along with answers and that the thread does not have yet joins the turn.

    Without one what the front end shows does, if that is something else than the model was told last.
    """
    newest, context = asked.messages[-1] if asked.messages else None, asked.context or ()
    if isinstance(newest, UserMessage) and newest.id not in await history.names():
        message = as_input(newest, context)
        receipt = await turn.steer(message, request_id=_request_id(asked.run_id, "message"), check=False)
    elif context and not are_shown(context, await history.messages()):
        request_id, principal, _ = access.said({"request_id": _request_id(asked.run_id, "context")})
        told = as_surroundings(context)
        command = Steer(request_id=request_id, principal=principal, turn_id=turn.id, message=told)
        receipt = await access.command(turn.key, command, check=False)
    else:
        return []
    return [] if receipt.status == "rejected" else [receipt]


async def _carry_out(turn: Turn, question: Question, chosen: Decision, request_id: str) -> Receipt:
    match chosen:
        case Response():
            return await turn.respond(
                question.interaction_id, chosen.resolution, chosen.answer, request_id=request_id, check=False
            )
        case Settlement():
            return await turn.reconcile(
                chosen.call_id, chosen.outcome, chosen.output, reason=chosen.reason, request_id=request_id, check=False
            )
        case Abandonment():
            return await turn.cancel(reason=chosen.reason, request_id=request_id, check=False)


async def _before(access: Access, turn: Turn, receipts: list[Receipt], head: int) -> int:
    """The place before the first entry of these commands, which is the same when they are repeated."""
    firsts = [
        await access.backend.turn_entry(turn.key, turn.id, entry_ids.command(receipt.request_id, 0))
        for receipt in receipts
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


def _ignored(interaction_id: str, code: str, reason: str) -> Mapping[str, Any]:
    return {"interruptId": interaction_id, "code": code, "reason": reason}
