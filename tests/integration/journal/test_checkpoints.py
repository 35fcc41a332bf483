"""Checkpoints are a cache: few are kept, none is needed, and a state is the same with and without them."""

import itertools

from tests.integration.journal.conftest import KEY, Played, Sql
from turnwright.journal.commands import Steer
from turnwright.journal.messages import user
from turnwright.journal.store import Journal
from turnwright.journal.transact.rows import CHECKPOINT_TAIL_BYTES_MIN

PIECE = "x" * (CHECKPOINT_TAIL_BYTES_MIN // 2)


async def checkpoints(sql: Sql) -> list[int]:
    return [seq for (seq,) in await sql("SELECT seq FROM checkpoints ORDER BY seq")]


async def steer(played: Played, turn: str, number: int, text: str = PIECE) -> None:
    await played.execute(KEY, Steer(request_id=f"s{number}", turn_id=turn, message=user(text)))


async def test_one_is_kept_when_as_much_came_since_the_last_and_only_the_last_two_stay(
    journal: Journal, played: Played, sql: Sql
) -> None:
    turn, kept = await played.submit("first"), []
    for number in range(24):
        await steer(played, turn, number)
        state = await journal.state(KEY)
        if await journal.checkpoint(KEY, state):
            kept.append(state.as_of_seq)
    assert len(kept) > 2
    assert await checkpoints(sql) == kept[-2:]
    gaps = [later - earlier for earlier, later in itertools.pairwise(kept)]
    assert gaps == sorted(gaps), "the larger the state, the rarer a checkpoint"
    assert gaps[-1] > gaps[0]


async def test_a_state_at_any_entry_is_the_same_from_a_checkpoint_and_from_the_beginning(
    journal: Journal, played: Played, sql: Sql
) -> None:
    turn = await played.submit("first")
    for number in range(8):
        await steer(played, turn, number, PIECE if number % 2 else "short")
        await journal.checkpoint(KEY, await journal.state(KEY))
    assert await checkpoints(sql)
    seqs = range(1, 10)
    from_checkpoints = [await Journal(journal.driver).state(KEY, seq) for seq in seqs]
    newest = await Journal(journal.driver).state(KEY)
    await sql("DELETE FROM checkpoints")
    assert [await Journal(journal.driver).state(KEY, seq) for seq in seqs] == from_checkpoints
    assert await Journal(journal.driver).state(KEY) == newest == from_checkpoints[-1]


async def test_a_small_thread_has_none(journal: Journal, played: Played, sql: Sql) -> None:
    turn = await played.submit("first")
    await steer(played, turn, 1, "short")
    assert not await journal.checkpoint(KEY, await journal.state(KEY))
    assert await checkpoints(sql) == []


async def test_a_state_that_is_ahead_of_the_thread_is_not_kept(journal: Journal, played: Played, sql: Sql) -> None:
    turn = await played.submit("first")
    for number in range(3):
        await steer(played, turn, number)
    state = await journal.state(KEY)
    assert not await journal.checkpoint(KEY, state.model_copy(update={"as_of_seq": state.as_of_seq + 1}))
    assert await checkpoints(sql) == []
