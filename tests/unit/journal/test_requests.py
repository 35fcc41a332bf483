"""What makes two requests the same: what they ask for, and nothing that a later version adds."""

from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import pytest

from turnwright.journal.commands import ChangeState, ClientCommand, Steer, Submit
from turnwright.journal.messages import Block, Media, Message, Tagged, Text, user
from turnwright.journal.state_ops import (
    ActivateGroups,
    BeginTask,
    DeactivateGroups,
    DecideObjective,
    EnterPlan,
    LeavePlan,
    ProposeObjective,
    ProposeRequirement,
    StateOp,
)
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


PICTURE = Message(role="user", blocks=(Media(mime="image/png", url="http://x"),), metadata={"a": 1})


@pytest.mark.parametrize(
    ("stored", "command"),
    [
        ("808b6178d0926a9ab19213dad6f5ec7b11b074c52625c29a9fe0d9a3046ffe61", SUBMIT),
        (
            "e082bbf2ddd515b47fed42b02135686dd6d4ef9919294c961e8b39b8d62857bc",
            Steer(request_id="r", turn_id="t", message=PICTURE),
        ),
    ],
)
def test_what_the_first_release_remembered_is_still_the_same_request(stored: str, command: ClientCommand) -> None:
    assert content_digest(command) == stored


OPERATIONS: tuple[StateOp, ...] = (
    EnterPlan(),
    LeavePlan(),
    ActivateGroups(groups=("x",)),
    DeactivateGroups(groups=("x",)),
    ProposeObjective(text="x"),
    ProposeRequirement(text="x"),
    BeginTask(objective="x"),
    DecideObjective(verdict="confirmed"),
)


@pytest.mark.parametrize(("one", "other"), list(combinations(OPERATIONS, 2)))
def test_two_different_operations_on_the_state_are_two_requests(one: StateOp, other: StateOp) -> None:
    first, second = (ChangeState(request_id="r", op=op) for op in (one, other))
    assert content_digest(first) != content_digest(second)
    assert content_digest(first) == content_digest(ChangeState(request_id="r", op=one.model_copy()))


@pytest.mark.parametrize("member", [*get_args(get_args(Block)[0]), *get_args(get_args(StateOp)[0])])
def test_what_tells_the_members_of_a_union_apart_is_written_though_it_is_a_default(member: type[Tagged]) -> None:
    assert issubclass(member, Tagged)
    assert (
        member.model_fields[member.TAG].default
        == member.model_construct().model_dump(exclude_defaults=True)[member.TAG]
    )
