"""What makes a tool, and what is refused when it is defined."""

import datetime as dt
import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from turnwright.activities.check import Check
from turnwright.activities.reconcile import Reconciled
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tools import Tool, tool
from turnwright.journal.errors import InvalidInput


class Colour(enum.Enum):
    RED = "red"


class Item(BaseModel):
    sku: str
    count: int = Field(default=1, ge=1)


@tool(effect="idempotent", timeout_s=5, group="shop")
async def order(
    ctx: ToolContext,
    items: list[Item],
    when: dt.date,
    schema: Literal["a", "b"] = "a",
    tags: list[str] = [],  # noqa: B006 - what people write
    limit: Annotated[int, Field(ge=0, description="Its own words.")] = 3,
    colour: Colour = Colour.RED,
) -> str:
    """Order items.

    They are sent together.

    Args:
        items: What to order,
            in this order.
        when (date): The day: not later.
        limit: Not these words.

    Returns:
        A receipt.
    """
    return f"{len(items)} {when:%d.%m.} {schema} {tags} {limit} {colour.value} {ctx.call_id}"


def test_the_docstring_describes_the_tool_and_its_arguments() -> None:
    properties = order.spec.parameters["properties"]
    assert order.spec.description == "Order items.\n\nThey are sent together."
    assert properties["items"]["description"] == "What to order, in this order."
    assert properties["when"]["description"] == "The day: not later."
    assert properties["limit"]["description"] == "Its own words."


def test_the_schema_is_an_object_of_the_parameters_without_the_context() -> None:
    parameters = order.spec.parameters
    assert parameters["type"] == "object"
    assert list(parameters["properties"]) == ["items", "when", "schema", "tags", "limit", "colour"]
    assert parameters["required"] == ["items", "when"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["tags"]["default"] == []
    assert "title" not in parameters["properties"]["when"]


def test_the_spec_says_what_the_decorator_said() -> None:
    spec = order.spec
    assert (spec.name, spec.effect, spec.timeout_s, spec.group) == ("order", "idempotent", 5.0, "shop")
    assert spec.reconcilable is False


def test_arguments_become_the_types_of_the_function_and_defaults_fill_in() -> None:
    found = order.signature.validated({"items": [{"sku": "x"}], "when": "2030-01-02", "colour": "red"})
    assert found == {
        "items": [Item(sku="x")],
        "when": dt.date(2030, 1, 2),
        "schema": "a",
        "tags": [],
        "limit": 3,
        "colour": Colour.RED,
    }


@pytest.mark.parametrize(
    "arguments",
    [{}, {"items": [], "when": "x"}, {"items": [{"sku": "x", "count": 0}], "when": "2030-01-02"}, {"nonsense": 1}],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        order.signature.validated(arguments)


def test_a_tool_without_options_is_once_and_can_still_be_called_as_a_function() -> None:
    @tool
    def add(a: int, b: int = 2) -> int:
        """Add."""
        return a + b

    assert add.spec.effect == "once"
    assert add(1) == 3


def test_a_method_of_an_object_can_be_a_tool() -> None:
    class Shop:
        def close(self, hour: int) -> str:
            """Close the shop."""
            return f"closed at {hour}"

    made = tool(effect="read", name="close_shop")(Shop().close)
    assert made.name == "close_shop"
    assert made(hour=5) == "closed at 5"


async def _find_out(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
    return Reconciled.unknown()


def test_a_once_tool_with_a_hook_is_reconcilable() -> None:
    @tool(reconcile=_find_out)
    def pay(amount: int) -> None:
        """Pay."""

    assert pay.spec.reconcilable


def _no_annotation(a) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    pass


def _variadic(*a: int) -> None:
    pass


def _keywords(**a: int) -> None:
    pass


def _positional(a: int, /) -> None:
    pass


def _context_last(a: int, ctx: ToolContext) -> None:
    pass


def _context_twice(ctx: ToolContext, other: ToolContext) -> None:
    pass


def _context_maybe(ctx: ToolContext | None) -> None:
    pass


def _unsupported(a: Callable[[], None]) -> None:
    pass


class Opaque:
    pass


def _arbitrary(a: Opaque) -> None:
    pass


def _unknown_name(a: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    pass


def _generator() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_no_annotation, "'a' needs a type annotation"),
        (_variadic, r"\*args"),
        (_keywords, r"\*\*kwargs"),
        (_positional, "positional-only"),
        (_context_last, "first parameter"),
        (_context_twice, "first parameter"),
        (_context_maybe, "first parameter"),
        (_unsupported, "'a' has a type"),
        (_arbitrary, "'a' has a type"),
        (_unknown_name, "annotations cannot be read"),
        (_generator, "generator"),
        (lambda: None, "letters"),
        (Opaque(), "not a function"),
    ],
)
def test_what_no_model_can_call_is_refused_with_the_reason(function: Callable[..., object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        tool(function)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"name": "no spaces"}, "letters"),
        ({"name": ""}, "letters"),
        ({"effect": "twice"}, "'read', 'idempotent' or 'once'"),
        ({"effect": "read", "reconcile": _find_out}, "simply repeated"),
        ({"timeout_s": 0}, "above 0"),
        ({"reconcile": print}, "async function"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    def body() -> None:
        """Do nothing."""

    with pytest.raises(InvalidInput, match=says):
        tool(**options)(body)


def test_a_tool_of_a_tool_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not a function"):
        tool(order)


def test_a_tool_cannot_be_changed() -> None:
    assert isinstance(order, Tool)
    with pytest.raises(AttributeError):
        order.spec = None  # type: ignore[misc, assignment]


def _judge(ctx: ToolContext, arguments: dict[str, Any]) -> Check:
    return Check.pass_()


def test_the_spec_says_what_permissions_are_about() -> None:
    @tool(paths=["source", "targets", "maybe", "place"], command="line", check=_judge)
    def move(
        source: str, targets: list[Path], line: str, maybe: str | None = None, place: str | list[str] = ""
    ) -> None:
        """Move."""

    spec = move.spec
    assert (spec.paths, spec.command, spec.checked) == (("source", "targets", "maybe", "place"), "line", True)
    assert move.check is _judge
    assert (order.spec.paths, order.spec.command, order.spec.checked) == ((), None, False)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"paths": "path"}, r"list of argument names, such as \['path'\]"),
        ({"paths": [5]}, "list of argument names"),
        ({"paths": ["file"]}, r"paths= names 'file', which is no argument of it \(it has path, line, count, what\)"),
        ({"paths": ["ctx"]}, "is no argument of it"),
        ({"paths": ["count"]}, "must be str, Path or a list of them"),
        ({"paths": ["what"]}, "must be str, Path or a list of them"),
        ({"command": "words"}, "command= names 'words'"),
        ({"command": "count"}, "which must be str"),
        ({"paths": ["line"], "command": "line"}, "name it once"),
        ({"check": True}, "check must be a function"),
        ({"check": lambda _: Check.allow()}, r"check\(ctx, arguments\)"),
        ({"check": lambda _a, _b, _c: Check.allow()}, r"check\(ctx, arguments\)"),
    ],
)
def test_options_about_permissions_that_would_guard_nothing_are_refused(options: dict[str, Any], says: str) -> None:
    def run(ctx: ToolContext, path: str, line: str, count: int, what: dict[str, str]) -> None:
        """Run."""

    with pytest.raises(InvalidInput, match=says):
        tool(**options)(run)
