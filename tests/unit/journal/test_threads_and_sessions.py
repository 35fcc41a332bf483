"""Submits, injections, and commands to a thread or a session as a whole."""

import pytest

from tests.unit.journal.scene import Scene, must, refused
from tests.unit.journal.thread_machine import ThreadMachine
from turnwright.journal.commands import (
    CancelSession,
    CancelThread,
    ClientCommand,
    CloseSession,
    CloseThread,
    CreateSession,
    Inject,
    LoggedCommand,
    PauseSession,
    PauseThread,
    Rejection,
    ResumeSession,
    ResumeThread,
    SetTitle,
    Submit,
)
from turnwright.journal.decide.thread_rules import INJECTED_MAX, QUEUE_TURNS_MAX
from turnwright.journal.messages import user

THREAD_COMMANDS: list[ClientCommand] = [
    Submit(request_id="r", turn_id="t-1", input=user("x")),
    Inject(request_id="r", message=user("x")),
    PauseThread(request_id="r"),
    ResumeThread(request_id="r", revision=0),
    CancelThread(request_id="r"),
    CloseThread(request_id="r"),
]
SESSION_COMMANDS: list[LoggedCommand] = [
    PauseSession(request_id="r"),
    ResumeSession(request_id="r", revision=0),
    CancelSession(request_id="r"),
    CloseSession(request_id="r"),
    SetTitle(request_id="r", title="A trip"),
]


@pytest.mark.parametrize("command", THREAD_COMMANDS, ids=lambda c: type(c).__name__)
def test_no_command_creates_an_unknown_session(command: ClientCommand) -> None:
    machine = ThreadMachine()
    assert refused(machine.run(command)) == "unknown_session"
    assert machine.entries == []


@pytest.mark.parametrize("command", SESSION_COMMANDS, ids=lambda c: type(c).__name__)
def test_an_unknown_session_takes_no_command_but_its_creation(command: LoggedCommand) -> None:
    machine = ThreadMachine()
    rejection = machine.run_session(command)
    assert rejection is not None
    assert rejection.code == "unknown_session"


def code(rejection: Rejection | None) -> str | None:
    return None if rejection is None else rejection.code


def test_a_session_is_created_paused_resumed_and_closed_once() -> None:
    machine = ThreadMachine()
    create, pause = CreateSession(request_id="1"), PauseSession(request_id="2")
    assert machine.run_session(create) is None
    assert code(machine.run_session(create)) == "session_exists"
    assert machine.run_session(pause) is None
    assert code(machine.run_session(pause)) == "already_paused"
    assert code(machine.run_session(ResumeSession(request_id="3", revision=0))) == "stale_revision"
    assert machine.run_session(ResumeSession(request_id="4", revision=1)) is None
    assert code(machine.run_session(ResumeSession(request_id="5", revision=2))) == "not_paused"
    assert machine.run_session(CloseSession(request_id="6")) is None
    assert code(machine.run_session(CloseSession(request_id="7"))) == "session_closed"
    assert machine.run_session(CancelSession(request_id="8")) is None


def test_the_queue_has_a_limit_and_a_place_in_it_becomes_free() -> None:
    scene = Scene()
    for _ in range(QUEUE_TURNS_MAX):
        must(scene.submit())
    assert refused(scene.submit()) == "queue_full"
    assert refused(scene.submit(if_busy="interrupt")) == "queue_full"
    must(scene.cancel())
    must(scene.submit())


def test_injected_material_has_a_limit_that_a_model_call_frees() -> None:
    scene = Scene()
    for _ in range(INJECTED_MAX):
        must(scene.inject())
    assert refused(scene.inject()) == "too_much_injected"
    scene.thinking()
    must(scene.inject())


def test_a_submit_that_will_not_wait_is_rejected_while_a_turn_is_active_queued_or_held() -> None:
    scene = Scene()
    must(scene.submit(if_busy="reject"))
    assert refused(scene.submit(if_busy="reject")) == "busy"
    must(scene.pause())
    assert refused(scene.submit(if_busy="reject")) == "busy"
    must(scene.resume())
    must(scene.claim())
    assert refused(scene.submit(if_busy="reject")) == "busy"
    must(scene.cancel())
    must(scene.submit(if_busy="reject"))


def test_turns_run_in_the_order_of_their_submission() -> None:
    scene = Scene()
    order = []
    for n in range(3):
        must(scene.submit(str(n)))
        order.append(scene.turn)
    ran = []
    while scene.machine.queue:
        scene.turn = scene.machine.queue[0].turn_id
        ran.append(scene.turn)
        must(scene.claim())
        must(scene.cancel())
    assert ran == order


def test_an_interrupt_with_nothing_active_still_goes_to_the_head() -> None:
    scene = Scene()
    must(scene.submit("waits"))
    assert must(scene.submit("urgent", if_busy="interrupt")).types == ["turn.queued"]
    assert scene.machine.queue[0].turn_id == scene.turn


@pytest.mark.parametrize("what", ["thread", "session"])
def test_a_closed_resource_refuses_new_turns_and_finishes_its_queue(what: str) -> None:
    scene = Scene()
    must(scene.submit())
    if what == "thread":
        must(scene.run(CloseThread(request_id="close")))
        assert refused(scene.run(CloseThread(request_id="again"))) == "closed"
    else:
        assert scene.machine.run_session(CloseSession(request_id="close")) is None
    assert refused(scene.submit()) == f"{what}_closed"
    assert refused(scene.inject()) == f"{what}_closed"
    must(scene.claim())
    must(scene.request())
    must(scene.respond_model())
    assert scene.status.phase == "completed"


@pytest.mark.parametrize("what", ["thread", "session"])
def test_a_resource_that_is_closed_with_cancel_cancels_what_it_has(what: str) -> None:
    scene = Scene().thinking()
    active = scene.turn
    must(scene.submit())
    if what == "thread":
        must(scene.run(CloseThread(request_id="close", mode="cancel")))
    else:
        assert scene.machine.run_session(CloseSession(request_id="close", mode="cancel")) is None
        must(scene.look())
    assert scene.status.phase == "cancelled"
    assert scene.machine.turns[active].phase == "cancelling"


def test_who_and_why_stand_in_the_entries_of_a_command() -> None:
    scene = Scene()
    must(scene.run(PauseThread(request_id="p", principal="ann", reason="lunch")))
    payload = scene.machine.entries[-1].payload
    assert payload.model_dump()["principal"] == "ann"
    assert payload.model_dump()["reason"] == "lunch"


def test_a_repeated_request_is_answered_and_not_carried_out_and_its_id_is_good_for_nothing_else() -> None:
    scene = Scene()
    command = Inject(request_id="once", message=user("x"))
    must(scene.run(command))
    assert scene.run(command).duplicate
    assert refused(scene.run(Inject(request_id="once", message=user("y")))) == "request_id_reused"
    assert len(scene.machine.entries) == 1


def test_a_closed_thread_takes_no_new_turn_and_no_material() -> None:
    scene = Scene()
    must(scene.submit())
    must(scene.run(CloseThread(request_id="close")))
    assert refused(scene.submit()) == "thread_closed"
    assert refused(scene.inject()) == "thread_closed"


def test_a_command_to_a_turn_the_thread_does_not_have_is_rejected() -> None:
    scene = Scene()
    must(scene.submit())
    scene.turn = "t-of-another-thread"
    assert refused(scene.steer()) == "unknown_turn"
