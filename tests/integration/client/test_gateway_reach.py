"""What a credential reaches: every route of a gateway, asked by strangers for what is there and somebody else's.

The routes are those of the application itself, so a new one is walked, or fails the test until it is said here what of
its owner its path names. What the owner is told there shows that strangers are asking for what exists.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeAlias

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import submitted, token
from turnwright.client import Client
from turnwright.client.gateway.app import create_app
from turnwright.client.on_the_wire import to_path
from turnwright.journal.driver import Driver

SECRET = "the secret of ann"
NOT_YET = 10**9  # where the session ends, so a webhook that begins there posts nothing
# The same for everybody, and nobody's data.
NOBODYS = frozenset({"/", "/livez", "/readyz", "/v1/openapi.json", "/console", "/console/{name:path}"})
# Everybody may have a session of that name.
MAKES_OWN = ("PUT", "/v1/sessions/{session}")
REFUSED = frozenset({403, 404, 422})
STREAM = "text/event-stream"

Route: TypeAlias = tuple[str, str]


@pytest.fixture
async def url(driver: Driver, journal_url: str) -> AsyncIterator[str]:
    async with serving(settings_of(journal_url)) as url:
        yield url


@pytest.fixture
def routes(journal_url: str) -> list[Route]:
    """Method and path of everything that the application answers and that may be somebody's."""
    found = [one for one in iter_route_contexts(create_app(settings_of(journal_url)).routes) if one.path not in NOBODYS]
    assert all(one.path and one.methods for one in found), "what is no plain route cannot be walked"
    walked = {(method, str(one.path)) for one in found for method in one.methods or ()}
    return sorted(walked - {MAKES_OWN})


async def told(ask: httpx2.AsyncClient, route: Route, named: Mapping[str, str], **params: str) -> tuple[int, str]:
    """The status of an answer and what it says; of a stream what it says first, for it may have no end."""
    method, path = route
    unknown = set(re.findall(r"{(\w+)", path)) - named.keys()
    assert not unknown, f"{method} {path} is new: say here what of ann's {', '.join(unknown)} names"
    where = path.removeprefix("/v1").format_map({name: to_path(part) for name, part in named.items()})
    body: dict[str, Any] | None = {} if method in ("POST", "PUT") else None
    async with ask.stream(method, where, json=body, params=params) as answer:
        if answer.headers.get("content-type", "").startswith(STREAM):
            return answer.status_code, await first_event(answer)
        return answer.status_code, (await answer.aread()).decode()


async def first_event(answer: httpx2.Response) -> str:
    """The lines up to the first empty one; a stream that has nothing to say sends a comment after a while."""
    said: list[str] = []
    async for line in answer.aiter_lines():
        if said and not line:
            break
        said.append(line)
    return "\n".join(said)


async def made_by(ann: httpx2.AsyncClient, client: Client, asking: Hands) -> dict[str, str]:
    """Something of ann's for whatever a path may name: a turn that asks for an approval, webhooks, a key."""
    drawn = await client.turn((await submitted(ann, input=SECRET))["turn_id"])
    blob = await asking.draw(drawn, SECRET.encode())
    turn = await client.turn((await submitted(ann, input=SECRET))["turn_id"])
    await asking.want_tool(turn)
    schedule = {"name": "news", "agent": AGENT, "input": SECRET, "times": {"every_s": 3_600}}
    assert (await ann.post("/sessions/s/create-schedule", json={"definition": schedule})).is_success
    hook = {"url": "https://shop.example.com/hook", "after": NOT_YET}
    webhook = (await ann.post(f"/turns/{turn.id}/webhooks", json=hook)).json()["webhook"]["webhook_id"]
    entry = (await ann.get(f"/turns/{turn.id}/entries")).json()["entries"][0]["entry_id"]
    question = (await ann.get("/interactions")).json()["items"][0]["interaction_id"]
    key = (await ann.get("/keys")).json()["items"][0]["key_id"]
    named = {"session": "s", "schedule": "news", "agent": AGENT, "thread": "main", "turn": turn.id, "entry": entry}
    named["blob"] = blob
    return named | {"interaction": question, "webhook": webhook, "api_key": key}


async def unchanged(ann: httpx2.AsyncClient) -> tuple[object, ...]:
    """What a stranger could have changed."""
    position = (await ann.get("/sessions/s")).json()["last_position"]
    webhooks = (await ann.get("/sessions/s/webhooks")).json()["items"]
    keys = (await ann.get("/keys")).json()["items"]
    return position, webhooks, [(key["key_id"], key["revoked_us"]) for key in keys]


async def test_no_route_gives_another_tenants_or_another_users_data(
    url: str, routes: list[Route], driver: Driver, client: Client, asking: Hands
) -> None:
    async with http(url, await token(driver, "admin", "acme", "ann")) as ann:
        named = await made_by(ann, client, asking)
        marks = [named[name] for name in ("turn", "interaction", "webhook", "api_key")]
        strangers = [await token(driver, "admin", "other", "ann"), await token(driver, "caller", "acme", "ben")]
        before = await unchanged(ann)
        for bearer in strangers:
            async with http(url, bearer) as stranger:
                for route in routes:
                    # Named in a query too, since that is where an operator says whose session is meant.
                    status, said = await told(stranger, route, named, user="ann", beginning=named["turn"], q=SECRET)
                    assert SECRET not in said, route
                    if "{" in route[1]:
                        assert status in REFUSED, (route, status, said)
                    else:
                        assert [mark for mark in marks if mark in said] == [], (route, said)
        assert await unchanged(ann) == before


async def test_a_turn_is_found_by_its_beginning_behind_those_that_its_caller_does_not_reach(
    url: str, driver: Driver
) -> None:
    async with (
        http(url, await token(driver, "caller", user="ann")) as ann,
        http(url, await token(driver, "caller", user="ben")) as ben,
        http(url, await token(driver, "operator")) as operator,
    ):
        for caller in (ann, ben):
            turn = (await submitted(caller))["turn_id"]
            found = (await caller.get("/turns-named", params={"beginning": "t-", "limit": 1})).json()
            assert [name for name, _ in found] == [turn]
            found = (await ann.get("/turns-named", params={"beginning": "t-", "limit": 1})).json()
            assert [key["user"] for _, key in found] == ["ann"]
        assert len((await operator.get("/turns-named", params={"beginning": "t-"})).json()) == 2


async def test_what_strangers_are_refused_is_what_its_owner_is_told(
    url: str, routes: list[Route], driver: Driver, client: Client, asking: Hands
) -> None:
    """Otherwise nothing would have been there for a stranger to see."""
    looks = [route for route in routes if route[0] == "GET"]
    async with http(url, await token(driver, "admin", "acme", "ann")) as ann:
        named = await made_by(ann, client, asking)
        answers = {route: await told(ann, route, named, beginning=named["turn"], q=SECRET) for route in looks}
    assert {route: status for route, (status, _) in answers.items() if status != httpx2.codes.OK} == {}
    telling = {path for (_, path), (_, said) in answers.items() if SECRET in said}
    assert {"/v1/turns/{turn}/report", "/v1/turns/{turn}/entries/{entry}", "/v1/sessions/{session}/timeline"} <= telling
    assert "/v1/sessions/{session}/blobs/{blob}" in telling
    lists = {"turns": "turn", "turns-named": "turn", "interactions": "interaction", "search": "turn", "keys": "api_key"}
    for path, name in lists.items():
        assert named[name] in answers["GET", f"/v1/{path}"][1]
