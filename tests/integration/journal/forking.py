"""Whole turns, forks and rewinds, each in one word."""

from dataclasses import replace

from tests.integration.journal.conftest import KEY, Played
from turnwright.journal.agent_state import AgentState
from turnwright.journal.commands import ForkThread, Receipt, RewindThread
from turnwright.journal.ids import ThreadKey, fork_name
from turnwright.journal.messages import Text
from turnwright.journal.store import Journal


async def said(played: Played, text: str, key: ThreadKey = KEY, answer: str = "ok") -> int:
    """A turn from its task to its answer; the thread's last entry after it."""
    turn = await played.submit(text, key)
    epoch = await played.claim(turn, key)
    await played.ask(turn, epoch, key)
    await played.answer(turn, epoch, Text(text=answer), key=key)
    return await head(played.journal, key)


async def head(journal: Journal, key: ThreadKey = KEY) -> int:
    row = await journal.thread(key)
    assert row is not None
    return row.seq


async def fork(
    played: Played,
    at: int | None = None,
    name: str | None = None,
    key: ThreadKey = KEY,
    session: str | None = None,
) -> ThreadKey:
    request = f"fork-{key.thread}-{at}-{name}"
    receipt = await played.execute(key, ForkThread(request_id=request, at_seq=at, thread=name, session=session))
    assert receipt.thread == (name or fork_name(key, request))
    return replace(key, thread=receipt.thread, session=session or key.session)


async def rewind(played: Played, to: int, key: ThreadKey = KEY) -> Receipt:
    seq = await head(played.journal, key)
    return await played.execute(key, RewindThread(request_id=f"rewind-{seq}", to_seq=to, expected_seq=seq))


async def fresh(journal: Journal, key: ThreadKey, at: int | None = None) -> AgentState:
    return await Journal(journal.driver).state(key, at)


def texts(state: AgentState) -> list[str]:
    return [message.text for message in state.context]
