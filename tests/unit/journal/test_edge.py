"""What commands bring becomes storable before it is decided, so a live fold and a rebuild agree."""

import json
import math
from datetime import UTC, datetime

import pytest

from tests.unit.journal.scene import SPECS, USAGE, Scene, must
from tests.unit.journal.world import stored
from turnwright.journal.agent_state import empty_state
from turnwright.journal.commands import CancelTurn, Inject, RespondModel, Steer
from turnwright.journal.control import ThreadControl
from turnwright.journal.edge import storable
from turnwright.journal.errors import InvalidInput
from turnwright.journal.evolve_control import evolve_control
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.messages import Message, Text, ToolCall, user

NASTY = "a\x00b \ud83d\ude00 \ud800"
CLEAN = "a\u2400b \U0001f600 \ufffd"


def test_every_text_of_a_command_is_repaired_wherever_it_stands() -> None:
    command = Steer(request_id="r", turn_id="t", principal=NASTY, reason=NASTY, message=user(NASTY, key=[NASTY]))
    clean = storable(command)
    assert (clean.principal, clean.reason) == (CLEAN, CLEAN)
    assert clean.message == user(CLEAN, key=[CLEAN])


def test_a_command_that_needs_no_repair_is_left_alone() -> None:
    command = CancelTurn(request_id="r", turn_id="t", reason="plain")
    assert storable(command) is command


def test_arguments_of_a_call_are_repaired_with_their_numbers_and_keys() -> None:
    block = ToolCall(id="1", name="look", arguments={NASTY: math.nan, "t": (1, 2)})
    answer = RespondModel(turn_id="t", epoch=1, step=1, ordinal=1, blocks=(block,), usage=USAGE, tools=SPECS)
    (clean,) = storable(answer).blocks
    assert isinstance(clean, ToolCall)
    assert clean.arguments == {CLEAN: "nan", "t": [1, 2]}


def test_keys_stand_at_once_in_the_order_in_which_they_are_read_back() -> None:
    block = ToolCall(id="1", name="look", arguments={"b": {"d": 1, "c": [{"y": 1, "x": 2}]}, "a": 1})
    answer = RespondModel(turn_id="t", epoch=1, step=1, ordinal=1, blocks=(block,), usage=USAGE, tools=SPECS)
    (clean,) = storable(answer).blocks
    assert json.dumps(clean.model_dump()["arguments"]) == '{"a": 1, "b": {"c": [{"x": 2, "y": 1}], "d": 1}}'


def test_a_value_that_is_no_json_is_the_callers_fault_and_changes_nothing() -> None:
    scene = Scene()
    broken = Inject(request_id="r", message=Message(role="user", metadata={"when": {"at": datetime.now(UTC)}}))
    with pytest.raises(InvalidInput, match="datetime is no JSON value"):
        scene.run(broken)
    assert scene.machine.entries == []


def test_what_is_folded_at_once_is_what_a_rebuild_folds() -> None:
    scene = Scene()
    must(scene.submit(NASTY))
    must(scene.claim())
    must(scene.request())
    asked = ToolCall(id=NASTY, name="look", arguments={NASTY: [math.inf, NASTY]})
    must(scene.respond_model(Text(text=NASTY), asked, ToolCall(id="x", name=NASTY)))
    (only,) = scene.calls
    must(scene.start(only.call_id))
    must(scene.finish(only.call_id, text=NASTY))
    must(scene.request())
    must(scene.fail_model("auth", message=NASTY))
    entries = [stored(entry) for entry in scene.machine.entries]
    assert fold_state(empty_state(scene.machine.key), entries) == scene.machine.state
    control = ThreadControl()
    for entry in entries:
        control = evolve_control(control, entry)
    assert control == scene.machine.control
