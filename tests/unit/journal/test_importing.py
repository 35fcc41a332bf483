"""A thread begins with a conversation from elsewhere or not at all, and is then like any other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.unit.journal.people import BROUGHT
from tests.unit.journal.permissions.calls import permissions
from tests.unit.journal.scene import Scene, definition, must, refused
from turnwright.journal.commands import ImportThread
from turnwright.journal.entries import MessageImported, PermissionsChanged, PlanChanged, ThreadImported
from turnwright.journal.permissions.change import MODES, is_tightening, joined
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_parts import PermissionState
from turnwright.journal.transact.requests import content_digest

DENIES = PermissionState(deny=(parse_rule("refund", "theirs"),))


def brought(**more: Any) -> ImportThread:  # noqa: ANN401 - any field of it
    return ImportThread(**{"request_id": "r", "source": "openai", "digest": "d", "messages": BROUGHT} | more)


def test_each_message_is_an_entry_and_so_are_permissions_and_a_plan() -> None:
    scene = Scene()
    state = {
        "summary": "so far",
        "tools": ["web"],
        "permissions": DENIES.model_dump(),
        "plan": {"active": True},
        "kept": 1,
    }
    must(scene.run(brought(state=state)))
    kinds = [type(entry.payload) for entry in scene.machine.entries]
    assert kinds == [ThreadImported, PermissionsChanged, PlanChanged, *[MessageImported] * 3]
    now = scene.machine.state
    assert (now.summary, now.tools, now.extra, now.plan.active) == ("so far", ("web",), {"kept": 1}, True)
    assert [message.seq for message in now.context] == [4, 5, 6]
    assert (scene.machine.control.planning, scene.machine.control.permissions) == (True, DENIES)


def test_nothing_is_brought_to_a_thread_that_has_an_entry() -> None:
    scene = Scene()
    must(scene.inject("first"))
    assert refused(scene.run(brought())) == "thread_exists"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"permissions": {"mode": "yolo"}}, "permissions"),
        ({"permissions": {"allow": [{"tool": "no tool!"}]}}, "tool"),
        ({"memory": {"document": "x" * 20_000}}, "memory"),
        ({"plan": {"document": "x" * 70_000}}, "plan"),
        ({"tasks": {"todos": [{"id": "a", "subject": "s", "blocked_by": ["b"]}]}}, "todos"),
    ],
)
def test_a_state_that_cannot_be_kept_is_refused_whole(state: dict[str, Any], said: str) -> None:
    scene = Scene()
    step = scene.run(brought(state=state))
    assert refused(step) == "invalid_state"
    assert step.rejection is not None
    assert said in step.rejection.reason
    assert scene.machine.entries == []


def test_a_request_is_the_same_if_its_document_is_whatever_was_read_of_it() -> None:
    assert content_digest(brought()) == content_digest(brought(messages=(), state={"summary": "better read"}))
    assert content_digest(brought()) != content_digest(brought(digest="other"))


def test_what_was_brought_is_added_to_the_agents_own_when_the_first_run_pins_it() -> None:
    scene = Scene()
    scene.agent = definition(PermissionState(mode="bypass", ask=(parse_rule("send", "agent"),)))
    must(scene.run(brought(state={"permissions": DENIES.model_dump()})))
    scene.submit()
    scene.claim()
    pinned = scene.machine.control.permissions
    assert pinned == scene.machine.state.permissions
    assert (pinned.mode, [rule.tool for rule in pinned.ask], [rule.tool for rule in pinned.deny]) == (
        "bypass", ["send"], ["refund"],
    )  # fmt: skip


@given(permissions, permissions)
def test_what_only_tightens_tightens_whatever_agent_it_meets(own: PermissionState, their: PermissionState) -> None:
    tight = their.model_copy(
        update={"allow": (), "working_directories": (), "mode": max(their.mode, "default", key=MODES.index)}
    )
    assert is_tightening(own, joined(own, tight))
    assert joined(own, PermissionState()) == own


@pytest.mark.parametrize("opened", [False, True])
def test_a_thread_goes_back_to_any_message_that_was_brought_with_the_agent_it_has_pinned(*, opened: bool) -> None:
    scene = Scene()
    scene.agent = definition(PermissionState(mode="bypass", ask=(parse_rule("send", "agent"),)))
    must(scene.run(brought(state={"permissions": DENIES.model_dump()})))
    if opened:
        scene.submit()
        scene.claim()
        must(scene.cancel())
    pinned, permissions = scene.machine.state.agent, scene.machine.control.permissions
    must(scene.rewind(3))
    state, control = scene.machine.state, scene.machine.control
    assert [message.text for message in state.context] == ["from elsewhere"]
    assert (state.agent, control.opened) == (pinned, opened)
    assert state.permissions == control.permissions == permissions
