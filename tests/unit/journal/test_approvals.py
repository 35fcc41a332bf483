"""Approvals: what a person's answer to "may this call run?" records, and what is no answer to it."""

from typing import Any

import pytest

from tests.unit.journal.agent import asking, definition, may
from tests.unit.journal.scene import Scene, call, must, no_rules, refused, rules
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.canonical import digest_of
from turnwright.journal.control import CallOperation
from turnwright.journal.entries import ModelResponded, ToolDecided
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.permissions.rules import rule_text
from turnwright.journal.state_parts import Rule
from turnwright.journal.view import EDITED_VIEW, request_messages


def asked(*calls: str | ToolCall, agent: AgentDefinition | None = None) -> Scene:
    scene = Scene(agent=agent or definition(may("default")))
    scene.calling(*(calls or (call("refund", amount=7),)))
    assert scene.status.phase == "waiting"
    return scene


def texts(known: tuple[Rule, ...]) -> list[str]:
    return [rule_text(rule) for rule in known]


def test_a_question_says_what_is_asked_why_and_what_always_could_mean() -> None:
    scene = asked()
    (question,) = scene.machine.asked.values()
    assert question.arguments_digest == digest_of({"amount": 7})
    assert question.asked["tool"] == "refund"
    assert question.asked["arguments"] == {"amount": 7}
    assert question.asked["why"] == "default"
    assert question.asked["suggestions"] == ["refund(amount=7)", "refund"]


def test_an_approved_call_runs_and_the_journal_says_who_approved_it() -> None:
    scene = asked()
    step = must(scene.respond("approve", principal="bea"))
    assert step.types == ["interaction.resolved", "tool.decided", "turn.continued"]
    decided = step.decided[1].payload
    assert isinstance(decided, ToolDecided)
    assert (decided.decision, decided.source) == ("allow", "person:bea")
    (call_id,) = (c.call_id for c in scene.calls)
    assert must(scene.start(call_id)).types == ["tool.started"]


def test_edited_arguments_are_what_runs_and_what_state_and_request_show() -> None:
    scene = asked()
    (call_id,) = (c.call_id for c in scene.calls)
    must(scene.respond("approve", arguments={"amount": 5}))
    assert scene.asked_for(call_id).arguments == {"amount": 5}
    assert scene.calls[0].digest == digest_of({"amount": 5})
    assert must(scene.start(call_id)).types == ["tool.started"]
    must(scene.finish(call_id))
    view = request_messages(scene.machine.state)
    assert [c.arguments for m in view for c in m.calls] == [{"amount": 5}]
    assert [r.output[0] for m in view for r in m.results] == [Text(text=EDITED_VIEW)]


def test_what_the_model_asked_for_before_an_edit_stays_in_its_own_entry() -> None:
    scene = asked()
    must(scene.respond("approve", arguments={"amount": 5}))
    answers = [e.payload for e in scene.machine.entries if isinstance(e.payload, ModelResponded)]
    assert [b.arguments for p in answers for b in p.blocks if isinstance(b, ToolCall)] == [{"amount": 7}]


def test_an_approval_is_for_these_arguments_and_with_others_it_is_asked_again() -> None:
    scene = asked()
    (call_id,) = (c.call_id for c in scene.calls)
    must(scene.respond("approve"))
    step = must(scene.start(call_id, arguments={"amount": 8}))
    assert step.types == ["tool.decided", "interaction.requested", "turn.waiting"]
    assert "tool.started" not in scene.types()
    must(scene.respond("approve"))
    assert must(scene.start(call_id, arguments={"amount": 8})).types == ["tool.started"]


def test_an_approval_holds_for_further_attempts_of_the_call() -> None:
    scene = asked("put")
    (call_id,) = (c.call_id for c in scene.calls)
    must(scene.respond("approve"))
    must(scene.start(call_id))
    must(scene.finish(call_id, "drained"))
    assert must(scene.start(call_id)).types == ["tool.started"]


def test_a_result_of_an_attempt_given_up_settles_the_question_asked_about_the_next() -> None:
    scene = Scene()
    (call_id,) = scene.calling("put")
    must(scene.start(call_id))
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    must(scene.look())
    must(scene.permit(rules("ask", "put")))
    must(scene.start(call_id))
    assert scene.status.phase == "waiting"
    step = must(scene.finish(call_id, ordinal=1))
    assert step.types == ["tool.finished", "interaction.resolved", "turn.continued"]
    assert scene.results == [("put", "success")]


def test_a_denial_is_the_calls_result_with_the_persons_words() -> None:
    scene = asked()
    step = must(scene.respond("deny", message="Too much."))
    assert step.types == ["interaction.resolved", "tool.decided", "tool.finished", "turn.continued"]
    (result,) = [r for m in scene.machine.state.context for r in m.results]
    assert (result.outcome, result.by, result.output) == ("denied", "person", (Text(text="Too much."),))
    must(scene.request())


def test_always_allow_adds_a_rule_that_lasts_and_once_taken_back_asks_again() -> None:
    scene = asked()
    must(scene.respond("approve", always=True))
    assert texts(scene.machine.control.permissions.allow) == ["refund(amount=7)"]
    assert scene.machine.state.permissions == scene.machine.control.permissions
    assert [rule.source for rule in scene.machine.state.permissions.allow] == ["person:ann"]
    must(scene.cancel())
    assert [c.state for c in asked_anew(scene, 7)] == ["ready"]
    must(scene.cancel())
    must(scene.permit(no_rules("allow", "refund(amount=7)")))
    assert [c.state for c in asked_anew(scene, 7)] == ["asking"]


def test_always_allow_of_one_thing_is_not_always_allow_of_another() -> None:
    scene = asked()
    must(scene.respond("approve", always=True))
    must(scene.cancel())
    assert [c.state for c in asked_anew(scene, 8)] == ["asking"]


def test_always_with_changed_arguments_is_about_these() -> None:
    scene = asked()
    must(scene.respond("approve", arguments={"amount": 5}, always=True))
    assert texts(scene.machine.control.permissions.allow) == ["refund(amount=5)"]


def test_always_alone_never_allows_every_command_line() -> None:
    scene = asked(call("shell", line="ls > out"))
    assert refused(scene.respond("approve", always=True)) == "bad_rule"
    must(scene.respond("approve", always="shell(line=ls > out)"))


def test_always_alone_allows_nothing_when_the_content_of_the_question_is_erased() -> None:
    scene = asked()
    scene.machine.asked.clear()
    assert refused(scene.respond("approve", always=True)) == "bad_rule"
    must(scene.respond("approve"))
    assert scene.machine.control.permissions.allow == ()


def test_always_may_name_a_rule_of_its_own() -> None:
    scene = asked()
    must(scene.respond("approve", always="refund(amount=*)"))
    must(scene.cancel())
    assert [c.state for c in asked_anew(scene, 8)] == ["ready"]


def test_always_deny_adds_a_rule_and_later_calls_are_denied_unasked() -> None:
    scene = asked()
    must(scene.respond("deny", always="refund"))
    assert texts(scene.machine.control.permissions.deny) == ["refund"]
    must(scene.cancel())
    assert asked_anew(scene, 8) == ()
    assert scene.results[-1] == ("refund", "denied")


def test_a_second_call_of_the_step_is_still_asked_about_after_always_allow() -> None:
    scene = asked(call("refund", amount=7), call("refund", amount=7))
    must(scene.respond("approve", always=True))
    assert [c.state for c in scene.calls] == ["ready", "asking"]


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("maybe", {}, "bad_answer"),
    ("answer", {}, "bad_answer"),
    ("approve", {"why not": 1}, "bad_answer"),
    ("approve", {"message": "x"}, "bad_answer"),
    ("deny", {"arguments": {"amount": 5}}, "bad_answer"),
    ("approve", {"arguments": [5]}, "invalid_arguments"),
    ("approve", {"arguments": {"amount": "five"}}, "invalid_arguments"),
    ("approve", {"arguments": {"amount": 0}}, "invalid_arguments"),
    ("approve", {"arguments": {}}, "invalid_arguments"),
    ("approve", {"arguments": {"amount": 666}}, "forbidden"),
    ("approve", {"always": "no rule ("}, "bad_rule"),
    ("approve", {"always": 5}, "bad_rule"),
    ("deny", {"always": {"tool": "refund"}}, "bad_rule"),
    ("approve", {"always": "refnud(amount=7)"}, "bad_rule"),
    ("approve", {"always": "refund(amount=8)"}, "bad_rule"),
    ("approve", {"always": "refund(amount=7)", "arguments": {"amount": 8}}, "bad_rule"),
    ("approve", {"always": "refund(prefix:ls)"}, "bad_rule"),
    ("deny", {"always": "refnud(amount=7)"}, "bad_rule"),
    ("deny", {"always": "refund(amount=8)"}, "bad_rule"),
    ("deny", {"message": {"text": "no"}}, "bad_answer"),
    ("deny", {"message": 5}, "bad_answer"),
]


@pytest.mark.parametrize("kind", ["approve", "deny"])
@pytest.mark.parametrize("text", ["*", "refund", "re*(amount=?)", "refund(amount=7)", "refund(currency=EUR)"])
def test_a_rule_of_ones_own_covers_the_call_or_what_the_model_left_out_of_it(kind: str, text: str) -> None:
    scene = asked()
    must(scene.respond(kind, always=text))
    permissions = scene.machine.control.permissions
    assert texts(permissions.allow if kind == "approve" else permissions.deny) == [text]


@pytest.mark.parametrize(
    ("text", "code"), [("edit(path:src/**)", None), ("*", None), ("edit(path:docs/**)", "bad_rule")]
)
def test_a_rule_about_paths_is_taken_if_it_may_cover_the_call_wherever_these_lead(text: str, code: str | None) -> None:
    scene = asked(call("edit", path="src/a.py"))
    step = scene.respond("approve", always=text, arguments={"path": "src/b.py"})
    assert (None if step.rejection is None else step.rejection.code) == code


@pytest.mark.parametrize(("resolution", "answer", "code"), BAD)
def test_an_answer_that_is_none_is_rejected_and_the_question_stays_open(
    resolution: str, answer: dict[str, Any], code: str
) -> None:
    scene = asked(agent=definition(may("default", deny=("refund(amount=666)",))))
    before = (scene.machine.control, scene.machine.state, len(scene.machine.entries))
    assert refused(scene.respond(resolution, **answer)) == code
    assert (scene.machine.control, scene.machine.state, len(scene.machine.entries)) == before
    must(scene.respond("approve"))


def test_a_call_that_a_rule_denies_since_it_was_asked_about_cannot_be_approved() -> None:
    scene = asked()
    must(scene.permit(rules("deny", "refund")))
    refusal = scene.respond("approve")
    assert refused(refusal) == "forbidden"
    assert refusal.rejection is not None
    assert refusal.rejection.reason.startswith("the call may not run: what this agent may do forbids it (rule:")
    must(scene.respond("deny"))
    assert scene.results == [("refund", "denied")]


def test_what_is_only_written_relative_is_judged_by_where_it_really_leads_also_when_approved() -> None:
    scene = Scene(agent=definition(may("default", deny=("edit(path:/etc/**)",)))).thinking()
    notes = CallFacts(resolved={"path": ("/srv/notes.txt",)})
    must(scene.respond_model(call("edit", path="notes.txt"), facts=(notes,)))
    must(scene.respond("approve"))
    assert must(scene.start(scene.calls[0].call_id, facts=notes)).types == ["tool.started"]


def test_a_path_that_leads_elsewhere_when_the_call_starts_is_denied_though_it_was_approved() -> None:
    scene = Scene(agent=definition(may("default", deny=("edit(path:/etc/**)",)))).thinking()
    must(scene.respond_model(call("edit", path="/srv/a"), facts=(CallFacts(resolved={"path": ("/srv/a",)}),)))
    must(scene.respond("approve"))
    moved = CallFacts(resolved={"path": ("/etc/passwd",)})
    assert must(scene.start(scene.calls[0].call_id, facts=moved)).types == ["tool.decided", "tool.finished"]
    assert scene.results == [("edit", "denied")]


def test_an_approval_of_a_question_whose_text_was_erased_still_answers_it() -> None:
    scene = asked()
    scene.machine.asked.clear()
    must(scene.respond("approve"))
    assert must(scene.start(scene.calls[0].call_id)).types == ["tool.started"]


def test_only_calls_that_ask_are_asked_about() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("look", "send", "put", "send")
    assert [q.call_id for q in scene.questions] == [c.call_id for c in scene.calls if c.name == "send"]


def asked_anew(scene: Scene, amount: int) -> tuple[CallOperation, ...]:
    scene.thinking()
    must(scene.respond_model(call("refund", amount=amount)))
    return scene.calls


def test_nobody_is_asked_about_a_call_that_cannot_be_made() -> None:
    scene = Scene(agent=asking("refund")).thinking()
    unfit = CallFacts(unfit="amount is missing")
    step = must(scene.respond_model(call("refund"), facts=(unfit,)))
    assert step.types == ["model.responded", "tool.decided", "tool.finished"]
    assert scene.results == [("refund", "error")]
    must(scene.request())


def test_an_allow_rule_that_an_ask_rule_comes_before_is_not_added_for_always() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    assert scene.active.interactions
    assert refused(scene.respond("approve", always="send")) == "bad_rule"
    must(scene.respond("approve"))
