"""Conversations from elsewhere on the command line, and what a gateway lets through of them."""

import asyncio
import json
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.integration.client.asking import http
from tests.integration.client.gateway_server import serving, settings_of
from tests.integration.client.hands import AGENT
from tests.integration.client.terminal import Run, lines, refused, shown
from tests.integration.client.test_elsewhere import CHAT, STATE
from turnwright.client import Session
from turnwright.journal.api_keys import Grant, Role
from turnwright.journal.driver import Driver
from turnwright.journal.elsewhere.difference import difference
from turnwright.journal.elsewhere.document import check_size, parsed
from turnwright.journal.store_keys import create_key

AT = ("s", AGENT)
OF = ("-u", "ann")
PARSED_S_MAX = 20
IMPORT = f"/sessions/s/threads/{AGENT}/main/import"


async def test_a_document_is_brought_and_goes_out_again(run: Run, session: Session, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps(STATE), encoding="utf-8")
    bring = ("thread", "import", *AT, str(tmp_path / "state.json"), *OF, "--format", "agentscope")
    assert "context[0].timestamp: 2026-03-01 10:00:00.123000 names no time zone" in refused(await run(*bring), 2)
    brought = await run(*bring, "--time-zone", "Europe/Berlin")
    assert "thread main of echo begins with 1 messages" in shown(brought)
    assert "permission_context: the mode bypass is not taken without trust_permissions" in brought.stderr
    assert "of_tomorrow: this is not read; it is kept" in brought.stderr
    tail = shown(await run("journal", "tail", "s", *OF))
    for words in ("thread.imported", "1 messages of agentscope", "message.imported", "user: hello"):
        assert words in tail
    assert difference(STATE, json.loads(shown(await run("thread", "export", *AT, *OF)))) is None
    out = tmp_path / "out.json"
    assert shown(await run("thread", "export", *AT, *OF, "-o", str(out))) == ""
    assert difference(STATE, json.loads(out.read_text(encoding="utf-8"))) is None
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    for wrong in (tmp_path, tmp_path / "none"):
        assert "cannot be read" in refused(await run("thread", "import", *AT, str(wrong), *OF, "--format", "openai"), 2)


async def test_messages_come_from_standard_input_and_every_note_is_in_the_json(run: Run, session: Session) -> None:
    bring = ("thread", "import", *AT, "-", *OF, "--format", "openai", "--json")
    [told] = lines(await run(*bring, given=json.dumps(CHAT)))
    assert (told["receipt"]["status"], told["messages"], len(told["notes"])) == ("accepted", 4, 1)
    assert "the thread has entries already" in refused(await run(*bring, given=json.dumps(CHAT)))


@pytest.mark.parametrize("role", ["caller", "operator"])
async def test_only_an_operator_s_word_lets_permissions_through_a_gateway(
    driver: Driver, journal_url: str, session: Session, role: Role
) -> None:
    grant = Grant(name=role, role=role, user="ann")
    body: dict[str, Any] = {"form": "agentscope", "document": STATE, "time_zone": "UTC", "trust_permissions": True}
    async with (
        serving(settings_of(journal_url)) as url,
        http(url, (await create_key(driver, "acme", grant)).token) as ask,
    ):
        answer = await ask.post(IMPORT, json=body)
        assert answer.status_code == (202 if role == "operator" else 403), answer.text
        answer = await ask.post(IMPORT, json=body | {"trust_permissions": False})
        assert answer.status_code == (409 if role == "operator" else 202), answer.text
        assert difference(STATE, (await ask.get(IMPORT.replace("import", "export"))).json()) is None


async def test_a_gateway_takes_a_larger_body_for_a_conversation_and_for_nothing_else(
    driver: Driver, journal_url: str, session: Session
) -> None:
    grant = Grant(name="caller", role="caller", user="ann")
    token = (await create_key(driver, "acme", grant)).token
    said = [{"role": "user", "content": "x" * 3_000}]
    async with (
        serving(settings_of(journal_url, body_bytes_max=2_000, import_bytes_max=5_000)) as url,
        http(url, token) as ask,
    ):
        answer = await ask.post(IMPORT, json={"form": "openai", "document": said * 2})
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        answer = await ask.post(IMPORT.replace("import", "inject"), json={"message": said[0]["content"]})
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        assert (await ask.post(IMPORT, json={"form": "openai", "document": said})).status_code == 202


async def test_a_conversation_that_is_being_parsed_keeps_no_other_request_waiting_and_its_room_taken(
    driver: Driver, journal_url: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def parsed_slowly(body: bytes) -> object:
        begun.release()
        assert go_on.wait(PARSED_S_MAX)
        return parsed(body)

    monkeypatch.setattr("turnwright.client.gateway.elsewhere.parsed", parsed_slowly)
    token = (await create_key(driver, "acme", Grant(name="caller", role="caller", user="ann"))).token
    said = {"form": "openai", "document": [{"role": "user", "content": "x" * 3_000}]}
    first, second, third = (IMPORT.replace("main", name) for name in ("one", "two", "three"))
    async with (
        serving(settings_of(journal_url, body_bytes_max=2_000, import_bytes_max=4_000)) as url,
        http(url, token) as ask,
    ):
        try:
            posted = [asyncio.create_task(ask.post(path, json=said)) for path in (first, second)]
            for _ in posted:
                await asyncio.to_thread(begun.acquire, timeout=PARSED_S_MAX)
            assert (await ask.get("/me")).status_code == 200
            full = await ask.post(third, json=said)
            assert (full.status_code, full.json()["code"]) == (503, "gateway_full")
        finally:
            go_on.set()
        assert [(await answer).status_code for answer in posted] == [202, 202]
        assert (await ask.post(third, json=said)).status_code == 202


async def test_a_body_of_too_many_values_is_refused_before_they_are_made(
    driver: Driver, journal_url: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(check_size.__globals__, "VALUES_MAX", 100)
    monkeypatch.setitem(parsed.__globals__, "json", None)  # it is not to be parsed
    token = (await create_key(driver, "acme", Grant(name="caller", role="caller", user="ann"))).token
    async with serving(settings_of(journal_url)) as url, http(url, token) as ask:
        answer = await ask.post(IMPORT, json={"form": "openai", "document": [[]] * 100})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input"), answer.text
    assert "more than 100 values" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"form": "openai", "form": "anthropic", "document": []}', "the key 'form' twice"),
        (b'{"form": "openai", "document": [{"role": "user", "content": "a", "n": NaN}]}', "NaN is no number"),
        (b'{"form": "openai", "document": [', "no JSON"),
    ],
)
async def test_a_body_is_read_as_strictly_as_a_document(
    driver: Driver, journal_url: str, session: Session, body: bytes, said: str
) -> None:
    token = (await create_key(driver, "acme", Grant(name="caller", role="caller", user="ann"))).token
    async with serving(settings_of(journal_url)) as url, http(url, token) as ask:
        answer = await ask.post(IMPORT, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input"), answer.text
    assert said in answer.json()["detail"]
