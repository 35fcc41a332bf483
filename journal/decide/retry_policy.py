"""When a failed model call is tried again. Rule: a table by class of failure, counted in the journal.

Waiting grows with the class's own count, so an hour of rate limits does not use up the attempts that
are meant for broken streams; restarts of workers count nowhere here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turnwright.journal.agents import Limits
from turnwright.journal.canonical import digest
from turnwright.journal.entries.operation import FailureClass


@dataclass(frozen=True, slots=True)
class Backoff:
    """First and longest wait (seconds), how many times the agent's attempts a class may use, and how many at most."""

    first_s: float
    longest_s: float
    attempts_factor: int = 1
    attempts_max: int | None = None


POLICY: Mapping[FailureClass, Backoff | None] = {
    "transient": Backoff(0.5, 30.0),
    "timeout": Backoff(0.5, 30.0),
    "cut": Backoff(0.2, 10.0),
    "rate_limited": Backoff(2.0, 120.0, attempts_factor=4),
    "tools_away": Backoff(1.0, 60.0, attempts_factor=4),  # the model was not called: what lists its tools was away
    "invalid": None,
    "auth": None,
    "context_length": Backoff(0.0, 0.0, attempts_max=2),  # the second one makes room first
    "refused": None,
}
RETRY_AFTER_LONGEST_S = 3_600.0


def retry_delay_s(
    failure: FailureClass, count: int, limits: Limits, retry_after_s: float | None, seed: str
) -> float | None:
    """Seconds until the next attempt, or None when there shall be none.

    Args:
        failure: the class of this failure.
        count: failures of this class in this step, this one included.
        limits: the agent's.
        retry_after_s: what the provider asked for, which is never undercut: when it is more than
            `RETRY_AFTER_LONGEST_S` there is no next attempt.
        seed: makes the jitter; the same seed gives the same delay.
    """
    backoff = POLICY[failure]
    if backoff is None or count >= limits.model_attempts_max * backoff.attempts_factor:
        return None
    if backoff.attempts_max is not None and count >= backoff.attempts_max:
        return None
    asked_s = retry_after_s or 0.0
    if asked_s > RETRY_AFTER_LONGEST_S:
        return None
    jitter = 0.75 + digest(seed.encode())[0] / 512
    delay: float = min(backoff.first_s * 2 ** min(count - 1, 16), backoff.longest_s) * jitter
    return max(delay, asked_s)
