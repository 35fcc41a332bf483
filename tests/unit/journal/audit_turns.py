"""What an auditor keeps of a turn and its calls."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Call:
    """A tool call, from its decision to its result."""

    name: str
    effect: str
    decision: str
    deferred: bool = False
    started: int = 0
    running: int = 0
    again: int = 0
    unknown: bool = False
    results: int = 0

    @property
    def open(self) -> bool:
        return self.results == 0


@dataclass
class Turn:
    """A turn and everything of it that is open."""

    phase: str = "queued"
    pause: str = "none"
    revision: int = 1
    step: int = 0
    model_open: bool = False
    model_ordinal: int = 0
    model_running: int = 0
    cancel_requested: bool = False
    calls: dict[str, Call] = field(default_factory=dict)
    questions: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    pending: set[int] = field(default_factory=set)

    @property
    def active(self) -> bool:
        return self.phase in ("running", "waiting", "cancelling")

    @property
    def busy(self) -> bool:
        return bool(self.model_running) or any(call.running for call in self.calls.values())
