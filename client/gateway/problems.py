"""What goes wrong, as problem details (RFC 9457): one shape for every error, with a code that never changes.

Rule: this table decides the status. A text says what to do and never holds what the caller has no right to know, nor a
secret that was sent; what is nobody's fault but ours is logged with the request's id, and only the id is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse

from turnwright.client.errors import ClientClosed, CommandRejected, NotFound
from turnwright.journal.commands import Receipt
from turnwright.journal.errors import InvalidInput, JournalError, RequestIdReused, StoreUnavailable, TurnwrightError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 1
WRONG_SHOWN_MAX = 20
SAID_CHARACTERS_MAX = 300
_NO_OBJECT = "this is no JSON object; send one, with `Content-Type: application/json`"
_REJECTED: Mapping[str, int] = {
    "session_deleted": 410,
    "forbidden": 403,
    "bad_answer": 422,
    "bad_permissions": 422,
    "bad_rule": 422,
    "invalid_answer": 422,
    "invalid_arguments": 422,
    "invalid_budget": 422,
    "invalid_changes": 422,
    "reason_required": 422,
    "queue_full": 429,
}


class GatewayError(TurnwrightError):
    """Root of what only the gateway raises; `status` and `code` are those of the answer."""

    status = 400
    code = "bad_request"


class Unauthenticated(GatewayError):
    """No credential, or one that is not valid."""

    status, code = 401, "unauthenticated"


class Forbidden(GatewayError):
    """The credential is valid and not enough."""

    status, code = 403, "forbidden"


class TooLarge(GatewayError):
    """The body is larger than the gateway takes."""

    status, code = 413, "body_too_large"


class TooSlow(GatewayError):
    """The body was not there in time."""

    status, code = 408, "body_too_slow"


class Full(GatewayError):
    """The gateway holds as much as it can, for everybody together."""

    status, code = 503, "gateway_full"


class IssuerAway(GatewayError):
    """Whether a token is good cannot be told, because its issuer does not answer."""

    status, code = 503, "issuer_unavailable"


class TooMany(GatewayError):
    """More requests, or streams, than one credential may have."""

    status, code = 429, "too_many_requests"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as the answer has it. `more` are members of its own, such as the `receipt` of a rejected command."""

    status: int
    code: str
    detail: str
    more: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> dict[str, Any]:
        """The members of the answer's object."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "request_id": request_id,
            **self.more,
        }


def problem_of(error: Exception) -> Problem:
    """What an error is for who asked."""
    match error:
        case CommandRejected(receipt=receipt):
            return rejected(receipt, str(error))
        case GatewayError():
            return Problem(error.status, error.code, str(error), headers=_headers_of(error))
        case NotFound():
            return Problem(404, "not_found", str(error), {"what": error.what})
        case RequestIdReused():
            return Problem(409, "request_id_reused", str(error))
        case InvalidInput():
            return Problem(400, "invalid_input", str(error))
        case StoreUnavailable() | ClientClosed():
            detail = "the journal cannot be reached now; repeat the request, with the same Idempotency-Key"
            return Problem(503, "store_unavailable", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
        case JournalError():
            return Problem(500, "journal_error", "the journal cannot answer this; an operator finds why in the logs")
        case _:
            return Problem(500, "internal", "something went wrong here; an operator finds it by the request's id")


def answer_of(problem: Problem, request_id: str) -> JSONResponse:
    """The whole answer."""
    return JSONResponse(problem.body(request_id), problem.status, dict(problem.headers), media_type=MEDIA_TYPE)


def rejected(receipt: Receipt, detail: str | None = None) -> Problem:
    """A command that was decided against; the receipt holds what is so now."""
    code = receipt.code or "rejected"
    status = _REJECTED.get(code, 404 if code.startswith("unknown_") else 409)
    return Problem(status, code, detail or receipt.reason or "the command was rejected", {"receipt": asdict(receipt)})


def unrouted(status: int, detail: str, headers: Mapping[str, str]) -> Problem:
    """What the framework itself refuses, in words that say what there is instead."""
    match status:
        case 404:
            return Problem(404, "no_such_path", "there is no such path; /v1/openapi.json describes all there are")
        case 405:
            detail = f"this path is asked with {headers.get('Allow', 'another method')}"
            return Problem(405, "method_not_allowed", detail, headers=headers)
    return Problem(status, "bad_request", detail, headers=headers)


def malformed(found: Sequence[Mapping[str, Any]]) -> Problem:
    """What was sent does not fit; it is said where and why, and not repeated, but for the beginning of a name."""
    wrong = [{"where": [_short(part) for part in one["loc"]], "what": _what(one)} for one in found[:WRONG_SHOWN_MAX]]
    detail = "; ".join(f"{'.'.join(map(str, one['where']))}: {one['what']}" for one in wrong[:3])
    return Problem(422, "malformed", detail, {"errors": wrong})


def _what(one: Mapping[str, Any]) -> str:
    match one["type"], one["loc"]:
        case "json_invalid", _:
            return f"from this character on it is no JSON ({_short(one.get('ctx', {}).get('error', one['msg']))})"
        case "model_attributes_type" | "model_type", ("body",):
            return _NO_OBJECT
    return str(_short(one["msg"]))


def _short(said: str | int) -> str | int:
    return said[:SAID_CHARACTERS_MAX] if isinstance(said, str) else said


def _headers_of(error: GatewayError) -> dict[str, str]:
    match error:
        case Unauthenticated():
            return {"WWW-Authenticate": 'Bearer realm="turnwright"'}
        case TooMany(retry_after_s=seconds):
            return {"Retry-After": str(max(1, round(seconds)))}
        case Full() | IssuerAway():
            return {"Retry-After": str(RETRY_AFTER_S)}
    return {}
