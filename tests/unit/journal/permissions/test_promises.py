"""Promises of the permissions that hold for any rules, any mode and any call."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.permissions.calls import calls, modes, permissions, rules
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.change import PermissionChange, RuleKind, changed, is_tightening
from turnwright.journal.permissions.evaluate import evaluate, forbidden
from turnwright.journal.permissions.patterns import matches
from turnwright.journal.state_parts import Mode, PermissionState, Rule

STRICTNESS = ("allow", "ask", "deny")
plans = st.booleans()


@given(held=permissions, planning=plans, seen=calls(), rule=rules)
def test_a_deny_rule_holds_in_every_mode(held: PermissionState, planning: bool, seen: CallSeen, rule: Rule) -> None:
    if not matches(rule, seen, granting=False, directories=held.working_directories):
        return
    for mode in get_args(Mode):
        denying = held.model_copy(update={"mode": mode, "deny": (*held.deny, rule)})
        assert evaluate(denying, planning, seen).decision == "deny"
        assert forbidden(denying, planning, seen) is not None


@given(held=permissions, planning=plans, seen=calls(), rule=rules, kind=st.sampled_from(["ask", "deny"]))
def test_one_more_rule_that_asks_or_denies_never_loosens(
    held: PermissionState, planning: bool, seen: CallSeen, rule: Rule, kind: RuleKind
) -> None:
    before = evaluate(held, planning, seen)
    more = held.model_copy(update={kind: (*getattr(held, kind), rule)})
    after = evaluate(more, planning, seen)
    # A rule that asks is looked at before the tool's own check: what that would have denied is asked then.
    asked_before_its_check = kind == "ask" and before.source == "check"
    if not asked_before_its_check:
        assert STRICTNESS.index(after.decision) >= STRICTNESS.index(before.decision)
    assert after.decision != "allow" or before.decision == "allow"
    assert forbidden(held, planning, seen) is None or forbidden(more, planning, seen) is not None


@given(held=permissions, planning=plans, seen=calls(), data=st.data())
def test_a_tightening_never_lets_run_what_was_asked_or_denied(
    held: PermissionState, planning: bool, seen: CallSeen, data: st.DataObject
) -> None:
    tighter = PermissionState(
        mode=data.draw(modes),
        allow=tuple(rule for rule in held.allow if data.draw(st.booleans())),
        ask=(*held.ask, *data.draw(st.lists(rules, max_size=2))),
        deny=(*held.deny, *data.draw(st.lists(rules, max_size=2))),
        working_directories=held.working_directories[: data.draw(st.integers(0, 2))],
    )
    if is_tightening(held, tighter) and evaluate(tighter, planning, seen).decision == "allow":
        assert evaluate(held, planning, seen).decision == "allow"
        assert forbidden(held, planning, seen) is None


@given(held=permissions, seen=calls())
def test_exploring_and_planning_let_only_readers_run(held: PermissionState, seen: CallSeen) -> None:
    exploring = held.model_copy(update={"mode": "explore"})
    for verdict in (evaluate(exploring, False, seen), evaluate(held, True, seen)):
        assert verdict.decision == "deny" or seen.effect == "read"


@given(held=permissions, planning=plans, seen=calls())
def test_a_call_that_may_run_unasked_is_not_forbidden_and_nobody_is_asked_where_nobody_answers(
    held: PermissionState, planning: bool, seen: CallSeen
) -> None:
    verdict = evaluate(held, planning, seen)
    assert verdict.decision != "allow" or forbidden(held, planning, seen) is None
    assert held.mode != "dont_ask" or verdict.decision != "ask"


@given(seen=calls(), rule=rules)
def test_a_rule_that_would_allow_a_call_would_deny_it_too(seen: CallSeen, rule: Rule) -> None:
    directories = tuple(seen.facts.directories)
    if matches(rule, seen, granting=True, directories=directories):
        assert matches(rule, seen, granting=False, directories=directories)


@given(held=permissions, mode=modes)
def test_a_change_of_the_mode_alone_tightens_or_loosens_as_the_modes_are_ranked(
    held: PermissionState, mode: Mode
) -> None:
    after = changed(held, PermissionChange(mode=mode))
    assert is_tightening(held, after) or is_tightening(after, held)
