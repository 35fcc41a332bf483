"""The gateway as an ASGI application.

    app = create_app(GatewaySettings(client=ClientSettings(journal_url=…)))

Rule: this file only puts together. The journal is connected when the application starts, and left when it ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from importlib.metadata import version

import structlog
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from turnwright.client.command_routes import PREFIX
from turnwright.client.gateway import (
    commands,
    console,
    drafts,
    elsewhere,
    events,
    exports,
    health,
    keys,
    reads,
    schedules,
    system,
    webhooks,
)
from turnwright.client.gateway.agui import routes as agui
from turnwright.client.gateway.bodies import Bodies
from turnwright.client.gateway.caller import Caller
from turnwright.client.gateway.connections import Room
from turnwright.client.gateway.continuing import TRACE_HEADERS
from turnwright.client.gateway.credentials import ApiKeys, Credentials, Doorkeeper, Jwts
from turnwright.client.gateway.deliverer import Deliverer
from turnwright.client.gateway.described import PROBLEMS, Described, operation_named
from turnwright.client.gateway.desk import Desk
from turnwright.client.gateway.edge import REQUEST_ID, Edge
from turnwright.client.gateway.failing import Failing
from turnwright.client.gateway.feeds import Feeds
from turnwright.client.gateway.leaving import Leaving
from turnwright.client.gateway.limits import Limits
from turnwright.client.gateway.problems import GatewayError, Problem, answer_of, malformed, problem_of, unrouted
from turnwright.client.gateway.pulse import Pulse
from turnwright.client.gateway.settings import GatewaySettings
from turnwright.client.gateway.standing import Standing
from turnwright.client.gateway.this_machine import ThisMachine
from turnwright.client.metrics.beside import Beside
from turnwright.client.metrics.showing import Showing
from turnwright.client.opening import open_journal
from turnwright.client.tracing.ids import JOURNAL_ID
from turnwright.client.tracing.tracing import traced
from turnwright.client.wakes import Wakes
from turnwright.journal.api_keys import Grant
from turnwright.journal.errors import InvalidInput, StoreUnavailable, TurnwrightError

CLOSE_S = 2.0

log = structlog.get_logger(__name__)


def create_app(settings: GatewaySettings) -> FastAPI:
    """An application that serves one journal."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as parts:
            try:
                app.state.desk = await _begin(settings, app.state.leaving, parts)
            except Exception as error:
                app.state.unopened = error  # the server says no more than that it did not start
                raise
            yield

    app = Described(
        title="Turnwright",
        summary="AI-agent conversations as durable workflows",
        version=version("turnwright"),
        lifespan=lifespan,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        routes=_routes(),
    )
    if settings.open:
        app.add_middleware(ThisMachine, origins=settings.origins)
    app.add_middleware(Room)
    app.add_middleware(Failing)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=list(settings.origins),
        allow_methods=["GET", "POST", "PUT", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", REQUEST_ID, *TRACE_HEADERS],
        expose_headers=[REQUEST_ID, "Retry-After"],
    )
    app.add_middleware(Edge, bodies=Bodies(settings.body_bytes_max, settings.body_timeout_s, settings.import_bytes_max))
    app.add_exception_handler(TurnwrightError, _failed)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.state.leaving, app.state.unopened = Leaving(), None
    return app


@cache
def _routes() -> list[BaseRoute]:
    """All paths. They are made once: their models and signatures take longer than everything else of an application."""
    together = APIRouter(generate_unique_id_function=operation_named)
    for routes in (
        commands.router(),
        reads.router,
        events.router,
        exports.router,
        drafts.router,
        keys.router,
        system.router,
        webhooks.router,
        schedules.router,
        agui.router,
        elsewhere.router,
    ):
        together.include_router(routes, prefix=PREFIX, responses=PROBLEMS)
    for apart in (health.router, console.router):
        together.include_router(apart)
    return together.routes


def _ready() -> str:
    """It listens, which is all that the port of its numbers knows; its own `/readyz` asks the journal."""
    return ""


async def _begin(settings: GatewaySettings, leaving: Leaving, parts: AsyncExitStack) -> Desk:
    """The desk, with all that works beside it; `parts` ends each however the application ends."""
    desk = await _open(settings, leaving)
    with suppress(StoreUnavailable):  # its lines lack the traces of turns until it answers
        await desk.pulse.check()
    JOURNAL_ID.set(desk.pulse.journal_id)
    parts.push_async_callback(desk.journal.close)
    parts.push_async_callback(desk.wakes.close, CLOSE_S)
    await parts.enter_async_context(Deliverer(desk.journal, settings.webhooks))
    showing = await parts.enter_async_context(Showing(settings.metrics, _ready, Beside(desk.wakes.look)))
    showing.begin(desk.journal)
    parts.callback(showing.end)
    return replace(desk, tracer=await parts.enter_async_context(traced(desk.journal, "gateway")))


async def _open(settings: GatewaySettings, leaving: Leaving) -> Desk:
    said = settings.client
    journal = await open_journal(said.journal_url)
    wakes = Wakes(journal, said.connect_temporal if said.wake else None, said.task_queue)
    kinds: tuple[Credentials, ...] = (ApiKeys(journal.driver),)
    if settings.jwt is not None:
        kinds += (Jwts(settings.jwt),)
    everybody = Caller(said.tenant, Grant(name=said.principal, role="admin")) if settings.open else None
    doorkeeper = Doorkeeper(kinds, everybody)
    limits = Limits(settings.requests_per_s, settings.requests_at_once, settings.streams_max)
    standing = Standing(doorkeeper, settings.heartbeat_s)
    return Desk(settings, journal, wakes, doorkeeper, limits, Feeds(journal), leaving, Pulse(journal), standing)


async def _failed(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        log.warning("request_not_served", path=request.url.path, code=problem.code, why=str(error))
    elif problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request_failed", path=request.url.path, exc_info=error)
    return _answer(request, problem)


async def _refused(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: no such path, no such method, a body that cannot be read."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, GatewayError | InvalidInput):
        return _answer(request, problem_of(error.__cause__))
    return _answer(request, unrouted(error.status_code, str(error.detail), error.headers or {}))


async def _malformed(request: Request, error: Exception) -> Response:
    """What was sent does not fit; it is said where and why, and not repeated, but for the beginning of a name."""
    assert isinstance(error, RequestValidationError)
    return _answer(request, malformed(error.errors()))


def _answer(request: Request, problem: Problem) -> Response:
    return answer_of(problem, getattr(request.state, "request_id", ""))
