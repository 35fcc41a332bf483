"""Webhooks: addresses that are told what is committed to a session, or of one of its turns.

Rule: how far a receiver has come is a position in the session, and nothing else is kept of a delivery. What becomes of
a webhook after a success or a failure is decided here, without a clock and without a store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from turnwright.journal.canonical import digest
from turnwright.journal.durations import SECOND_US
from turnwright.journal.entries import REGISTRY, Entry, TurnCancelled, TurnCompleted
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import SessionKey

StoredState = Literal["active", "disabled", "done"]
WebhookState = Literal["active", "failing", "disabled", "done"]
ERROR_CHARACTERS_MAX = 200
URL_CHARACTERS_MAX = 2_000
TRIES_MIN_BEFORE_DISABLED = 10
DOUBLINGS_MAX = 30
PORT_MAX = 65_535
LAST_OF_A_TURN = frozenset({TurnCompleted.TYPE, TurnCancelled.TYPE})
# So narrow that no two programs can take it for two different places.
_URL = re.compile(r"https?://([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?][!-\"$-~]*)?")


@dataclass(frozen=True, slots=True)
class WantedWebhook:
    """A webhook as it is asked for.

    `turn_id` None: of the whole session. `types` of entries, none: all. `after` a position to begin behind; None: a
    session's begins with what is committed from now on, a turn's with the turn.
    """

    url: str
    types: tuple[str, ...] = ()
    turn_id: str | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook as it is now, without its secret. Times are microseconds since 1970 UTC by the store's clock.

    `state`: `active`; `failing`, it is tried again at `next_try_us`; `disabled` after failures, for good; `done`, all
    of the turn was delivered. `position` is how far the receiver has come in the session.
    """

    webhook_id: str
    session: SessionKey
    turn_id: str | None
    url: str
    types: tuple[str, ...]
    principal: str
    created_us: int
    state: WebhookState
    position: int
    tries: int = 0
    last_error: str | None = None
    failing_since_us: int | None = None
    next_try_us: int | None = None
    ended_us: int | None = None


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook that was just made; `secret` is what its deliveries are signed with, and is shown only here."""

    webhook: Webhook
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DueWebhook:
    """What is needed to deliver to one."""

    webhook_id: str
    session: SessionKey
    turn_id: str | None
    url: str
    types: frozenset[str]
    secret: str = field(repr=False)
    position: int

    def wants(self, entry: Entry) -> bool:
        """Whether the receiver is to be told of it."""
        return self._of_scope(entry) and (not self.types or entry.type in self.types)

    def ends_with(self, entry: Entry) -> bool:
        """Whether nothing that matters of the turn comes after it; a failed turn may be tried again."""
        return self.turn_id is not None and self._of_scope(entry) and entry.type in LAST_OF_A_TURN

    def _of_scope(self, entry: Entry) -> bool:
        return self.turn_id is None or entry.turn_id == self.turn_id


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a receiver has come, and since when it has failed to go on. 0: never."""

    position: int
    state: StoredState = "active"
    tries: int = 0
    failing_since_us: int = 0
    next_try_us: int = 0
    last_error: str = ""
    ended_us: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an entry was not delivered.

    `gone`: the receiver wants nothing any more. `wait_s`: it asks for so long. `ours`: it was never asked, because a
    gateway lacks a key, say; however long that lasts, nothing is disabled for it.
    """

    error: str
    gone: bool = False
    wait_s: float = 0
    ours: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryTerms:
    """How often a receiver that fails is tried again: after `first_s`, then twice as long each time up to `longest_s`.

    Each wait is a little shorter, so that many do not come at once. After failing for `give_up_s` it is disabled.
    """

    first_s: float = 5
    longest_s: float = 3_600
    give_up_s: float = 3 * 86_400


def after_failure(
    before: Progress, position: int, failure: Failure, now_us: int, terms: RetryTerms, seed: str
) -> Progress:
    """What becomes of a webhook whose receiver has come to `position` and has failed there."""
    again = before.tries > 0 and before.position == position
    tries = before.tries + 1 if again else 1
    since_us = before.failing_since_us if again and not failure.ours else now_us
    wait_s = max(retry_s(tries, terms, seed), min(failure.wait_s, terms.longest_s))
    failed = Progress(
        position,
        tries=tries,
        failing_since_us=since_us,
        next_try_us=now_us + round(wait_s * SECOND_US),
        last_error=failure.error[:ERROR_CHARACTERS_MAX],
    )
    long = now_us - since_us >= terms.give_up_s * SECOND_US and tries >= TRIES_MIN_BEFORE_DISABLED
    return replace(failed, state="disabled", next_try_us=0, ended_us=now_us) if failure.gone or long else failed


def retry_s(tries: int, terms: RetryTerms, seed: str) -> float:
    """How long to wait after so many failures in a row; the same seed gives the same wait."""
    jitter = 0.5 + digest(f"{seed}.{tries}".encode())[0] / 512
    doubled: float = terms.first_s * 2 ** min(tries - 1, DOUBLINGS_MAX)
    return min(doubled, terms.longest_s) * jitter


def checked_url(url: str) -> str:
    """The URL itself, if it can be one of a receiver. Raises `InvalidInput`."""
    found = _URL.fullmatch(url) if isinstance(url, str) and len(url) <= URL_CHARACTERS_MAX else None
    if found is None or not 0 < int((found[2] or ":443")[1:]) <= PORT_MAX:
        raise InvalidInput(
            "a webhook's URL looks like https://shop.example.com/hook: no user, no password, no fragment, "
            f"a port from 1 to {PORT_MAX}, what is not ASCII encoded, and at most {URL_CHARACTERS_MAX:,} characters"
        )
    return url


def checked_types(types: Sequence[str]) -> tuple[str, ...]:
    """The types of entries, each once and in order, if there are such. Raises `InvalidInput`."""
    if isinstance(types, str):
        raise InvalidInput(f"types are a list, such as ['turn.completed'], not {types!r}")
    unknown = sorted(set(types) - REGISTRY.keys())
    if unknown:
        raise InvalidInput(f"there is no entry of the type {unknown[0]}; there are {', '.join(sorted(REGISTRY))}")
    return tuple(sorted(set(types)))
