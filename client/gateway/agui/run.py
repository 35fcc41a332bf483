"""A run of an AG-UI front end: which turn it is about, and from where in the thread it is told.

Rule: a run is a turn's, by its id, so the same run asked for again is the same turn. What a front end sends along of
the conversation is its copy: only the newest message of the person is taken in, with the context that came along, or
what it resumes with, all of that in one transaction or none. What a child asked is answered in a transaction of the
child's, before.
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
from turnwright.journal.store_children import turns_above

RESUMED_MAX = 100
# The question is settled, or its turn has moved on: the run is told so, and goes on with what is so now.
MOOT = frozenset({"already_answered", "expired", "not_open", "not_unknown", "unknown_interaction", "wrong_phase"})
NEVER_ASKED = {"code": "unknown_interaction", "reason": "no turn of this thread, and no child of one, asked it"}


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


@dataclass(frozen=True, slots=True)
class _Said:
    """A command that a run comes to, for its own thread or a child's. `name`: what the front end calls it by."""

    key: ThreadKey
    command: TurnCommand
    name: Mapping[str, str]


async def begin(desk: Desk, caller: Caller, key: ThreadKey, asked: RunAgentInput) -> Run:
    """Take in what a front end sent: submit its message as a turn, or answer with what it resumes.

    Raises:
        InvalidInput: there is no message of the person, or it is empty.
        CommandRejected: the turn cannot be queued, or an answer is not taken; nothing else of the run's turn is, then.
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
    answers: list[_Said] = []
    turn_id = ""
    for entry in entries:
        question = await direct.interaction(entry.interrupt_id)
        asker = None if question is None else await _asker(direct, key, question)
        if question is None or asker is None:
            ignored.append({"interruptId": entry.interrupt_id, **NEVER_ASKED})
            continue
        chosen = decision(question, entry)
        if isinstance(chosen, Settlement):
            caller.needs(NEEDED_ROLE[Reconcile])
        turn_id = turn_id or asker
        answers.append(_answer(caller, asked.run_id, question, chosen))
    if not answers:
        raise NotFound("question", entries[0].interrupt_id)
    steering = await _steering(caller, turn_id, History(direct, key, turn_id, head), asked)
    done = await _carry_out(direct, key, [*steering, *answers])
    ignored += [
        {**said.name, "code": receipt.code, "reason": receipt.reason}
        for said, receipt in done
        if receipt.status == "rejected"
    ]
    return _run(key, turn_id, asked, await _before(direct, key, done, head), tuple(ignored))


async def _asker(direct: Direct, key: ThreadKey, question: Question) -> str | None:
    """The thread's turn that asked, or that waits for the child that did; None: there is none."""
    if question.key == key:
        return question.turn_id
    async for above, parent in turns_above(direct.journal, question.key, question.turn_id):
        if parent.detached:
            return None
        if above == key:
            return parent.turn_id
    return None


async def _carry_out(direct: Direct, key: ThreadKey, asked: list[_Said]) -> list[tuple[_Said, Receipt]]:
    """What each came to. Those of a thread are one transaction; the run's own come last, if no other is refused."""
    done: list[tuple[_Said, Receipt]] = []
    for of in sorted({said.key for said in asked}, key=lambda of: (of == key, of.canonical)):
        own = [said for said in asked if said.key == of]
        receipts = await direct.execute_together(of, [said.command for said in own], MOOT)
        done += zip(own, receipts, strict=True)
    return done


async def _steering(caller: Caller, turn_id: str, history: History, asked: RunAgentInput) -> list[_Said]:
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
    steer = Steer(request_id=request_id, principal=caller.principal, turn_id=turn_id, message=message)
    return [_Said(history.key, steer, {"messageId": name_of(message)})]


def _answer(caller: Caller, run_id: str, question: Question, chosen: Decision) -> _Said:
    said: dict[str, Any] = {
        "request_id": _request_id(run_id, question.interaction_id),
        "principal": caller.principal,
        "turn_id": question.turn_id,
    }
    command: TurnCommand
    match chosen:
        case Response(resolution=resolution, answer=answer):
            command = Respond(**said, interaction_id=question.interaction_id, resolution=resolution, answer=answer)
        case Settlement(call_id=call_id, outcome=outcome, output=output, reason=reason):
            command = Reconcile(**said, call_id=call_id, outcome=outcome, output=(Text(text=output),), reason=reason)
        case Abandonment(reason=reason):
            command = CancelTurn(**said, reason=reason)
    return _Said(question.key, command, {"interruptId": question.interaction_id})


async def _before(direct: Direct, key: ThreadKey, done: Iterable[tuple[_Said, Receipt]], head: int) -> int:
    """The place before the first entry of these commands, which is the same when they are repeated."""
    places = [head]
    for said, receipt in done:
        if receipt.status == "rejected":
            continue
        entry_id = entry_ids.command(receipt.request_id, 0)
        entry = await direct.turn_entry(said.key, receipt.turn_id or "", entry_id)
        if entry is not None:
            places.append(entry.seq - 1 if said.key == key else await _reached(direct, key, entry.position, head))
    return min(places)


async def _reached(direct: Direct, key: ThreadKey, position: int, head: int) -> int:
    """How far the thread was when something was committed at a position of its session, by halving what is possible."""
    known, too_far = 0, head + 1
    while too_far - known > 1:
        middle = (known + too_far) // 2
        [entry] = await direct.entries(key, middle - 1, 1)
        if entry.position < position:
            known = middle
        else:
            too_far = middle
    return known


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
