"""What the OpenAPI description says of every route alike: how a request proves who it is, and what an error looks like.

Rule: whatever a route answers stands there, with its media type; a route says only what it answers when all is well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from turnwright.client.gateway.problems import MEDIA_TYPE

_TEXT = {"type": "string"}
PROBLEM: Mapping[str, Any] = {
    "title": "Problem",
    "description": "An error (RFC 9457). `code` never changes; `receipt` is that of a rejected command.",
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "request_id"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "code": _TEXT,
        "detail": _TEXT,
        "request_id": _TEXT,
        "what": _TEXT,
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "what"],
                "properties": {
                    "where": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "what": _TEXT,
                },
            },
        },
        "receipt": {"$ref": "#/components/schemas/Receipt"},
    },
}
_ANSWER: Mapping[str, Any] = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "What was asked is not done; the problem says why.", **_ANSWER},
    "503": {"description": "The gateway or its journal cannot do it now; `Retry-After` says when.", **_ANSWER},
}
BEARER: Mapping[str, Any] = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key, or a token of an issuer the gateway trusts. A gateway that is `--open` asks for none.",
}


def operation_named(route: APIRoute) -> str:
    """What a client that is made of the description calls the route: `see_turn` is `SeeTurn`."""
    return "".join(word.capitalize() for word in route.name.split("_"))


class Described(FastAPI):
    """An application whose description is whole."""

    def openapi(self) -> dict[str, Any]:
        """The description."""
        if self.openapi_schema is None:
            said = super().openapi()
            components = said.setdefault("components", {})
            components.setdefault("schemas", {})["Problem"] = PROBLEM
            components["securitySchemes"] = {"bearer": BEARER}
            said["security"] = [{"bearer": []}]
            for methods in said["paths"].values():
                for operation in methods.values():
                    _summed_up(operation)
            self.openapi_schema = said
        return self.openapi_schema


def _summed_up(operation: dict[str, Any]) -> None:
    """The first line of what is written at a route is its summary, the rest its description."""
    if (text := operation.pop("description", None)) is None:
        return
    operation["summary"], _, more = text.partition("\n")
    if more.strip():
        operation["description"] = more.strip()
