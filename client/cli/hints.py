"""What was probably meant where nothing of that name is found: names that are there, as the next command needs them.

Rule: this is for the terminal, which reads the journal itself and lists every session of its tenant anyway. A client in
a program gets no names of other users with its errors.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable
from difflib import get_close_matches

from turnwright.client.client import Client
from turnwright.client.errors import NotFound
from turnwright.journal.errors import CommandRejected, JournalError
from turnwright.journal.ids import MAIN_THREAD, SessionKey, ThreadKey
from turnwright.journal.transact.overview import ThreadSeen

LOOKED_AT_MAX = 100
NAMED_MAX = 3


async def add_hint(error: CommandRejected | NotFound, client: Client) -> None:
    """Note at the error what was probably meant, if its session or thread is not there."""
    key: SessionKey | ThreadKey | None = getattr(error, "key", None)
    missing = error.what if isinstance(error, NotFound) else error.code.removeprefix("unknown_")
    with contextlib.suppress(JournalError):  # then the error stands without a hint
        match missing, key:
            case "session", SessionKey() | ThreadKey():
                hint = await _about_session(key, client)
            case "thread", ThreadKey():
                hint = await _about_thread(key, client)
            case _:
                hint = ""
        if hint:
            error.add_note(hint)


async def agent_hint(agent: str, client: Client) -> str | None:
    """That no live worker knows the agent; None when one does, or when that cannot be said."""
    known = await client.agents()
    if not known or agent in known:
        return None
    return f"no live worker knows the agent {agent}; {_meant(agent, known) or f'they know {_listed(sorted(known))}'}"


async def _about_session(key: SessionKey | ThreadKey, client: Client) -> str:
    seen = (await client.sessions(limit=LOOKED_AT_MAX)).items
    users = [one.key.user for one in seen if one.key.session == key.session and one.key.user != key.user]
    if users:
        named = ["no --user" if user is None else f"--user {shlex.quote(user)}" for user in users[:NAMED_MAX]]
        return f"there is one with {' and one with '.join(named)}"
    meant = _meant(key.session, [one.key.session for one in seen if one.key.user == key.user])
    return _joined(meant, "no --user was given" if key.user is None else "")


async def _about_thread(key: ThreadKey, client: Client) -> str:
    try:
        threads = (await client.session(key.user, key.session).threads(limit=LOOKED_AT_MAX)).items
    except NotFound as error:
        return _joined(str(error), await _about_session(key, client))
    agents = {one.key.agent for one in threads} | (await client.agents() or frozenset())
    meant = "" if key.agent in agents else _meant(key.agent, agents)
    named = _listed([f"{one.key.agent}{_option(one)}" for one in threads])
    return _joined(meant, f"the session has {named}" if named else "the session has no threads yet")


def _option(seen: ThreadSeen) -> str:
    return "" if seen.key.thread == MAIN_THREAD else f" --thread {shlex.quote(seen.key.thread)}"


def _meant(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, sorted(set(known)), NAMED_MAX)
    return f"did you mean {' or '.join(close)}?" if close else ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return ", ".join(names[:NAMED_MAX]) + more


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
