"""A turn is cancelled while the real model streams: what it had said is kept, and the thread goes on."""

from __future__ import annotations

from examples.demo.narrate import said
from examples.demo.scene import Saw, Scene
from examples.demo.stage import SEEN_TIMEOUT_S, Stage
from examples.demo.streaming import tokens_written
from turnwright.journal.entries import ModelInterrupted, ModelRequested

KEPT = "A cancel stops a streaming model at once, and the text so far is kept"
GOES_ON = "The next turn of that thread runs with it in its context"
TOKENS_MIN = 12


async def play(stage: Stage, saw: Saw) -> None:
    """Cancel it after some words, then ask something else."""
    thread = stage.thread("writer", "cancelled")
    turn = await stage.submit(thread, "Tell a very long story about a fox who opens a shop.")
    await stage.entry(turn, lambda e: isinstance(e.payload, ModelRequested))
    written = await tokens_written(stage.model.base_url, TOKENS_MIN, SEEN_TIMEOUT_S)
    stage.screen.say(f"the model has written {written} tokens; cancelling")
    receipt = await turn.cancel(reason="changed my mind")
    view = await turn.wait(SEEN_TIMEOUT_S)
    payloads = [entry.payload async for entry in turn.events()]
    partial = next((p.partial for p in payloads if isinstance(p, ModelInterrupted)), ())
    seen = f"cancel {receipt.status}; the turn is {view.status}; kept: {said(partial)}"
    saw(KEPT, seen, ok=view.status == "cancelled" and bool(partial))
    text = await stage.answer(await stage.submit(thread, "Forget the fox. Say hello in one word."))
    state = await thread.state()
    kept = any(message.blocks == partial for message in state.context)
    saw(
        GOES_ON, f"it completed; the broken-off story is {'' if kept else 'not '}in the context", ok=bool(text) and kept
    )


SCENE = Scene("Cancel while text streams", (KEPT, GOES_ON), play)
