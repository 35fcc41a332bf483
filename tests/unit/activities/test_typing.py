"""Wrong use fails the type checker: mypy runs over this file, and an ignore that is not needed is an error."""

from collections.abc import Coroutine
from typing import Any, assert_type

import pytest

from turnwright.activities.agent import Agent
from turnwright.activities.check import Check
from turnwright.activities.permissions import Permissions
from turnwright.activities.reconcile import Reconciled
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import Tool, tool
from turnwright.journal.errors import InvalidInput


@tool(effect="read")
async def look(ctx: ToolContext, place: str) -> int:
    """Look."""
    return len(place)


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def hook(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
    return Reconciled.run_again()


async def check(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    return Check.ask("why")


def sync_check(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    return Check.deny("why")


@tool(effect="idempotent", paths=["path"], check=check)
def write(path: str) -> None:
    """Write."""


@tool(paths=("path",), command="line", check=sync_check)
async def run(path: str, line: str) -> str:
    """Run."""
    return path + line


def wrong_check(ctx: ToolContext, arguments: dict[str, Any]) -> bool:
    return True


def test_a_tool_keeps_the_types_of_its_function() -> None:
    assert_type(add(a=1, b=2), int)
    known: Tool[[int, int], int] = add
    seen: Tool[[ToolContext, str], Coroutine[Any, Any, int]] = look
    assert (known.name, seen.name) == ("add", "look")
    assert_type(Agent("a", "scripted:x", tools=[add, look]).definition.name, str)
    written: Tool[[str], None] = write
    ran: Tool[[str, str], Coroutine[Any, Any, str]] = run
    assert (written.name, ran.name) == ("write", "run")
    assert Agent("a", "scripted:x", permissions=Permissions("explore", deny=["add"])).definition.permissions.deny


def test_wrong_use_is_seen_by_the_type_checker() -> None:
    with pytest.raises(InvalidInput):
        tool(effect="twice")(add.function)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput):
        tool(effect="read", reconcile=hook)(add.function)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput):
        Agent("a", "scripted:x", tools=[add.function])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        add("1", "2", "3")  # type: ignore[call-arg, arg-type]
    with pytest.raises(TypeError):
        ToolContext("tenant")  # type: ignore[call-arg]
    tool(check=wrong_check)(add.function)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        tool(paths=[1])(add.function)  # type: ignore[list-item]
    with pytest.raises(InvalidInput):
        Permissions("free")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        Permissions(allow=[add])  # type: ignore[list-item]
