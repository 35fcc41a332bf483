"""A worker is killed while the real model streams text to it; the other one finishes the turn."""

from __future__ import annotations

from examples.demo.scene import Saw, Scene
from examples.demo.stage import SEEN_TIMEOUT_S, Stage, Unseen
from examples.demo.streaming import tokens_written
from examples.demo.takeover import Takeover, kill_and_watch
from turnwright.client import Turn
from turnwright.journal.entries import ModelRequested, ModelResponded

GOES_ON = "A worker is killed while a real model streams to it: another worker finishes the turn"
ONE_ANSWER = "The turn has one answer, and the journal tells of both attempts"
TOKENS_MIN = 8
TRIES_MAX = 3


async def play(stage: Stage, saw: Saw) -> None:
    """Kill it after a few tokens; a model that was faster than the kill is asked again."""
    for number in range(1, TRIES_MAX + 1):
        thread = stage.thread("writer", f"killed-{number}")
        turn = await stage.submit(thread, "Tell a long story about a lighthouse keeper and the sea.")
        claim = await stage.entry(turn, lambda e: isinstance(e.payload, ModelRequested))
        written = await tokens_written(stage.model.base_url, TOKENS_MIN, SEEN_TIMEOUT_S)
        stage.screen.say(f"the model has written {written} tokens of its answer")
        try:
            takeover = await kill_and_watch(stage, turn, claim)
        except Unseen:  # the turn had ended
            await stage.full_crew()
            continue
        await judge(saw, turn, takeover, await stage.answer(turn))
        return


async def judge(saw: Saw, turn: Turn, takeover: Takeover, text: str) -> None:
    """Count the attempts and the answers."""
    entries = [entry async for entry in turn.events()]
    asked = [entry.payload for entry in entries if isinstance(entry.payload, ModelRequested)]
    answers = sum(isinstance(entry.payload, ModelResponded) for entry in entries)
    others = {attempt.presence for attempt in asked}
    saw(GOES_ON, f"{takeover.told}; completed with {len(text)} characters", ok=len(others) > 1 and bool(text))
    seen = f"attempts {', '.join(str(attempt.ordinal) for attempt in asked)} by {len(others)} workers; {answers} answer"
    saw(ONE_ANSWER, seen, ok=answers == 1 and len(asked) > 1)


SCENE = Scene("SIGKILL while text streams", (GOES_ON, ONE_ANSWER), play)
