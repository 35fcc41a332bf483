"""One transaction on a thread: settle, decide, advance, append.

Rule: everything is read under the head's lock. What `settle` finds is kept even when the command is
rejected; the command itself then changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from turnwright.journal.actions import Action, Stop
from turnwright.journal.advance import Advanced, advance, fold_drafts
from turnwright.journal.agent_state import AgentState
from turnwright.journal.budgets import NOTHING
from turnwright.journal.commands import (
    CancelThread,
    ChangeState,
    Claiming,
    ClaimRun,
    ClientCommand,
    CloseThread,
    CompactContext,
    CompactThread,
    FinishTool,
    ImportThread,
    ListTools,
    Reconcile,
    Rejection,
    Respond,
    RewindThread,
    RunCommand,
    Testimony,
    TurnCommand,
    UpdateState,
)
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.decide import decide
from turnwright.journal.decide.compaction import compaction_entry_id
from turnwright.journal.decide.thread_rules import QUEUE_TURNS_MAX
from turnwright.journal.entries import Draft, Entry, ModelLate, ToolLate
from turnwright.journal.facts import Facts
from turnwright.journal.script import Liveness, Script, find_dead, first
from turnwright.journal.settle import settle
from turnwright.journal.stalls import CLOCK_SET_BACK_US, has_work
from turnwright.journal.transact.ahead import Ahead, confirmed
from turnwright.journal.transact.appending import append_drafts, check_media
from turnwright.journal.transact.bases import Loaded, hash_at, load_state, note_rewind
from turnwright.journal.transact.deadlines import note_deadline, note_look
from turnwright.journal.transact.deltas import forget_deltas
from turnwright.journal.transact.interactions import find_question, project_interactions, read_asked
from turnwright.journal.transact.locking import Locked
from turnwright.journal.transact.posting import post
from turnwright.journal.transact.rows import Place, ThreadRow, is_due
from turnwright.journal.transact.schedules import project_ticks
from turnwright.journal.transact.spending import Others, lock_others, note_spent
from turnwright.journal.transact.turns import find_turn, front_turn, project_turns, queued_turns
from turnwright.journal.turn_status import TurnStatus

DOOMED_TURNS_MAX = 100
QUEUE_TURNS_READ_MAX = QUEUE_TURNS_MAX + 1  # a retried turn stands before a full queue


@dataclass(frozen=True, slots=True)
class Terms:
    """How the shell judges who is gone. `once_silence_s`: silence after which a `once` call is given up."""

    presence: str | None = None
    once_silence_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a transaction did: the rejection if any, the entries written, the control, and what is next.

    `turns`: the rows of the turns that changed, and of the one the command named.
    """

    rejection: Rejection | None
    entries: tuple[Entry, ...]
    control: ThreadControl
    turns: dict[str, TurnStatus]
    action: Action
    thread_id: int
    now_us: int
    checkpoint_due: bool = False


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is to be committed, in order, and what it follows from."""

    rejection: Rejection | None
    drafts: list[Draft]
    advanced: Advanced
    facts: Facts
    others: Others | None
    blobs: Mapping[str, bytes]
    rewound: Loaded | None


def run_thread(
    locked: Locked,
    command: ClientCommand | RunCommand,
    terms: Terms,
    base: AgentState | None = None,
    ahead: Ahead | None = None,
) -> Script[Outcome]:
    """Carry out a command on a locked thread; `base` is a state of it that the caller knows already.

    `ahead`: what a rewind is to go on with.

    Raises:
        InvalidInput: media in the command refer to bytes that are nowhere.
        Outdated: what it is to go on with is to be read first.
    """
    row, session = locked.row, locked.session.control
    others = yield from lock_others(row, session)
    facts = yield from _facts(locked, command, terms, base, others)
    facts, rewound = yield from _with_base(row, facts, command, ahead)
    settled = settle(row.control, session, facts)
    control = fold_drafts(row.control, settled, facts.now_us)
    facts = facts.after(draft.at(row.seq + n, facts.now_us) for n, draft in enumerate(settled, start=1))
    decision = decide(control, session, facts, command)
    rejection = decision if isinstance(decision, Rejection) else None
    drafts = [] if isinstance(decision, Rejection) else decision
    drafts = yield from _without_repeats(row, drafts)
    blobs = command.blobs if drafts and isinstance(command, Testimony | ImportThread) else {}
    yield from check_media(row.key.session_key, row.session_id, tuple(draft.payload for draft in drafts), blobs)
    control = fold_drafts(control, drafts, facts.now_us)
    advanced = _advance(control, session, facts, command, rejection)
    yield from forget_deltas(row.id, command, settled)
    judged = _Judged(rejection, [*settled, *drafts, *advanced.drafts], advanced, facts, others, blobs, rewound)
    return (yield from _commit(row, judged))


def _advance(
    control: ThreadControl,
    session: SessionControl,
    facts: Facts,
    command: ClientCommand | RunCommand,
    rejection: Rejection | None,
) -> Advanced:
    if rejection is not None and rejection.code == "superseded":
        return Advanced((), control, Stop("superseded"))
    turn_id = _whose_turn(control, command)
    if turn_id is None:
        return Advanced((), control, Stop("not_head"))
    return advance(control, session, facts, turn_id, authority=_authority(control, command))


def _whose_turn(control: ThreadControl, command: ClientCommand | RunCommand) -> str | None:
    if isinstance(command, RunCommand):
        return command.turn_id
    return None if control.active is None else control.active.turn_id


def _authority(control: ThreadControl, command: ClientCommand | RunCommand) -> bool:
    """Whether the newest run asks, which alone may end a turn."""
    if isinstance(command, ClaimRun):
        return control.run == command.run
    return getattr(command, "epoch", None) == control.epoch


def _commit(row: ThreadRow, judged: _Judged) -> Script[Outcome]:
    facts, drafts, control = judged.facts, judged.drafts, judged.advanced.control
    entries: tuple[Entry, ...] = ()
    turns = {} if facts.turn is None else {facts.turn.turn_id: facts.turn}
    if drafts:
        numbered = tuple(d.at(row.seq + n, facts.now_us) for n, d in enumerate(drafts, start=1))
        changed = yield from project_turns(row, numbered)
        turns |= changed
        yield from post(row, numbered, changed, facts.now_us)
        yield from project_interactions(row, numbered)
        runnable = yield from _runnable(row, control, facts)
        yield from note_deadline(row, control)
        entries = yield from append_drafts(
            row, drafts, control, facts.now_us, runnable=runnable, blobs=judged.blobs, turns=turns
        )
        yield from note_rewind(row, entries, judged.rewound)
        yield from project_ticks(row, entries)
    else:
        yield from note_look(row)
    yield from note_spent(row, judged.others, control, judged.advanced.action, facts.now_us)
    due = bool(drafts) and is_due(row.tail_bytes, row.checkpoint_bytes)
    action = judged.advanced.action
    return Outcome(judged.rejection, entries, control, turns, action, row.id, facts.now_us, checkpoint_due=due)


def _runnable(row: ThreadRow, control: ThreadControl, facts: Facts) -> Script[bool]:
    front = None
    if control.active is None and control.queued:
        front = yield from front_turn(row.id)
    return has_work(control, replace(facts, front=front))


def _facts(
    locked: Locked,
    command: ClientCommand | RunCommand,
    terms: Terms,
    base: AgentState | None,
    others: Others | None,
) -> Script[Facts]:
    row, control, active = locked.row, locked.row.control, locked.row.control.active
    known = yield from find_dead(_in_question(control, command, terms))
    turn = front = None
    if isinstance(command, TurnCommand) and control.turn(command.turn_id) is None:
        turn = yield from find_turn(command.turn_id, row.id)
    if active is None and control.queued:
        front = yield from front_turn(row.id)
    queue = yield from _queue(row, locked.session.control, command)
    state = (yield from load_state(row.key, base, row.seq)) if _changes_state(command) else None
    facts = Facts(
        now_us=_time_us(locked),
        dead=_in_state(known, "dead"),
        lapsed=_in_state(known, "lapsed"),
        expired=frozenset(
            p for p, at in known.items() if at.state == "lapsed" and (at.beat_age_s or 0) >= terms.once_silence_s
        ),
        turn=turn,
        front=front,
        queue=queue,
        state=state,
        elsewhere=None if others is None else others.used,
        reserved=NOTHING if others is None else others.reserved,
    )
    return (yield from _with_what_it_is_about(row, facts, command))


def _with_what_it_is_about(row: ThreadRow, facts: Facts, command: ClientCommand | RunCommand) -> Script[Facts]:
    match command:
        case Respond() | Reconcile():
            return (yield from _with_question(row, facts, command))
        case CompactContext(turn_id=turn_id):
            name = compaction_entry_id(command)
            known = yield from first("find_entry", row.id, turn_id, name, name)
            return replace(facts, repeated=known is not None)
        case _:
            return facts


def _time_us(locked: Locked) -> int:
    """The store's time, but a thread's never goes back.

    When the store's clock was set back nobody knows how long ago the last entry was. The patience that a provider asked
    for is over then, instead of lasting until the clock has caught up.
    """
    row = locked.row
    if row.at_us - locked.now_us <= CLOCK_SET_BACK_US:
        return max(locked.now_us, row.at_us)
    active = row.control.active
    model = None if active is None else active.model
    return row.at_us if model is None else max(row.at_us, model.retry_at_us)


def _with_base(
    row: ThreadRow, facts: Facts, command: ClientCommand | RunCommand, ahead: Ahead | None
) -> Script[tuple[Facts, Loaded | None]]:
    """With the state that the thread is to go on with, where it is to go on with an earlier one."""
    if not isinstance(command, RewindThread) or command.expected_seq != row.seq:
        return facts, None
    found = yield from hash_at(Place(row.id, row.seq, row.total_bytes), command.to_seq)
    if found is None:
        return facts, None
    loaded = yield from confirmed(row, ahead)
    return replace(facts, base=loaded.state, base_hash=found), loaded


def _with_question(row: ThreadRow, facts: Facts, command: Respond | Reconcile) -> Script[Facts]:
    """With what is known of the question that is answered."""
    found = yield from find_question(row.id, command)
    if found is None:
        return facts
    asked = yield from read_asked(row.key, row.id, found.asked_seq)
    return replace(facts, question=found, asked=asked)


def _changes_state(command: ClientCommand | RunCommand) -> bool:
    """Whether the decision depends on the agent's state, which costs a read."""
    return isinstance(
        command, ChangeState | UpdateState | CompactContext | CompactThread | ListTools | RewindThread
    ) or (isinstance(command, FinishTool) and bool(command.ops))


def _in_question(control: ThreadControl, command: ClientCommand | RunCommand, terms: Terms) -> frozenset[str]:
    """Whose life the decision depends on: who has claimed something, and who wants to.

    We know that we live, but not that others do not take us for dead since our lock was lost: what is claimed
    then would be given up at once, and a `once` call become an unknown outcome.
    """
    claimants = set() if control.active is None else {claim.presence for claim in control.active.claims}
    claimants.discard(terms.presence or "")
    return frozenset(claimants | {command.presence} if isinstance(command, Claiming) else claimants)


def _in_state(known: object, state: str) -> frozenset[str]:
    liveness: dict[str, Liveness] = dict(known)  # type: ignore[call-overload]
    return frozenset(presence for presence, at in liveness.items() if at.state == state)


def _queue(
    row: ThreadRow, session: SessionControl, command: ClientCommand | RunCommand
) -> Script[tuple[TurnStatus, ...]]:
    if not row.control.queued:
        return ()
    if isinstance(command, CancelThread | CloseThread):
        return (yield from queued_turns(row.id, None, QUEUE_TURNS_READ_MAX))
    if session.cancelled_seq:
        return (yield from queued_turns(row.id, session.cancelled_seq, DOOMED_TURNS_MAX))
    return ()


def _without_repeats(row: ThreadRow, drafts: list[Draft]) -> Script[list[Draft]]:
    """Without late testimony that is in the journal already: its first commit's answer was lost."""
    if not any(isinstance(draft.payload, ModelLate | ToolLate) for draft in drafts):
        return drafts
    kept: list[Draft] = []
    for draft in drafts:
        stem = draft.entry_id.rsplit("/", 1)[0]
        known = yield from first("find_entry", row.id, draft.turn_id, draft.entry_id, _applied_id(draft, stem))
        if known is None:
            kept.append(draft)
    return kept


def _applied_id(draft: Draft, stem: str) -> str:
    if isinstance(draft.payload, ToolLate):
        return f"{stem}/{'deferred' if draft.payload.outcome == 'deferred' else 'finished'}"
    what = draft.payload.what if isinstance(draft.payload, ModelLate) else "responded"
    return f"{stem}/{what}"
