"""The steps of a script, as data that reads well in JSON.

Rule: a step is an act (`say`, `call`: it makes an assistant message) or stands before one (`fail`, `cut`,
`silent`, `delay_s`). Nothing counts but the conversation and the number of the attempt, so another
process, or the same one after a crash, plays the same step.

    [{"call": [{"name": "add", "arguments": {"a": 1, "b": 2}}]},
     {"fail": "rate_limited", "retry_after_s": 0.1, "times": 2},
     {"say": "It is {result}.", "chunk_characters": 4, "delay_s": 0.05}]
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationError

from turnwright.journal.entries.operation import FailureClass
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Frozen

DELAY_MAX_S = 86_400.0
CHUNK_CHARACTERS = 16


class Spoken(Frozen):
    """How words are streamed: in chunks of so many characters, with a pause before each."""

    chunk_characters: int = Field(default=CHUNK_CHARACTERS, ge=1)
    delay_s: float = Field(default=0.0, ge=0, le=DELAY_MAX_S)
    thinking: str = ""


class CallSpec(Frozen):
    """One tool call. `malformed` replaces the arguments by a text that is no JSON object."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str | None = None
    id: str | None = None


class Say(Spoken):
    """Words. `{user}`, `{result}` and `{messages}` stand for the last input, the last results, the count."""

    say: str
    finish: Literal["stop", "length", "content_filter"] = "stop"


class Call(Spoken):
    """Tool calls, all in one message, with words before them if `say` is set."""

    call: tuple[CallSpec, ...] = Field(min_length=1)
    say: str = ""


class Fail(Frozen):
    """A failure of the given class for the first `times` attempts (None: every one)."""

    fail: FailureClass
    message: str = "the script says so"
    retry_after_s: float | None = Field(default=None, ge=0)
    times: int | None = Field(default=None, ge=1)


class Cut(Spoken):
    """Words, and then the stream breaks; for the first `times` attempts (None: every one)."""

    cut: str
    times: int | None = Field(default=None, ge=1)


class Silent(Spoken):
    """Words, if any, and then silence until the call is cancelled; for the first `times` attempts."""

    silent: str | Literal[True]
    times: int | None = Field(default=None, ge=1)


class Delay(Frozen):
    """A pause before the next step, on every attempt."""

    delay_s: float = Field(ge=0, le=DELAY_MAX_S)


# The key that tells a step; of several the first, since `call` may have words and words may be slow.
_KEYS = ("call", "say", "fail", "cut", "silent", "delay_s")


def _key(value: Any) -> str | None:  # noqa: ANN401 - whatever a script holds
    has = value.__contains__ if isinstance(value, dict) else lambda key: hasattr(value, key)
    return next((key for key in _KEYS if has(key)), None)


Act: TypeAlias = Say | Call
Guard: TypeAlias = Fail | Cut | Silent | Delay
Step: TypeAlias = Annotated[
    Annotated[Say, Tag("say")]
    | Annotated[Call, Tag("call")]
    | Annotated[Fail, Tag("fail")]
    | Annotated[Cut, Tag("cut")]
    | Annotated[Silent, Tag("silent")]
    | Annotated[Delay, Tag("delay_s")],
    Discriminator(_key),
]
_STEPS: TypeAdapter[tuple[Step, ...]] = TypeAdapter(tuple[Step, ...])


def parse_steps(value: Any) -> tuple[Act | Guard, ...]:  # noqa: ANN401 - any JSON value
    """The steps of a script in JSON form.

    Raises:
        InvalidInput: says which step is wrong, and how.
    """
    try:
        return _STEPS.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "steps"
        raise InvalidInput(
            f"the script is wrong at {where}: {first['msg']}; a step has one of the keys {', '.join(_KEYS)}"
        ) from None


def dump_steps(steps: tuple[Act | Guard, ...]) -> list[dict[str, Any]]:
    """The JSON form of steps, without defaults."""
    return [step.model_dump(mode="json", exclude_defaults=True) for step in steps]
