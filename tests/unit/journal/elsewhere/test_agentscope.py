"""States of AgentScope come and go without losing anything, and so do ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.journal.elsewhere.documents import PICTURE_TEXT, brought, java_states, our_states, python_states
from turnwright.journal.agent_state import AgentState
from turnwright.journal.elsewhere import Dialect, read_conversation, to_agentscope
from turnwright.journal.elsewhere.difference import difference
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Message
from turnwright.journal.state_parts import Requirement, TaskState, Verification

ZONE = "Europe/Berlin"
quickly = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PARTS = ("summary", "permissions", "plan", "tasks", "tools", "memory")


@quickly
@given(java_states() | python_states(), st.booleans())
def test_every_key_and_value_of_a_state_comes_back(document: dict[str, Any], trusted: bool) -> None:
    found = read_conversation("agentscope", document, time_zone=ZONE, trust_permissions=trusted)
    assert difference(document, to_agentscope(brought(found), found.blobs)) is None


def plain(message: Message) -> Message:
    metadata = {name: value for name, value in message.metadata.items() if name != "agentscope"}
    return message.model_copy(update={"id": "", "seq": 0, "metadata": metadata})


@quickly
@given(our_states())
def test_a_state_of_ours_is_the_same_when_it_comes_back(state: AgentState) -> None:
    again = brought(read_conversation("agentscope", to_agentscope(state, {}), trust_permissions=True))
    assert {name: getattr(again, name) for name in PARTS} == {name: getattr(state, name) for name in PARTS}
    assert tuple(map(plain, again.context)) == state.context


@quickly
@given(our_states())
def test_a_state_of_ours_allows_nothing_when_it_comes_back_untrusted(state: AgentState) -> None:
    again = brought(read_conversation("agentscope", to_agentscope(state, {})))
    permissions = again.permissions
    assert (permissions.allow, permissions.working_directories) == ((), ())
    assert permissions.mode not in ("bypass", "accept_edits")
    assert permissions.deny == state.permissions.deny


@pytest.mark.parametrize("trusted", [True, False])
def test_what_people_settled_is_settled_only_on_the_word_of_whoever_brings_it(*, trusted: bool) -> None:
    tasks = TaskState(
        objective="ship it",
        objective_state="confirmed",
        objective_settled_by="ann",
        requirements=(
            Requirement(id="r", text="tests pass", state="confirmed", settled_by="ann", reason="agreed"),
            Requirement(id="q", text="docs", state="proposed"),
        ),
        verifications=(Verification(requirement="r", passed=True, summary="green"),),
    )
    document = to_agentscope(AgentState(tasks=tasks), {})
    found = read_conversation("agentscope", document, trust_permissions=trusted)
    again = brought(found).tasks
    if trusted:
        assert again == tasks
    else:
        assert (again.objective, again.objective_state, again.verifications) == ("ship it", "proposed", ())
        assert [one.state for one in again.requirements] == ["proposed", "proposed"]
        assert sum("trust_permissions" in note.text for note in found.notes) == 3


def java(*context: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"session_id": "s", "user_id": None, "context": list(context), **more}


def message(role: str, *content: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"id": "m", "name": role.lower(), "role": role, "content": list(content), "metadata": {}, **more}


def call(call_id: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"type": "tool_use", "id": call_id, "name": "pay", "input": {"sum": 5}, **more}


TEXT = {"type": "text", "text": "hi"}


def test_a_call_that_was_waited_for_is_interrupted_here_and_finished_when_it_goes_back() -> None:
    document = java(message("USER", TEXT), message("ASSISTANT", call("c", state="asking", content=None)))
    found = read_conversation("agentscope", document)
    assert [said.role for said in found.messages] == ["user", "assistant", "tool"]
    assert found.messages[2].results[0].outcome == "interrupted"
    again = to_agentscope(brought(found), {})["context"]
    assert again[:2] == [message("USER", TEXT), message("ASSISTANT", call("c", state="finished", content=None))]
    assert [(said["role"], said["content"][0]["id"]) for said in again[2:]] == [("TOOL", "c")]


def test_a_time_without_its_zone_is_in_the_one_that_is_given_and_goes_back_as_it_came() -> None:
    document = java(message("USER", TEXT, timestamp="2026-03-01 10:00:00.5"))
    found = read_conversation("agentscope", document, time_zone="+08:00")
    assert found.messages[0].at == "2026-03-01T10:00:00.500000+08:00"
    assert to_agentscope(brought(found), {})["context"] == document["context"]
    with pytest.raises(InvalidInput, match="names no time zone; say which one"):
        read_conversation("agentscope", document)
    with pytest.raises(InvalidInput, match="'Mars/Base' is no time zone"):
        read_conversation("agentscope", document, time_zone="Mars/Base")


def rule(tool: str, behavior: str, content: str | None = None) -> dict[str, Any]:
    return {"tool_name": tool, "rule_content": content, "behavior": behavior, "source": "userSettings"}


def test_what_permissions_allow_is_taken_on_somebodys_word_only_and_what_they_deny_always() -> None:
    context = {
        "mode": "bypass",
        "working_directories": {"/srv/shop": {"path": "/srv/shop", "source": "session"}},
        "allow_rules": {"look": [rule("look", "allow")], "Bash": [rule("Bash", "allow", "npm")]},
        "deny_rules": {"pay": [rule("pay", "deny")], "Write": [rule("Write", "deny", "/etc/**")]},
        "ask_rules": {"Bash": [rule("Bash", "ask", "rm -rf")]},
    }
    document = java(permission_context=context)
    careful = brought(read_conversation("agentscope", document))
    trusting = brought(read_conversation("agentscope", document, trust_permissions=True))
    for state in (careful, trusting):
        assert {(one.tool, one.pattern) for one in state.permissions.deny} == {
            ("pay", None), ("Write", "path:/etc/**"),
        }  # fmt: skip
        assert [(one.tool, one.pattern) for one in state.permissions.ask] == [("Bash", None)]
        assert to_agentscope(state, {})["permission_context"] == context
    assert (careful.permissions.mode, careful.permissions.allow) == ("default", ())
    assert (trusting.permissions.mode, [one.tool for one in trusting.permissions.allow]) == ("bypass", ["look"])
    assert trusting.permissions.working_directories == ("/srv/shop",)


def test_what_became_different_here_goes_out_as_it_is_here() -> None:
    context = {"mode": "bypass", "deny_rules": {}, "allow_rules": {}, "ask_rules": {}, "working_directories": {}}
    state = brought(read_conversation("agentscope", java(summary="old", permission_context=context)))
    explored = state.permissions.model_copy(update={"mode": "explore"})
    now = to_agentscope(state.model_copy(update={"permissions": explored, "summary": "new"}), {})
    assert (now["permission_context"]["mode"], now["summary"]) == ("explore", "new")


def test_a_picture_beside_a_block_that_is_not_read_is_stored_once() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE_TEXT}}
    found = read_conversation("agentscope", java(message("USER", None, picture, {"type": "text", "text": ""})))
    assert PICTURE_TEXT not in found.messages[0].model_dump_json()
    assert to_agentscope(brought(found), found.blobs)["context"][0]["content"][1] == picture


@quickly
@given(our_states(), st.sampled_from(["java", "python"]))
def test_a_state_is_written_for_whichever_agentscope_shall_read_it(state: AgentState, dialect: Dialect) -> None:
    made = to_agentscope(state, {}, dialect)
    assert {message["role"].islower() for message in made["context"]} <= {dialect == "python"}
    again = brought(read_conversation("agentscope", made, trust_permissions=True))
    assert tuple(map(plain, again.context)) == state.context


def test_what_came_from_one_agentscope_goes_to_the_other_without_what_it_held_beside() -> None:
    document = java(message("USER", TEXT, timestamp="2026-03-01 10:00:00.5"), odd=1)
    state = brought(read_conversation("agentscope", document, time_zone="UTC"))
    made = to_agentscope(state, {}, "python")
    [said] = made["context"]
    assert (said["role"], said["id"], said["created_at"]) == ("user", "cmd:r:0", "2026-03-01T10:00:00.500000+00:00")
    assert "odd" not in made
