"""A world for random histories: a thread, its auditor, and everything anybody ever did to it.

Rule: `do` carries out one command and checks everything that must hold after every command.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.unit.journal.auditor import Auditor
from tests.unit.journal.thread_machine import Step, ThreadMachine, begins_at, project
from turnwright.journal.agent_state import AgentState, empty_state
from turnwright.journal.canonical import encode
from turnwright.journal.codec import decode
from turnwright.journal.commands import (
    CancelThread,
    CancelTurn,
    ClientCommand,
    CreateSession,
    LoggedCommand,
    RunCommand,
    SetPermissions,
    StartTool,
)
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.entries import Draft, Entry, ModelRequested, ToolStarted
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.evolve_state import evolve_state
from turnwright.journal.messages import Frozen, Message
from turnwright.journal.posts import posts_of
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.view import paired, request_messages

CONTROL_BYTES_MAX = 64 * 1024
WITHOUT_A_RUN = {
    "turn.paused", "turn.cancelled", "turn.continued", "tool.finished", "interaction.resolved", "input.discarded",
}  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """An attempt that was claimed at some time, and may report at any time since."""

    turn_id: str
    epoch: int
    step: int
    ordinal: int
    presence: str
    call_id: str | None = None


@dataclass(frozen=True)
class Checkpoint:
    """What was true at a seq, as it would be stored."""

    seq: int
    control: bytes
    state: bytes
    turns: dict[str, TurnStatus]


@dataclass
class World:
    """The thread under test and the memory of what happened to it."""

    machine: ThreadMachine = field(default_factory=ThreadMachine)
    auditor: Auditor = field(default_factory=Auditor)
    stored: list[Entry] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    said: list[tuple[ClientCommand | RunCommand, bool]] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine.run_session(CreateSession(request_id="create"))
        self.checkpoint()

    def do(self, command: ClientCommand | RunCommand) -> Step:
        """Carry out a command and check what must hold."""
        before = self.machine.control
        self.auditor.ledger.elsewhere = self.machine.elsewhere + self.machine.reserved
        step = self.machine.run(command)
        self.said.append((command, step.accepted))
        for entry in step.entries:
            self._audit(entry)
        self.auditor.family.settle(posts_of(self.machine.key, before, step.entries, self.machine.turns))
        self._check_step(command, step, before)
        self._check_now()
        return step

    def do_session(self, command: LoggedCommand) -> bool:
        """Carry out a command on the session; whether it was accepted."""
        return self.machine.run_session(command) is None

    def checkpoint(self) -> None:
        """Remember what is true now."""
        machine = self.machine
        stored = (dump(machine.control), dump(machine.state))
        self.checkpoints.append(Checkpoint(machine.control.seq, *stored, dict(machine.turns)))

    def check_folds(self, since: Checkpoint) -> None:
        """What is true now follows from a checkpoint and the stored bytes of the entries after it."""
        machine, tail = self.machine, self.stored[since.seq :]
        control = ThreadControl.model_validate_json(since.control)
        for entry in tail:
            control = evolve_control(control, entry)
        assert control == machine.control
        state = AgentState.model_validate_json(since.state)
        states = [*machine.states[: since.seq], state]
        for entry in tail:
            states.append(evolve_state(states[begins_at(entry)], entry))
        assert states[-1] == machine.state
        turns = dict(since.turns)
        for entry in tail:
            project(turns, entry)
        assert turns == machine.turns

    def check_everything(self) -> None:
        """The checks that cost a pass over the whole history."""
        nothing = Checkpoint(0, dump(ThreadControl()), dump(empty_state(self.machine.key)), {})
        self.check_folds(nothing)
        session = SessionControl()
        for entry in self.machine.session_entries:
            session = evolve_session(session, entry)
        assert session == self.machine.session
        ids = [entry.entry_id for entry in self.machine.session_entries]
        assert len(set(ids)) == len(ids)

    def _audit(self, entry: Entry) -> None:
        self.auditor.read(entry, self.machine.session)
        self.stored.append(stored(entry))
        payload = entry.payload
        if isinstance(payload, ModelRequested | ToolStarted):
            call_id = payload.call_id if isinstance(payload, ToolStarted) else None
            attempt = (entry.turn_id or "", entry.epoch or 0, entry.step or 0, payload.ordinal, payload.presence)
            self.attempts.append(Attempt(*attempt, call_id))

    def _check_step(self, command: ClientCommand | RunCommand, step: Step, before: ThreadControl) -> None:
        if step.rejection is not None:
            assert step.decided == ()
        elif isinstance(command, ClientCommand) and not step.duplicate:
            no_effect = isinstance(command, CancelTurn | CancelThread) and _cancelling(before)
            assert step.decided or step.settled or no_effect, "an accepted command left no trace"
        if not step.authority:
            assert {entry.type for entry in step.advanced} <= WITHOUT_A_RUN
        if isinstance(command, StartTool) and "tool.started" in [entry.type for entry in step.decided]:
            assert len(step.decided) == 1
            call = self.auditor.turns[command.turn_id].calls[command.call_id]
            may_start = self.auditor.guard.may_start(command.call_id, call.name, call.effect, command.arguments)
            assert may_start, "a call started that nobody allowed"
        if isinstance(command, SetPermissions) and step.decided and carried_on(before, self.machine.session):
            assert not looser(before.permissions, self.machine.control.permissions), "loosened under a run"

    def _check_now(self) -> None:
        machine, audit = self.machine, self.auditor
        active = machine.control.active
        assert [t for t, turn in audit.turns.items() if turn.active] == ([active.turn_id] if active else [])
        assert {t: (s.phase, s.pause, s.revision) for t, s in machine.turns.items()} == {
            t: (a.phase, a.pause, a.revision) for t, a in audit.turns.items()
        }
        assert machine.control.queued == len(machine.queue)
        assert machine.control.injected == len(audit.injected)
        assert machine.control.used.model_dump() == audit.ledger.thread
        assert machine.control.permissions == machine.state.permissions == audit.guard.permissions
        assert machine.control.planning == machine.state.plan.active == audit.guard.planning
        asked = {q for turn in audit.turns.values() for q in turn.questions}
        assert {q for q, row in machine.questions.items() if row.state == "open"} == asked
        if active is not None:
            row = machine.turns[active.turn_id]
            assert (active.status.phase, active.status.pause, active.status.revision) == (
                row.phase,
                row.pause,
                row.revision,
            )
            assert active.inputs > 0 or not audit.turns[active.turn_id].pending
            assert {q.interaction_id for q in active.interactions} == asked
            assert active.used.model_dump() == audit.ledger.turn
            assert active.by_children.model_dump() == audit.ledger.children
            assert {child.turn_id for child in active.children} == set(audit.family.open)
        for turn_id, turn in audit.turns.items():
            forsaken = turn.phase in ("completed", "cancelled") or (
                turn.phase == "failed" and turn_id != audit.retriable
            )
            assert not (forsaken and turn.pending), "input of an ended turn is neither applied nor discarded"
        unseen = set(audit.injected).union(*(turn.pending for turn in audit.turns.values()))
        assert {item.seq for item in machine.state.inbox} == unseen
        body = dump(machine.control)
        assert ThreadControl.model_validate_json(body) == machine.control
        assert len(body) <= CONTROL_BYTES_MAX
        check_pairs(paired(machine.state.context))


def carried_on(control: ThreadControl, session: SessionControl) -> bool:
    """Whether a turn was under way that nothing held."""
    active = control.active
    held = control.pause.on or session.pause.on or (active is not None and active.status.pause != "none")
    return active is not None and active.status.phase == "running" and not held


def looser(before: PermissionState, after: PermissionState) -> bool:
    """Whether some rule lets more run than before."""

    def rules(state: PermissionState, kind: str) -> set[tuple[str, str | None]]:
        return {(rule.tool, rule.pattern) for rule in getattr(state, kind)}

    return not (
        rules(after, "allow") <= rules(before, "allow")
        and rules(after, "ask") >= rules(before, "ask")
        and rules(after, "deny") >= rules(before, "deny")
    )


def _cancelling(control: ThreadControl) -> bool:
    return control.active is not None and control.active.status.phase == "cancelling"


def dump(value: Frozen) -> bytes:
    """As a store writes it."""
    return encode(value.model_dump(mode="json", exclude_defaults=True))


def stored(entry: Draft) -> Entry:
    """The entry as it comes back from a store."""
    assert isinstance(entry, Entry)
    payload = decode(entry.type, entry.payload.VERSION, entry.payload.body(), required=True, thread="t", seq=entry.seq)
    assert payload == entry.payload, "what is folded is not what is stored"
    return Entry(
        entry.entry_id, payload, entry.turn_id, entry.run, entry.step, entry.epoch, seq=entry.seq, at_us=entry.at_us
    )


def check_pairs(messages: tuple[Message, ...]) -> None:
    """Every call has exactly one result right behind it, and every result a call before it."""
    calls: list[str] = []
    results: list[str] = []
    for message in messages:
        assert message.blocks, "an empty message"
        for result in message.results:
            assert result.id in calls
            results.append(result.id)
        assert not message.calls or sorted(calls) == sorted(results), "a call is unanswered when the next message comes"
        calls += [call.id for call in message.calls]
    assert sorted(calls) == sorted(results)
    assert len(set(calls)) == len(calls)


def check_request(state: AgentState) -> None:
    """The next request is valid."""
    check_pairs(request_messages(state))
