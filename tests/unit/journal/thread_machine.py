"""One thread of one session in memory: the transaction of a journal, without a store.

Rule: it adds nothing to what the pure core decides. It folds what is decided, keeps the rows of turns and the
memory of requests, and remembers for each step what it did. What a store does must equal what this does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from turnwright.journal.actions import Action, Stop
from turnwright.journal.advance import Advanced, advance, fold_drafts
from turnwright.journal.agent_state import AgentState, empty_state
from turnwright.journal.budgets import Used
from turnwright.journal.commands import (
    CancelThread,
    ChangeState,
    ClaimRun,
    ClientCommand,
    CloseThread,
    CompactContext,
    CompactThread,
    FinishTool,
    ListTools,
    LoggedCommand,
    Reconcile,
    Rejection,
    Respond,
    RewindThread,
    RunCommand,
    UpdateState,
)
from turnwright.journal.control import SessionControl, ThreadControl
from turnwright.journal.decide import decide, decide_session
from turnwright.journal.decide.compaction import compaction_entry_id
from turnwright.journal.entries import (
    Draft,
    Entry,
    InteractionRequested,
    ModelLate,
    ThreadRewound,
    ToolLate,
)
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.evolve_state import evolve_state
from turnwright.journal.facts import Facts
from turnwright.journal.ids import ThreadKey
from turnwright.journal.interactions import Interaction, begin_interaction, settlement
from turnwright.journal.settle import settle
from turnwright.journal.turn_status import TurnStatus, begin_status, evolve_status, is_status_entry

KEY = ThreadKey("acme", "ann", "helper", "s-1")
BEGIN_US = 1_700_000_000_000_000
NEED_STATE = ChangeState | CompactContext | CompactThread | ListTools | UpdateState | FinishTool | RewindThread


@dataclass(frozen=True)
class Step:
    """What one transaction did. `duplicate`: the request was known, and nothing was done."""

    rejection: Rejection | None
    settled: tuple[Entry, ...]
    decided: tuple[Entry, ...]
    advanced: tuple[Entry, ...]
    action: Action
    authority: bool = False
    duplicate: bool = False

    @property
    def accepted(self) -> bool:
        return self.rejection is None

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self.settled + self.decided + self.advanced

    @property
    def types(self) -> list[str]:
        return [entry.type for entry in self.entries]


@dataclass
class ThreadMachine:
    """A thread, its session, the clock, and who is known to be gone.

    `states` are those after each entry, the empty one first.
    `questions` and `asked` are the rows of questions and what their entries say, `elsewhere` is what the session's
    other threads used, `reserved` what their model calls took beside that.
    """

    key: ThreadKey = KEY
    clock_us: int = BEGIN_US
    control: ThreadControl = field(default_factory=ThreadControl)
    session: SessionControl = field(default_factory=SessionControl)
    state: AgentState = field(default_factory=lambda: empty_state(KEY))
    states: list[AgentState] = field(default_factory=lambda: [empty_state(KEY)])
    entries: list[Entry] = field(default_factory=list)
    session_entries: list[Entry] = field(default_factory=list)
    turns: dict[str, TurnStatus] = field(default_factory=dict)
    requests: dict[str, ClientCommand] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    lapsed: set[str] = field(default_factory=set)
    expired: set[str] = field(default_factory=set)
    questions: dict[str, Interaction] = field(default_factory=dict)
    asked: dict[str, InteractionRequested] = field(default_factory=dict)
    elsewhere: Used = field(default_factory=Used)
    reserved: Used = field(default_factory=Used)

    @property
    def now_us(self) -> int:
        """The time of the next entry: it never runs backwards, whatever the clock does."""
        return max(self.clock_us, self.entries[-1].at_us if self.entries else 0)

    @property
    def queue(self) -> list[TurnStatus]:
        """The queued turns, in order."""
        queued = (turn for turn in self.turns.values() if turn.phase == "queued")
        return sorted(queued, key=lambda turn: turn.queue_order)

    def run(self, command: ClientCommand | RunCommand) -> Step:
        """Carry out a command on the thread."""
        known = self._known(command)
        if known is not None:
            return known
        control, session, facts = self.control, self.session, self.facts(command)
        settled = settle(control, session, facts)
        control = fold_drafts(control, settled, facts.now_us)
        facts = facts.after(draft.at(self.control.seq + n, facts.now_us) for n, draft in enumerate(settled, start=1))
        decision = decide(control, session, facts, command)
        rejection = decision if isinstance(decision, Rejection) else None
        drafts = [] if isinstance(decision, Rejection) else self._unknown(decision)
        control = fold_drafts(control, drafts, facts.now_us)
        authority = _authority(control, command)
        advanced = self._advance(control, facts, command, rejection, authority=authority)
        if rejection is None and isinstance(command, ClientCommand):
            self.requests[command.request_id] = command
        return Step(
            rejection,
            settled=self._append(settled, facts.now_us),
            decided=self._append(drafts, facts.now_us),
            advanced=self._append(advanced.drafts, facts.now_us),
            action=advanced.action,
            authority=authority,
        )

    def run_session(self, command: LoggedCommand) -> Rejection | None:
        """Carry out a command on the session."""
        decision = decide_session(self.session, command)
        if isinstance(decision, Rejection):
            return decision
        for draft in decision:
            entry = draft.at(self.session.seq + 1, self.now_us)
            self.session_entries.append(entry)
            self.session = evolve_session(self.session, entry)
        return None

    def facts(self, command: ClientCommand | RunCommand) -> Facts:
        """What a store would know at this moment for this command."""
        queue = self.queue
        doomed = [turn for turn in queue if turn.session_seq < self.session.cancelled_seq]
        concerned = queue if isinstance(command, CancelThread | CloseThread) else doomed
        question = self._question(command)
        bounded = self.session.budget is not None
        return Facts(
            now_us=self.now_us,
            dead=frozenset(self.dead),
            lapsed=frozenset(self.lapsed),
            expired=frozenset(self.expired),
            turn=self.turns.get(getattr(command, "turn_id", "")),
            front=queue[0] if queue else None,
            queue=tuple(concerned),
            question=self.questions.get(question),
            asked=self.asked.get(question),
            state=self.state if isinstance(command, NEED_STATE) else None,
            base=self._base(command),
            repeated=self._is_repeated(command),
            elsewhere=self.elsewhere if bounded else None,
            reserved=self.reserved if bounded else Used(),
        )

    def copy(self) -> ThreadMachine:
        """Another machine in the same state."""
        return replace(
            self,
            states=list(self.states),
            entries=list(self.entries),
            session_entries=list(self.session_entries),
            turns=dict(self.turns),
            requests=dict(self.requests),
            dead=set(self.dead),
            lapsed=set(self.lapsed),
            expired=set(self.expired),
            questions=dict(self.questions),
            asked=dict(self.asked),
        )

    def _base(self, command: ClientCommand | RunCommand) -> AgentState | None:
        """The state that the command goes back to, if there is such an entry."""
        wanted = command.to_seq if isinstance(command, RewindThread) else 0
        return self.states[wanted] if 0 < wanted < len(self.states) else None

    def _is_repeated(self, command: ClientCommand | RunCommand) -> bool:
        name = compaction_entry_id(command) if isinstance(command, CompactContext) else ""
        return any(entry.entry_id == name for entry in self.entries)

    def _question(self, command: ClientCommand | RunCommand) -> str:
        """The question of its turn that the command settles."""
        match command:
            case Respond(turn_id=turn_id, interaction_id=name):
                named = [q for q in self.questions.values() if q.interaction_id == name and q.turn_id == turn_id]
            case Reconcile(turn_id=turn_id, call_id=call_id):
                asked = (q for q in self.questions.values() if q.kind == "unknown_outcome")
                named = [q for q in asked if q.call_id == call_id and q.turn_id == turn_id]
            case _:
                named = []
        return named[-1].interaction_id if named else ""

    def _known(self, command: ClientCommand | RunCommand) -> Step | None:
        if not isinstance(command, ClientCommand) or command.request_id not in self.requests:
            return None
        same = self.requests[command.request_id] == command
        rejection = None if same else Rejection("request_id_reused", "the request id was used for another command")
        return Step(rejection, (), (), (), Stop("unknown"), duplicate=same)

    def _unknown(self, drafts: list[Draft]) -> list[Draft]:
        """Without late testimony that is known already: its first commit's answer was lost."""
        known = {entry.entry_id for entry in self.entries}
        return [draft for draft in drafts if not _late_names(draft) & known]

    def _advance(
        self,
        control: ThreadControl,
        facts: Facts,
        command: ClientCommand | RunCommand,
        rejection: Rejection | None,
        *,
        authority: bool,
    ) -> Advanced:
        if rejection is not None and rejection.code == "superseded":
            return Advanced((), control, Stop("superseded"))
        active = None if control.active is None else control.active.turn_id
        turn_id = command.turn_id if isinstance(command, RunCommand) else active
        if turn_id is None:
            return Advanced((), control, Stop("not_head"))
        return advance(control, self.session, facts, turn_id, authority=authority)

    def _append(self, drafts: Iterable[Draft], now_us: int) -> tuple[Entry, ...]:
        begin = len(self.entries)
        for draft in drafts:
            entry = draft.at(len(self.entries) + 1, now_us)
            self.entries.append(entry)
            self.control = evolve_control(self.control, entry)
            self.state = evolve_state(self.states[begins_at(entry)], entry)
            self.states.append(self.state)
            project(self.turns, entry)
            project_question(self.questions, entry)
            if isinstance(entry.payload, InteractionRequested):
                self.asked[entry.payload.interaction_id] = entry.payload
        return tuple(self.entries[begin:])


def begins_at(entry: Entry) -> int:
    """The entry whose state this one is folded into."""
    return entry.payload.to_seq if isinstance(entry.payload, ThreadRewound) else entry.seq - 1


def project(turns: dict[str, TurnStatus], entry: Entry) -> None:
    """Fold an entry into the row of its turn."""
    if entry.turn_id is None or not is_status_entry(entry):
        return
    begun = begin_status(entry)
    turns[entry.turn_id] = begun if begun is not None else evolve_status(turns[entry.turn_id], entry)


def project_question(questions: dict[str, Interaction], entry: Entry) -> None:
    """Fold an entry into the row of its question."""
    asked, end = begin_interaction(entry), settlement(entry)
    if asked is not None:
        questions[asked.interaction_id] = asked
    elif end is not None:
        questions[end.interaction_id] = end.of(questions[end.interaction_id])


def _authority(control: ThreadControl, command: ClientCommand | RunCommand) -> bool:
    if isinstance(command, ClaimRun):
        return control.run == command.run
    epoch: int | None = getattr(command, "epoch", None)
    return epoch == control.epoch


def _late_names(draft: Draft) -> set[str]:
    stem = draft.entry_id.rsplit("/", 1)[0]
    match draft.payload:
        case ToolLate(outcome=outcome):
            return {draft.entry_id, f"{stem}/{'deferred' if outcome == 'deferred' else 'finished'}"}
        case ModelLate(what=what):
            return {draft.entry_id, f"{stem}/{what}"}
        case _:
            return set()
