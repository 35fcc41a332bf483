"""Workflow code of today replays what workflow code of earlier versions did.

A test that fails here means: runs that are open while a worker is upgraded would be stuck. Change the code so
that it replays, or put the change behind `workflow.patched`.
"""

import json
from pathlib import Path

import pytest
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from tests.integration.runtime.workers import WORKFLOWS
from tests.replay.recorded import HISTORIES, history_of, path_of, read
from tests.replay.scenarios import SCENARIOS
from turnwright.workflows.sandbox import workflow_runner

FILES = sorted(HISTORIES.rglob("*.json"))


@pytest.fixture
def replayer() -> Replayer:
    return Replayer(workflows=WORKFLOWS, workflow_runner=workflow_runner())


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name} {file.stem}")
async def test_a_recorded_run_replays(replayer: Replayer, file: Path) -> None:
    await replayer.replay_workflow(read(file))


def test_this_version_has_recorded_every_scenario() -> None:
    assert {file.stem for file in path_of("any").parent.glob("*.json")} == set(SCENARIOS)


def test_recordings_are_small_and_name_no_machine() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert len(text) < 100_000, file
        assert not any(trace in text for trace in ("@", "stackTrace", ".py")), file


# What each recording is there for.
SHOWS = {
    "turn_completed": '"name":"tool_call"',
    "turn_steered": '"signalName":"wake"',
    "turn_delayed": "EVENT_TYPE_TIMER_FIRED",
    "turn_cancelled_by_temporal": "EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED",
    "turn_hand_typed": '"signalName":"frobnicate"',
    "turn_continued_as_new": "EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
    "turn_superseded": '"name":"wake_thread"',
    "turn_of_an_unknown_agent": '"name":"claim_known_turn"',
    "turn_taken_over": "EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED",
    "turn_restarted_under_a_running_tool": "EVENT_TYPE_TIMER_CANCELED",
    "turn_while_the_store_was_away": '"name":"look"',
    "thread_woken_often": '"signalName":"left"',
}


@pytest.mark.parametrize("scenario", SHOWS)
def test_a_recording_shows_what_it_is_there_for(scenario: str) -> None:
    assert SHOWS[scenario] in path_of(scenario).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("scenario", "was", "becomes"),
    [
        ("turn_completed", '"name":"tool_call"', '"name":"model_step"'),
        ("thread_woken_often", '"EVENT_TYPE_TIMER_STARTED"', '"EVENT_TYPE_MARKER_RECORDED"'),
    ],
)
async def test_a_run_that_went_another_way_is_refused(
    replayer: Replayer, scenario: str, was: str, becomes: str
) -> None:
    text = path_of(scenario).read_text(encoding="utf-8")
    assert was in text
    with pytest.raises((NondeterminismError, RuntimeError)):
        await replayer.replay_workflow(history_of(json.loads(text.replace(was, becomes))))
