"""Calls of tools, as the tests of the host make them."""

from typing import Any

from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_host import ToolHost, ToolOutcome
from turnwright.activities.tools import Tool
from turnwright.journal.messages import Text, ToolCall

HOST = ToolHost(output_bytes_max=1_000, cancel_grace_s=0.05)
PATIENT = ToolHost(cancel_grace_s=20)


def context(attempt: int = 1) -> ToolContext:
    return ToolContext(
        tenant="t",
        user=None,
        agent="a",
        session="s",
        thread="main",
        turn_id="turn",
        run_id="run",
        step=1,
        call_id="c",
        idempotency_key="turn/c",
        attempt=attempt,
    )


def call(known: Tool[..., Any], **arguments: object) -> ToolCall:
    return ToolCall(id="c", name=known.name, arguments=arguments)


async def run(known: Tool[..., Any], host: ToolHost = HOST, **arguments: object) -> ToolOutcome:
    return await host.run(known, call(known, **arguments), context())


def text(outcome: ToolOutcome) -> str:
    return "".join(block.text for block in outcome.result.output if isinstance(block, Text))
