"""Bounds of the activities, each with its unit last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActivitySettings:
    """How activities behave.

    `heartbeat_interval_s`: how often a running operation tells Temporal it lives.
    `watch_interval_s`: how often at most running operations are compared with the journal.
    `watch_poll_s`: how often at least, if the store says nothing.
    `model_stop_s`: how long a cancelled model call may take to let go.
    `claim_fresh_s`: a `once` body starts only this soon after its claim was committed.
    `drain_s`: how long operations may go on when the worker is told to end.
    `give_back_s`: how long an activity waits that this worker gave back for another to take.
    `repair_retry_s`: how long one waits that the journal refuses until somebody upgrades or repairs.
    `broken_attempts_max`: after so many attempts with errors nobody foresaw, the run gives up.
    """

    heartbeat_interval_s: float = 4.0
    watch_interval_s: float = 0.1
    watch_poll_s: float = 0.5
    model_stop_s: float = 2.0
    claim_fresh_s: float = 5.0
    drain_s: float = 20.0
    give_back_s: float = 1.0
    repair_retry_s: float = 5.0
    broken_attempts_max: int = 4
