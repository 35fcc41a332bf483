"""Messages of a conversation, the journal's own schema.

Rule: providers' types are adapted at the edge and never stored. A call is pending while no result
with its id exists; no stored flag says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

Role = Literal["user", "assistant", "tool", "system"]
Outcome = Literal["success", "error", "denied", "interrupted", "unknown"]
Denier = Literal["person", "rule"]

NO_ENTRY = 0  # of a message that somebody wrote into the state: no entry holds its results to be read back


class Frozen(BaseModel):
    """Base of everything that is stored: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def parts(self) -> Iterator[object]:
        """What it consists of."""
        for name in type(self).model_fields:
            yield getattr(self, name)

    def __copy__(self) -> Self:
        """A shallow copy, for `model_copy`.

        Folding entries is copying, and pydantic's own copy of what these models never have (extra fields, private
        attributes) took a quarter of the time of a rebuild.
        """
        copied = type(self).__new__(type(self))
        object.__setattr__(copied, "__dict__", self.__dict__.copy())
        object.__setattr__(copied, "__pydantic_fields_set__", self.__pydantic_fields_set__.copy())
        object.__setattr__(copied, "__pydantic_extra__", None)
        object.__setattr__(copied, "__pydantic_private__", None)
        return copied


class Tagged(Frozen):
    """Base of what a union tells apart by the field `TAG`: it is always written, also where defaults are left out."""

    TAG: ClassVar[str]

    @model_serializer(mode="wrap")
    def _with_tag(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {self.TAG: getattr(self, self.TAG)} | written


class BlockBase(Tagged):
    """Base of blocks."""

    TAG: ClassVar[str] = "type"


class Text(BlockBase):
    """Words."""

    type: Literal["text"] = "text"
    text: str


class Thinking(BlockBase):
    """A model's reasoning; `signature` is what its provider wants back unchanged."""

    type: Literal["thinking"] = "thinking"
    text: str
    signature: str | None = None
    provider: str | None = None


class ToolCall(BlockBase):
    """A call the model asks for. `malformed` is its argument text when that was no JSON object.

    `edited`: whoever approved the call gave it these arguments; what the model asked for is in its own entry.
    """

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str | None = None
    edited: bool = False


class Media(BlockBase):
    """An image, sound or file: by URL, or `blob`, the SHA-256 of bytes stored with the session."""

    type: Literal["media"] = "media"
    mime: str
    url: str | None = None
    blob: str | None = None

    @property
    def ref(self) -> str:
        """What names its bytes: their SHA-256, or that of the URL they are at."""
        return self.blob or hashlib.sha256((self.url or "").encode("utf-8", "surrogatepass")).hexdigest()


class ToolResult(BlockBase):
    """What became of a call. `by`: who denied it, if it was denied; a `rule` is nobody's choice."""

    type: Literal["tool_result"] = "tool_result"
    id: str
    name: str
    output: tuple[Text | Media, ...] = ()
    outcome: Outcome = "success"
    by: Denier = "person"


Block = Annotated[Text | Thinking | ToolCall | ToolResult | Media, Field(discriminator="type")]


class Usage(Frozen):
    """Tokens and cost (micro US dollars) of one or many model requests."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_microusd: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum, field by field."""
        mine, theirs = self.model_dump(), other.model_dump()
        return Usage(**{name: mine[name] + theirs[name] for name in mine})

    @property
    def total_tokens(self) -> int:
        """Input and output tokens; cached ones are part of the input already."""
        return self.input_tokens + self.output_tokens


class Message(Frozen):
    """One message. `id` and `seq` are those of the entry that holds it; a caller leaves them out."""

    id: str = ""
    seq: int = NO_ENTRY
    role: Role
    blocks: tuple[Block, ...] = ()
    name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    at: str | None = None
    usage: Usage | None = None

    @property
    def text(self) -> str:
        """All text blocks, joined."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))


def user(text: str, **metadata: Any) -> Message:  # noqa: ANN401 - any JSON value
    """A user's message of plain text."""
    return Message(role="user", blocks=(Text(text=text),), metadata=metadata)


def media_of(value: object) -> Iterator[str]:
    """The SHA-256 of each blob that media anywhere in a payload or message refer to."""
    if isinstance(value, Media):
        if value.blob is not None:
            yield value.blob
    elif isinstance(value, Frozen):
        for part in value.parts():
            yield from media_of(part)
    elif isinstance(value, tuple):
        for item in value:
            yield from media_of(item)
