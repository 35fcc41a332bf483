"""A conversation that is compacted again and again costs its journal as much at its end as at its beginning."""

from __future__ import annotations

import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest

from tests.integration.journal.conftest import AGENT, KEY, WORKER, Played
from turnwright.journal.agent_state import empty_state
from turnwright.journal.agents import ContextPolicy, ToolSpec
from turnwright.journal.commands import CallSpec, ClaimRun, CompactContext, FinishTool, StartTool
from turnwright.journal.context.candidate import candidate, too_long
from turnwright.journal.context.tokens import request_tokens
from turnwright.journal.entries import ContextCompacted, ContextOffloaded, Entry
from turnwright.journal.evolve_state import fold_state
from turnwright.journal.messages import Text, ToolCall
from turnwright.journal.store import Journal
from turnwright.journal.transact.thread_script import Terms

TURNS, TENTHS, COMPACTIONS_MIN = 200, 10, 20
RESULT_BYTES = 100 * 1024
POLICY = ContextPolicy(window_tokens=8_000, summary_tokens_max=500)
LOOK = ToolSpec(name="look", effect="read")
KEEPER = AGENT.model_copy(update={"context": POLICY, "tools": (LOOK,)})


async def turn_with_a_long_result(played: Played, number: int) -> None:
    """One turn of two steps, as a worker carries it out; room is made before each model call."""
    turn = await played.submit(f"turn {number}")
    claim = ClaimRun(turn_id=turn, run=f"run {number}", start_epoch=number, definition=KEEPER)
    epoch = (await played.run(KEY, claim)).control.epoch
    await played.ask(turn, epoch)
    await make_room(played, turn, epoch, step=1)
    call = ToolCall(id="c", name="look", arguments={})
    outcome = await played.answer(turn, epoch, call, tools={"look": CallSpec.of(LOOK)})
    assert outcome.control.active is not None
    [operation] = outcome.control.active.calls
    of = {"turn_id": turn, "epoch": epoch, "step": 1, "call_id": operation.call_id}
    spec = CallSpec.of(LOOK)
    await played.run(KEY, StartTool(**of, nonce=f"t{number}", presence=WORKER, spec=spec))  # type: ignore[arg-type] # as the fields say
    output = (Text(text=f"{number:<10}" * (RESULT_BYTES // 10)),)
    await played.run(KEY, FinishTool(**of, ordinal=1, outcome="success", output=output))  # type: ignore[arg-type] # as the fields say
    await played.ask(turn, epoch, step=2)
    await make_room(played, turn, epoch, step=2)
    outcome = await played.answer(turn, epoch, Text(text="so it is"), step=2)
    if outcome.checkpoint_due:
        await played.journal.checkpoint(KEY, await played.journal.state(KEY))


async def make_room(played: Played, turn: str, epoch: int, step: int) -> None:
    """Let give way what has to, as an attempt does."""
    state = await played.journal.state(KEY)
    found = candidate(state, POLICY) if too_long(state, POLICY) else None
    if found is not None:
        compacted = found.compacted("What was said. " * 20) if found.replaced else None
        of = {"turn_id": turn, "epoch": epoch, "step": step, "ordinal": 1}
        await played.run(KEY, CompactContext(**of, offloads=found.offloads, compacted=compacted))  # type: ignore[arg-type] # as the fields say
        assert not too_long(await played.journal.state(KEY), POLICY)


async def entries_of(journal: Journal) -> list[Entry]:
    entries: list[Entry] = []
    while page := await journal.entries(KEY, entries[-1].seq if entries else 0):
        entries += page
    return entries


def stored_bytes(file: Path) -> int:
    """Of the whole journal: entries, blobs, checkpoints, indexes."""
    connection = sqlite3.connect(file)
    try:
        pages, of_bytes = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return int(pages * of_bytes)
    finally:
        connection.close()


@pytest.mark.slow
async def test_bytes_stay_linear_over_twenty_compactions_of_long_results_and_no_range_is_replaced_twice(
    sqlite_url: str, tmp_path: Path
) -> None:
    journal = await Journal.open(sqlite_url, migrate=True, terms=Terms(presence=WORKER))
    try:
        await journal.driver.hold_presence(WORKER, {}, lease_s=600)
        played = Played(journal)
        grown = [0]
        for number in range(TURNS):
            await turn_with_a_long_result(played, number)
            if (number + 1) % (TURNS // TENTHS) == 0:
                grown.append(stored_bytes(tmp_path / "journal.db"))
        state, entries = await journal.state(KEY), await entries_of(journal)
    finally:
        await journal.close()
    tenths = [after - before for before, after in pairwise(grown)]
    assert tenths[-1] < 1.2 * tenths[1]
    compacted = [entry.payload for entry in entries if isinstance(entry.payload, ContextCompacted)]
    assert len(compacted) >= COMPACTIONS_MIN
    assert all(earlier.to_seq < later.from_seq for earlier, later in pairwise(compacted))
    offloaded = [entry.payload.result_seq for entry in entries if isinstance(entry.payload, ContextOffloaded)]
    assert len(offloaded) == len(set(offloaded)) == TURNS
    assert request_tokens(state) < (POLICY.window_tokens or 0)
    assert fold_state(empty_state(KEY), entries) == state
