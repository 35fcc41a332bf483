"""The commands of a random fault test as data, each built from its request id and what it is about."""

from collections.abc import Callable, Mapping

from tests.faults.harness.chance import Move, What
from tests.faults.harness.scripts import task
from turnwright.journal import ids
from turnwright.journal.commands import (
    CancelSession,
    CancelThread,
    CancelTurn,
    Inject,
    PauseSession,
    PauseThread,
    PauseTurn,
    ResumeSession,
    ResumeThread,
    ResumeTurn,
    RetryTurn,
    SessionCommand,
    Steer,
    Submit,
)
from turnwright.journal.commands import ClientCommand as ThreadCommand
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import user

# From the request id, the turn and its revision; from the request id and the revision of the pause flag.
TO_TURN: Mapping[What, Callable[[str, str, int], ThreadCommand]] = {
    "steer": lambda request, turn, _: Steer(request_id=request, turn_id=turn, message=user("be quick about it")),
    "pause_turn": lambda request, turn, _: PauseTurn(request_id=request, turn_id=turn),
    "resume_turn": lambda request, turn, at: ResumeTurn(request_id=request, turn_id=turn, revision=at),
    "cancel_turn": lambda request, turn, _: CancelTurn(request_id=request, turn_id=turn),
    "retry": lambda request, turn, _: RetryTurn(request_id=request, turn_id=turn),
}
TO_THREAD: Mapping[What, Callable[[str, int], ThreadCommand]] = {
    "inject": lambda request, _: Inject(request_id=request, message=user("it is Monday")),
    "pause_thread": lambda request, _: PauseThread(request_id=request),
    "resume_thread": lambda request, at: ResumeThread(request_id=request, revision=at),
    "cancel_thread": lambda request, _: CancelThread(request_id=request),
}
TO_SESSION: Mapping[What, Callable[[str, int], SessionCommand]] = {
    "pause_session": lambda request, _: PauseSession(request_id=request),
    "resume_session": lambda request, at: ResumeSession(request_id=request, revision=at),
    "cancel_session": lambda request, _: CancelSession(request_id=request),
}
TURN_STATUS: Mapping[type, frozenset[str]] = {
    PauseTurn: frozenset({"turn.pause_requested", "turn.paused"}),
    ResumeTurn: frozenset({"turn.resumed"}),
    CancelTurn: frozenset({"turn.cancel_requested", "turn.cancelled"}),
    RetryTurn: frozenset({"turn.retried"}),
    CancelThread: frozenset({"turn.cancel_requested", "turn.cancelled"}),
}
"""What a command leaves in the journal whose entries are not under its request id."""


def submit(key: ThreadKey, request_id: str, move: Move) -> Submit:
    """A turn that plays the move's steps."""
    return Submit(
        request_id=request_id,
        turn_id=ids.turn_id(key, request_id),
        input=task(*move.steps),
        if_busy=move.if_busy,
        on_failure=move.on_failure,
    )
