"""What was said in other sessions of the same user: listed, searched and read.

Rule: they only read, and only what belongs to the user whose thread it is; what comes back is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tools import tool
from turnwright.journal.durations import SECOND_US
from turnwright.journal.errors import InvalidInput
from turnwright.journal.ids import MAIN_THREAD
from turnwright.journal.search.texts import said_in

if TYPE_CHECKING:
    from turnwright.activities.runtime.own_sessions import OwnSessions
    from turnwright.journal.entries import Entry
    from turnwright.journal.transact.overview import SessionSeen
    from turnwright.journal.transact.searching import SearchHit

LISTED_MAX: Final = 20
HITS_MAX: Final = 10
ENTRIES_READ_MAX: Final = 200
MESSAGE_CHARACTERS_MAX: Final = 2_000
PAGE_CHARACTERS_MAX: Final = 8_000


@tool(effect="read")
async def session_list(ctx: ToolContext, after: str | None = None) -> str:
    """List the user's sessions, newest first: earlier conversations, with their titles.

    Args:
        ctx: Of the call.
        after: Where to go on, as the list before said; leave it out for the newest.
    """
    try:
        page = await _own(ctx).page(after, LISTED_MAX)
    except InvalidInput as error:
        raise ToolError(str(error)) from None
    lines = [_line(seen) for seen in page.items if not seen.unreadable]
    more = [] if page.next is None else [f"There are more: after={page.next!r}."]
    return "\n".join([*lines, *more]) or "There are no sessions."


@tool(effect="read")
async def session_search(ctx: ToolContext, text: str) -> str:
    """Search what was said in all of the user's sessions; the best hits come first.

    Args:
        ctx: Of the call.
        text: Words that must all occur; "these words" one behind the other, -word not at all, word* as a beginning.
    """
    try:
        hits = await _own(ctx).search(text, HITS_MAX)
    except InvalidInput as error:
        raise ToolError(str(error)) from None
    return "\n".join(map(_hit, hits)) or "Nothing was found."


@tool(effect="read")
async def session_history(
    ctx: ToolContext, session: str, agent: str | None = None, thread: str = MAIN_THREAD, start: int = 1
) -> str:
    """Read what was said in one of the user's sessions, in its order.

    Args:
        ctx: Of the call.
        session: Its id, as the list or a hit says.
        agent: Whose conversation with the user; leave it out for your own.
        thread: Which conversation with that agent.
        start: The entry to begin with, such as that of a hit.
    """
    own, of = _own(ctx), agent or ctx.agent
    try:
        entries = await own.entries(session, of, thread, max(start, 1) - 1, ENTRIES_READ_MAX)
        if not entries:
            raise ToolError(await _nothing(own, session, of, thread, start))
    except InvalidInput as error:
        raise ToolError(str(error)) from None
    return _page(entries)


def _own(ctx: ToolContext) -> OwnSessions:
    if ctx.sessions is None:
        raise ToolError("There are no sessions here.")
    return ctx.sessions


def _line(seen: SessionSeen) -> str:
    said = f"{seen.key.session}: {seen.control.title or 'no title'}, last on {_day(seen.last_at_us)}"
    return f"{said}. {seen.control.summary}" if seen.control.summary else said


def _page(entries: Iterable[Entry]) -> str:
    """The messages from the first on, and where to go on."""
    lines: list[str] = []
    room, last = PAGE_CHARACTERS_MAX, 0
    for entry in entries:
        said = said_in(entry.payload)
        line = "" if said is None else f"{entry.seq} {said.role}: {_short(said.text)}"
        if len(line) > room:
            break
        room, last = room - len(line), entry.seq
        lines += [line] if line else []
    return "\n".join([*lines, f"[To go on: start={last + 1}]"])


async def _nothing(own: OwnSessions, session: str, agent: str, thread: str, start: int) -> str:
    threads = [f"{seen.key.agent}/{seen.key.thread}" for seen in await own.threads(session, LISTED_MAX)]
    if not threads:
        return f"The user has no session {session!r}."
    if f"{agent}/{thread}" in threads:
        return f"Nothing was said from entry {start} on."
    return f"That session has no thread {agent}/{thread}; it has: {', '.join(threads)}."


def _hit(hit: SearchHit) -> str:
    where = "its title" if hit.role == "title" else f"agent {hit.key.agent}, thread {hit.key.thread}, entry {hit.seq}"
    return f"session {hit.key.session}, {where}, {hit.role} on {_day(hit.at_us)}: {_short(hit.text)}"


def _short(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS_MAX else f"{text[:MESSAGE_CHARACTERS_MAX]} […]"


def _day(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / SECOND_US, UTC).date().isoformat()
