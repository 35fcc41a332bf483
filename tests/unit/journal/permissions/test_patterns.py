"""What each kind of pattern is about; a call that hides something is denied and never allowed."""

from typing import Any

import pytest

from tests.unit.journal.permissions.calls import ROOT, call, edit, shell
from turnwright.journal.permissions.call import PATHS_MAX, CallSeen
from turnwright.journal.permissions.facts import CallFacts
from turnwright.journal.permissions.globs import folded
from turnwright.journal.permissions.patterns import VALUE_CHARACTERS_MAX, matches
from turnwright.journal.permissions.places import Places
from turnwright.journal.permissions.rules import RULES_MAX, parse_rule, read_pattern

YES, NO = True, False


def judged(rule: str, seen: CallSeen) -> tuple[bool, bool]:
    """Whether the rule would allow the call, and whether it would deny it."""
    parsed = parse_rule(rule)
    grants, touches = (matches(parsed, seen, granting=how, directories=(ROOT,)) for how in (True, False))
    return grants, touches


@pytest.mark.parametrize(
    ("rule", "tool", "expected"),
    [
        ("refund", "refund", (YES, YES)),
        ("refund", "refunds", (NO, NO)),
        ("re*", "refund", (YES, YES)),
        ("*", "refund", (YES, YES)),
        ("*_all", "delete_all", (YES, YES)),
        ("Refund", "refund", (NO, YES)),
        ("a.b", "aXb", (NO, NO)),
    ],
)
def test_a_rule_names_tools(rule: str, tool: str, expected: tuple[bool, bool]) -> None:
    assert judged(rule, call(tool)) == expected


@pytest.mark.parametrize(
    ("rule", "arguments", "expected"),
    [
        ("refund(amount=100)", {"amount": 100}, (YES, YES)),
        ("refund(amount=100)", {"amount": 100.0}, (YES, YES)),
        ("refund(amount=100)", {"amount": "100"}, (YES, YES)),
        ("refund(amount=100)", {"amount": " 100 "}, (NO, YES)),
        ("refund(amount=1*)", {"amount": 17}, (YES, YES)),
        ("refund(amount=1?)", {"amount": 170}, (NO, NO)),
        ("refund(amount=1.5)", {"amount": 1.5}, (YES, YES)),
        ("refund(amount=1.5)", {"amount": 145}, (NO, NO)),
        ("refund(sure=true)", {"sure": True}, (YES, YES)),
        ("refund(note=null)", {"note": None}, (YES, YES)),
        ("refund(note=*)", {}, (NO, NO)),
        ("refund(note=)", {"note": ""}, (YES, YES)),
        ("refund(note=a*z)", {"note": "a\nz"}, (YES, YES)),
        ("refund(note=a*z)", {"note": "a z "}, (NO, YES)),
        (r"refund(note=\*)", {"note": "*"}, (YES, YES)),
        (r"refund(note=\*)", {"note": "x"}, (NO, NO)),
        (r"refund(note=\\x\d)", {"note": r"\x\d"}, (YES, YES)),
        ("refund(note=[ab])", {"note": "a"}, (NO, NO)),
        ("refund(note=stop)", {"note": "STOP"}, (NO, YES)),
        ("refund(note=stop)", {"note": "\uff53\uff54\uff4f\uff50"}, (NO, YES)),
        ("refund(note=caf\u00e9)", {"note": "cafe\u0301"}, (NO, YES)),
        ("refund(to=a)", {"to": ["a", "a"]}, (YES, YES)),
        ("refund(to=a)", {"to": ["a", "b"]}, (NO, YES)),
        ("refund(to=*)", {"to": []}, (NO, YES)),
        ("refund(order.id=7)", {"order": {"id": 7}}, (YES, YES)),
        ("refund(order.id=7)", {"order": {"id": 8}}, (NO, NO)),
        ("refund(order.id=7)", {"order": 7}, (NO, NO)),
        ("refund(items.id=7)", {"items": [{"id": 7}, {"id": 8}]}, (NO, YES)),
        ("refund(items.id=7)", {"items": [{"id": 7}, {}]}, (NO, YES)),
        ("refund(items.id=7)", {"items": [{"id": 7}, {"id": 7}]}, (YES, YES)),
        ("refund(order=7)", {"order": {"id": 7}}, (NO, YES)),
    ],
)
def test_a_named_argument_is_compared_as_text(
    rule: str, arguments: dict[str, Any], expected: tuple[bool, bool]
) -> None:
    assert judged(rule, CallSeen("refund", arguments)) == expected


def test_an_argument_counts_as_it_was_written_and_as_the_tool_gets_it() -> None:
    seen = CallSeen("refund", {"amount": "1_00"}, facts=CallFacts(received={"amount": 100, "currency": "USD"}))
    assert judged("refund(amount=100)", seen) == (NO, YES)
    assert judged("refund(currency=USD)", seen) == (YES, YES)
    assert judged("refund(currency=EUR)", seen) == (NO, NO)


def test_a_glob_of_many_stars_is_matched_at_once_against_a_long_text() -> None:
    rule = f"refund(note={'a*' * 200}b)"
    assert judged(rule, call(note="a" * 50_000)) == (NO, NO)
    assert judged(rule, call(note="a" * 50_000 + "b")) == (YES, YES)


def test_a_value_that_is_too_long_to_be_read_is_denied_and_not_allowed() -> None:
    assert judged("refund(note=*)", call(note="a" * VALUE_CHARACTERS_MAX)) == (YES, YES)
    assert judged("refund(note=*)", call(note="\ufdfa" * 5_555)) == (YES, YES)
    assert judged("refund(note=*)", call(note="\ufdfa" * 5_556)) == (NO, YES)
    assert judged("refund(note=*)", call(note="a" * (VALUE_CHARACTERS_MAX + 1))) == (NO, YES)
    assert judged("refund(note=b)", call(note="a" * (VALUE_CHARACTERS_MAX + 1))) == (NO, YES)
    assert judged("refund(amount=5)", call(note="a" * (VALUE_CHARACTERS_MAX + 1), amount=4)) == (NO, NO)


@pytest.mark.parametrize("note", ["e" + "\u0301\u0327" * 49_000, "\u0f73\u0327" * 49_000])
def test_a_text_that_unicode_spells_at_length_is_compared_at_once(note: str) -> None:
    for number in range(100):
        assert judged(f"refund(note=*{number}*)", call(note=note)) == (NO, NO)
    assert judged("refund(note=*stop)", call(note=f"{note[:90_000]}STOP")) == (NO, YES)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/" * 2_000, (NO, NO)),
        ("a/" * 500_000, (NO, YES)),
        (["a"] * PATHS_MAX, (NO, NO)),
        (["a"] * (PATHS_MAX + 1), (NO, YES)),
        (["a" * 1_000] * 21, (NO, YES)),
    ],
)
def test_paths_that_are_too_long_or_too_many_to_be_read_are_denied_and_not_allowed(
    path: object, expected: tuple[bool, bool]
) -> None:
    assert judged("edit(path:src/**)", edit(path)) == expected


def test_paths_are_read_once_however_many_rules_they_are_compared_with() -> None:
    paths = [f"deep/er/f{n}" for n in range(PATHS_MAX)]
    places = Places.of(edit(paths, *(f"{ROOT}/{path}" for path in paths)), (ROOT,))

    def readings(rules: int) -> int:
        before = folded.cache_info()
        for n in range(rules):
            assert not places.any_touches(read_pattern(f"path:secret{n}/**"))
        after = folded.cache_info()
        return after.hits + after.misses - before.hits - before.misses

    assert readings(1) >= PATHS_MAX
    assert readings(RULES_MAX) <= 2 * RULES_MAX


def test_a_path_that_is_too_long_is_not_allowed_wherever_it_leads() -> None:
    assert judged("edit(path:**)", edit("a/../" * 1_000 + "a", f"{ROOT}/a")) == (NO, YES)


@pytest.mark.parametrize(
    ("path", "real", "expected"),
    [
        ("src/a.py", "/srv/shop/src/a.py", (YES, YES)),
        ("src/deep/er/a.py", "/srv/shop/src/deep/er/a.py", (YES, YES)),
        ("/srv/shop/src/a.py", "/srv/shop/src/a.py", (YES, YES)),
        ("docs/../src/a.py", "/srv/shop/src/a.py", (YES, YES)),
        ("src/../../../etc/passwd", "/etc/passwd", (NO, NO)),
        ("src/link", "/etc/passwd", (NO, YES)),
        ("link", "/srv/shop/src/a.py", (YES, YES)),
        ("src/a.py", None, (NO, YES)),
        ("other/../src/a.py", None, (NO, YES)),
        ("other/a.py", None, (NO, NO)),
        ("/elsewhere/src/a.py", "/elsewhere/src/a.py", (NO, YES)),
        ("srcs/a.py", "/srv/shop/srcs/a.py", (NO, NO)),
        ("SRC/a.py", "/srv/shop/SRC/a.py", (NO, YES)),
        ("src/\u202egnp.py", "/srv/shop/src/\u202egnp.py", (YES, YES)),
        ("src/a\nb", "/srv/shop/src/a\nb", (YES, YES)),
        ("x\0", None, (NO, YES)),
        (5, None, (NO, YES)),
        (["src/a", "x"], None, (NO, YES)),
        ({"src": 1}, None, (NO, YES)),
        (None, None, (NO, NO)),
    ],
)
def test_a_relative_glob_allows_in_the_working_directories_and_denies_anywhere(
    path: object, real: str | None, expected: tuple[bool, bool]
) -> None:
    seen = edit(path) if real is None else edit(path, real)
    assert judged("edit(path:src/**)", seen) == expected


@pytest.mark.parametrize(
    ("glob", "real", "expected"),
    [
        ("*.py", "/srv/shop/a.py", (YES, YES)),
        ("*.py", "/srv/shop/src/a.py", (NO, YES)),
        ("**/*.py", "/srv/shop/src/a.py", (YES, YES)),
        ("**/*.py", "/srv/shop/a.py", (YES, YES)),
        ("**", "/srv/shop", (YES, YES)),
        ("src/**", "/srv/shop/src", (YES, YES)),
        ("src/*/x", "/srv/shop/src/a/b/x", (NO, NO)),
        ("src/**/x", "/srv/shop/src/a/b/x", (YES, YES)),
        ("src/**/x", "/srv/shop/src/x", (YES, YES)),
        ("a**z", "/srv/shop/a/z", (NO, NO)),
        ("/etc/**", "/etc/ssh/key", (YES, YES)),
        ("/etc/**", "/srv/shop/etc/x", (NO, NO)),
        ("/**/key", "/etc/ssh/key", (YES, YES)),
        (".env", "/srv/shop/deep/.env", (NO, YES)),
        ("?", "/srv/shop/a", (YES, YES)),
        ("?", "/srv/shop/ab", (NO, NO)),
    ],
)
def test_a_star_stays_in_its_folder_and_two_cross_folders(glob: str, real: str, expected: tuple[bool, bool]) -> None:
    assert judged(f"edit(path:{glob})", edit("written", real)) == expected


def test_every_path_must_be_allowed_and_one_is_enough_to_deny() -> None:
    both = edit(["src/a", "b"], "/srv/shop/src/a", "/srv/shop/b")
    assert judged("edit(path:src/**)", both) == (NO, YES)
    assert judged("edit(path:**)", both) == (YES, YES)
    assert judged("edit(path:**)", edit(["src/a", "b"], "/srv/shop/src/a")) == (NO, YES)


def test_the_path_a_tool_takes_when_none_is_written_counts() -> None:
    assert judged("edit(path:/etc/**)", edit(None, "/etc/passwd")) == (YES, YES)


def test_a_working_directory_that_is_a_link_is_where_it_leads() -> None:
    assert judged("edit(path:src/**)", edit("src/a", "/data/shop/src/a", root="/data/shop")) == (YES, YES)
    assert judged("edit(path:src/**)", edit("src/a", "/srv/shop/src/a", root="/data/shop")) == (NO, YES)


def test_a_home_that_is_not_known_may_be_anywhere() -> None:
    assert judged("edit(path:/home/*/.ssh/**)", edit("~/x")) == (NO, YES)
    assert judged("edit(path:.ssh/**)", edit("~/x")) == (NO, NO)
    assert judged("edit(path:.ssh/**)", edit("~/.ssh/key")) == (NO, YES)


def test_a_path_glob_is_about_tools_that_say_which_arguments_are_paths() -> None:
    assert judged("*(path:**)", call(path="/srv/shop/a")) == (NO, NO)


def test_a_prefix_is_about_tools_that_say_which_argument_is_a_command() -> None:
    assert judged("*(prefix:git)", call(line="git status")) == (NO, NO)
    assert judged("*(prefix:git)", shell(["git", "status"])) == (NO, YES)
    assert judged("*(prefix:git)", shell(None)) == (NO, NO)
