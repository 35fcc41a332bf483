"""Ids of any printable text go through paths and headers and come out the same."""

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnwright.client.on_the_wire import from_header, from_path, to_header, to_path
from turnwright.journal.errors import InvalidInput

ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30)


@given(ids)
@example(".")
@example("..")
@example("~..")
@example("~~.")
@example("a/b%2F~")
def test_an_id_is_one_part_of_a_path_that_no_library_changes(part: str) -> None:
    sent = httpx2.URL(f"http://gateway/v1/sessions/{to_path(part)}/events").raw_path.decode()
    before, _, rest = sent.removeprefix("/v1/sessions/").partition("/")
    assert (from_path(before), rest) == (part, "events")


@given(ids)
@example('%"x"')
@example(" x ")
@example('a"b%')
def test_an_id_is_the_value_of_a_header(value: str) -> None:
    sent = to_header(value)
    assert sent == sent.strip()
    assert sent.isascii()
    assert from_header(sent) == value


def test_an_ordinary_id_is_sent_as_it_is() -> None:
    for plain in ("chat-17-message-3", "a b", "~x", "...", '"quoted"', "%41"):
        assert to_header(plain) == plain
    assert (to_path("trip-1"), to_path("..."), to_path("~x")) == ("trip-1", "...", "~x")


@pytest.mark.parametrize("broken", ['%"', '%"%"', '%"%C3%A9"', '%"%ff"', '%"a"b', '%"é"'])
def test_what_begins_as_a_display_string_and_is_none_is_refused(broken: str) -> None:
    with pytest.raises(InvalidInput, match="Display String"):
        from_header(broken)
