"""Whether an offered state is kept, decided without a store.

Rule: what is true for an earlier entry never replaces what is true for a later one. Of two for the same entry the later
write stays, for it may come of a newer version of the code; the same bytes are not written twice. Who names
the version it has read (0: none) is told when another was there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from turnwright.journal.errors import InvalidInput, SnapshotConflict
from turnwright.journal.snapshots.snapshot import Head, Offer

Policy = Literal["fail", "keep_newer"]
Verdict = Literal["write", "same", "conflict"]
POLICIES = ("fail", "keep_newer")


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of an offer: `written` as `version`; else what is there instead, of `as_of_seq`, stays."""

    written: bool
    version: int
    as_of_seq: int


def judge(stored: Head | None, offer: Offer, policy: Policy, expected_version: int | None) -> Verdict:
    """What to do with an offer; `redis.lua` says the same."""
    if stored is None:
        return "conflict" if expected_version and policy == "fail" else "write"
    older = offer.as_of_seq < stored.as_of_seq
    if expected_version is not None and expected_version != stored.version:
        newer = offer.as_of_seq > stored.as_of_seq
        return "write" if newer and policy == "keep_newer" else "conflict"
    if older:
        return "conflict"
    same = (offer.as_of_seq, offer.sha256) == (stored.as_of_seq, stored.sha256)
    return "same" if same and expected_version is None else "write"


def kept(stored: Head | None, verdict: Verdict, policy: Policy, offer: Offer, place: str) -> Kept:
    """What the writer is told when nothing, or this, was written. Raises `SnapshotConflict`."""
    version, as_of_seq = (0, 0) if stored is None else (stored.version, stored.as_of_seq)
    if verdict == "write":
        return Kept(written=True, version=version + 1, as_of_seq=offer.as_of_seq)
    if verdict == "conflict" and policy == "fail":
        raise SnapshotConflict(place, version, as_of_seq)
    return Kept(written=False, version=version, as_of_seq=as_of_seq)


def checked_policy(policy: str, expected_version: int | None) -> None:
    """Raises `InvalidInput` when there is no such policy, or no such version."""
    if policy not in POLICIES:
        raise InvalidInput(f"the policy of a snapshot is fail or keep_newer, not {policy!r}")
    if expected_version is not None and expected_version < 0:
        raise InvalidInput(f"a snapshot's version is 0 (there is none) or more, not {expected_version}")
