"""Bounds of the activities, each with its unit last."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActivitySettings:
    """How activities behave.

    `heartbeat_interval_s`: how often a running operation tells Temporal it lives.
    `watch_interval_s`: how often at most running operations are compared with the journal.
    `model_stop_s`: how long a cancelled model call may take to let go.
    `claim_fresh_s`: a `once` body starts only this soon after its claim was committed.
    """

    heartbeat_interval_s: float = 0.5
    watch_interval_s: float = 0.1
    watch_poll_s: float = 0.5
    model_stop_s: float = 2.0
    claim_fresh_s: float = 5.0
    agent_unknown_retry_s: float = 1.0
