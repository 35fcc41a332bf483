"""A tool's signature as a JSON schema, and as the check of the arguments a model sends.

Rule: what cannot be said in a schema is refused when the tool is defined, not when it is called. Each
parameter has a type, is passed by name, and comes from the model, except a first `ToolContext`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import pydantic.dataclasses
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

from turnwright.activities.docstring import Described
from turnwright.activities.tool_context import ToolContext
from turnwright.journal.canonical import encode, repair
from turnwright.journal.errors import InvalidInput

_NOT_FROM_A_MODEL = {
    inspect.Parameter.VAR_POSITIONAL: "*args",
    inspect.Parameter.VAR_KEYWORD: "**kwargs",
    inspect.Parameter.POSITIONAL_ONLY: "a positional-only parameter",
}
_UNSUPPORTED = (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError)


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a tool. `context_name` is the one its `ToolContext` is passed as, if it has one."""

    parameters: dict[str, Any]
    context_name: str | None
    names: tuple[str, ...]
    _arguments: TypeAdapter[Any]

    def validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the function wants them.

        Raises:
            pydantic.ValidationError: they do not fit the schema.
        """
        # As JSON, because that is what a model writes: a date arrives as a text even under strict types.
        checked = self._arguments.validate_json(encode(repair(arguments)))
        return {name: getattr(checked, name) for name in self.names}


def signature_of(function: Callable[..., Any], described: Described) -> Signature:
    """The signature of a tool's function.

    Raises:
        InvalidInput: it has a parameter no model can fill in; says which, and why.
    """
    where = f"tool {function.__qualname__}"
    parameters = list(inspect.signature(function).parameters.values())
    hints = _hints(function, where)
    for parameter in parameters:
        _check(parameter, hints, where)
    context_name = _context_name(parameters, hints, where)
    own = [parameter for parameter in parameters if parameter.name != context_name]
    arguments = _adapter(function, own, hints, described, where)
    schema = arguments.json_schema(schema_generator=_WithoutTitles)
    return Signature(schema, context_name, tuple(parameter.name for parameter in own), arguments)


def _hints(function: Callable[..., Any], where: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise InvalidInput(
            f"{where}: its annotations cannot be read ({error}); use types defined at the top of a module"
        ) from error


def _check(parameter: inspect.Parameter, hints: dict[str, Any], where: str) -> None:
    if parameter.kind in _NOT_FROM_A_MODEL:
        raise InvalidInput(f"{where}: a model cannot fill in {_NOT_FROM_A_MODEL[parameter.kind]} ({parameter.name})")
    if parameter.name not in hints:
        raise InvalidInput(f"{where}: parameter {parameter.name!r} needs a type annotation")


def _context_name(parameters: list[inspect.Parameter], hints: dict[str, Any], where: str) -> str | None:
    holders = [parameter.name for parameter in parameters if _mentions_context(hints[parameter.name])]
    if not holders:
        return None
    if holders != [parameters[0].name] or hints[holders[0]] is not ToolContext:
        raise InvalidInput(f"{where}: ToolContext must be the annotation of the first parameter, and only of it")
    return holders[0]


def _mentions_context(annotation: Any) -> bool:  # noqa: ANN401 - any annotation
    return annotation is ToolContext or any(_mentions_context(part) for part in get_args(annotation))


def _adapter(
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    hints: dict[str, Any],
    described: Described,
    where: str,
) -> TypeAdapter[Any]:
    for parameter in parameters:
        _check_type(parameter.name, hints[parameter.name], where)
    annotations = {parameter.name: hints[parameter.name] for parameter in parameters}
    fields = {p.name: _field(p, hints[p.name], described.arguments.get(p.name)) for p in parameters}
    # A dataclass, not a model: its fields may be called `schema`, `json` or `copy`.
    holder = type(function.__name__, (), {"__annotations__": annotations, **fields})
    return TypeAdapter(pydantic.dataclasses.dataclass(holder, config=ConfigDict(extra="forbid"), kw_only=True))


def _check_type(name: str, annotation: Any, where: str) -> None:  # noqa: ANN401 - any annotation
    try:
        TypeAdapter(annotation).json_schema(schema_generator=_WithoutTitles)
    except _UNSUPPORTED as error:
        reason = str(error).splitlines()[0]
        raise InvalidInput(f"{where}: parameter {name!r} has a type no JSON schema describes: {reason}") from error


def _field(parameter: inspect.Parameter, annotation: Any, words: str | None) -> Any:  # noqa: ANN401 - any type
    if isinstance(parameter.default, FieldInfo):
        return parameter.default
    extras = getattr(annotation, "__metadata__", ())
    if any(isinstance(extra, FieldInfo) and extra.description for extra in extras):
        words = None
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    return Field(default=default) if words is None else Field(default=default, description=words)


class _WithoutTitles(GenerateJsonSchema):
    """Schemas without generated titles: the model pays for each, and they only repeat the names."""

    ignored_warning_kinds = {"non-serializable-default", "skipped-choice"}  # noqa: RUF012 - as its base has it

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002 - the same for all
        """Never: the name of the field says it."""
        return False

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        """The schema without a title for the whole."""
        whole = super().generate(schema, mode)
        whole.pop("title", None)
        return whole
