"""Requests to a gateway, and what its problems mean to a client.

Rule: a request that brought no answer is repeated once; commands carry their request id, so repeating one is safe.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from turnwright.client.command_routes import PREFIX
from turnwright.client.errors import AccessDenied, ClientClosed
from turnwright.client.on_the_wire import to_header
from turnwright.client.tracing.commands import trace_headers
from turnwright.journal.errors import CommandRejected, InvalidInput, RequestIdReused, StoreError, StoreUnavailable

CONNECT_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 60.0
SILENCE_S_MAX = 60.0
CONNECTIONS_MAX = 100
AGAIN_S = 0.2
WAITS_MAX = 5
WAIT_S_MAX = 10.0
NOT_TAKEN = (
    "the gateway wants a valid API key or token: `token=`, or the setting `gateway_token` (TURNWRIGHT_GATEWAY_TOKEN)"
)
Params = Mapping[str, str | int | bool | list[str]]


class Http:
    """A gateway by its URL and a token. `token` None: it asks nobody."""

    def __init__(self, url: str, token: str | None) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._shown = str(httpx2.URL(url).copy_with(userinfo=b""))
        self._client = httpx2.AsyncClient(
            base_url=url.rstrip("/"),
            headers=headers,
            timeout=httpx2.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            limits=httpx2.Limits(max_connections=CONNECTIONS_MAX),
        )

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()

    async def get(self, path: str, params: Params | None = None) -> bytes | None:
        """What is there; None if nothing is, or nothing this token reaches."""
        answer = await self.ask("GET", path, params)
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        _check(answer)
        return answer.content

    async def ask(
        self,
        method: str,
        path: str,
        params: Params | None = None,
        body: bytes | None = None,
        request_id: str | None = None,
    ) -> httpx2.Response:
        """An answer, whatever it is; one that says to come again later is waited for.

        A request that changes something takes the caller's trace along.

        Raises:
            StoreUnavailable: there was none.
        """
        headers = {} if body is None else {"Content-Type": "application/json"}
        if method != "GET":
            headers |= trace_headers()
        if request_id is not None:
            headers["Idempotency-Key"] = to_header(request_id)
        answer = await self._ask(method, path, params, body, headers)
        for _ in range(WAITS_MAX):
            if answer.status_code not in (httpx2.codes.TOO_MANY_REQUESTS, httpx2.codes.SERVICE_UNAVAILABLE):
                break
            await asyncio.sleep(_wait_s(answer))
            answer = await self._ask(method, path, params, body, headers)
        return answer

    async def _ask(
        self, method: str, path: str, params: Params | None, body: bytes | None, headers: dict[str, str]
    ) -> httpx2.Response:
        if self._client.is_closed:
            raise ClientClosed
        try:
            return await self._client.request(method, path, params=params, content=body, headers=headers)
        except httpx2.TransportError:
            await asyncio.sleep(AGAIN_S)
        try:
            return await self._client.request(method, path, params=params, content=body, headers=headers)
        except httpx2.TransportError as error:
            raise StoreUnavailable(f"the gateway at {self._shown} does not answer: {_brief(error)}") from None

    @asynccontextmanager
    async def lines(self, path: str, params: Params) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of a stream, while it is open. Raises `StoreUnavailable` when it breaks."""
        async with self._streamed(path, params, "the stream of the gateway broke") as answer:
            yield answer.aiter_lines()

    @asynccontextmanager
    async def parts(self, path: str, params: Params) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of a large answer, as they come. Raises `StoreUnavailable` when it breaks off."""
        async with self._streamed(path, params, "what the gateway sent broke off") as answer:
            yield answer.aiter_bytes()

    @asynccontextmanager
    async def _streamed(self, path: str, params: Params, broke: str) -> AsyncIterator[httpx2.Response]:
        timeout = httpx2.Timeout(SILENCE_S_MAX, connect=CONNECT_TIMEOUT_S)
        try:
            async with self._client.stream("GET", path, params=params, timeout=timeout) as answer:
                if answer.is_error:
                    await answer.aread()
                    _check(answer)
                yield answer
        except httpx2.TransportError as error:
            raise StoreUnavailable(f"{broke}: {_brief(error)}") from None


def problem_in(answer: httpx2.Response) -> dict[str, Any]:
    """The problem details of an answer; an empty object if it has none."""
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _check(answer: httpx2.Response) -> None:
    """Raise what an answer other than a good one means."""
    if answer.is_success:
        return
    raise error_of(answer)


def error_of(answer: httpx2.Response) -> Exception:
    """What a problem means to a client."""
    problem = problem_in(answer)
    detail = str(problem.get("detail") or f"the gateway answered {answer.status_code}")
    match answer.status_code:
        case 401:
            return AccessDenied(NOT_TAKEN)
        case 403:
            return AccessDenied(detail)
        case 400 | 404 | 405 | 413 | 422:
            return InvalidInput(detail)
        case 409 if problem.get("code") == "request_id_reused":
            return RequestIdReused(detail)
        case 409 | 410 if problem.get("receipt"):
            return CommandRejected(str(problem.get("code")), detail)
        case 429 | 502 | 503 | 504:
            return StoreUnavailable(detail)
        case status:
            return StoreError(f"{detail} (status {status}, request {problem.get('request_id', 'unknown')})")


def _wait_s(answer: httpx2.Response) -> float:
    said = answer.headers.get("Retry-After", "1")
    return min(WAIT_S_MAX, float(said) if said.isdecimal() else 1.0)


def _brief(error: Exception) -> str:
    return str(error) or type(error).__name__


def where(path: str) -> str:
    """A path of the interface."""
    return PREFIX + path
