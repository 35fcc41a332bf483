"""What the client raises beside the errors of the journal; each says what to do.

TurnwrightError                 turnwright.journal.errors
├── InvalidInput                data that can never be accepted
│   └── PlaceLost               the journal has not come to the place to go on from; `last` is where it is
├── CommandRejected             a command that may not happen now; `code`, and the whole `receipt`
├── NotFound                    no such session, thread, turn or question for this tenant
├── TurnEnded                   asked for an answer of a turn that gave none
│   ├── TurnFailed              `code`, `retryable`
│   └── TurnCancelled           `code` says by what
├── AccessDenied                the gateway does not take the token, or not for this
├── WaitTimeout                 the time to wait is over; the turn goes on
├── ClientClosed                the client was closed; connect another one
└── JournalError                the journal cannot answer (StoreUnavailable: try again)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from turnwright.journal import errors
from turnwright.journal.acts import Act
from turnwright.journal.commands import Receipt
from turnwright.journal.decide.context import UNKNOWN_SESSION
from turnwright.journal.errors import TurnwrightError
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.turn_status import cancel_words


class CommandRejected(errors.CommandRejected):
    """A command that may not happen now; nothing was changed. `key`: what it was for."""

    def __init__(self, receipt: Receipt, key: ThreadKey | SessionKey | None = None) -> None:
        super().__init__(receipt.code or "rejected", _reason(receipt, key))
        self.receipt = receipt
        self.key = key


class NotFound(TurnwrightError, LookupError):
    """There is no such session, thread, turn or question, or it belongs to somebody else."""

    def __init__(self, what: str, name: str, key: ThreadKey | SessionKey | None = None) -> None:
        super().__init__(f"there is no {what} {name}")
        self.what = what
        self.key = key

    @classmethod
    def session(cls, key: SessionKey) -> NotFound:
        """No such session."""
        return cls("session", _of_user(key.session, key), key)

    @classmethod
    def enlisted(cls, turn_id: str) -> NotFound:
        """No such turn, or not yet."""
        return cls("turn", f"{turn_id}: the transaction it was submitted in is not committed yet, or was rolled back")

    @classmethod
    def thread(cls, key: ThreadKey) -> NotFound:
        """No such thread."""
        return cls("thread", _thread(key), key)


class TurnEnded(TurnwrightError):
    """The turn has ended without an answer."""

    def __init__(self, turn_id: str, code: str, message: str) -> None:
        super().__init__(message)
        self.turn_id = turn_id
        self.code = code


class TurnFailed(TurnEnded):
    """The turn failed; `retryable` says whether `turn.retry()` makes sense."""

    def __init__(self, turn_id: str, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(turn_id, code, f"turn {turn_id} failed ({code}): {message}")
        self.retryable = retryable


class TurnCancelled(TurnEnded):
    """The turn was cancelled; `act` says by whom, when and why.

    `effects_unknown` says of which calls nobody knows whether they had their effect.
    """

    def __init__(self, turn_id: str, code: str, act: Act | None = None, effects_unknown: str | None = None) -> None:
        by = f", by {act.principal}" if act is not None and act.principal else ""
        because = f", because: {act.reason}" if act is not None and act.reason else ""
        how = cancel_words(code) or "on request"
        unsure = f"; {effects_unknown}" if effects_unknown else ""
        super().__init__(turn_id, code, f"turn {turn_id} was cancelled {how}{by}{because} ({code}){unsure}")
        self.act = act
        self.effects_unknown = effects_unknown


class WaitTimeout(TurnwrightError, TimeoutError):
    """The time to wait is over. The turn has not noticed; wait again or ask `turn.why()`."""


class PlaceLost(errors.InvalidInput):
    """A follower wants to go on behind a place that the journal has not come to: it was put back to a backup.

    What the follower knows of the time after that is not so any more. Follow from 0 anew, or from `last`, where it is.
    """

    def __init__(self, place: int, last: int) -> None:
        super().__init__(
            f"there is nothing at {place}, the journal has come to {last} there: it was put back to a backup; "
            f"follow from 0 anew, or from {last}"
        )
        self.place = place
        self.last = last


class AccessDenied(TurnwrightError, PermissionError):
    """The gateway does not take the token, or it is not enough for what was asked."""


class ClientClosed(TurnwrightError, RuntimeError):
    """The client, or that of the handle, was closed."""

    def __init__(self) -> None:
        super().__init__("this client is closed; connect another one with Client.connect(…)")


def check_place(place: int, last: int) -> None:
    """Raises `PlaceLost` if what is followed, which is at `last` now, has not come to a place."""
    if place > last:
        raise PlaceLost(place, last)


@contextmanager
def rejections(key: ThreadKey | SessionKey | None = None) -> Iterator[None]:
    """What the journal refuses within is refused as any command is, with a receipt. Raises `CommandRejected`.

    The receipt has no request id: an export or an import is known by what it moves, and nothing remembers it.
    """
    try:
        yield
    except CommandRejected:
        raise
    except errors.CommandRejected as error:
        raise CommandRejected(Receipt("", "rejected", code=error.code, reason=str(error)), key) from error


def _reason(receipt: Receipt, key: ThreadKey | SessionKey | None) -> str:
    """Why it was rejected; what is not there is named, since a mistyped id is found by reading it again."""
    match receipt.code, key:
        case "unknown_session", SessionKey() | ThreadKey() if receipt.reason in (None, UNKNOWN_SESSION.reason):
            return f"there is no session {_of_user(key.session, key)}; create it first"
        case "unknown_thread", ThreadKey():
            return f"there is no thread {_thread(key)}; a turn that is submitted to it makes it"
    return receipt.reason or "the command was rejected"


def _thread(key: ThreadKey) -> str:
    return f"{key.thread} of {key.agent} in session {_of_user(key.session, key)}"


def _of_user(name: str, key: SessionKey | ThreadKey) -> str:
    return f"{name} of {'the anonymous user' if key.user is None else f'user {key.user}'}"
