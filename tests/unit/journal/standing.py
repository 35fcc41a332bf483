"""Turns that stand still, each in its way, and the workers there are."""

from dataclasses import replace

from turnwright.journal.acts import Act
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.control import (
    ActiveTurn,
    CallOperation,
    Claim,
    ModelOperation,
    OpenInteraction,
    PauseFlag,
    SessionControl,
    ThreadControl,
)
from turnwright.journal.driver import Presence
from turnwright.journal.ids import ThreadKey
from turnwright.journal.script import Liveness
from turnwright.journal.turn_status import TurnStatus
from turnwright.journal.why import Scene

NOW = 1_000_000_000
S = 1_000_000
KEY = ThreadKey("acme", "ann", "echo", "s", "main")
ON = PauseFlag(on=True, revision=3, source="command")
HELD = PauseFlag(on=True, revision=3, source="on_failure")
ALIVE = Presence("w-1", {"agents": ["echo", "other"]}, Liveness("alive", 0.1))
TOOLLESS = replace(ALIVE, info={"agents": ["echo"], "tools": {"echo": ["refund"]}})
LISTING = replace(ALIVE, info={"agents": ["echo"], "tools": {"echo": ["refund", "led*"]}})
TOOLED = replace(ALIVE, info={"agents": ["echo"], "tools": {"echo": ["refund", "ledger"]}})
BUSY = replace(ALIVE, info={"agents": ["echo"], "slots": 100, "full": True})
BUSY_TOO = replace(BUSY, presence_id="w-4", info={**BUSY.info, "slots": 20})
CUT_OFF = replace(ALIVE, info={"agents": ["echo"], "temporal_away_since_us": NOW - 120 * S})
OLDER = replace(ALIVE, info={"agents": ["echo"], "reducer": 2, "label": "blue", "pid": 4711})
LAPSED = replace(ALIVE, liveness=Liveness("lapsed", 30.0))
DEAD = replace(ALIVE, liveness=Liveness("dead", 30.0))
STRANGER = Presence("w-2", {"agents": ["other"]}, Liveness("alive", 0.1))
SILENT = Presence("w-3", {}, Liveness("alive", 0.1))
MINE = TurnStatus(turn_id="t-1", request_id="r", queued_seq=1)
RUNNING = MINE.model_copy(update={"phase": "running"})
WAITING = MINE.model_copy(update={"phase": "waiting"})
CANCELLING = MINE.model_copy(update={"phase": "cancelling"})
FIRST = TurnStatus(turn_id="t-0", request_id="q")
CLAIM = Claim(nonce="n", presence="w-1", epoch=1, at_us=NOW - 12 * S)
MODEL = ModelOperation(step=2, ordinal=3, claim=CLAIM)
CALL = CallOperation(call_id="c-1", name="ledger", effect="once", digest="")
CALLED = CALL.model_copy(update={"state": "running", "claim": CLAIM, "ordinal": 1})
DEFERRED = CALL.model_copy(update={"state": "deferred", "ordinal": 1})
UNKNOWN = CALL.model_copy(update={"state": "unknown"})
QUESTION = OpenInteraction(interaction_id="q-1", kind="unknown_outcome", call_id="c-1")
FORM = OpenInteraction(interaction_id="q-3", kind="form", call_id="c-1")
EXTERNAL = OpenInteraction(interaction_id="q-4", kind="external", call_id="c-1")
BUDGET = OpenInteraction(interaction_id="q-5", kind="budget", scope="thread", over=("tokens", "cost_microusd"))
BY_ANN = Act("ann", NOW - 180 * S, "lunch")
APPROVAL = OpenInteraction(interaction_id="q-2", kind="approval", deadline_us=NOW + 60 * S)


def queued() -> Scene:
    return Scene(KEY, MINE, ThreadControl(queued=1), SessionControl(), MINE, now_us=NOW, last_at_us=NOW)


def enlisted(ago_s: int = 12) -> Scene:
    status = MINE.model_copy(update={"revision": 0, "queued_at_us": NOW - ago_s * S})
    return Scene(KEY, status, ThreadControl(), SessionControl(), now_us=NOW, enlisted=True)


def active(status: TurnStatus, pause: PauseFlag | None = None, **parts: object) -> Scene:
    turn = ActiveTurn.model_validate({"status": status, **parts})
    control = ThreadControl(opened=True, active=turn, pause=pause or PauseFlag())
    return Scene(KEY, status, control, SessionControl(), now_us=NOW, last_at_us=NOW)


def held_up() -> Scene:
    scene = active(RUNNING)
    session = SessionControl(budget=Budget(tokens=100))
    return replace(scene, session=session, elsewhere=Used(tokens=60), reserved=Used(tokens=40))


def ended(phase: str, **more: object) -> Scene:
    status = MINE.model_copy(update={"phase": phase, "ended_at_us": NOW - 90 * S, **more})
    return replace(queued(), status=status)


def retrying() -> Scene:
    model = ModelOperation(step=1, ordinal=2, failures={"rate_limited": 2, "cut": 1}, retry_at_us=NOW + 18 * S)
    return active(RUNNING, model=model)


def behind(head: Scene, ahead: int = 1) -> Scene:
    turn = head.control.active
    assert turn is not None
    first = turn.model_copy(update={"status": turn.status.model_copy(update={"turn_id": "t-0"})})
    control = head.control.model_copy(update={"active": first, "queued": 1})
    return replace(head, status=MINE, control=control, front=MINE, ahead=ahead)


FAILED = MINE.model_copy(update={"phase": "failed"})
SESSION_PAUSED = SessionControl(pause=ON)
