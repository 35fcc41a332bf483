"""Search in 100,000 messages of 60 words, of 1,000 users, on both stores, against `LIKE` over the same words.

A search is all that a client asks for: the query is parsed, the newest 2,000 that fit are ranked, and twenty hits are
read with their snippets. `LIKE` does not rank: it stops at the newest twenty rows that fit, which it comes to at once
when the words are common. So it does less there, and nobody could show its rows as the best ones. The words follow
Zipf's law; the rare one stands in ten messages, the common one in one of three, the phrase in one of a hundred. The
last line of each store appends a message of text and, beside it, one of the same size in which nothing is to be found.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import asyncpg

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Section
from benchmarks.rounds import paired, timed, together
from benchmarks.stores import Store, stores
from turnwright.journal.advance import fold_drafts
from turnwright.journal.commands import CreateSession, Inject
from turnwright.journal.entries import Draft, InputInjected
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Message, Text, Thinking, user
from turnwright.journal.script import Script
from turnwright.journal.store_search import search
from turnwright.journal.transact.appending import append_drafts
from turnwright.journal.transact.locking import lock_in_session
from turnwright.journal.transact.searching import SearchFilter

ROUNDS = 12
USERS, USERS_QUICK = 1_000, 20
MESSAGES_PER_USER = 100
WORDS_PER_MESSAGE = 60
VOCABULARY_WORDS = 20_000
RARE, COMMON, PHRASE = "axolotl", "train", "blue whale"
RARE_MESSAGES = 10
APPENDS_PER_ROUND = 100
TENANT, ONE = "bench", "user-7"

Like: TypeAlias = Callable[[str, str], Awaitable[int]]


async def run(bench: Bench) -> Section:
    """Measure on both stores."""
    users = USERS_QUICK if bench.quick else USERS
    figures: list[Figure] = []
    async with stores(bench.folder) as both:
        for store in both:
            await _fill(store, users)
            figures += await _searches(bench, store)
            figures.append(await _appends(bench, store))
    return Section("Search", (__doc__ or "").strip(), tuple(figures))


async def _searches(bench: Bench, store: Store) -> list[Figure]:
    like, figures = _like(store), []
    asked = {
        "a rare word": (RARE, RARE, ""),
        "a common word": (COMMON, COMMON, ""),
        "a phrase": (f'"{PHRASE}"', PHRASE.replace(" ", "  "), ""),
        "a common word of one user": (COMMON, COMMON, f"+{ONE}"),
    }
    for what, (text, spelled, whose) in asked.items():
        wanted = SearchFilter(TENANT, text, user=whose)
        ours, theirs = await paired(
            bench.rounds(ROUNDS),
            lambda wanted=wanted: timed(lambda: _found(store, wanted)),  # type: ignore[misc]
            lambda spelled=spelled, whose=whose: timed(lambda: like(f"% {spelled} %", whose)),  # type: ignore[misc]
        )
        figures.append(Figure(f"{store.name}: {what}", "s", ours, "LIKE, unranked", theirs))
    return figures


async def _appends(bench: Bench, store: Store) -> Figure:
    key, made = ThreadKey(TENANT, "appends", "agent", "appends"), count()
    await _begin(store, key)
    texts = _texts(random.Random(1))  # noqa: S311 - it makes texts

    async def append(message: Message) -> None:
        await store.journal.driver.write(lambda: _batch(key, [message], f"append:{next(made)}"))

    async def spoken(_: int, __: int) -> None:
        await append(user(next(texts)))

    async def thought(_: int, __: int) -> None:
        await append(Message(role="assistant", blocks=(Thinking(text=next(texts)),)))

    ours, theirs = await paired(
        bench.rounds(ROUNDS),
        lambda: together(1, APPENDS_PER_ROUND, spoken),
        lambda: together(1, APPENDS_PER_ROUND, thought),
    )
    return Figure(f"{store.name}: append of a text", "appends/s", ours, "the same size, nothing to be found", theirs)


async def _fill(store: Store, users: int) -> None:
    chance = random.Random(0)  # noqa: S311 - it makes texts
    texts = _texts(chance)
    rare = set(chance.sample(range(users * MESSAGES_PER_USER), RARE_MESSAGES))
    for n in range(users):
        key = ThreadKey(TENANT, f"user-{n}", "agent", "s")
        await _begin(store, key)
        numbers = range(n * MESSAGES_PER_USER, (n + 1) * MESSAGES_PER_USER)
        said = [user(f"{next(texts)} {RARE}" if number in rare else next(texts)) for number in numbers]
        await store.journal.driver.write(lambda key=key, said=said, n=n: _batch(key, said, f"fill:{n}"))  # type: ignore[misc]


async def _begin(store: Store, key: ThreadKey) -> None:
    await store.journal.execute(key.session_key, CreateSession(request_id="create"))
    await store.journal.execute(key, Inject(request_id="open", message=Message(role="user", blocks=(Text(text="…"),))))


def _texts(chance: random.Random) -> Iterator[str]:
    """Messages without end, always the same ones."""
    words = [f"word{n}" for n in range(VOCABULARY_WORDS)]
    weights = [1 / (n + 1) for n in range(VOCABULARY_WORDS)]
    for number in count():
        said = chance.choices(words, weights, k=WORDS_PER_MESSAGE)
        said[0] = COMMON if number % 3 == 0 else said[0]
        said[1] = PHRASE if number % 100 == 0 else said[1]
        yield " ".join(said)


def _batch(key: ThreadKey, said: list[Message], name: str) -> Script[None]:
    locked = yield from lock_in_session(key)
    assert locked is not None
    row, now_us = locked.row, locked.now_us
    drafts = [Draft(f"bench:{name}:{n}", InputInjected(message=message)) for n, message in enumerate(said)]
    yield from append_drafts(row, drafts, fold_drafts(row.control, drafts, now_us), now_us, runnable=False)


async def _found(store: Store, wanted: SearchFilter) -> None:
    page = await search(store.journal, wanted)
    assert page is not None
    assert page.items, wanted


def _like(store: Store) -> Like:
    """The newest twenty rows that hold a text, of everybody or of one user, read one by one."""
    sql = (
        "SELECT t.id FROM texts AS t JOIN sessions AS s ON s.id = t.session_id"
        " WHERE s.tenant = $1 AND ($3 = '' OR '+' || s.user_id = $3) AND t.words LIKE $2 ORDER BY t.id DESC LIMIT 20"
    )

    async def on_file(pattern: str, whose: str) -> int:
        assert store.file is not None
        connection = sqlite3.connect(store.file)
        try:
            given = {"1": TENANT, "2": pattern, "3": whose}
            return len(connection.execute(sql.replace("$", ":"), given).fetchall())
        finally:
            connection.close()

    async def on_server(pattern: str, whose: str) -> int:
        schema = parse_qs(urlsplit(store.url).query)["schema"][0]
        place = store.url.replace(f"&schema={schema}", "")
        connection = await asyncpg.connect(place, server_settings={"search_path": schema})
        try:
            return len(await connection.fetch(sql, TENANT, pattern, whose))
        finally:
            await connection.close()

    return on_server if store.file is None else on_file
