"""An auditor reads a thread's entries one by one and knows the rules by itself.

Rule: it shares nothing with the code that folds and decides. It keeps the plainest model of a thread that can
say of each entry whether it may stand there, and it raises at the first that may not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.unit.journal.audit_children import Family
from tests.unit.journal.audit_guard import Guard
from tests.unit.journal.audit_ledger import Ledger
from tests.unit.journal.audit_turns import Call, Turn
from turnwright.journal import entries as e
from turnwright.journal.control import SessionControl
from turnwright.journal.entries import Entry
from turnwright.journal.messages import ToolCall

# From which phases and pauses a status entry may come, and where it leads. `*`: as before.
LIVE = ("queued", "running", "waiting")
MOVES: dict[str, tuple[tuple[str, ...], tuple[str, ...], str, str]] = {
    "turn.started": (("queued",), ("none",), "running", "none"),
    "turn.pause_requested": (("running",), ("none",), "*", "requested"),
    "turn.paused": (LIVE, ("none", "requested"), "*", "effective"),
    "turn.resumed": (LIVE, ("requested", "effective"), "*", "none"),
    "turn.waiting": (("running",), ("none",), "waiting", "*"),
    "turn.continued": (("waiting",), ("none",), "running", "*"),
    "turn.cancel_requested": (("running", "waiting"), ("none", "requested", "effective"), "cancelling", "none"),
    "turn.cancelled": (("queued", "cancelling"), ("none", "effective"), "cancelled", "none"),
    "turn.completed": (("running",), ("none", "requested", "effective"), "completed", "none"),
    "turn.failed": (("running", "waiting"), ("none", "requested", "effective"), "failed", "none"),
    "turn.retried": (("failed",), ("none",), "queued", "none"),
}
ENDED = frozenset({"completed", "failed", "cancelled"})
ATTEMPT_ONLY = frozenset({"lost", "drained"})


@dataclass
class Auditor:
    """What has been read, and whether each of it may stand where it stands.

    `settled` says of every question that is not open any more how it ended, and of which turn it was, `reconciled` how
    the last one about a call's outcome did; `scopes` and `over` say of questions about budgets whose it was and what
    was used up; `before` says what was injected after each entry.
    """

    turns: dict[str, Turn] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    seq: int = 0
    at_us: int = 0
    epoch: int = 0
    paused: bool = False
    closed: bool = False
    opened: bool = False
    injected: set[int] = field(default_factory=set)
    retriable: str | None = None
    before: dict[int, frozenset[int]] = field(default_factory=dict)
    session: SessionControl = field(default_factory=SessionControl)
    settled: dict[str, tuple[str, str]] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    reconciled: dict[str, str] = field(default_factory=dict)
    scopes: dict[str, str] = field(default_factory=dict)
    over: dict[str, tuple[str, ...]] = field(default_factory=dict)
    guard: Guard = field(default_factory=Guard)
    ledger: Ledger = field(default_factory=Ledger)
    family: Family = field(default_factory=Family)

    def read(self, entry: Entry, session: SessionControl) -> None:
        """Check one entry against everything before it, and remember it."""
        self.session = session
        assert entry.seq == self.seq + 1
        assert entry.at_us >= self.at_us, "time ran backwards"
        assert entry.entry_id not in self.ids, f"{entry.entry_id} stands there twice"
        self.ids.add(entry.entry_id)
        self.seq, self.at_us = entry.seq, entry.at_us
        self.ledger.read(entry, session)
        self.family.read(entry, self.ledger)
        if entry.type in MOVES:
            self._moved(entry)
        rule = _RULES.get(type(entry.payload))
        if rule is not None:
            rule(self, entry, entry.payload)
        self.guard.read(entry)
        self.before[entry.seq] = frozenset(self.injected)
        self.ledger.timed(entry, busy=self.active is not None and self.active.busy)
        assert sum(turn.active for turn in self.turns.values()) <= 1, "two turns are active"

    @property
    def active(self) -> Turn | None:
        return next((turn for turn in self.turns.values() if turn.active), None)

    @property
    def held(self) -> bool:
        return self.paused or self.session.pause.on

    def turn(self, entry: Entry) -> Turn:
        assert entry.turn_id is not None, f"{entry.type} names no turn"
        return self.turns[entry.turn_id]

    def _moved(self, entry: Entry) -> None:
        turn = self.turn(entry)
        phases, pauses, phase, pause = MOVES[entry.type]
        assert turn.phase in phases, f"{entry.type} in phase {turn.phase}"
        assert turn.pause in pauses, f"{entry.type} under pause {turn.pause}"
        assert getattr(entry.payload, "revision") == turn.revision + 1  # noqa: B009 - every one of them has it
        turn.revision += 1
        turn.phase = turn.phase if phase == "*" else phase
        turn.pause = turn.pause if pause == "*" else pause
        if entry.type == "turn.waiting":
            assert not turn.busy, "waiting while an operation runs"
            assert turn.questions or self.family.open, "waiting for nothing"
        if entry.type in ("turn.paused", "turn.cancelled"):
            assert not turn.busy, f"{entry.type} while an operation runs"
        if turn.phase in ENDED:
            self._ended(entry, turn)

    def _ended(self, entry: Entry, turn: Turn) -> None:
        assert not turn.busy, "the turn ended while an operation runs"
        assert not [c for c in turn.calls.values() if c.open], "a call has no result"
        assert not turn.questions, "a question is open"
        assert not (turn.cancel_requested and turn.phase != "cancelled"), "a committed cancel was lost"
        assert turn.phase != "completed" or not turn.pending, "a steer was lost"
        turn.model_open, turn.cancel_requested = False, False
        if turn.phase == "failed":
            self.retriable = entry.turn_id


Rule = Callable[[Auditor, Entry, Any], None]


def _queued(audit: Auditor, entry: Entry, _: e.TurnQueued) -> None:
    assert entry.turn_id not in audit.turns
    assert not audit.closed
    audit.turns[entry.turn_id or ""] = Turn(pending={entry.seq})


def _started(audit: Auditor, entry: Entry, _: e.TurnStarted) -> None:
    assert not audit.held, "a turn started under a pause"
    before = audit.turns.get(audit.retriable or "")
    assert before is None or not before.pending or audit.retriable == entry.turn_id, "a failed turn's input was lost"
    audit.retriable = None


def _retried(audit: Auditor, entry: Entry, _: e.TurnRetried) -> None:
    assert audit.retriable == entry.turn_id, "a later turn had started"
    audit.retriable = None


def _cleared(audit: Auditor, _: Entry, __: e.ContextCleared) -> None:
    audit.retriable = None


def _rewound(audit: Auditor, _: Entry, payload: e.ThreadRewound) -> None:
    assert all(turn.phase in ENDED for turn in audit.turns.values()), "the thread was rewound under a turn"
    audit.retriable, audit.injected = None, set(audit.before[payload.to_seq])


def _opened(audit: Auditor, _: Entry, __: e.ThreadOpened) -> None:
    assert not audit.opened, "the thread was opened twice"
    audit.opened = True


def _claimed(audit: Auditor, entry: Entry, payload: e.RunClaimed) -> None:
    assert audit.opened
    assert audit.turn(entry).active
    assert (entry.epoch, payload.start_epoch) == (audit.epoch + 1, audit.epoch)
    audit.epoch += 1


def _cancel_requested(audit: Auditor, entry: Entry, _: e.TurnCancelRequested) -> None:
    audit.turn(entry).cancel_requested = True


def _steered(audit: Auditor, entry: Entry, _: e.InputSteered) -> None:
    assert audit.turn(entry).phase in LIVE
    audit.turn(entry).pending.add(entry.seq)


def _applied(audit: Auditor, entry: Entry, payload: e.InputApplied) -> None:
    turn = audit.turn(entry)
    turn.pending -= set(range(payload.through_seq + 1))
    audit.injected -= set(range(payload.through_seq + 1))
    assert not turn.pending, "input was left out of the request"


def _discarded(audit: Auditor, entry: Entry, payload: e.InputDiscarded) -> None:
    assert payload.why
    audit.turn(entry).pending -= set(range(payload.through_seq + 1))


def _may_start(audit: Auditor, entry: Entry) -> Turn:
    turn = audit.turn(entry)
    assert (turn.phase, turn.pause) == ("running", "none"), "an operation started in a turn that may start none"
    assert not audit.held, "an operation started under a pause"
    assert entry.epoch == audit.epoch, "an older run started an operation"
    return turn


def _requested(audit: Auditor, entry: Entry, payload: e.ModelRequested) -> None:
    turn = _may_start(audit, entry)
    assert not [c for c in turn.calls.values() if c.open], "the model is asked while a call has no result"
    assert not turn.questions
    assert not turn.pending, "the model is asked without input that was accepted"
    assert not audit.injected, "the model is asked without material that was injected"
    assert payload.view_seq == entry.seq - 1
    if turn.model_open:
        assert not turn.model_running, "two attempts of one step run"
        assert (entry.step, payload.ordinal) == (turn.step, turn.model_ordinal + 1)
    else:
        assert (entry.step, payload.ordinal) == (turn.step + 1, 1), "steps are numbered without gap or repetition"
    turn.step = entry.step or 0
    turn.model_open, turn.model_ordinal, turn.model_running = True, payload.ordinal, payload.ordinal


def _responded(audit: Auditor, entry: Entry, payload: e.ModelResponded) -> None:
    turn = audit.turn(entry)
    assert turn.model_open
    assert entry.step == turn.step
    turn.model_open, turn.model_running = False, 0
    ids = [block.id for block in payload.blocks if isinstance(block, ToolCall)]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & set(turn.calls), "call ids repeat"


def _model_over(audit: Auditor, entry: Entry, payload: e.ModelFailed | e.ModelInterrupted) -> None:
    turn = audit.turn(entry)
    assert (entry.step, payload.ordinal) == (turn.step, turn.model_running)
    turn.model_running = 0


def _gave_way(audit: Auditor, entry: Entry, _: e.Payload) -> None:
    turn = audit.turn(entry)
    assert turn.model_running, "something gave way without a model call that waits for it"
    assert (turn.phase, entry.step, entry.epoch) == ("running", turn.step, audit.epoch)


def _decided(audit: Auditor, entry: Entry, payload: e.ToolDecided) -> None:
    turn = audit.turn(entry)
    known = turn.calls.get(payload.call_id)
    if known is None:
        turn.calls[payload.call_id] = Call(payload.name, payload.effect, payload.decision)
        return
    assert known.open
    assert not known.running, "a call was decided about while it runs"
    assert not known.deferred or (payload.decision, payload.source) == ("ask", "tool")
    if known.deferred:
        known.deferred, known.again = False, known.again + 1
    asked = [about for kind, about in turn.questions.values() if kind == "approval"]
    assert payload.call_id not in asked, "a call was decided about while its question is open"
    assert (known.decision, payload.decision) != ("allow", "allow"), "a call was allowed twice"
    known.decision = payload.decision


def _tool_started(audit: Auditor, entry: Entry, payload: e.ToolStarted) -> None:
    turn = _may_start(audit, entry)
    call = turn.calls[payload.call_id]
    assert entry.step == turn.step
    assert call.open
    assert not call.running
    assert not call.unknown, "a call of unknown outcome was repeated"
    assert not call.deferred, "a call that waits for its answer was run again"
    assert not [c for c in turn.calls.values() if c.open and c.decision == "ask"], "a sibling still asks"
    assert call.decision == "allow"
    assert payload.ordinal == call.started + 1
    assert payload.key == f"{entry.turn_id}/{payload.call_id}"
    call.started = call.running = payload.ordinal
    assert call.effect != "once" or call.started <= 1 + call.again, "a once call ran twice"


def _tool_finished(audit: Auditor, entry: Entry, payload: e.ToolFinished) -> None:
    turn = audit.turn(entry)
    call = turn.calls[payload.call_id]
    if payload.outcome in ATTEMPT_ONLY:
        assert call.running == payload.ordinal
        call.running, call.unknown = 0, call.effect == "once"
        return
    if payload.outcome == "deferred":
        assert call.running == payload.ordinal
        call.running, call.deferred = 0, True
        return
    call.results += 1
    assert call.results == 1, "a call has two results"
    assert payload.ordinal <= call.started
    call.running, call.unknown = 0, False


def _reconciled(audit: Auditor, entry: Entry, payload: e.ToolReconciled) -> None:
    call = audit.turn(entry).calls[payload.call_id]
    assert call.unknown
    call.unknown = False
    if payload.outcome == "run_again":
        call.again += 1
    else:
        call.results += 1
        assert call.results == 1, "a call has two results"


def _asked(audit: Auditor, entry: Entry, payload: e.InteractionRequested) -> None:
    turn = audit.turn(entry)
    assert turn.active
    assert payload.interaction_id not in turn.questions
    assert payload.interaction_id not in audit.settled, "a question was asked twice"
    turn.questions[payload.interaction_id] = (payload.kind, payload.call_id)
    if payload.again:
        audit.again.add(payload.interaction_id)
    if payload.kind == "budget":
        assert not turn.busy, "a budget asks while an operation runs"
        audit.scopes[payload.interaction_id] = payload.asked["scope"]
        names = ("wall_us" if name == "wall_time_s" else name for name in payload.asked["over"])
        audit.over[payload.interaction_id] = tuple(names)


def _answered(audit: Auditor, entry: Entry, payload: e.InteractionResolved | e.InteractionExpired) -> None:
    kind, call_id = audit.turn(entry).questions.pop(payload.interaction_id)
    ended = "cancelled" if payload.resolution == "cancelled" else "resolved"
    how = "expired" if isinstance(payload, e.InteractionExpired) else ended
    audit.settled[payload.interaction_id] = (how, entry.turn_id or "")
    if payload.interaction_id in audit.again and payload.resolution in ("answer", "decline"):
        call = audit.turn(entry).calls[call_id or ""]
        assert call.deferred
        call.deferred, call.again = False, call.again + 1
    if kind == "unknown_outcome":
        audit.reconciled[call_id or ""] = how


def _thread_paused(audit: Auditor, _: Entry, __: e.ThreadPaused) -> None:
    assert not audit.paused
    audit.paused = True


def _thread_resumed(audit: Auditor, _: Entry, __: e.ThreadResumed) -> None:
    assert audit.paused
    audit.paused = False


def _thread_closed(audit: Auditor, _: Entry, __: e.ThreadClosed) -> None:
    assert not audit.closed
    audit.closed = True


def _injected(audit: Auditor, entry: Entry, _: e.InputInjected) -> None:
    audit.injected.add(entry.seq)


_RULES: dict[type, Rule] = {
    e.TurnQueued: _queued,
    e.TurnStarted: _started,
    e.TurnRetried: _retried,
    e.ContextCleared: _cleared,
    e.ThreadRewound: _rewound,
    e.ThreadOpened: _opened,
    e.RunClaimed: _claimed,
    e.TurnCancelRequested: _cancel_requested,
    e.InputSteered: _steered,
    e.InputInjected: _injected,
    e.InputApplied: _applied,
    e.InputDiscarded: _discarded,
    e.ModelRequested: _requested,
    e.ModelResponded: _responded,
    e.ModelFailed: _model_over,
    e.ModelInterrupted: _model_over,
    e.ContextOffloaded: _gave_way,
    e.ContextCompacted: _gave_way,
    e.ContextCompactionFailed: _gave_way,
    e.ToolDecided: _decided,
    e.ToolStarted: _tool_started,
    e.ToolFinished: _tool_finished,
    e.ToolReconciled: _reconciled,
    e.InteractionRequested: _asked,
    e.InteractionResolved: _answered,
    e.InteractionExpired: _answered,
    e.ThreadPaused: _thread_paused,
    e.ThreadResumed: _thread_resumed,
    e.ThreadClosed: _thread_closed,
}
