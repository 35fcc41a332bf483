"""What is decided about a task whose caller cannot be told any more: it is queued, or fails and says why."""

from collections.abc import Callable

import pytest

from tests.unit.journal.scene import Scene, must, refused
from tests.unit.journal.thread_machine import Step
from turnwright.journal.commands import CloseThread, TakeIn
from turnwright.journal.decide.thread_rules import QUEUE_TURNS_MAX
from turnwright.journal.ids import owner_prefix, tenant_prefix
from turnwright.journal.messages import user


def take_in(scene: Scene, **how: object) -> Step:
    """Take in a task; its turn is the scene's then."""
    scene.turn = scene.next_id("t")
    command = TakeIn(request_id=scene.turn, turn_id=scene.turn, input=user("enlisted"), **how)  # type: ignore[arg-type]
    return must(scene.run(command))


def full() -> Scene:
    scene = Scene()
    for _ in range(QUEUE_TURNS_MAX):
        must(scene.submit())
    return scene


def closed() -> Scene:
    scene = Scene()
    must(scene.submit())
    must(scene.run(CloseThread(request_id="close")))
    return scene


def busy() -> Scene:
    scene = Scene()
    must(scene.submit())
    must(scene.claim())
    return scene


def test_it_is_queued_as_any_submit() -> None:
    scene = busy()
    active = scene.turn
    assert take_in(scene).types == ["turn.queued"]
    assert take_in(scene, if_busy="interrupt").types[:2] == ["turn.cancel_requested", "turn.queued"]
    assert scene.machine.turns[active].phase == "cancelled"
    assert scene.machine.queue[0].turn_id == scene.turn


@pytest.mark.parametrize(
    ("made", "code", "how"),
    [(full, "queue_full", {}), (closed, "thread_closed", {}), (busy, "busy", {"if_busy": "reject"})],
    ids=["full", "closed", "busy"],
)
def test_one_that_cannot_be_queued_fails_and_leaves_the_thread_as_it_is(
    made: Callable[[], Scene], code: str, how: dict[str, object]
) -> None:
    scene = made()
    control, inbox = scene.machine.control, scene.machine.state.inbox
    assert take_in(scene, on_failure="hold", **how).types == ["turn.queued", "turn.failed", "input.discarded"]
    status = scene.status
    assert (status.phase, status.code, status.retryable, status.revision) == ("failed", code, False, 2)
    assert scene.machine.control == control.model_copy(update={"seq": control.seq + 3})
    assert scene.machine.state.inbox == inbox
    assert refused(scene.retry()) == "never_started"


def test_a_tenant_s_keys_begin_as_no_other_tenant_s() -> None:
    assert [tenant_prefix(tenant) for tenant in ("a", 'a"', "a,")] == ['["a",', '["a\\"",', '["a,",']


def test_a_user_s_keys_begin_as_no_other_user_s_and_the_anonymous_one_s_as_nobody_s() -> None:
    assert [owner_prefix("a", user) for user in ("b", 'b"', "null", None)] == [
        *('["a","b",', '["a","b\\"",', '["a","null",', '["a",null,'),
    ]
