"""Permissions while a turn runs: tightened they count at the next `tool.started`, loosened they must wait."""

from collections.abc import Callable

import pytest

from tests.unit.journal.agent import asking, definition, may
from tests.unit.journal.scene import SPECS, Scene, call, must, no_rules, refused, rules
from turnwright.journal.agents import AgentDefinition
from turnwright.journal.commands import SetPermissions
from turnwright.journal.entries import ToolDecided
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.permissions.facts import CallFacts, Checked
from turnwright.journal.state_ops import EnterPlan, LeavePlan
from turnwright.journal.state_parts import Mode

DENIED = ["tool.decided", "tool.finished"]
ASKED = ["tool.decided", "interaction.requested", "turn.waiting"]


def mode(name: Mode) -> PermissionChange:
    return PermissionChange(mode=name)


def calling(*names: str, agent: AgentDefinition | None = None) -> tuple[Scene, list[str]]:
    scene = Scene(agent=agent or definition())
    return scene, scene.calling(*names)


def source(scene: Scene) -> str:
    """On whose word the last decision was made."""
    return [e.payload for e in scene.machine.entries if isinstance(e.payload, ToolDecided)][-1].source


@pytest.mark.parametrize(
    ("change", "types", "word"),
    [
        (rules("deny", "send"), DENIED, "rule:deny send"),
        (rules("ask", "send"), ASKED, "rule:ask send"),
        (mode("explore"), DENIED, "mode:explore"),
        (mode("dont_ask"), DENIED, "mode:dont_ask"),
        (mode("default"), ASKED, "default"),
    ],
)
def test_what_is_tightened_during_a_run_counts_when_the_next_call_starts(
    change: PermissionChange, types: list[str], word: str
) -> None:
    scene, (call_id, _) = calling("send", "look")
    must(scene.permit(change))
    assert must(scene.start(call_id)).types == types
    assert source(scene) == word
    assert "tool.started" not in scene.types()


def test_a_call_that_runs_already_is_not_stopped_by_a_rule() -> None:
    scene, (call_id,) = calling("send")
    must(scene.start(call_id))
    must(scene.permit(rules("deny", "send")))
    assert must(scene.finish(call_id)).types == ["tool.finished"]
    assert scene.results == [("send", "success")]


def test_a_further_attempt_of_a_call_is_decided_anew() -> None:
    scene, (call_id,) = calling("put")
    must(scene.start(call_id))
    must(scene.finish(call_id, "drained"))
    must(scene.permit(rules("deny", "put")))
    assert must(scene.start(call_id)).types == DENIED
    assert scene.results == [("put", "denied")]


def test_a_call_denied_when_it_would_start_leaves_its_siblings_to_run() -> None:
    scene, (sending, putting) = calling("send", "put")
    must(scene.permit(rules("deny", "send")))
    must(scene.start(sending))
    must(scene.start(putting))
    must(scene.finish(putting))
    must(scene.request())


def test_an_ask_rule_added_during_a_run_asks_once_and_the_approval_holds() -> None:
    scene, (call_id,) = calling("send")
    must(scene.permit(rules("ask", "send")))
    must(scene.start(call_id))
    must(scene.respond("approve"))
    assert must(scene.start(call_id)).types == ["tool.started"]


def test_a_question_asked_at_the_start_holds_back_siblings_that_have_not_started() -> None:
    scene, (sending, putting, reading) = calling("send", "put", "look")
    must(scene.start(reading))
    must(scene.permit(rules("ask", "send")))
    assert must(scene.start(sending)).types == ASKED[:2]
    assert refused(scene.start(putting)) == "not_due"
    assert must(scene.finish(reading)).types == ["tool.finished", "turn.waiting"]
    must(scene.respond("deny"))
    must(scene.start(putting))


LOOSER: list[PermissionChange] = [
    mode("bypass"),
    rules("allow", "send"),
    no_rules("deny", "wire"),
    no_rules("ask", "put"),
    PermissionChange(working_directories=("/srv",)),
]
STRICT = definition(may("default", ask=("put",), deny=("wire",)))


@pytest.mark.parametrize("change", LOOSER)
def test_loosening_is_rejected_while_a_turn_runs_and_accepted_when_it_is_parked(change: PermissionChange) -> None:
    scene = Scene(agent=STRICT).thinking()
    before = scene.machine.control.permissions
    assert refused(scene.permit(change)) == "turn_active"
    must(scene.respond_model(call("look")))
    assert refused(scene.permit(change)) == "turn_active"
    assert scene.machine.control.permissions == before
    must(scene.pause())
    must(scene.permit(change))
    assert scene.machine.control.permissions == scene.machine.state.permissions != before


PARK: dict[str, Callable[[Scene], object]] = {
    "paused": lambda scene: scene.pause(),
    "thread paused": lambda scene: scene.pause_thread(),
    "session paused": lambda scene: scene.pause_session(),
    "cancelled": lambda scene: scene.cancel(),
}


@pytest.mark.parametrize("how", PARK)
def test_permissions_may_be_loosened_whenever_no_turn_is_carried_on(how: str) -> None:
    scene = Scene(agent=STRICT).running()
    PARK[how](scene)
    must(scene.permit(mode("bypass")))


def test_permissions_may_be_loosened_while_the_turn_waits_but_what_was_asked_stays_asked() -> None:
    scene, (call_id,) = calling("send", agent=STRICT)
    must(scene.permit(mode("bypass")))
    assert scene.status.phase == "waiting"
    assert refused(scene.start(call_id)) == "not_due"
    must(scene.respond("approve"))
    must(scene.start(call_id))


def test_a_pause_that_has_not_taken_effect_is_no_pause_for_loosening() -> None:
    scene = Scene(agent=STRICT).thinking()
    must(scene.pause())
    assert refused(scene.permit(mode("bypass"))) == "turn_active"


def test_a_thread_without_an_agent_has_no_permissions_to_change() -> None:
    scene = Scene()
    must(scene.submit())
    assert refused(scene.permit(mode("explore"))) == "not_opened"


@pytest.mark.parametrize(
    "change", [no_rules("allow", "send"), PermissionChange(working_directories=("here",)), rules("deny", "send")]
)
def test_a_change_that_cannot_be_is_rejected_whole(change: PermissionChange) -> None:
    scene, _ = calling("send")
    wrong = change.model_copy(update={"remove": no_rules("ask", "send").remove})
    before = scene.machine.control
    assert refused(scene.permit(wrong)) == "bad_permissions"
    assert scene.machine.control == before


def test_the_journal_says_who_changed_the_permissions_and_why() -> None:
    scene, _ = calling("send")
    command = SetPermissions(request_id="p", change=mode("explore"), principal="bea", reason="audit")
    (entry,) = must(scene.run(command)).decided
    assert (getattr(entry.payload, "principal"), getattr(entry.payload, "reason")) == ("bea", "audit")  # noqa: B009


# -- a deny holds ----------------------------------------------------------------------------------


def test_a_deny_rule_holds_against_an_approval_given_before_it() -> None:
    scene, (call_id,) = calling("send", agent=asking("send"))
    must(scene.respond("approve"))
    must(scene.permit(rules("deny", "send")))
    assert must(scene.start(call_id)).types == DENIED


def test_a_deny_rule_holds_against_edited_arguments() -> None:
    scene = Scene(agent=asking("send"))
    (call_id,) = scene.calling(call("send", to="bea"))
    must(scene.permit(rules("deny", "send(to=eve)")))
    assert refused(scene.respond("approve", arguments={"to": "eve"})) == "forbidden"
    must(scene.respond("approve", arguments={"to": "cleo"}))
    must(scene.permit(rules("deny", "send(to=cleo)")))
    assert must(scene.start(call_id)).types == DENIED


def test_a_deny_rule_holds_against_a_deadline_that_approves() -> None:
    scene, (call_id,) = calling("send", agent=asking("send", deadline_s=60, on_expiry="approve"))
    must(scene.permit(rules("deny", "send")))
    scene.wait(61)
    must(scene.look())
    assert must(scene.start(call_id)).types == DENIED


def test_a_deny_rule_holds_against_always_allow_and_bypass() -> None:
    scene, _ = calling("send", agent=definition(may("bypass", allow=("send",), deny=("send",))))
    assert scene.results == [("send", "denied")]


def test_explore_holds_against_an_approval() -> None:
    scene, (call_id,) = calling("send", agent=asking("send"))
    must(scene.respond("approve"))
    must(scene.permit(mode("explore")))
    assert must(scene.start(call_id)).types == DENIED


def test_a_denial_of_the_tools_own_check_holds_against_an_approval() -> None:
    scene, (call_id,) = calling("send", agent=asking("send"))
    must(scene.respond("approve"))
    no = CallFacts(check=Checked(verdict="deny", message="Not on Sundays."))
    assert must(scene.start(call_id, facts=no)).types == DENIED
    assert source(scene) == "check"


# -- explore and plans --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SPECS))
def test_in_explore_only_what_reads_may_run(name: str) -> None:
    scene = Scene(agent=definition(may("explore"))).thinking()
    must(scene.respond_model(call(name)))
    assert bool(scene.calls) == (SPECS[name].effect == "read")


def test_a_plan_lets_only_what_reads_run_until_it_is_left() -> None:
    scene, (sending, _reading) = calling("send", "look")
    must(scene.do(EnterPlan()))
    assert must(scene.start(sending)).types == DENIED
    assert source(scene) == "plan"
    must(scene.start(_reading))
    must(scene.finish(_reading))
    assert refused(scene.do(LeavePlan())) == "turn_active"
    must(scene.pause())
    must(scene.do(LeavePlan()))
    must(scene.resume())
    must(scene.request())
    must(scene.respond_model(call("send")))
    must(scene.start(scene.calls[0].call_id))


def test_a_plan_that_one_call_enters_holds_back_its_siblings() -> None:
    scene, (reading, sending) = calling("look", "send")
    must(scene.start(reading))
    must(scene.finish(reading, ops=(EnterPlan(),)))
    assert scene.machine.control.planning
    assert must(scene.start(sending)).types == DENIED


def test_a_call_cannot_be_approved_while_a_plan_is_active() -> None:
    scene, _ = calling("send", agent=asking("send"))
    must(scene.do(EnterPlan()))
    assert refused(scene.respond("approve")) == "forbidden"
    must(scene.do(LeavePlan()))
    must(scene.respond("approve"))


def test_an_update_of_the_state_that_begins_a_plan_is_a_plan() -> None:
    scene = Scene().running()
    must(scene.pause())
    must(scene.update(plan={"active": True, "document": "first look"}))
    must(scene.resume())
    must(scene.request())
    must(scene.respond_model(call("send")))
    assert scene.results == [("send", "denied")]
