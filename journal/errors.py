"""Exceptions of Turnwright, one small tree; each message says what is wrong and what to do.

TurnwrightError
├── InvalidInput            the caller's data: an id, a message, a setting
│   └── RequestIdReused     a request id that was used for something else, or by somebody else
├── CommandRejected         a command that may not happen now; carries the receipt's code
├── TemporalUnreachable     Temporal does not answer; in `turnwright.workflows.engine`
│   └── EngineAway          nobody can be woken now; in `turnwright.worker.rousing`
├── ServedElsewhere         the journal is served through another Temporal; in `turnwright.worker.engine`
├── OlderAtWork             a worker waits for those of an older version; in `turnwright.worker.elders`
└── JournalError
    ├── UnknownEntryType    a required entry this version cannot fold
    ├── NewerReducer        state written by a newer version; upgrade this process
    │   └── KeyMissing          content sealed with a key that this process was not given
    └── StoreError
        ├── StoreUnavailable    no connection, locked, disk: try again later
        ├── HoldLost            the lock that says this process lives is gone
        ├── SnapshotConflict    another snapshot was kept before this one
        ├── SnapshotGone        a snapshot of a session that was deleted
        ├── SnapshotsTaken      a place of snapshots that is another journal's
        └── StoreCorrupt        a row that cannot be what was written; names thread and seq
"""


class TurnwrightError(Exception):
    """Root of every error Turnwright raises on purpose."""


class InvalidInput(TurnwrightError, ValueError):
    """Data of the caller that can never be accepted; nothing was changed."""


class RequestIdReused(InvalidInput):
    """A request id that was used for something else, or by somebody else; use a new one."""


class CommandRejected(TurnwrightError):
    """A command that was decided against; nothing was changed.

    `code` is stable and machine-readable, the message is for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class JournalError(TurnwrightError):
    """The journal cannot answer; the state it holds is untouched."""


class UnknownEntryType(JournalError):
    """A required entry whose type or version this code does not know; run a newer version."""

    def __init__(self, entry_type: str, version: int, where: str) -> None:
        super().__init__(
            f"entry type {entry_type!r} version {version} at {where} is not known to this version of "
            "Turnwright; run a worker of the version that wrote it"
        )
        self.entry_type = entry_type
        self.version = version


class NewerReducer(JournalError):
    """The stored state was folded by a newer reducer; this process must not write it."""


class KeyMissing(NewerReducer):
    """What is stored was sealed with a key that this process was not given; others may have it."""


class StoreError(JournalError):
    """The store refused or failed."""


class StoreUnavailable(StoreError):
    """The store cannot be reached now; the same call may be made again."""


class HoldLost(StoreError):
    """The lock that says this process lives is gone; take it again before others take the process for dead."""


class SnapshotConflict(StoreError):
    """Another snapshot is there than the one that was read, or one of a later entry; load it, then decide anew."""

    def __init__(self, place: str, version: int, as_of_seq: int) -> None:
        there = f"version {version}, of entry {as_of_seq}" if version else "none"
        super().__init__(f"the snapshot at {place} is another one ({there}); load it and decide anew")
        self.version = version
        self.as_of_seq = as_of_seq


class SnapshotsTaken(StoreError):
    """The place of the snapshots is another journal's; give this one a prefix, a table or a folder of its own."""

    def __init__(self, place: str, owner: str) -> None:
        super().__init__(
            f"the snapshots at {place} are those of journal {owner}; give this journal a prefix, a table or a folder "
            "of its own, or, if that one is no more, delete all that is there"
        )
        self.owner = owner


class SnapshotGone(StoreError):
    """The session was deleted, so nothing of it is kept any more."""

    def __init__(self, place: str) -> None:
        super().__init__(f"no snapshot is kept at {place}, for its session was deleted")


# The value itself is not repeated: it may be a secret, and cannot be written to every log.
UNSTORABLE = (
    "the journal holds no such value: a text with NUL or with half of a surrogate pair, or a number of more than "
    "64 bits; leave it out"
)
_VERIFY = "run `turnwright journal verify` and restore from a backup"


class StoreCorrupt(StoreError):
    """A stored row is not what was written; `verify` finds the extent, a backup repairs it.

    `rebuild` is the command that repairs a projection, which is written anew from the entries. `what` is the message
    without what to do.
    """

    def __init__(
        self, message: str, thread: str | None = None, seq: int | None = None, *, rebuild: str | None = None
    ) -> None:
        at = "" if seq is None else f", seq {seq}"
        where = "" if thread is None else f" (thread {thread}{at})"
        then = f"`{rebuild}` writes it anew from the entries" if rebuild else _VERIFY
        super().__init__(f"{message}{where}; {then}")
        self.what = f"{message}{where}"
        self.thread = thread
        self.seq = seq


# What keeps one thing of the journal from being read, and says nothing of the others.
UNREADABLE = (StoreCorrupt, NewerReducer, UnknownEntryType)
