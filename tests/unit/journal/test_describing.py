"""Titles and summaries: made once or renewed within bounds, and never over what a person said."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import DescribeSession, LoggedCommand, Rejection, SetTitle
from turnwright.journal.control import SessionControl
from turnwright.journal.decide import decide_session
from turnwright.journal.describing import (
    ASKED_AGAIN_AFTER_ENTRIES,
    RENEWED_AFTER_ENTRIES,
    SUMMARY_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    described,
    first_words,
    held_back,
    is_made_of,
    parts_of,
    short_title,
    summary_due,
)
from turnwright.journal.entries import Entry, SessionTitled
from turnwright.journal.entries.session import MadeOf
from turnwright.journal.evolve_session import evolve_session
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Message, Text, user
from turnwright.journal.transact.content import forget, texts_of

BEGUN = SessionControl(created=True)
KEY = ThreadKey("t", None, "agent", "s")


def after(control: SessionControl, command: LoggedCommand) -> SessionControl:
    decision = decide_session(control, command)
    assert not isinstance(decision, Rejection), decision.reason
    for seq, draft in enumerate(decision, start=control.seq + 1):
        control = evolve_session(control, draft.at(seq, 0))
    return control


def describe(title: str = "", summary: str = "", through_seq: int = 9, failed: str = "") -> DescribeSession:
    made_of = MadeOf(agent=KEY.agent, thread=KEY.thread, through_seq=through_seq)
    return DescribeSession(
        request_id="d",
        principal="turnwright",
        made_of=made_of,
        log_seq=0,
        title=title,
        summary=summary,
        failed=failed,
    )


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


def test_that_a_model_brought_nothing_is_kept_and_each_time_makes_the_next_wait_longer() -> None:
    once = after(BEGUN, describe(failed="it was silent", through_seq=9))
    assert (once.undescribed, once.undescribed_seq, once.summary) == (1, 9, "")
    assert not held_back(BEGUN, AgentState(as_of_seq=9))
    assert held_back(once, AgentState(as_of_seq=9 + ASKED_AGAIN_AFTER_ENTRIES - 1))
    assert not held_back(once, AgentState(as_of_seq=9 + ASKED_AGAIN_AFTER_ENTRIES))
    twice = after(once, describe(failed="it was silent", through_seq=20))
    assert held_back(twice, AgentState(as_of_seq=20 + 2 * ASKED_AGAIN_AFTER_ENTRIES - 1))
    assert not held_back(twice, AgentState(as_of_seq=20 + 2 * ASKED_AGAIN_AFTER_ENTRIES))
    late = decide_session(twice, describe(failed="of before", through_seq=20))
    assert isinstance(late, Rejection)
    assert late.code == "described_already"


def test_a_title_without_a_summary_is_kept_and_the_next_summary_waits_until_one_comes() -> None:
    half = after(BEGUN, describe("Made", failed="no summary", through_seq=9))
    assert (half.title, half.summary, half.undescribed) == ("Made", "", 1)
    again = after(half, describe(failed="no summary", through_seq=30))
    assert again.undescribed == 2
    assert after(again, SetTitle(request_id="t", title="Mine")).undescribed == 2
    whole = after(again, describe(summary="about", through_seq=60))
    assert (whole.undescribed, whole.undescribed_seq) == (0, 0)


@dataclass(frozen=True)
class Making:
    """A description that is being made: what it may hold, and how far its maker had read."""

    words: frozenset[str]
    through_seq: int
    log_seq: int


@dataclass
class Playing:
    """A thread in which each entry is a word, and its session's log, as stores keep them."""

    said: list[str | None] = field(default_factory=list)
    erasures: list[int] = field(default_factory=list)
    log: list[Entry] = field(default_factory=list)
    log_erasures: list[int] = field(default_factory=list)
    control: SessionControl = BEGUN
    makings: list[Making] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def say(self) -> None:
        self.said.append(f"word{len(self.said) + 1}.")

    def begin(self, seen: SessionControl) -> None:
        """Somebody reads the thread, and the control as it is or was a moment ago."""
        words = {word for word in self.said if word} | set(seen.summary.split())
        self.makings.append(Making(frozenset(words), len(self.said), seen.seq))

    def finish(self, index: int) -> None:
        if not self.makings:
            return
        making = self.makings.pop(index % len(self.makings))
        made = " ".join(sorted(making.words))
        command = replace(describe(made, made, making.through_seq), log_seq=making.log_seq)
        was_erased = any(at > making.through_seq for at in self.erasures) or any(
            at > making.log_seq for at in self.log_erasures
        )
        decision = decide_session(self.control, command, was_erased=was_erased)
        for draft in () if isinstance(decision, Rejection) else decision:
            self.log.append(draft.at(self.control.seq + 1, 0))
            self.control = evolve_session(self.control, self.log[-1])

    def erase(self, index: int) -> None:
        words = [seq for seq, word in enumerate(self.said, start=1) if word]
        if not words:
            return
        seq = words[index % len(words)]
        self.gone.add(str(self.said[seq - 1]))
        self.said[seq - 1] = None
        self.said.append(None)
        self.erasures.append(len(self.said))
        for entry in [one for one in self.log if is_made_of(one.payload, KEY, seq)]:
            self.log.remove(entry)
            seq_after = self.control.seq + 1
            self.control = forget(self.control, texts_of(entry.payload)).model_copy(update={"seq": seq_after})
            self.log_erasures.append(seq_after)


@given(st.lists(st.tuples(st.sampled_from(["say", "begin", "begin late", "finish", "erase"]), st.integers(0, 9))))
def test_whatever_is_erased_while_something_is_made_its_words_are_nowhere(moves: list[tuple[str, int]]) -> None:
    playing = Playing()
    before = playing.control
    for move, index in moves:
        match move:
            case "say":
                playing.say()
            case "begin":
                playing.begin(playing.control)
            case "begin late":
                playing.begin(before)
            case "finish":
                playing.finish(index)
            case _:
                before = playing.control
                playing.erase(index)
        kept = " ".join(str(entry.payload) for entry in playing.log)
        shown = f"{playing.control.title} {playing.control.summary}"
        assert not [word for word in playing.gone if word in kept or word in shown]


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
