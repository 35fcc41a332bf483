"""What makes two requests the same: what they ask for, and nothing that a later version adds."""

from dataclasses import dataclass

import pytest

from turnwright.journal.commands import Submit
from turnwright.journal.messages import Message, Text, user
from turnwright.journal.transact.requests import content_digest

SUBMIT = Submit(request_id="r", turn_id="t", input=user("hello"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterSubmit(Submit):
    """The command as a later version may have it."""

    priority: int = 0


def test_a_field_that_is_added_later_leaves_old_requests_the_same() -> None:
    later = LaterSubmit(request_id="r", turn_id="t", input=user("hello"))
    urgent = LaterSubmit(request_id="r", turn_id="t", input=user("hello"), priority=1)
    assert content_digest(later) == content_digest(SUBMIT)
    assert content_digest(urgent) != content_digest(SUBMIT)


@pytest.mark.parametrize(
    "same",
    [
        Submit(request_id="another", principal="somebody", turn_id="t", input=user("hello")),
        Submit(request_id="r", turn_id="t", input=user("hello"), if_busy="enqueue", on_failure=None),
        Submit(request_id="r", turn_id="t", input=Message(role="user", blocks=(Text(text="hello"),), metadata={})),
    ],
)
def test_who_asks_and_what_is_said_by_default_make_no_difference(same: Submit) -> None:
    assert content_digest(same) == content_digest(SUBMIT)


@pytest.mark.parametrize(
    "other",
    [
        Submit(request_id="r", turn_id="t", input=user("hello!")),
        Submit(request_id="r", turn_id="t", input=user("hello"), if_busy="reject"),
        Submit(request_id="r", turn_id="t", input=user("hello"), reason="because"),
        Submit(request_id="r", turn_id="t", input=user("hello", key=None)),
    ],
)
def test_whatever_is_asked_for_differently_is_another_request(other: Submit) -> None:
    assert content_digest(other) != content_digest(SUBMIT)
