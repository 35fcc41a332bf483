"""On which terms tools from elsewhere become an agent's."""

from __future__ import annotations

import pytest

from turnwright.activities.sources.terms import NAME_CHARACTERS_MAX, TermOptions, Terms
from turnwright.journal.agents import ToolSpec
from turnwright.journal.errors import InvalidInput


def terms(**options: object) -> Terms:
    return Terms.of("git", TermOptions(**options))  # type: ignore[typeddict-item] # some of them are wrong


@pytest.mark.parametrize(
    ("there", "here"),
    [("log", "git_log"), ("git_log", "git_log"), ("show.diff/all", "git_show_diff_all"), ("größe", "git_gr__e")],
)
def test_a_name_is_prefixed_once_and_written_so_that_a_model_can_call_it(there: str, here: str) -> None:
    assert terms().named(there) == here


def test_names_that_are_too_long_are_cut_and_stay_apart() -> None:
    names = {terms().named("a" * 100 + end) for end in "xy"}
    assert len(names) == 2
    assert {len(name) for name in names} == {NAME_CHARACTERS_MAX}


def test_patterns_say_which_tools_are_wanted() -> None:
    some = terms(include=["read_*", "list"], exclude=["*_secret"])
    assert [name for name in ("read_file", "read_secret", "list", "lists") if some.admits(name)] == [
        "read_file",
        "list",
    ]


def test_what_the_author_says_of_a_tool_comes_before_all_and_what_follows_elsewhere_last() -> None:
    some = terms(effects={"log": "read"}, effect="once")
    assert [some.effect_of("log"), some.effect_of("push", "read"), terms().effect_of("push", "idempotent")] == [
        "read",
        "once",
        "idempotent",
    ]


def test_what_does_not_fit_is_left_out_and_the_rest_stays() -> None:
    huge = ToolSpec(name="huge", description="x" * 70_000)
    found = terms().fitting([ToolSpec(name="a"), huge, ToolSpec(name="a", description="again"), ToolSpec(name="b")])
    assert [(spec.name, spec.description) for spec in found] == [("a", ""), ("b", "")]
    assert len(terms().fitting([ToolSpec(name=f"t{n}") for n in range(300)])) == 200


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"include": "read"}, "lists of names"),
        ({"effect": "write"}, "'read', 'idempotent' or 'once'"),
        ({"effects": {"log": "twice"}}, "'read', 'idempotent' or 'once'"),
        ({"prefix": "no spaces"}, "prefix"),
        ({"timeout_s": 0}, "above 0"),
        ({"trust": True}, "it has no trust="),
    ],
)
def test_what_is_wrong_is_said_where_the_agent_is_made(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        terms(**wrong)
