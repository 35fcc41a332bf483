"""The tools of agents that read sessions reach what their thread's user said, and nothing of anybody else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from tests.integration.journal.conftest import Played
from tests.unit.activities.calling import PATIENT, call, context
from turnwright.activities.agent_tools import sessions as tools
from turnwright.activities.agent_tools.sessions import session_history, session_list, session_search
from turnwright.activities.runtime.own_sessions import OwnSessions
from turnwright.activities.tools import Tool
from turnwright.journal.commands import CreateSession
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Text

ANN, NOBODY = ThreadKey("t", "ann", "agent", "s"), ThreadKey("t", None, "agent", "s")
OTHERS = {
    "bob": ThreadKey("t", "bob", "agent", "s"),
    "bobs": ThreadKey("t", "bob", "agent", "private"),
    "elsewhere": ThreadKey("u", "ann", "agent", "s"),
    "nobody": ThreadKey("t", None, "agent", "elsewhere"),
}


async def asked(played: Played, of: ThreadKey, tool: Tool[..., Any], **arguments: object) -> str:
    """What the tool gives a model on that thread, or how it refuses."""
    ctx = replace(context(), tenant=of.tenant, user=of.user, agent=of.agent, sessions=OwnSessions(played.journal, of))
    outcome = await PATIENT.run(tool, call(tool, **arguments), ctx)
    return "".join(block.text for block in outcome.result.output if isinstance(block, Text))


async def titled(played: Played, key: ThreadKey, title: str, *said: str) -> None:
    await played.execute(key.session_key, CreateSession(request_id="create", title=title))
    for text in said:
        await played.submit(text, key)


async def test_what_the_user_said_in_other_sessions_is_listed_found_and_read(played: Played) -> None:
    await titled(played, ANN, "Bicycles")
    trip = replace(ANN, session="trip")
    await titled(played, trip, "A trip", "to Cologne by train", "and back by bicycle")
    listed = await asked(played, ANN, session_list)
    assert [line.split(",")[0] for line in listed.splitlines()] == ["trip: A trip", "s: Bicycles"]
    found = await asked(played, ANN, session_search, text="train")
    assert found.startswith("session trip, agent agent, thread main, entry 1, user on ")
    assert "to Cologne by train" in found
    assert "its title" in await asked(played, ANN, session_search, text="bicycles")
    read = await asked(played, ANN, session_history, session="trip")
    assert read == "1 user: to Cologne by train\n2 user: and back by bicycle\n[To go on: start=3]"
    assert (await asked(played, ANN, session_history, session="trip", start=2)).startswith("2 user: and back")
    assert "no session 'none'" in await asked(played, ANN, session_history, session="none")
    assert "it has: agent/main" in await asked(played, ANN, session_history, session="trip", agent="other")
    assert "Nothing was said from entry 9" in await asked(played, ANN, session_history, session="trip", start=9)
    assert "no word" in await asked(played, ANN, session_search, text="*")


@pytest.mark.parametrize("of", [ANN, NOBODY], ids=["a user", "nobody"])
async def test_nothing_of_another_user_is_reached_by_any_argument(played: Played, of: ThreadKey) -> None:
    await titled(played, of, "Own", "own words")
    for name, key in OTHERS.items():
        await titled(played, key, f"secret {name}", f"secret {name}")
    sessions = [key.session for key in OTHERS.values()]
    names = [
        *sessions, *(key.canonical for key in OTHERS.values()), *(key.session_key.canonical for key in OTHERS.values()),
        "+bob", "bob", "-", "*", "", "../bob/s", "s' OR '1'='1", '","bob"]', "s\x00", "%",
    ]  # fmt: skip
    answers = [
        *[await asked(played, of, session_history, session=name) for name in names],
        *[
            await asked(played, of, session_history, session=session, agent=agent, thread=thread)
            for session, agent, thread in product(sessions, ("agent", "", "bob"), ("main", "", '","main"]'))
        ],
        *[await asked(played, of, session_list, after=after) for after in (None, "1", "999999", "-1", "+bob", *names)],
        *[
            await asked(played, of, session_search, text=text)
            for text in ("secret", "secret*", '"secret bob"', "bob OR own", "secret -own", "+bob secret", "s e c r e t")
        ],
    ]
    assert "own words" in await asked(played, of, session_search, text="own")
    assert [answer for answer in answers if "secret" in answer] == []


async def test_what_comes_back_is_bounded_and_can_be_read_on(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "LISTED_MAX", 2)
    for number in range(3):
        await titled(played, replace(ANN, session=f"s{number}"), "")
    await titled(played, replace(ANN, session="s0"), "", *(f"{number} {'long ' * 1_000}" for number in range(6)))
    listed = await asked(played, ANN, session_list)
    assert [line[:2] for line in listed.splitlines()] == ["s2", "s1", "Th"]
    place = listed.split("after='")[1].split("'")[0]
    assert [line[:2] for line in (await asked(played, ANN, session_list, after=place)).splitlines()] == ["s0"]
    pages, start = [], 1
    while "user: " in (page := await asked(played, ANN, session_history, session="s0", start=start)):
        pages.append(page)
        start = int(page.split("start=")[1].rstrip("]"))
    assert len(pages) == 2
    assert all(len(page) < 9_000 for page in pages)
    assert [int(line.split()[2]) for page in pages for line in page.splitlines()[:-1]] == list(range(6))
