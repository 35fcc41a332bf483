"""The counters and timings of one process, fed by its own commits.

    meters = Meters()
    journal.driver.observers.append(meters.committed)

Rule: what was appended says what happened, so nothing else has to count it: each entry is counted by the process that
committed it, once. Where a value comes from outside (a model's name, a tool's) its label is bounded. Whatever may be
counted stands at zero as soon as its labels are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import singledispatchmethod
from typing import Final, get_args

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

from turnwright.client.metrics.labels import OTHER, Bounded
from turnwright.client.metrics.series import Series
from turnwright.journal.delays import Streamed
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import (
    REGISTRY,
    ContextCompacted,
    ContextCompactionFailed,
    Entry,
    InteractionExpired,
    InteractionRequested,
    InteractionResolved,
    ModelFailed,
    ModelInterrupted,
    ModelLate,
    ModelResponded,
    Payload,
    RunClaimed,
    ToolFinished,
    ToolLate,
    ToolStarted,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnQueued,
    TurnStarted,
    UsageCounted,
)
from turnwright.journal.entries.operation import FailureClass, InteractionKind, InterruptReason, ToolOutcome
from turnwright.journal.messages import Usage
from turnwright.journal.transact.appending import Appended

AGENTS_MAX = 100
MODELS_MAX = 50
TOOLS_MAX = 200
CODES_MAX = 50
TOKENS: Final = ("input", "output", "cache_read", "cache_write")
# Those that turns of most agents may fail with; any other is counted from its first on.
TURN_CODES: Final = ("internal", "model_error", "budget", "max_steps", "max_tokens", "tool_time", "queue_full")
MS_PER_S = 1_000
MICROS_PER_USD = 1_000_000
# A commit takes a millisecond, a model a minute, a turn that waits for a person days.
COMMIT_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
CALL_BUCKETS_S: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
TURN_BUCKETS_S: Final = (0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400)


class Meters:
    """All that this process counts; `registry` is what is shown."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._series: list[Series] = []
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self._agent, self._model = Bounded(AGENTS_MAX), Bounded(MODELS_MAX)
        self._tool, self._code = Bounded(TOOLS_MAX), Bounded(CODES_MAX)
        self._commits = self._histogram("commit_seconds", "From a write's request to its commit", COMMIT_BUCKETS_S)
        self._entries = self._counter("entries", "Entries appended", "type")
        self._queued = self._counter("turns_queued", "Turns accepted", "agent")
        self._ended = self._counter(
            "turns_ended", "Turns that ended; `code`: why they failed", "agent", "phase", "code"
        )
        self._waited = self._histogram("turn_queue_seconds", "From accepted to begun", TURN_BUCKETS_S, "agent")
        self._turns = self._histogram("turn_seconds", "From begun to ended", TURN_BUCKETS_S, "agent", "phase")
        self._runs = self._counter("runs", "Runs that claimed a turn: its start, and each going on", "agent")
        self._models = self._histogram("model_seconds", "Answered model calls", CALL_BUCKETS_S, "model")
        self._failures = self._counter("model_failures", "Attempts of model calls that failed", "failure")
        self._interrupted = self._counter("model_interruptions", "Attempts that were stopped or lost", "reason")
        self._tokens = self._counter("model_tokens", "Tokens used; cached ones are part of the input", "model", "kind")
        self._cost = self._counter("model_cost_usd", "What model calls cost, where it is known", "model")
        self._tools = self._histogram("tool_seconds", "Ended tool calls", CALL_BUCKETS_S, "tool", "outcome")
        self._calls = self._counter("tool_calls", "Tool calls by how they ended", "tool", "outcome")
        self._compactions = self._counter("compactions", "Times that the oldest messages gave way to a summary")
        self._late = self._counter("late_results", "Results that came after their operation was closed", "kind")
        self._unknown = self._counter("unknown_effects", "Calls whose effect nobody knows", "tool")
        self._asked = self._counter("questions_asked", "Questions to people and outside systems", "kind")
        self._settled = self._counter("questions_settled", "Their ends", "how")
        self._steps = self._histogram("step_seconds", "For how long a step's calls ran", CALL_BUCKETS_S, "part")
        self._taken_over = self._counter("takeovers", "Calls lost with their worker, and gone on with", "operation")
        self._streams = self._histogram(
            "stream_seconds", "From written to read for followers", COMMIT_BUCKETS_S, "what"
        )
        self._begun: set[tuple[str, str]] = set()
        for code in TURN_CODES:  # what stands at zero is among those that stay themselves
            self._code(code)
        self._begin()

    def know(self, agents: Iterable[str] = (), tools: Iterable[str] = ()) -> None:
        """Show zeros for these until something is counted of them."""
        for agent in agents:
            self._begin_agent(self._agent(agent))
        for tool in tools:
            self._begin_tool(self._tool(tool))

    def standing(self) -> Callable[[], None]:
        """What is called once a page was given that is made from now on: only what it shows was shown."""
        standing = [(series, series.standing()) for series in self._series]

        def shown() -> None:
            for series, labels in standing:
                series.shown(labels)

        return shown

    def committed(self, notes: Sequence[object], seconds: float) -> None:
        """An observer of a driver's commits."""
        self._commits.add(value=seconds)
        for note in notes:
            if isinstance(note, Appended):
                self._count_work(note)
                for entry in note.entries:
                    self._entries.add(entry.type)
                    self._count(entry.payload, note, entry)

    def streamed(self, what: Streamed, seconds: float) -> None:
        """An observer of a journal's delays."""
        self._streams.add(what, value=seconds)

    def _count_work(self, at: Appended) -> None:
        if at.worked_us:
            part = "tools" if any(isinstance(entry.payload, ToolFinished) for entry in at.entries) else "model"
            self._steps.add(part, value=at.worked_us / SECOND_US)

    @singledispatchmethod
    def _count(self, payload: Payload, at: Appended, entry: Entry) -> None:
        """What has no meter of its own is only an entry."""

    @_count.register
    def _(self, _: TurnQueued, at: Appended, __: Entry) -> None:
        self.know(agents=(at.key.agent,))
        self._queued.add(self._agent(at.key.agent))

    @_count.register
    def _(self, _: TurnStarted, at: Appended, entry: Entry) -> None:
        turn = at.turns.get(entry.turn_id or "")
        if turn is not None:
            self._waited.add(self._agent(at.key.agent), value=_seconds(turn.queued_at_us, entry.at_us))

    @_count.register(TurnCompleted)
    @_count.register(TurnCancelled)
    def _(self, _: Payload, at: Appended, entry: Entry) -> None:
        self._count_end(at, entry, "")

    @_count.register
    def _(self, payload: TurnFailed, at: Appended, entry: Entry) -> None:
        self._count_end(at, entry, self._code(payload.code))

    @_count.register
    def _(self, _: RunClaimed, at: Appended, __: Entry) -> None:
        self._runs.add(self._agent(at.key.agent))

    @_count.register
    def _(self, payload: ModelResponded, _: Appended, __: Entry) -> None:
        model = self._model(payload.model)
        self._models.add(model, value=payload.duration_ms / MS_PER_S)
        self._count_usage(model, payload.usage)

    @_count.register
    def _(self, payload: ModelFailed, _: Appended, __: Entry) -> None:
        self._failures.add(payload.failure)
        self._count_usage(OTHER, payload.usage)

    @_count.register
    def _(self, payload: ModelInterrupted, _: Appended, __: Entry) -> None:
        self._interrupted.add(payload.reason)
        if payload.reason == "lost":
            self._taken_over.add("model")
        self._count_usage(OTHER, payload.usage)

    @_count.register
    def _(self, payload: ModelLate, _: Appended, __: Entry) -> None:
        self._late.add("model")
        self._count_usage(OTHER, payload.usage)

    @_count.register
    def _(self, payload: ContextCompacted, _: Appended, __: Entry) -> None:
        self._compactions.add()
        self._count_usage(OTHER, payload.usage)

    @_count.register(ContextCompactionFailed)
    @_count.register(UsageCounted)
    def _(self, payload: ContextCompactionFailed | UsageCounted, _: Appended, __: Entry) -> None:
        self._count_usage(OTHER, payload.usage)

    @_count.register
    def _(self, payload: ToolStarted, _: Appended, __: Entry) -> None:
        self.know(tools=(payload.name,))

    @_count.register
    def _(self, payload: ToolFinished, _: Appended, __: Entry) -> None:
        tool = self._tool(payload.name)
        self._calls.add(tool, payload.outcome)
        if payload.outcome == "lost":
            self._taken_over.add("tool")
        self._tools.add(tool, payload.outcome, value=payload.duration_ms / MS_PER_S)
        if payload.effect_unknown or payload.outcome == "unknown":
            self._unknown.add(tool)

    @_count.register
    def _(self, _: ToolLate, __: Appended, ___: Entry) -> None:
        self._late.add("tool")

    @_count.register
    def _(self, payload: InteractionRequested, _: Appended, __: Entry) -> None:
        self._asked.add(payload.kind)

    @_count.register
    def _(self, payload: InteractionResolved, _: Appended, __: Entry) -> None:
        self._settled.add("cancelled" if payload.resolution == "cancelled" else "answered")

    @_count.register
    def _(self, _: InteractionExpired, __: Appended, ___: Entry) -> None:
        self._settled.add("expired")

    def _count_end(self, at: Appended, entry: Entry, code: str) -> None:
        agent, phase = self._agent(at.key.agent), entry.type.removeprefix("turn.")
        self._ended.add(agent, phase, code)
        turn = at.turns.get(entry.turn_id or "")
        if turn is not None and turn.started_at_us is not None:
            self._turns.add(agent, phase, value=_seconds(turn.started_at_us, entry.at_us))

    def _count_usage(self, model: str, usage: Usage) -> None:
        # A provider may say anything, and a counter that is told less than nothing breaks the page.
        for kind in TOKENS:
            self._tokens.add(model, kind, value=max(0, getattr(usage, f"{kind}_tokens")))
        self._cost.add(model, value=max(0, usage.cost_microusd) / MICROS_PER_USD)

    def _begin(self) -> None:
        """What has the same labels in every process."""
        self._count_usage(OTHER, Usage())
        families: tuple[tuple[Series, Iterable[str]], ...] = (
            (self._entries, REGISTRY),
            (self._failures, get_args(FailureClass)),
            (self._interrupted, get_args(InterruptReason)),
            (self._late, ("model", "tool")),
            (self._asked, get_args(InteractionKind)),
            (self._settled, ("answered", "expired", "cancelled")),
            (self._steps, ("model", "tools")),
            (self._taken_over, ("model", "tool")),
            (self._streams, get_args(Streamed)),
        )
        for family, values in families:
            for value in values:
                family.begin(value)

    def _begin_agent(self, agent: str) -> None:
        if self._has_begun("agent", agent):
            return
        for family in (self._queued, self._waited, self._runs):
            family.begin(agent)
        for phase in ("completed", "cancelled", "failed"):
            self._turns.begin(agent, phase)
            for code in TURN_CODES if phase == "failed" else ("",):
                self._ended.begin(agent, phase, code)

    def _begin_tool(self, tool: str) -> None:
        """All but the buckets of its seconds, which would be most of the page."""
        if self._has_begun("tool", tool):
            return
        self._unknown.begin(tool)
        for outcome in get_args(ToolOutcome):
            self._calls.begin(tool, outcome)

    def _has_begun(self, what: str, name: str) -> bool:
        begun = (what, name) in self._begun
        self._begun.add((what, name))
        return begun

    def _counter(self, name: str, what: str, *labels: str) -> Series:
        return self._kept(Series.counter(self.registry, name, what, labels))

    def _histogram(self, name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Series:
        return self._kept(Series.histogram(self.registry, name, what, labels, buckets))

    def _kept(self, series: Series) -> Series:
        self._series.append(series)
        return series


def _seconds(since_us: int, until_us: int) -> float:
    """Never negative: a turn may be begun under a clock that was set back."""
    return max(0, until_us - since_us) / SECOND_US
