"""A model that plays a script: for tests and demonstrations, through the same port as a real one.

Rule: nothing is remembered between calls. `scripted:<name>` plays, in this order of preference, the
script in the conversation (a user message with `{"steps": […]}` in its metadata or in a fenced JSON
block), the one in the agent's `model_settings["steps"]`, or the one registered under its name. The first
two need no registration, so any worker can go on where another died.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from turnwright.activities.models.call_ids import distinct_id, taken_ids
from turnwright.activities.models.port import ModelFailure, ModelRequest, ModelResponse, Partial
from turnwright.activities.models.script_position import Play, find_script, is_briefing, next_play
from turnwright.activities.models.script_steps import (
    Act,
    Call,
    CallSpec,
    Cut,
    Delay,
    Fail,
    Guard,
    Say,
    Silent,
    Spoken,
    dump_steps,
)
from turnwright.journal.canonical import digest_of
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Block, Message, Text, Thinking, ToolCall, ToolResult, Usage

__all__ = ["Call", "CallSpec", "Cut", "Delay", "Fail", "Say", "Script", "ScriptedModel", "Silent", "script"]

SCRIPTED_PREFIX: Final = "scripted:"
_CHARACTERS_PER_TOKEN = 4
_REGISTERED: dict[str, Script] = {}


@dataclass(frozen=True, slots=True)
class Script:
    """A named script. `model` and `settings` are what an agent needs to play it anywhere."""

    name: str
    steps: tuple[Act | Guard, ...]

    @property
    def model(self) -> str:
        """The model name that plays this script."""
        return f"{SCRIPTED_PREFIX}{self.name}"

    @property
    def settings(self) -> dict[str, Any]:
        """Model settings that hold the script itself, for workers that never registered it."""
        return {"steps": dump_steps(self.steps)}


def script(name: str, *steps: Act | Guard) -> Script:
    """Register a script in this process under a name.

    Raises:
        InvalidInput: another script has that name.
    """
    made = Script(name, steps)
    if _REGISTERED.setdefault(name, made) != made:
        raise InvalidInput(f"a different script is registered as {name!r} already; give this one another name")
    return made


class ScriptedModel:
    """Plays scripts; stateless."""

    async def respond(self, request: ModelRequest, partial: Partial) -> ModelResponse:
        """Play the step the conversation has come to."""
        play = _play(request)
        partial.usage = Usage(requests=1, input_tokens=_input_tokens(request))
        if play.delay_s:
            await asyncio.sleep(play.delay_s)
        match play.step:
            case Say() | Call() as act:
                return await _act(act, play, request, partial)
            case Fail() as fail:
                raise ModelFailure(fail.fail, fail.message, retry_after_s=fail.retry_after_s, usage=partial.usage)
            case Cut() as cut:
                await _speak(cut, cut.cut, request, partial)
                raise ModelFailure("cut", "the stream was cut", usage=partial.usage)
            case Silent() as silent:
                await _speak(silent, silent.silent if isinstance(silent.silent, str) else "", request, partial)
                await asyncio.Event().wait()
        raise AssertionError(f"a pause is never the last step: {play}")

    async def check(self, request: ModelRequest) -> None:
        """Find out whether the conversation still holds a script, or another one is at hand."""
        _play(request)

    async def aclose(self) -> None:
        """Nothing to close."""


def _play(request: ModelRequest) -> Play:
    try:
        return _found_play(request)
    except InvalidInput as error:
        raise ModelFailure("invalid", str(error)) from error


def _found_play(request: ModelRequest) -> Play:
    name = request.model.removeprefix(SCRIPTED_PREFIX)
    registered = _REGISTERED.get(name)
    found = find_script(request, None if registered is None else registered.steps)
    if found is None:
        raise InvalidInput(
            f"no script for {request.model!r}: put `steps` into the agent's model_settings, or into the "
            "message, or register the script in the worker"
        )
    return next_play(found, request.messages, request.attempt)


async def _act(act: Say | Call, play: Play, request: ModelRequest, partial: Partial) -> ModelResponse:
    spoken = await _speak(act, act.say, request, partial)
    calls = tuple(_calls(act.call, play, request)) if isinstance(act, Call) else ()
    blocks = (*spoken, *calls)
    output_tokens = sum(_tokens(_written(block)) for block in blocks)
    return ModelResponse(
        blocks=blocks,
        usage=partial.usage.model_copy(update={"output_tokens": output_tokens}),
        finish_reason="tool_call" if isinstance(act, Call) else act.finish,
        model=request.model,
    )


async def _speak(spoken: Spoken, words: str, request: ModelRequest, partial: Partial) -> tuple[Block, ...]:
    said = _filled(words, request.messages)
    for index, kind, text in ((0, "thinking", spoken.thinking), (1, "text", said)):
        for chunk in _chunks(text, spoken.chunk_characters):
            await asyncio.sleep(spoken.delay_s)
            partial.extend(index, "thinking" if kind == "thinking" else "text", chunk)
    thought = (Thinking(text=spoken.thinking),) if spoken.thinking else ()
    return (*thought, Text(text=said)) if said else thought


def _calls(specs: Sequence[CallSpec], play: Play, request: ModelRequest) -> Iterator[ToolCall]:
    taken = taken_ids(request.messages)
    anchor = request.messages[play.anchor].id if request.messages else ""
    for index, spec in enumerate(specs):
        own = spec.id or f"call-{digest_of([anchor, play.place, index])[:12]}"
        yield ToolCall(
            id=distinct_id(own, taken),
            name=spec.name,
            arguments={} if spec.malformed is not None else spec.arguments,
            malformed=spec.malformed,
        )


def _filled(words: str, messages: Sequence[Message]) -> str:
    if "{" not in words:
        return words
    said = (message for message in reversed(messages) if message.role == "user" and not is_briefing(message))
    user = next((message.text for message in said), "")
    results = next((message.results for message in reversed(messages) if message.results), ())
    return (
        words.replace("{messages}", str(len(messages)))
        .replace("{result}", "; ".join(_result_text(result) for result in results))
        .replace("{user}", user)
    )


def _result_text(result: ToolResult) -> str:
    text = "".join(block.text for block in result.output if isinstance(block, Text))
    return text if result.outcome == "success" else f"{result.outcome}: {text}"


def _chunks(text: str, characters: int) -> Iterator[str]:
    return (text[start : start + characters] for start in range(0, len(text), characters))


def _written(block: Block) -> str:
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            return block.name + (block.malformed or str(sorted(block.arguments.items())))
        case ToolResult():
            return _result_text(block)
        case _:
            return ""


def _tokens(text: str) -> int:
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def _input_tokens(request: ModelRequest) -> int:
    conversation = (_written(block) for message in request.messages for block in message.blocks)
    return _tokens(request.instructions) + sum(_tokens(text) for text in conversation)
