"""What people write and read: rules, budgets, JSON."""

from pathlib import Path

import pytest

from turnwright.client.cli.budgets import budget_given, budget_words, used_words
from turnwright.client.cli.giving import given_json, given_object, given_text
from turnwright.client.rule_texts import change_of
from turnwright.journal.budgets import Budget, Used
from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.change import PermissionChange
from turnwright.journal.state_parts import PermissionState, Rule

CURRENT = PermissionState(allow=(Rule(tool="refund"), Rule(tool="read")), deny=(Rule(tool="refund", source="ann"),))


def removed(*texts: str) -> PermissionChange:
    return change_of(CURRENT, "bob", mode=None, rules={}, remove=texts, working_directories=None)


def test_a_rule_to_take_away_is_looked_up_unless_its_kind_is_said() -> None:
    assert [(kind, rule.tool) for kind, rule in removed("refund").remove] == [("allow", "refund"), ("deny", "refund")]
    assert [(kind, rule.tool) for kind, rule in removed("deny refund", "read").remove] == [
        ("deny", "refund"),
        ("allow", "read"),
    ]
    assert [(kind, rule.pattern) for kind, rule in removed("allow shell(prefix:git status)").remove] == [
        ("allow", "prefix:git status")
    ]
    with pytest.raises(InvalidInput, match="no rule 'write'"):
        removed("write")


def test_a_tool_that_is_named_as_a_kind_is_still_a_tool() -> None:
    with pytest.raises(InvalidInput, match="no rule 'allow"):
        removed("allow(prefix:git status)")


def test_a_budget_names_what_is_said_and_nothing_else() -> None:
    assert budget_given(steps=None, tokens=None) is None
    lifted = budget_given(steps="none", cost_usd="$0.000001")
    assert lifted == Budget(cost_microusd=1)
    assert lifted.model_fields_set == {"steps", "cost_microusd"}
    assert budget_given(wall_time="1.5", tool_calls="1_000", tokens="0") == Budget(
        wall_time_s=1.5, tool_calls=1000, tokens=0
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("steps", "1.5"),
        ("steps", "-1"),
        ("steps", "1e9999999"),
        ("tokens", "many"),
        ("cost_usd", "NaN"),
        ("cost_usd", "1e10"),
        ("wall_time", "inf"),
        ("wall_time", "1e300"),
        ("wall_time", "1e400"),
        ("steps", ""),
    ],
)
def test_what_is_no_amount_is_told_with_its_option(name: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=f"--{name.replace('_', '-')} '{text}' is no amount"):
        budget_given(**{name: text})


def test_budgets_are_told_in_words() -> None:
    budget = Budget(steps=1_000, cost_microusd=1_250_000, wall_time_s=90)
    assert budget_words(budget) == "1,000 steps, $1.25 cost, 1 min 30 s wall time"
    assert budget_words(Budget()) == budget_words(None) == "without bound"
    used = Used(steps=3, cost_microusd=12, tokens=5)
    assert (
        used_words(budget, used)
        == "3 of 1,000 steps used, $0.000012 of $1.25 cost used, 0 s of 1 min 30 s wall time used"
    )


def test_json_is_given_in_place_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    file.write_text('{"n": 1}', encoding="utf-8")
    assert given_object("--answer", f"@{file}") == given_object("--answer", '{"n": 1}') == {"n": 1}
    assert given_json("--output-json", "[1, null]") == [1, None]
    assert given_text("plain") == "plain"
    with pytest.raises(InvalidInput, match="--answer is no object"):
        given_object("--answer", "[]")
    with pytest.raises(InvalidInput, match="--answer is no JSON"):
        given_object("--answer", "n: 1")
    with pytest.raises(FileNotFoundError):
        given_text(f"@{tmp_path / 'none'}")
