"""Rules as text: what is written comes back, and what is no rule is refused with what to write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.permissions.calls import call
from turnwright.journal.errors import InvalidInput
from turnwright.journal.permissions.patterns import matches
from turnwright.journal.permissions.rules import RULE_CHARACTERS_MAX, parse_rule, rule_text
from turnwright.journal.state_parts import Rule

_tools = st.from_regex(r"[A-Za-z0-9_.:*-]{1,30}", fullmatch=True)
_texts = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=40)
_words = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="\"'`$;&|<>()"), min_size=1, max_size=9
)
_folders = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="/~"), min_size=1, max_size=9)
_patterns = (
    st.none()
    | st.tuples(st.from_regex(r"[a-z_]\w{0,9}(\.[a-z]\w{0,9}){0,2}", fullmatch=True), _texts).map("=".join)
    | st.lists(_words, min_size=1, max_size=4).map(lambda words: f"prefix:{' '.join(words)}")
    | st.lists(_folders.filter(lambda f: f not in (".", "..")), min_size=1, max_size=4).map(
        lambda f: f"path:{'/'.join(f)}"
    )
)


@given(tool=_tools, pattern=_patterns)
def test_a_rule_is_read_back_from_its_text(tool: str, pattern: str | None) -> None:
    rule = Rule(tool=tool, pattern=pattern, source="agent")
    assert parse_rule(rule_text(rule), "agent") == rule


@given(st.text())
def test_any_text_is_a_rule_or_refused_as_none(text: str) -> None:
    try:
        rule = parse_rule(text)
    except InvalidInput:
        return
    assert parse_rule(rule_text(rule)) == rule


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no tool name"),
        ("pay me", "no tool name"),
        ("(amount=1)", "no tool name"),
        ("refund(amount=1", r"not closed at the end; add '\)'"),
        ("refund(amount=1) ", None),
        ("refund()", "argument=glob"),
        ("refund(5)", "argument=glob"),
        ("refund(=5)", "argument=glob"),
        ("refund(a b=5)", "argument=glob"),
        ("shell(prefix:)", "names no command"),
        ("shell(prefix:git; rm)", "first words of one command"),
        ("shell(prefix:git $X)", "first words of one command"),
        ("edit(path:)", "empty folder name"),
        ("edit(path:../x)", "'..'"),
        ("edit(path:src/)", r"folder/\*\*"),
        ("edit(path:~/x)", "absolute path"),
        ("refund(note=a\nb)", "control characters"),
        ("refund(note=\ud800)", "half a character"),
        (f"refund(note={'x' * RULE_CHARACTERS_MAX})", "are the most"),
        ("refund(unknown:x)", "prefix:command words or path:glob"),
    ],
)
def test_what_is_no_rule_is_refused_with_what_to_write(text: str, says: str | None) -> None:
    if says is None:
        parse_rule(text)
        return
    with pytest.raises(InvalidInput, match=says):
        parse_rule(text)


def test_something_else_than_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a rule is a text"):
        parse_rule(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", ["", "amount", "prefix:", "path:../x", "later:kind"])
def test_a_stored_rule_whose_pattern_cannot_be_read_denies_and_never_grants(pattern: str) -> None:
    rule = Rule(tool="refund", pattern=pattern)
    assert matches(rule, call(), granting=False)
    assert not matches(rule, call(), granting=True)
    assert not matches(rule, call("other"), granting=False)
