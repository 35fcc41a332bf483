"""What an attempt brings that no journal can hold: it is recorded as an error once, and the turn goes on or ends."""

import dataclasses
import hashlib
from functools import partial
from typing import Any

import pytest

from tests.integration.runtime.cluster import Cluster
from tests.integration.runtime.scripts import call, say
from turnwright.activities.agent import Agent
from turnwright.activities.models.port import ModelRequest, ModelResponse, Partial
from turnwright.activities.models.router import Models
from turnwright.activities.permissions import Permissions
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_host import ToolHost, ToolOutcome
from turnwright.activities.tool_output import Attachment
from turnwright.activities.tools import Tool, tool
from turnwright.journal.entries import ModelFailed, ToolFinished
from turnwright.journal.messages import Media, Text, ToolCall
from turnwright.journal.script import first


@tool(effect="read")
async def picture() -> Media:
    """A picture that was never stored."""
    return Media(mime="image/png", blob="f" * 64)


@tool(effect="read")
async def chart() -> Attachment:
    """A chart."""
    return Attachment(b"png", "image/png")


AGENTS = (Agent("bot", "scripted:test", tools=(picture, chart), permissions=Permissions(mode="bypass")),)


class CarelessTools(ToolHost):
    """Brings outcomes of the wrong types."""

    async def run(self, tool: Tool[..., Any], call: ToolCall, ctx: ToolContext) -> ToolOutcome:
        return dataclasses.replace(await super().run(tool, call, ctx), duration_ms="a while")  # type: ignore[arg-type]


class CarelessModels(Models):
    """Answers with a response of the wrong types."""

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        return dataclasses.replace(await super().respond(request, partial), finish_reason=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("careless", [False, True], ids=["a file that is nowhere", "a result of the wrong type"])
async def test_a_result_that_cannot_be_kept_is_an_error_of_its_call_and_the_turn_completes(
    small_cluster: Cluster, *, careless: bool
) -> None:
    await small_cluster.start_worker(agents=AGENTS, tools=CarelessTools() if careless else None)
    turn = await small_cluster.submit(call("chart" if careless else "picture"), say("I see."))
    await turn.until("completed")
    (entry,) = await turn.of_type("tool.finished")
    assert isinstance(entry.payload, ToolFinished)
    told = Text(text="The call was made, but the journal cannot hold what it returned.")
    assert (entry.payload.outcome, entry.payload.output) == ("error", (told,))
    assert len(await turn.of_type("tool.started")) == 1


async def test_an_answer_that_cannot_be_kept_fails_the_turn_and_is_not_asked_for_again(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=AGENTS, models=CarelessModels())
    turn = await small_cluster.submit(say("hello"))
    status = await turn.until("failed")
    assert "the journal cannot hold what the model answered" in (status.message or "")
    assert len(await turn.of_type("model.requested")) == 1


async def test_a_lost_file_fails_the_turn_at_once_and_says_how_to_get_it_back(small_cluster: Cluster) -> None:
    await small_cluster.start_worker(agents=AGENTS)
    turn = await small_cluster.submit(call("chart"), say("I see."))
    await turn.until("completed")
    sha = hashlib.sha256(b"png").hexdigest()
    row = await small_cluster.journal.thread(turn.key)
    assert row is not None
    await small_cluster.journal.driver.write(partial(first, "delete_unused_blob", row.session_id, sha))
    following = await small_cluster.submit(say("and now?"))
    status = await following.until("failed")
    assert f"blob {sha} of session" in (status.message or "")
    assert "restore from a backup" in (status.message or "")
    (failed,) = await following.of_type("model.failed")
    assert isinstance(failed.payload, ModelFailed)
    assert failed.payload.failure == "invalid"
