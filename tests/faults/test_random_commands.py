"""Random commands and random harm, all drawn from one seed: whatever happens, no accepted command is lost, every turn
comes to an end, and what cannot be taken back happens once.

Two or three threads get turns, and these everything that people and machines do to turns, while workers are killed,
frozen, sent away and replaced. Then every pause is lifted and every question answered, and all of it must end.

    STRESS_SEEDS=1:200 pytest tests/faults/test_random_commands.py -k sqlite

runs these seeds and no others. A seed's moves are always the same; what they meet is not.
"""

import os
from collections.abc import Iterator

import pytest

from tests.faults.harness.chance import THREADS, draw_first_fault, draw_moves, draw_settings
from tests.faults.harness.crew import Crew
from tests.faults.harness.ending import (
    assert_nothing_was_lost_or_doubled,
    assert_rebuilt_is_the_same,
    until_all_ended,
)
from tests.faults.harness.play import Play
from tests.faults.harness.world import World

VARIABLE = "STRESS_SEEDS"
MOVES_FEW, MOVES_MANY = 30, 80
SHORT_SEEDS, LONG_SEEDS = range(1, 2), range(3, 4)


def chosen() -> Iterator[object]:
    """Seeds, each with its number of moves."""
    if asked := os.environ.get(VARIABLE):
        first, _, last = asked.partition(":")
        yield from (pytest.param(seed, MOVES_MANY, id=f"seed {seed}") for seed in range(int(first), int(last) + 1))
        return
    yield from (pytest.param(seed, MOVES_FEW, id=f"seed {seed}") for seed in SHORT_SEEDS)
    yield from (pytest.param(seed, MOVES_MANY, id=f"seed {seed}", marks=pytest.mark.slow) for seed in LONG_SEEDS)


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("seed", "count"), list(chosen()))
async def test_whatever_happens_no_command_is_lost_and_every_turn_ends(world: World, seed: int, count: int) -> None:
    moves = draw_moves(seed, count)
    try:
        async with Crew.at_work(world, draw_settings(seed), draw_first_fault(seed)) as crew:
            play = Play(world, crew, THREADS)
            for move in moves:
                await play.make(move)
            await until_all_ended(play)
            await assert_nothing_was_lost_or_doubled(play)
            await assert_rebuilt_is_the_same(play)
    except BaseException as error:
        made = ", ".join(f"{move.what} {move.fault}".strip() for move in moves)
        error.add_note(f"seed {seed}, {count} moves: {made}")
        raise
