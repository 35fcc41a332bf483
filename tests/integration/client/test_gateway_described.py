"""The gateway does what its OpenAPI description says, whatever is sent, and nothing that is sent is too much for it."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Mapping
from typing import Any
from unittest import SkipTest

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import APIOperation, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.test_gateway_commands import submitted, token
from turnwright.client import Client
from turnwright.journal.driver import Driver

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    ignored_auth,
]
EXAMPLES = {"sqlite": 3, "postgres": 1}  # of right and of wrong ones each; stores differ in odd texts alone
ANSWER_S_MAX = 20
UNBOUNDED = 1_000_000
LAST = ("cancel", "close", "erase", "delete")
"""What ends things comes when the others have had them."""
Ids = Mapping[str, Iterable[str]]
Operation = APIOperation[Any, Any, Any, Any]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_no_request_is_answered_by_what_is_not_described(
    driver: Driver, journal_url: str, client: Client, hands: Hands, asking: Hands
) -> None:
    bearer = await token(driver, "admin")
    settled = settings_of(journal_url, requests_per_s=UNBOUNDED, requests_at_once=UNBOUNDED)
    async with serving(settled) as url:
        async with http(url, bearer) as ask:
            ids = await some_of_everything(ask, client, hands, asking)
            described = (await ask.get("/openapi.json")).json()
        operations = with_ids(described, ids)
        faults = await asyncio.to_thread(fuzz, operations, url, bearer, EXAMPLES[driver.dialect])
    assert not faults, "\n\n".join(faults)


async def some_of_everything(ask: httpx2.AsyncClient, client: Client, hands: Hands, asking: Hands) -> Ids:
    """Ids that are known, by the names they have in paths: two sessions, a turn in each phase, questions."""
    turns = [(await submitted(ask, session))["turn_id"] for session in ("s", "other", "s")]
    blob = await hands.draw(await client.turn(turns[0]), b"a picture")
    await asking.want_tool(await client.turn(turns[1]))
    entries = (await ask.get(f"/turns/{turns[0]}/entries")).json()["entries"]
    questions = (await ask.get("/interactions")).json()["items"]
    webhook = await ask.post("/sessions/s/webhooks", json={"url": "https://receiver.example/hook"})
    made = await ask.post("/keys", json={"name": "another"})
    schedule = {"name": "news", "agent": AGENT, "input": "the news", "times": {"every_s": 3_600}}
    assert (await ask.post("/sessions/s/create-schedule", json={"definition": schedule})).is_success
    return {
        "session": ["s", "other"],
        "blob": [blob],
        "agent": [AGENT],
        "thread": ["main"],
        "turn": turns,
        "entry": [entry["entry_id"] for entry in entries],
        "interaction": [question["interaction_id"] for question in questions],
        "webhook": [webhook.json()["webhook"]["webhook_id"]],
        "schedule": ["news"],
        "api_key": [made.json()["key"]["key_id"]],
    }


def with_ids(described: dict[str, Any], ids: Ids) -> list[Operation]:
    """What is described but for streams, which have no end, with ids that are there in half of the paths."""
    for path, methods in list(described["paths"].items()):
        for method, operation in list(methods.items()):
            if "text/event-stream" in operation["responses"].get("200", {}).get("content", {}):
                del methods[method]
                continue
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    known = {"enum": list(ids[parameter["name"]])}
                    parameter["schema"] = {"anyOf": [known, parameter["schema"] | {"minLength": 1}]}
        if not methods:
            del described["paths"][path]
    pairs = described["paths"]["/v1/turns-named"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    pairs["items"] = {"type": "array"}  # Schemathesis takes `prefixItems` for what an older JSON Schema had
    schema = schemathesis.openapi.from_dict(described)
    return sorted((one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)), key=_order)


def _order(operation: Operation) -> tuple[bool, bool, str, str]:
    ends = operation.method == "delete" or operation.path.endswith(LAST)
    return ends, operation.method != "get", operation.path, operation.method


def fuzz(operations: list[Operation], url: str, bearer: str, examples: int) -> list[str]:
    """What was found, a text for each."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operation in operations:
            for mode in GenerationMode:
                try:
                    _ask(operation, mode, url, {"Authorization": f"Bearer {bearer}"}, examples)
                except SkipTest:
                    continue  # nothing of it can be wrong
                except Exception as error:  # noqa: BLE001 - all are told together
                    found.append(f"{operation.label}, {mode.value}: {_told(error)}")
                except BaseExceptionGroup as group:
                    found.append(f"{operation.label}, {mode.value}: {_told(group)}")
    return found


def _ask(operation: Operation, mode: GenerationMode, url: str, headers: dict[str, str], examples: int) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:  # noqa: ANN401 - generic in what only Schemathesis knows
        answer = case.call(base_url=url, headers=headers, timeout=ANSWER_S_MAX)
        case.validate_response(answer, checks=CHECKS, headers=headers)

    ask()


def _told(error: BaseException) -> str:
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else [error]
    return "\n".join(f"{type(one).__name__}: {one}" for one in inner)[:2_000]
