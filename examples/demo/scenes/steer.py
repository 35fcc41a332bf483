"""A turn gets another message while the real model answers the first one."""

from __future__ import annotations

from examples.demo.scene import Saw, Scene
from examples.demo.stage import SEEN_TIMEOUT_S, Stage
from examples.demo.streaming import tokens_written
from turnwright.journal.entries import InputApplied, InputSteered, ModelRequested, ModelResponded

STEERED = "A message to a running turn is seen by its next model call, and the turn ends only after that"
TOKENS_MIN = 4
WISH = "Now say in one short sentence what the keeper ate."


async def play(stage: Stage, saw: Saw) -> None:
    """Steer during what would have been the last call."""
    turn = await stage.submit(stage.thread("writer", "steered"), "Tell a story about a lighthouse keeper.")
    await stage.entry(turn, lambda e: isinstance(e.payload, ModelRequested))
    await tokens_written(stage.model.base_url, TOKENS_MIN, SEEN_TIMEOUT_S)
    await turn.steer(WISH)
    text = await stage.answer(turn)
    entries = [entry async for entry in turn.events()]
    steered = next(e.seq for e in entries if isinstance(e.payload, InputSteered))
    applied = next(e for e in entries if isinstance(e.payload, InputApplied) and e.payload.through_seq >= steered)
    request = next(e for e in entries if isinstance(e.payload, ModelRequested) and e.seq > applied.seq)
    answers = [e for e in entries if isinstance(e.payload, ModelResponded)]
    seen = f"steered at entry {steered}, in the request of step {request.step}; {len(answers)} answers, the last counts"
    last = "".join(block.text for block in answers[-1].payload.blocks if block.type == "text")  # type: ignore[attr-defined]
    saw(STEERED, seen, ok=len(answers) > 1 and answers[-1].seq > applied.seq and last == text)


SCENE = Scene("Steer", (STEERED,), play)
