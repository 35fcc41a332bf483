"""Why a turn stands where it stands: one row for each way it can stand still."""

from dataclasses import replace
from typing import get_args

import pytest

from tests.unit.journal.standing import (
    ALIVE,
    APPROVAL,
    BUDGET,
    BY_ANN,
    CALL,
    CALLED,
    CANCELLING,
    CLAIM,
    DEAD,
    DEFERRED,
    EXTERNAL,
    FAILED,
    FIRST,
    FORM,
    HELD,
    LAPSED,
    MINE,
    MODEL,
    NOW,
    ON,
    QUESTION,
    RUNNING,
    SESSION_PAUSED,
    SILENT,
    STRANGER,
    UNKNOWN,
    WAITING,
    S,
    active,
    behind,
    ended,
    enlisted,
    held_up,
    queued,
    retrying,
)
from tests.unit.journal.standing_due import DUE
from turnwright.journal.control import (
    Failing,
    SessionControl,
    ThreadControl,
)
from turnwright.journal.driver import Presence
from turnwright.journal.ids import ThreadKey
from turnwright.journal.why import Code, Scene, Why, why

ROWS: list[tuple[str, Scene, list[Presence], Code, str]] = [
    ("completed", ended("completed"), [], "finished", "Nothing: it completed 1 min 30 s ago."),
    (
        "cancelled",
        ended("cancelled", code="cancelled_by_thread"),
        [],
        "finished",
        "was cancelled with everything on its thread 1 min 30 s ago (cancelled_by_thread).",
    ),
    (
        "cancelled by somebody",
        replace(ended("cancelled", code="cancelled_by_turn", message="no more"), cancelled_by=BY_ANN),
        [],
        "finished",
        "cancelled by a command to the turn itself, by ann 3 min ago, because: lunch (cancelled_by_turn).",
    ),
    (
        "cancelling by somebody",
        replace(active(CANCELLING, step=2, model=MODEL), cancelled_by=BY_ANN),
        [ALIVE],
        "cancelling",
        "It is cancelled (by ann 3 min ago, because: lunch) when what runs has ended: the model call",
    ),
    (
        "paused by somebody",
        replace(queued(), control=ThreadControl(queued=1, pause=ON), held_by={"thread": BY_ANN}),
        [ALIVE],
        "paused",
        "its thread's pause is set, by ann 3 min ago, because: lunch (`turnwright thread resume s echo --user ann`)",
    ),
    (
        "failed last",
        replace(ended("failed", code="max_steps", message="too many"), control=ThreadControl(failed=FAILED)),
        [],
        "finished",
        "failed 1 min 30 s ago (max_steps: too many); `retry` puts",
    ),
    ("failed earlier", ended("failed", code="internal", started_at_us=NOW), [], "finished", "a later turn has started"),
    ("never queued", ended("failed", code="busy"), [], "finished", "(busy); it never started, so submit it anew"),
    ("enlisted", enlisted(), [ALIVE], "enlisted", "submitted 12 s ago in a transaction of its caller"),
    ("enlisted long ago", enlisted(ago_s=90), [ALIVE], "enlisted", "to queue it; if that lasts, the workers' logs say"),
    ("enlisted, nobody there", enlisted(), [DEAD], "no_worker", "No worker is alive to queue it"),
    (
        "session cancelled",
        replace(queued(), session=SessionControl(cancelled_seq=5)),
        [ALIVE],
        "cancelling",
        "Its session was cancelled",
    ),
    (
        "front held",
        replace(
            queued(),
            front=MINE.model_copy(update={"pause": "effective"}),
            status=MINE.model_copy(update={"pause": "effective"}),
        ),
        [ALIVE],
        "paused",
        "its own pause is set (`turnwright turn resume t-1`)",
    ),
    (
        "thread paused",
        replace(queued(), control=ThreadControl(queued=1, pause=ON)),
        [ALIVE],
        "paused",
        "its thread's pause is set (`turnwright thread resume s echo --user ann`)",
    ),
    (
        "another thread paused",
        replace(
            queued(), key=ThreadKey("acme", None, "echo", "a trip", "side"), control=ThreadControl(queued=1, pause=ON)
        ),
        [ALIVE],
        "paused",
        "(`turnwright thread resume 'a trip' echo --thread side`)",
    ),
    (
        "thread on hold",
        replace(queued(), control=ThreadControl(queued=1, pause=HELD)),
        [ALIVE],
        "paused",
        "a failed turn put its thread on hold",
    ),
    (
        "session paused",
        replace(queued(), session=SESSION_PAUSED),
        [ALIVE],
        "paused",
        "its session's pause is set (`turnwright session resume s --user ann`)",
    ),
    (
        "all paused",
        replace(active(RUNNING.model_copy(update={"pause": "effective"}), ON), session=SESSION_PAUSED),
        [ALIVE],
        "paused",
        "own pause is set (`turnwright turn resume t-1`) and its thread's pause is set (`turnwright thread resume s e",
    ),
    (
        "paused with a question",
        replace(active(WAITING, calls=(UNKNOWN,), interactions=(QUESTION,)), session=SESSION_PAUSED),
        [ALIVE],
        "paused",
        "It also waits for someone to say",
    ),
    (
        "behind",
        replace(queued(), front=FIRST, ahead=3),
        [ALIVE],
        "behind",
        "queued behind 3 other turns; of the head, t-0: A worker is about to start it",
    ),
    (
        "behind a held one",
        replace(queued(), front=FIRST.model_copy(update={"pause": "effective"}), ahead=1),
        [ALIVE],
        "behind",
        "behind one other turn; of the head, t-0: It is paused",
    ),
    (
        "behind an active one",
        behind(active(RUNNING, step=2, model=MODEL)),
        [ALIVE],
        "behind",
        "of the head, t-0: It waits for its operation: the model call of step 2",
    ),
    (
        "model call",
        active(RUNNING, step=2, model=MODEL),
        [ALIVE],
        "operation",
        "the model call of step 2 has run on w-1 for 12 s (attempt 3).",
    ),
    (
        "tool call",
        active(RUNNING, step=1, calls=(CALLED,)),
        [ALIVE],
        "operation",
        "the call c-1 of ledger has run on w-1 for 12 s.",
    ),
    (
        "lost worker",
        active(RUNNING, step=1, calls=(CALLED,)),
        [DEAD, STRANGER],
        "worker_lost",
        "which is gone: another worker takes over",
    ),
    ("forgotten worker", active(RUNNING, step=1, calls=(CALLED,)), [SILENT], "worker_lost", "which is gone: another"),
    (
        "silent worker",
        active(RUNNING, step=2, model=MODEL),
        [LAPSED, STRANGER],
        "operation",
        "gives no sign of life: another worker takes over when its time is up",
    ),
    (
        "lost worker, nobody there",
        active(RUNNING, step=1, calls=(CALLED,)),
        [DEAD],
        "no_worker",
        "which is gone, and no worker is alive to take over; start one with `turnwright worker`.",
    ),
    (
        "silent worker, nobody there",
        active(RUNNING, step=2, model=MODEL),
        [LAPSED],
        "no_worker",
        "gives no sign of life, and no worker is alive to take over; start one with `turnwright worker`.",
    ),
    (
        "cancelling",
        active(CANCELLING, step=2, model=MODEL),
        [ALIVE],
        "cancelling",
        "It is cancelled when what runs has ended: the model call",
    ),
    (
        "pausing",
        active(RUNNING, ON, step=2, model=MODEL),
        [ALIVE],
        "pausing",
        "It pauses when what runs has ended: the model call",
    ),
    (
        "failing while one runs",
        active(RUNNING, step=1, calls=(CALLED,), failing=Failing(code="x", message="y")),
        [ALIVE],
        "operation",
        "the call c-1",
    ),
    ("reserved", held_up(), [ALIVE], "reserved", "waits for model calls of its session's other threads to end"),
    ("retry", retrying(), [ALIVE], "retry", "again in 18 s; the model failed so far: rate_limited 2 times, cut."),
    (
        "unknown outcome",
        active(WAITING, calls=(UNKNOWN,), interactions=(QUESTION,)),
        [ALIVE],
        "waiting",
        "of the call c-1 of ledger (`turnwright turn reconcile t-1 c-1 succeeded|failed|run_again --reason WHY`).",
    ),
    (
        "approval",
        active(WAITING, calls=(CALL.model_copy(update={"state": "asking"}),), interactions=(APPROVAL,)),
        [ALIVE],
        "waiting",
        "someone to allow a call (`turnwright approvals approve q-2` or `turnwright approvals deny q-2`).",
    ),
    (
        "form",
        active(WAITING, calls=(DEFERRED,), interactions=(FORM,)),
        [ALIVE],
        "waiting",
        "someone to answer what the call c-1 of ledger asks (`turnwright approvals answer q-3 --answer JSON` or `turnw",
    ),
    (
        "external",
        active(WAITING, calls=(DEFERRED,), interactions=(EXTERNAL,)),
        [ALIVE],
        "waiting",
        "the result of the call c-1 of ledger from outside (`turnwright approvals deliver q-4 --output TEXT` or `tur",
    ),
    (
        "budget",
        active(WAITING, interactions=(BUDGET,)),
        [ALIVE],
        "waiting",
        "thread (tokens, cost_microusd), or to let it fail (`turnwright approvals raise q-5 --tokens N --cost-usd USD`",
    ),
    (
        "budget of the session",
        replace(
            active(WAITING, interactions=(BUDGET.model_copy(update={"scope": "session"}),)),
            key=ThreadKey("acme", "ann", "echo", "a trip"),
        ),
        [ALIVE],
        "waiting",
        "of its session (tokens, cost_microusd), or to let it fail (`turnwright session budget 'a trip' --user ann --t",
    ),
    *DUE,
]


@pytest.mark.parametrize(("scene", "presences", "code", "part"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_each_way_to_stand_still_has_its_sentence(
    scene: Scene, presences: list[Presence], code: Code, part: str
) -> None:
    told = why(scene, presences)
    assert told.code == code, told
    assert part in told.text, told
    assert told.text.endswith(".")


def test_every_code_has_a_row() -> None:
    assert {row[3] for row in ROWS} | {"unreadable"} == set(get_args(Code))  # which no scene shows


def test_it_says_since_when_and_until_when() -> None:
    assert why(active(RUNNING, step=2, model=MODEL), [ALIVE]).since_us == CLAIM.at_us
    assert why(retrying(), [ALIVE]).until_us == NOW + 18 * S
    asking = CALL.model_copy(update={"state": "asking"})
    told: Why = why(active(WAITING, calls=(asking,), interactions=(APPROVAL,)), [ALIVE])
    assert told.until_us == APPROVAL.deadline_us


def test_a_worker_is_named_as_entries_name_it_and_as_whoever_started_it_knows_it() -> None:
    known = replace(ALIVE, info={"label": "blue", "pid": 4711})
    assert "has run on w-1 (blue process 4711) for 12 s" in why(active(RUNNING, step=1, calls=(CALLED,)), [known]).text
