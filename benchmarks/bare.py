"""The peer: a plain Temporal workflow that runs an agent with the same model, tool and number of activities.

Rule: it does what a workflow of a few dozen lines does. It has no journal, takes no command, and its
conversation lives in Temporal: passed to each model call (`carry` set), or, as a floor that nobody could
use, nowhere at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    from benchmarks.agents import RESULT_BYTES

START_TO_CLOSE_S = 60


@dataclass(frozen=True)
class BareTurn:
    """So many steps of a model call and a tool call, then an answer; `carry`: with the conversation."""

    steps: int
    carry: bool = True


@dataclass(frozen=True)
class BareCall:
    """What a model call is given."""

    step: int
    steps: int
    messages: list[dict[str, Any]]


@activity.defn
async def bare_model(given: BareCall) -> dict[str, Any]:
    """The next message: a call of the tool, or the answer."""
    if given.step < given.steps:
        call = {"id": f"call-{given.step}", "name": "fetch", "arguments": {"page": given.step}}
        return {"role": "assistant", "calls": [call]}
    return {"role": "assistant", "text": "It is done."}


@activity.defn
async def bare_tool(page: int) -> str:
    """A page of 1 KB."""
    return f"{page:04d}".ljust(RESULT_BYTES, "x")


@activity.defn
async def bare_small_tool(page: int) -> int:
    """A number: what a tool that keeps its result elsewhere returns."""
    return page


@workflow.defn
class BareWorkflow:
    """A turn without a journal."""

    @workflow.run
    async def run(self, given: BareTurn) -> str:
        """Call model and tool in turns."""
        messages: list[dict[str, Any]] = [{"role": "user", "text": "begin"}]
        limit = timedelta(seconds=START_TO_CLOSE_S)
        for step in range(given.steps + 1):
            asked = BareCall(step, given.steps, messages if given.carry else [])
            answer = await workflow.execute_activity(bare_model, asked, start_to_close_timeout=limit)
            messages.append(answer)
            for call in answer.get("calls", []):
                tool = bare_tool if given.carry else bare_small_tool
                result = await workflow.execute_activity(
                    tool,
                    call["arguments"]["page"],
                    start_to_close_timeout=limit,
                )
                messages.append({"role": "tool", "id": call["id"], "output": result})
        return str(messages[-1]["text"])


ACTIVITIES = (bare_model, bare_tool, bare_small_tool)
