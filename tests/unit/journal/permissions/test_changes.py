"""Changes of permissions, which of them only tighten, and what "always allow" suggests."""

import re
from typing import Any

import pytest
from hypothesis import given

from tests.unit.journal.permissions.calls import ROOT, call, calls, edit, permissions, shell
from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.change import (
    DIRECTORIES_MAX,
    PermissionChange,
    changed,
    checked_permissions,
    is_tightening,
)
from turnwright.journal.permissions.patterns import matches
from turnwright.journal.permissions.rules import RULES_MAX, parse_rule
from turnwright.journal.permissions.suggest import SUGGESTIONS_MAX, suggestions
from turnwright.journal.state_parts import PermissionState, Rule

REFUND, SEND = parse_rule("refund", "agent"), parse_rule("send(to=*)", "alice")


def test_a_rule_is_added_once_and_keeps_who_set_it_first() -> None:
    once = changed(PermissionState(), PermissionChange(add=(("allow", REFUND), ("deny", SEND))))
    again = changed(once, PermissionChange(add=(("allow", parse_rule("refund", "bob")),)))
    assert again == once == PermissionState(allow=(REFUND,), deny=(SEND,))


def test_a_rule_is_taken_back_by_whoever_names_it() -> None:
    before = PermissionState(allow=(REFUND, SEND), deny=(REFUND,))
    after = changed(before, PermissionChange(remove=(("allow", parse_rule("refund", "bob")),)))
    assert after == PermissionState(allow=(SEND,), deny=(REFUND,))


def test_taking_away_a_rule_that_is_not_there_names_it() -> None:
    with pytest.raises(InvalidInput, match=re.escape("no ask rule 'send(to=*)' to take away")):
        changed(PermissionState(deny=(SEND,)), PermissionChange(remove=(("ask", SEND),)))


def test_what_a_change_does_not_mention_stays() -> None:
    before = PermissionState(mode="dont_ask", allow=(REFUND,), working_directories=("/a",))
    assert changed(before, PermissionChange()) == before
    after = changed(before, PermissionChange(mode="explore", working_directories=()))
    assert after == PermissionState(mode="explore", allow=(REFUND,))


def test_a_stored_rule_that_cannot_be_read_can_still_be_taken_away() -> None:
    odd = Rule(tool="refund", pattern="later:kind")
    before = PermissionState(deny=(odd,))
    assert changed(before, PermissionChange(mode="explore")).deny == (odd,)
    assert changed(before, PermissionChange(remove=(("deny", odd),))).deny == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"add": (("deny", Rule(tool="refund", pattern="5")),)}, "argument=glob"),
        ({"add": tuple(("ask", Rule(tool=f"t{n}")) for n in range(RULES_MAX + 1))}, f"{RULES_MAX} are the most"),
        ({"working_directories": ("src",)}, "must be an absolute path"),
        ({"working_directories": ("~/src",)}, "must be an absolute path"),
        ({"working_directories": ("/a\0",)}, "must be an absolute path"),
        (
            {"working_directories": tuple(f"/{n}" for n in range(DIRECTORIES_MAX + 1))},
            f"{DIRECTORIES_MAX} are the most",
        ),
    ],
)
def test_a_change_that_cannot_be_kept_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        changed(PermissionState(), PermissionChange(**change))


def test_a_directory_is_kept_in_its_plain_spelling_once() -> None:
    after = changed(PermissionState(), PermissionChange(working_directories=("/a/./b/", "//a/b", "/a/c/../b")))
    assert after.working_directories == ("/a/b",)


def test_permissions_to_begin_with_are_checked_like_a_change() -> None:
    given_ = PermissionState(mode="bypass", ask=(SEND, SEND), working_directories=("/a/",))
    assert checked_permissions(given_) == PermissionState(mode="bypass", ask=(SEND,), working_directories=("/a",))
    with pytest.raises(InvalidInput):
        checked_permissions(PermissionState(allow=(Rule(tool="no tool"),)))


@pytest.mark.parametrize(
    ("old", "new", "tightens"),
    [
        ({}, {}, True),
        ({"mode": "bypass"}, {"mode": "accept_edits"}, True),
        ({"mode": "accept_edits"}, {"mode": "default"}, True),
        ({"mode": "default"}, {"mode": "dont_ask"}, True),
        ({"mode": "dont_ask"}, {"mode": "explore"}, True),
        ({"mode": "explore"}, {"mode": "dont_ask"}, False),
        ({"mode": "default"}, {"mode": "bypass"}, False),
        ({"allow": (REFUND, SEND)}, {"allow": (SEND,)}, True),
        ({"allow": (SEND,)}, {"allow": (REFUND,)}, False),
        ({"ask": (SEND,)}, {"ask": (SEND, REFUND)}, True),
        ({"ask": (SEND,)}, {"deny": (SEND,)}, False),
        ({"deny": (SEND,)}, {"deny": ()}, False),
        ({"deny": ()}, {"deny": (SEND,)}, True),
        ({"working_directories": ("/a", "/b")}, {"working_directories": ("/a",)}, True),
        ({"working_directories": ("/a", "/b")}, {"working_directories": ("/b",)}, False),
        ({"working_directories": ("/a",)}, {"working_directories": ("/a", "/b")}, False),
    ],
)
def test_a_tightening_only_takes_away(old: dict[str, Any], new: dict[str, Any], tightens: bool) -> None:
    assert is_tightening(PermissionState(**old), PermissionState(**new)) is tightens


@given(seen=calls(), held=permissions)
def test_each_suggestion_would_have_allowed_the_call(seen: CallSeen, held: PermissionState) -> None:
    directories = held.working_directories
    found = suggestions(seen, directories)
    assert len(set(found)) == len(found) <= SUGGESTIONS_MAX
    assert found[-1:] == (() if seen.unlocated else (seen.tool,))
    for text in found:
        assert matches(parse_rule(text), seen, granting=True, directories=directories)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (call(amount=100, note="late"), ("refund(amount=100)", "refund(note=late)", "refund")),
        (call(note="a*b", more={"x": 1}), (r"refund(note=a\*b)", "refund")),
        (call(note="a\nb"), ("refund",)),
        (call(note="x" * 500), ("refund",)),
        (call(sure=True, rate=0.5), ("refund(sure=true)", "refund(rate=0.5)", "refund")),
        (shell("git status -s"), ("shell(prefix:git status)", "shell")),
        (shell("git status && git status -s"), ("shell(prefix:git status)", "shell")),
        (shell("git status && git push"), ("shell",)),
        (shell("ls -la"), ("shell(prefix:ls)", "shell")),
        (shell("ls *.py"), (r"shell(prefix:ls \*.py)", "shell")),
        (shell("sudo apt update"), ("shell(prefix:sudo apt update)", "shell")),
        (shell("python x.py"), ("shell(prefix:python x.py)", "shell")),
        (shell("python3.12 x.py"), ("shell(prefix:python3.12 x.py)", "shell")),
        (shell("/usr/bin/lua5.4 -v"), ("shell(prefix:/usr/bin/lua5.4 -v)", "shell")),
        (shell("bash -c 'rm x'"), ("shell",)),
        (shell("echo $X"), ("shell",)),
        (edit("src/a.py", "/srv/shop/src/a.py"), ("edit(path:src/**)", "edit")),
        (edit("a.py", "/srv/shop/a.py"), ("edit(path:**)", "edit")),
        (edit("x", "/etc/ssh/key"), ("edit(path:/etc/ssh/**)", "edit")),
        (edit("x", "/key"), ("edit",)),
        (edit("x", "/srv/shop/a*/b"), (r"edit(path:a\*/**)", "edit")),
        (edit(["a", "b"], "/srv/shop/src/a", "/srv/shop/src/b/c"), ("edit(path:src/**)", "edit")),
        (edit("src/a.py"), ()),
    ],
)
def test_suggestions_begin_with_the_narrowest(seen: CallSeen, expected: tuple[str, ...]) -> None:
    assert suggestions(seen) == expected


def test_a_suggested_folder_of_a_linked_working_directory_is_seen_from_it() -> None:
    seen = edit("src/a", "/data/shop/src/a", root="/data/shop")
    assert suggestions(seen, (ROOT,)) == ("edit(path:src/**)", "edit")
