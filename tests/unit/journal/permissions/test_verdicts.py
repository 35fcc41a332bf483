"""Every combination of mode, rule, effect, plan and check is decided as the specification's table says."""

from dataclasses import replace

import pytest

from tests.unit.journal.permissions.calls import ROOT, call, edit
from tests.unit.journal.permissions.verdict_table import CASES_ALL, TABLE, Case
from turnwright.journal.permissions.call import PATHS_MAX, CallSeen
from turnwright.journal.permissions.evaluate import evaluate, forbidden
from turnwright.journal.permissions.facts import CallFacts, Checked
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_parts import PermissionState

SOURCES = {
    "plan": "plan",
    "explore": "mode:explore",
    "bypass": "mode:bypass",
    "dont_ask": "mode:dont_ask",
    "check": "check",
    "read": "read",
    "default": "default",
}
DENY_LINES = ("deny:rule", "deny:plan", "deny:explore", "deny:check")


def made(case: Case) -> tuple[PermissionState, bool, CallSeen]:
    plan, effect, check, rule, mode = case
    found = None if check in ("none", "missing") else Checked.model_validate({"verdict": check, "message": "words"})
    rules = {} if rule == "none" else {rule: (parse_rule("refund(amount=1*)"),)}
    permissions = PermissionState.model_validate({"mode": mode, **rules})
    facts = CallFacts(check=found)
    seen = CallSeen("refund", {"amount": 100}, effect, facts=facts, checked=check != "none")  # type: ignore[arg-type]
    return permissions, plan == "yes", seen


def test_the_table_is_about_every_case() -> None:
    assert len(TABLE) == CASES_ALL


@pytest.mark.parametrize("mode", ["default", "accept_edits", "explore", "bypass", "dont_ask"])
def test_each_case_is_decided_by_the_line_the_table_names(mode: str) -> None:
    for case, cell in TABLE.items():
        if case[-1] == mode:
            decision, line = cell.split(":")
            source = f"rule:{decision} refund(amount=1*)" if line == "rule" else SOURCES[line]
            verdict = evaluate(*made(case))
            assert (verdict.decision, verdict.source) == (decision, source), case


def test_what_stands_against_an_approved_call_is_what_denies_it_and_never_what_asks() -> None:
    for case, cell in TABLE.items():
        against = forbidden(*made(case))
        denied_by_its_check = case[2] == "deny"
        assert (against is not None) == (cell in DENY_LINES or denied_by_its_check), case
        if against is not None:
            assert against.decision == "deny"
            assert against == evaluate(*made(case)) or denied_by_its_check, case


def test_a_refusal_to_ask_says_what_would_have_been_asked() -> None:
    permissions = PermissionState(mode="dont_ask", ask=(parse_rule("refund"),))
    assert evaluate(permissions, False, call()).message == "Nobody is asked in the mode dont_ask. The rule refund asks."


def test_the_words_of_a_check_are_passed_on() -> None:
    denied = evaluate(PermissionState(), False, call(check=Checked(verdict="deny", message="over the limit")))
    assert denied.message == "over the limit"


@pytest.mark.parametrize(
    ("seen", "source"),
    [
        (edit("src/a.py", "/srv/shop/src/a.py"), "mode:accept_edits"),
        (edit("/srv/shop", "/srv/shop"), "mode:accept_edits"),
        (edit("src/link", "/etc/passwd"), "default"),
        (edit("../shopping/x", "/srv/shopping/x"), "default"),
        (edit("src/a.py"), "paths"),
        (edit(["a", "b"], "/srv/shop/a", "/srv/shop/b"), "mode:accept_edits"),
        (edit(["a", "b"], "/srv/shop/a", "/etc/b"), "default"),
        (edit(["a", "b"], "/srv/shop/a"), "paths"),
        (edit([]), "default"),
        (edit("a", "/srv/shop/../../etc/passwd"), "default"),
        (edit("a", "/private/shop/a", root="/private/shop"), "mode:accept_edits"),
        (call("edit", path="/srv/shop/a"), "default"),
    ],
)
def test_edits_are_accepted_where_all_paths_really_lie_in_the_working_directories(seen: CallSeen, source: str) -> None:
    permissions = PermissionState(mode="accept_edits", working_directories=(ROOT,))
    assert evaluate(permissions, False, seen).source == source
    assert evaluate(permissions.model_copy(update={"mode": "default"}), False, seen).decision == "ask"


LEFT_OUT = CallSeen("edit", {}, paths=("path",))
NO_PATH = CallSeen("edit", {}, paths=("path",), facts=CallFacts(received={"path": None}))
NOWHERE = [
    edit("link/passwd"),
    edit(["a", "link/passwd"], "/srv/shop/a"),
    edit("~nobody/x"),
    LEFT_OUT,
    CallSeen("edit", {}, paths=("path",), facts=CallFacts(received={"path": "link/passwd"})),
]


@pytest.mark.parametrize("seen", [*NOWHERE, edit(["a"] * (PATHS_MAX + 1)), edit("x\0"), edit(5)])
@pytest.mark.parametrize("text", ["edit", "*", "edit(path:**)", "edit(path:link/**)"])
def test_no_rule_allows_a_call_if_nobody_knows_where_its_paths_lead(seen: CallSeen, text: str) -> None:
    verdict = evaluate(PermissionState(allow=(parse_rule(text),), working_directories=(ROOT,)), False, seen)
    assert (verdict.decision, verdict.source) == ("ask", "paths")
    assert "could not be found out" in verdict.message


@pytest.mark.parametrize("seen", NOWHERE)
@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize("mode", ["default", "accept_edits", "explore", "bypass", "dont_ask"])
@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("check", [None, Checked(verdict="allow"), Checked(verdict="pass")])
def test_a_rule_about_paths_is_not_passed_because_nobody_knows_where_they_lead(
    seen: CallSeen, kind: str, mode: str, reads: bool, check: Checked | None
) -> None:
    rules = {"allow": (parse_rule("edit"),), kind: (parse_rule("edit(path:/etc/**)"),)}
    permissions = PermissionState.model_validate({"mode": mode, "working_directories": (ROOT,), **rules})
    facts = seen.facts.model_copy(update={"check": check})
    asked = replace(seen, effect="read" if reads else "once", facts=facts)
    assert evaluate(permissions, False, asked).decision != "allow"


def test_an_approved_call_runs_though_nobody_knows_where_its_paths_lead() -> None:
    permissions = PermissionState(deny=(parse_rule("edit(path:/etc/**)"),), working_directories=(ROOT,))
    assert forbidden(permissions, False, edit("link/passwd")) is None


def test_where_no_rule_is_about_its_paths_a_reader_reads_and_bypass_lets_run() -> None:
    reader = CallSeen("edit", {"path": "x"}, "read", ("path",))
    assert evaluate(PermissionState(deny=(parse_rule("edit(text=x)"),)), False, reader).source == "read"
    assert evaluate(PermissionState(mode="bypass"), False, edit("x")).source == "mode:bypass"
    assert evaluate(PermissionState(allow=(parse_rule("edit"),)), False, NO_PATH).decision == "allow"


def test_a_command_line_is_no_edit_wherever_it_is_run() -> None:
    facts = CallFacts(resolved={"cwd": ("/srv/shop",)}, directories={ROOT: ROOT})
    seen = CallSeen("shell", {"cwd": ".", "line": "rm -rf /"}, paths=("cwd",), command="line", facts=facts)
    permissions = PermissionState(mode="accept_edits", working_directories=(ROOT,))
    assert evaluate(permissions, False, seen).source == "default"
