"""A tool that was listed elsewhere, as one this worker can run: its arguments are checked against its schema.

Rule: a schema somebody else wrote may be too free to be checked here; then whoever carries the call out checks them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from turnwright.activities.signature import Signature
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError, bounded
from turnwright.activities.tools import Tool
from turnwright.journal.agents import ToolSpec
from turnwright.journal.canonical import encode, repair
from turnwright.journal.json_schema import ANSWER_BYTES_MAX, check_schema, problems

CONTEXT: Final = "the call's context"  # no argument a schema may name is called like that
Call: TypeAlias = Callable[[ToolContext, ToolSpec, dict[str, Any]], Awaitable[Any]]
_OBJECT: Final = TypeAdapter(dict[str, Any])


@dataclass(frozen=True, slots=True)
class ListedSignature(Signature):
    """The parameters of a listed tool."""

    def validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments, if they fit the schema as far as it can be checked.

        Raises:
            ToolError: they do not; says what to write.
        """
        given: dict[str, Any] = repair(arguments)
        checkable = check_schema(self.parameters) is None and len(encode(given)) <= ANSWER_BYTES_MAX
        wrong = problems(self.parameters, given) if checkable else []
        if wrong:
            lines = "\n".join(f"- {problem}" for problem in wrong)
            raise ToolError(bounded(f"The call was not made: its arguments do not fit its schema.\n{lines}"))
        return given


def listed_tool(spec: ToolSpec, call: Call) -> Tool[..., Any]:
    """The tool of that spec, carried out by `call`."""

    async def body(**given: Any) -> Any:  # noqa: ANN401 - arguments and results are the tool's
        context: ToolContext = given.pop(CONTEXT)
        return await call(context, spec, given)

    names = tuple(spec.parameters.get("properties", {}))
    return Tool(body, spec, ListedSignature(spec.parameters, CONTEXT, names, _OBJECT))


def as_parameters(schema: object) -> dict[str, Any]:
    """A schema of elsewhere as one of arguments: an object in any case."""
    given: dict[str, Any] = repair(schema) if isinstance(schema, dict) else {}
    return {**given, "type": "object", "properties": given.get("properties") or {}}
