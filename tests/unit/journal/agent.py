"""The agent of the scenes: a tool of each kind, and what it may do unasked.

Rule: what an agent may do is said by its definition alone, as in production. Unless told otherwise it asks nobody.
"""

from __future__ import annotations

from typing import Literal

from turnwright.journal.agents import AgentDefinition, ApprovalTerms, Limits, ToolSpec
from turnwright.journal.commands import CallSpec
from turnwright.journal.messages import ToolCall, Usage
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_parts import Mode, PermissionState

AMOUNT = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1}},
    "required": ["amount"],
    "additionalProperties": False,
}
TOOLS = (
    ToolSpec(name="look", effect="read"),
    ToolSpec(name="put", effect="idempotent"),
    ToolSpec(name="send", effect="once"),
    ToolSpec(name="wire", effect="once", reconcilable=True),
    ToolSpec(name="refund", effect="once", parameters=AMOUNT),
    ToolSpec(name="edit", effect="idempotent", paths=("path",)),
    ToolSpec(name="shell", effect="once", command="line"),
    ToolSpec(name="extra", effect="read", group="more"),
)
SPECS = {tool.name: CallSpec.of(tool) for tool in TOOLS}
USAGE = Usage(requests=1, input_tokens=10, output_tokens=5)


def may(
    mode: Mode = "bypass",
    *,
    allow: tuple[str, ...] = (),
    ask: tuple[str, ...] = (),
    deny: tuple[str, ...] = (),
    directories: tuple[str, ...] = (),
) -> PermissionState:
    """Permissions; rules as people write them."""
    return PermissionState(
        mode=mode,
        allow=tuple(map(parse_rule, allow)),
        ask=tuple(map(parse_rule, ask)),
        deny=tuple(map(parse_rule, deny)),
        working_directories=directories,
    )


def definition(
    permissions: PermissionState | None = None,
    *,
    deadline_s: float | None = None,
    on_expiry: Literal["expired", "approve"] = "expired",
    **limits: float,
) -> AgentDefinition:
    """An agent with a tool of each kind, which may use them unasked unless told otherwise, and these limits."""
    return AgentDefinition(
        name="helper",
        model="scripted",
        tools=TOOLS,
        limits=Limits.model_validate(limits),
        permissions=permissions or may(),
        approvals=ApprovalTerms(deadline_s=deadline_s, on_expiry=on_expiry),
    )


def asking(
    *tools: str, deadline_s: float | None = None, on_expiry: Literal["expired", "approve"] = "expired"
) -> AgentDefinition:
    """An agent that asks before it uses these tools, and only those."""
    return definition(may(ask=tools), deadline_s=deadline_s, on_expiry=on_expiry)


def call(name: str, provider_id: str = "call_0", **arguments: object) -> ToolCall:
    """A call as a model makes it."""
    return ToolCall(id=provider_id, name=name, arguments=arguments)
