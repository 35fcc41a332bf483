"""Deferred calls: a tool ends with a question, and the answer from outside is its result."""

from typing import Any

import pytest

from tests.unit.journal.scene import Scene, call, must, refused, rules
from turnwright.journal.actions import Park, ToolOp, Work
from turnwright.journal.commands import Ask
from turnwright.journal.messages import Text
from turnwright.journal.view import request_messages

SCHEMA = {"type": "object", "properties": {"size": {"enum": ["S", "M"]}}, "required": ["size"]}


def result_text(scene: Scene) -> str:
    (result,) = [r for m in scene.machine.state.context for r in m.results]
    assert all(isinstance(block, Text) for block in result.output)
    return "".join(block.text for block in result.output if isinstance(block, Text))


def asking_for_a_size() -> Scene:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.ask(call_id, schema=SCHEMA))
    return scene


def test_a_tool_that_asks_ends_its_attempt_and_its_turn_waits() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    step = must(scene.ask(call_id))
    assert step.types == ["tool.finished", "interaction.requested", "turn.waiting"]
    assert step.action == Park("waiting")
    (known,) = scene.calls
    assert (known.state, known.claim) == ("deferred", None)
    assert scene.machine.state.pending_calls == {call_id}


def test_the_answer_to_a_form_is_the_result_of_its_call() -> None:
    scene = asking_for_a_size()
    step = must(scene.respond("answer", size="M"))
    assert step.types == ["interaction.resolved", "tool.finished", "turn.continued"]
    assert scene.results == [("send", "success")]
    assert result_text(scene) == '{"size":"M"}'
    must(scene.request())


def test_a_form_without_a_schema_takes_any_answer() -> None:
    scene = Scene()
    scene.deferred()
    must(scene.respond("answer", anything=[1, 2]))
    assert result_text(scene) == '{"anything":[1,2]}'


def test_a_person_may_decline_to_answer_a_form() -> None:
    scene = asking_for_a_size()
    must(scene.respond("decline", message="Ask him."))
    assert scene.results == [("send", "denied")]
    assert result_text(scene) == "Ask him."


@pytest.mark.parametrize(
    ("resolution", "answer", "outcome", "text"),
    [
        ("succeeded", {"output": "tracked as 17"}, "success", "tracked as 17"),
        ("succeeded", {"output": {"tracking": 17}}, "success", '{"tracking":17}'),
        ("succeeded", {"output": None}, "success", "null"),
        ("succeeded", {"output": ""}, "success", ""),
        ("failed", {"output": ""}, "error", "What was waited for outside failed."),
        ("failed", {"output": "no such parcel"}, "error", "no such parcel"),
        ("failed", {}, "error", "What was waited for outside failed."),
    ],
)
def test_what_is_delivered_from_outside_is_the_result_of_its_call(
    resolution: str, answer: dict[str, Any], outcome: str, text: str
) -> None:
    scene = Scene()
    scene.deferred("external")
    must(scene.respond(resolution, **answer))
    assert scene.results == [("send", outcome)]
    assert result_text(scene) == text


BAD: list[tuple[str, str, dict[str, Any], str]] = [
    ("form", "answer", {"size": "XL"}, "invalid_answer"),
    ("form", "answer", {}, "invalid_answer"),
    ("form", "approve", {}, "bad_answer"),
    ("form", "succeeded", {}, "bad_answer"),
    ("form", "decline", {"message": {"text": "no"}}, "bad_answer"),
    ("form", "decline", {"why": "no"}, "bad_answer"),
    ("external", "answer", {"size": "M"}, "bad_answer"),
    ("external", "succeeded", {"result": "x"}, "bad_answer"),
    ("external", "failed", {"result": "x"}, "bad_answer"),
]


@pytest.mark.parametrize(("kind", "resolution", "answer", "code"), BAD)
def test_an_answer_that_does_not_fit_is_rejected_and_changes_nothing(
    kind: str, resolution: str, answer: dict[str, Any], code: str
) -> None:
    scene = asking_for_a_size() if kind == "form" else Scene()
    if kind == "external":
        scene.deferred("external")
    before = (scene.machine.control, scene.machine.state, len(scene.machine.entries))
    assert refused(scene.respond(resolution, **answer)) == code
    assert (scene.machine.control, scene.machine.state, len(scene.machine.entries)) == before


def test_siblings_of_a_call_that_asks_still_run() -> None:
    scene = Scene()
    asking, reading, putting = scene.calling("send", "look", "put")
    must(scene.start(asking))
    must(scene.start(reading))
    step = must(scene.ask(asking))
    assert step.action == Work((ToolOp(1, putting, 1),), (ToolOp(1, reading, 1),))
    must(scene.finish(reading))
    must(scene.start(putting))
    assert must(scene.finish(putting)).types == ["tool.finished", "turn.waiting"]
    must(scene.respond("answer"))
    must(scene.request())


def test_an_approval_given_while_a_sibling_is_deferred_starts_its_call() -> None:
    scene = Scene()
    first, second = scene.calling("send", "put")
    must(scene.start(first))
    must(scene.permit(rules("ask", "put")))
    must(scene.ask(first))
    must(scene.start(second))
    assert scene.status.phase == "waiting"
    approval = next(q.interaction_id for q in scene.questions if q.kind == "approval")
    assert must(scene.respond("approve", question=approval)).types[-1] == "turn.continued"
    must(scene.start(second))
    assert must(scene.finish(second)).types == ["tool.finished", "turn.waiting"]


def test_two_deferred_calls_get_their_own_answers_in_either_order() -> None:
    scene = Scene()
    first, second = scene.calling("send", "wire")
    for call_id in (first, second):
        must(scene.start(call_id))
    for call_id in (first, second):
        must(scene.ask(call_id, "external"))
    one, two = (question.interaction_id for question in scene.questions)
    must(scene.respond("failed", question=two))
    must(scene.respond("succeeded", question=one, output="here"))
    assert scene.results == [("wire", "error"), ("send", "success")]


def test_a_report_that_the_call_was_deferred_is_taken_once() -> None:
    scene = Scene()
    call_id = scene.deferred()
    assert must(scene.ask(call_id)).types == []
    assert len(scene.questions) == 1


def test_a_deferred_once_call_is_no_unknown_outcome_however_many_workers_and_runs_die() -> None:
    scene = Scene()
    call_id = scene.deferred()
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    assert must(scene.look()).action == Park("waiting")
    assert refused(scene.claim()) == "parked"
    must(scene.respond("answer", size="M"))
    must(scene.claim())
    must(scene.request())
    assert scene.results == [("send", "success")]
    assert scene.asked_for(call_id).name == "send"


@pytest.mark.parametrize("name", ["look", "put", "send", "wire"])
def test_a_cancel_closes_the_question_and_the_call_and_knows_that_nothing_runs(name: str) -> None:
    scene = Scene()
    scene.deferred(name=name)
    step = must(scene.cancel())
    assert step.types == ["turn.cancel_requested", "tool.finished", "interaction.resolved", "turn.cancelled"]
    (question,) = scene.machine.questions.values()
    assert (question.state, question.principal) == ("cancelled", "local")
    assert scene.results == [(name, "interrupted")]
    assert scene.status.message is None
    scene.thinking()


def test_a_question_that_comes_while_the_turn_is_cancelled_is_closed_with_it() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.cancel())
    step = must(scene.ask(call_id))
    assert step.types[-3:] == ["tool.finished", "interaction.resolved", "turn.cancelled"]
    assert scene.results == [("send", "interrupted")]


def test_a_pause_requested_while_the_tool_runs_takes_effect_when_it_asks() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.pause())
    assert must(scene.ask(call_id)).types == ["tool.finished", "interaction.requested", "turn.paused"]
    must(scene.respond("answer"))
    assert isinstance(must(scene.resume()).action, Work)
    must(scene.request())


def test_a_result_that_comes_after_all_settles_the_question() -> None:
    scene = Scene()
    call_id = scene.deferred()
    asked = scene.questions[0].interaction_id
    assert must(scene.finish(call_id)).types == ["tool.finished", "interaction.resolved", "turn.continued"]
    must(scene.request())
    assert refused(scene.respond("answer", question=asked)) == "already_answered"


def test_a_question_of_an_attempt_that_was_given_up_asks_nobody_and_is_kept_as_late() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    must(scene.start(call_id))
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    assert must(scene.ask(call_id)).types == ["tool.late"]
    assert must(scene.ask(call_id)).types == [], "it is kept once"
    assert scene.calls[0].state == "ready"


def test_what_a_tool_asks_is_stored_as_it_can_be_read_back() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    asks = Ask("form", {"prompt": "a\x00b \ud800", "schema": {"enum": (1, 2)}})
    must(scene.finish(call_id, "deferred", asks=asks))
    (question,) = scene.machine.asked.values()
    assert question.asked["prompt"] == "a\u2400b \ufffd"
    assert question.asked["schema"] == {"enum": [1, 2]}


def test_the_next_request_holds_the_answer_right_behind_the_call() -> None:
    scene = Scene()
    scene.calling(call("send"))
    must(scene.start(scene.calls[0].call_id))
    must(scene.ask(scene.calls[0].call_id))
    must(scene.steer("hurry"))
    must(scene.respond("answer", size="S"))
    must(scene.request())
    roles = [m.role for m in request_messages(scene.machine.state)]
    assert roles[:4] == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize(("resolution", "answer"), [("answer", {"size": "M"}), ("decline", {"message": "no"})])
def test_a_tool_that_asked_to_be_called_again_is_and_only_its_next_attempt_counts(
    resolution: str, answer: dict[str, Any]
) -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.ask(call_id, schema=SCHEMA, again=True))
    assert refused(scene.respond("answer", size="XL")) == "invalid_answer"
    step = must(scene.respond(resolution, **answer))
    assert step.types == ["interaction.resolved", "turn.continued"]
    (known,) = scene.calls
    assert (known.state, known.written_off) == ("ready", 1)
    assert must(scene.finish(call_id, text="too late")).types == ["tool.late"]
    must(scene.start(call_id))
    must(scene.finish(call_id, ordinal=2, text="sent"))
    assert scene.results == [("send", "success")]
    assert result_text(scene) == "sent"


def test_a_tool_that_wants_its_call_approved_is_called_again_or_not_at_all() -> None:
    approved, denied = Scene(), Scene()
    for scene in (approved, denied):
        (call_id,) = scene.calling("send")
        must(scene.start(call_id))
        must(scene.ask(call_id, "approval"))
    must(approved.respond("approve"))
    (known,) = approved.calls
    assert (known.state, known.approved) == ("ready", True)
    must(denied.respond("deny"))
    assert denied.results == [("send", "denied")]


def test_an_answer_that_does_not_come_in_time_ends_a_call_that_was_to_be_made_again() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    must(scene.ask(call_id, again=True, deadline_s=60))
    scene.wait(61)
    must(scene.look())
    assert scene.results == [("send", "error")]
