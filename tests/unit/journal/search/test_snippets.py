"""A snippet is a stretch of the text itself, with what was searched for marked in it."""

from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.entries import InputSteered, ModelInterrupted, ModelResponded, SessionCreated, TurnStarted
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Text, Thinking, ToolCall, user
from turnwright.journal.search.query import parse_query
from turnwright.journal.search.snippets import CUT, SNIPPET_CHARACTERS_MAX, SnippetPart, snippet_of
from turnwright.journal.search.texts import Said, said_in
from turnwright.journal.search.words import words_of


def found(text: str, asked: str) -> list[str]:
    return [part.text for part in snippet_of(text, parse_query(asked)) if part.found]


def test_the_words_are_marked_as_they_were_written() -> None:
    assert snippet_of("Die Straße nach Köln.", parse_query("strasse koln")) == (
        SnippetPart("Die "),
        SnippetPart("Straße", found=True),
        SnippetPart(" nach "),
        SnippetPart("Köln", found=True),
        SnippetPart("."),
    )


def test_a_phrase_is_marked_as_one_and_only_where_it_stands() -> None:
    assert found("red car, red old car, red car", '"red car"') == ["red car", "red car"]
    assert found("新東京タワー", "東京") == ["東京"]
    assert found("Donaudampfschiff und Dampf", "donau* dampf") == ["Donaudampfschiff", "Dampf"]
    assert found("the red carpet", '"red car"*') == ["red carpet"]


def test_of_a_long_text_it_is_where_most_of_it_stands() -> None:
    text = "alpha " + "x " * 500 + "here alpha meets beta at last " + "y " * 500
    snippet = snippet_of(text, parse_query("alpha beta"))
    assert [part.text for part in snippet if part.found] == ["alpha", "beta"]
    whole = "".join(part.text for part in snippet)
    assert whole.startswith(CUT)
    assert whole.endswith(CUT)


def test_markup_in_a_text_is_only_text() -> None:
    assert "".join(part.text for part in snippet_of("<b>bold</b> & all", parse_query("bold"))) == "<b>bold</b> & all"


@given(st.text(max_size=600), st.text(min_size=1, max_size=12))
def test_it_is_a_bounded_stretch_of_the_text(text: str, asked: str) -> None:
    try:
        query = parse_query(asked)
    except InvalidInput:
        return
    whole = "".join(part.text for part in snippet_of(text, query))
    assert len(whole) <= SNIPPET_CHARACTERS_MAX + 2 * len(CUT)
    assert whole in text or whole.removeprefix(CUT).removesuffix(CUT) in text


@given(st.text(max_size=300), st.data())
def test_a_word_of_the_text_is_marked(text: str, data: st.DataObject) -> None:
    words = words_of(text)
    if words:
        word = data.draw(st.sampled_from(words))
        assert any(word in words_of(marked) or word in "".join(words_of(marked)) for marked in found(text, word))


def test_what_was_said_is_found_and_neither_thoughts_nor_what_tools_were_given() -> None:
    blocks = (Thinking(text="thought"), Text(text="said"), ToolCall(id="c", name="t", arguments={"a": "given"}))
    assert said_in(ModelResponded(ordinal=1, blocks=blocks)) == Said("assistant", "said")
    assert said_in(ModelInterrupted(ordinal=1, reason="cancelled", partial=blocks)) == Said("assistant", "said")
    assert said_in(ModelInterrupted(ordinal=1, reason="lost", partial=blocks)) is None
    assert said_in(InputSteered(message=user("steer"))) == Said("user", "steer")
    assert said_in(SessionCreated(title="a trip", metadata={"note": "kept"})) == Said("title", "a trip")
    assert said_in(SessionCreated()) is None
    assert said_in(TurnStarted(queued_seq=1, session_seq=0, revision=1)) is None
