"""Titles and summaries: made once or renewed within bounds, and never over what a person said."""

from __future__ import annotations

import pytest

from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import DescribeSession, LoggedCommand, Rejection, SetTitle
from turnwright.journal.control import SessionControl
from turnwright.journal.decide import decide_session
from turnwright.journal.describing import (
    RENEWED_AFTER_ENTRIES,
    SUMMARY_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    described,
    first_words,
    parts_of,
    short_title,
    summary_due,
)
from turnwright.journal.entries import SessionTitled
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.messages import Message, Text, user

BEGUN = SessionControl(created=True)


def after(control: SessionControl, command: LoggedCommand) -> SessionControl:
    decision = decide_session(control, command)
    assert not isinstance(decision, Rejection), decision.reason
    for seq, draft in enumerate(decision, start=control.seq + 1):
        control = evolve_session(control, draft.at(seq, 0))
    return control


def describe(title: str = "", summary: str = "", through_seq: int = 9) -> DescribeSession:
    made_of = MadeOf(agent="agent", thread="main", through_seq=through_seq)
    return DescribeSession(request_id="d", principal="turnwright", made_of=made_of, title=title, summary=summary)


def test_a_title_is_made_once_and_never_over_one_that_a_person_set() -> None:
    made = after(BEGUN, describe("Made"))
    assert made.title == "Made"
    again = decide_session(made, describe("Made again"))
    assert isinstance(again, Rejection)
    assert again.code == "described_already"
    named = after(made, SetTitle(request_id="t", title="Mine"))
    assert named.title == "Mine"
    assert after(named, describe("Made", "a summary")).title == "Mine"
    bare = after(named, SetTitle(request_id="t2", title=None))
    assert bare.title is None
    assert after(bare, describe("Made")).title == "Made"


def test_what_a_person_says_names_nothing_that_it_was_made_of() -> None:
    [draft] = decide_session(BEGUN, SetTitle(request_id="t", principal="ann", title="Mine"))  # type: ignore[misc] # no rejection
    assert draft.payload == SessionTitled(title="Mine", principal="ann")


def test_a_summary_is_of_no_less_than_the_last_one() -> None:
    first = after(BEGUN, describe(summary="first", through_seq=9))
    assert (first.summary, first.summarised_seq) == ("first", 9)
    assert isinstance(decide_session(first, describe(summary="late", through_seq=9)), Rejection)
    assert after(first, describe(summary="second", through_seq=10)).summary == "second"


def test_a_summary_is_due_at_first_and_then_when_enough_was_said() -> None:
    control = after(BEGUN, describe(summary="first", through_seq=9))
    assert summary_due(BEGUN, AgentState())
    assert not summary_due(control, AgentState(as_of_seq=9 + RENEWED_AFTER_ENTRIES - 1))
    assert summary_due(control, AgentState(as_of_seq=9 + RENEWED_AFTER_ENTRIES))


@pytest.mark.parametrize(
    ("answer", "title", "summary"),
    [
        ("A trip\n\nThey plan a trip.\nBy train.", "A trip", "They plan a trip. By train."),
        ('# "A trip"', "A trip", ""),
        ("", "", ""),
        (" \n ", "", ""),
    ],
)
def test_an_answer_is_a_title_and_what_stands_below_it(answer: str, title: str, summary: str) -> None:
    assert parts_of(answer) == (title, summary)


def test_titles_and_summaries_are_bounded_and_cut_between_words() -> None:
    title, summary = parts_of(f"{'word ' * 99}\n{'word ' * 999}")
    assert len(title) <= TITLE_CHARACTERS_MAX
    assert len(summary) <= SUMMARY_CHARACTERS_MAX
    assert title.endswith("word…")
    assert len(short_title("x" * 999)) == TITLE_CHARACTERS_MAX


def test_without_a_model_the_first_words_anybody_said_are_the_title() -> None:
    answered = Message(role="assistant", blocks=(Text(text="hello"),))
    assert first_words(AgentState(context=(answered, user(" Where is\n my bicycle? "), user("Here")))) == (
        "Where is my bicycle?"
    )
    assert first_words(AgentState()) == ""


def test_a_model_reads_how_it_began_and_for_a_renewal_how_it_went_on() -> None:
    state = AgentState(context=(user("begin " * 900), *[user("middle " * 2_000)] * 5, user("the end")))
    first, renewed = described(BEGUN, state), described(BEGUN.model_copy(update={"summary": "so far"}), state)
    assert "begin" in first
    assert "the end" not in first
    assert "so far" in renewed
    assert "the end" in renewed
    assert described(BEGUN, AgentState()) == ""
