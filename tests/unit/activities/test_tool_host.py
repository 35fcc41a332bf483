"""Whatever a tool does, the turn gets a result."""

import asyncio
import contextvars
import threading
import time
from typing import Any

import pytest
from pydantic import BaseModel

from tests.unit.activities.calling import HOST, context, run, text
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import ToolError
from turnwright.activities.tool_host import ToolOutcome
from turnwright.activities.tool_output import Attachment, ToolOutput
from turnwright.activities.tools import tool
from turnwright.journal.messages import Media, Text, ToolCall


async def returned(value: object) -> ToolOutcome:
    @tool
    async def give() -> Any:  # noqa: ANN401 - whatever the test returns
        """Give a value."""
        return value

    return await run(give)


@tool
async def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


@tool
def whoami(ctx: ToolContext, greeting: str) -> str:
    """Say who calls."""
    return f"{greeting} {ctx.tenant}/{ctx.call_id} {ctx.idempotency_key} {ctx.attempt}"


async def test_a_result_answers_its_call() -> None:
    outcome = await run(add, a=1)
    assert (outcome.result.id, outcome.result.name, outcome.result.outcome) == ("c", "add", "success")
    assert text(outcome) == "3"
    assert outcome.duration_ms >= 0
    assert outcome.effect_unknown is False


async def test_a_sync_tool_runs_in_a_thread_and_receives_its_context() -> None:
    assert text(await run(whoami, greeting="hi")) == "hi t/c turn/c 1"

    @tool
    def place() -> str:
        """Where."""
        return threading.current_thread().name

    assert text(await run(place)) != threading.main_thread().name


async def test_a_thread_sees_the_callers_context_variables() -> None:
    word: contextvars.ContextVar[str] = contextvars.ContextVar("word")
    word.set("seen")

    @tool
    def look() -> str:
        """Look."""
        return word.get()

    assert text(await run(look)) == "seen"


async def test_a_sync_function_that_returns_something_to_await_is_awaited() -> None:
    async def later() -> str:
        return "late"

    @tool
    def give() -> Any:  # noqa: ANN401 - an awaitable
        """Give."""
        return later()

    assert text(await run(give)) == "late"


async def test_bad_arguments_tell_the_model_what_is_wrong_and_the_body_does_not_run() -> None:
    outcome = await run(add, a="x", c=1)
    assert outcome.result.outcome == "error"
    assert "- a: Input should be a valid integer" in text(outcome)
    assert "- c: " in text(outcome)
    assert "'x'" in text(outcome)


async def test_malformed_arguments_tell_the_model_that_they_are_no_json() -> None:
    outcome = await HOST.run(add, ToolCall(id="c", name="add", malformed='{"a": 1'), context())
    assert outcome.result.outcome == "error"
    assert "not a JSON object" in text(outcome)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("words", "words"),
        ("a\x00b\ud800", "a\u2400b\ufffd"),
        (5, "5"),
        ({"b": [1, None], "a": "é"}, '{"a":"é","b":[1,null]}'),
        ((1, 2), "[1,2]"),
        (float("nan"), '"nan"'),
        (True, "true"),
        ({"a": {"\ud800": "\x00"}}, '{"a":{"\ufffd":"\u2400"}}'),
        (Text(text="block"), "block"),
    ],
)
async def test_a_value_becomes_text_or_canonical_json(value: object, expected: str) -> None:
    outcome = await returned(value)
    assert (outcome.result.outcome, text(outcome)) == ("success", expected)


async def test_a_model_becomes_json_and_nothing_becomes_no_output() -> None:
    class Point(BaseModel):
        y: int
        x: int

    assert text(await returned(Point(x=1, y=2))) == '{"x":1,"y":2}'
    assert (await returned(None)).result.output == ()


async def test_bytes_become_media_whose_bytes_come_along() -> None:
    outcome = await returned(ToolOutput("chart:", Attachment(b"png", "image/png"), Media(mime="image/gif", url="u")))
    words, image, linked = outcome.result.output
    assert words == Text(text="chart:")
    assert isinstance(image, Media)
    assert image.blob is not None
    assert outcome.blobs[image.blob] == b"png"
    assert linked == Media(mime="image/gif", url="u")
    (raw,) = (await returned(b"raw")).result.output
    assert isinstance(raw, Media)
    assert raw.mime == "application/octet-stream"


@pytest.mark.parametrize(
    "value", ["x" * 1_001, "é" * 501, b"x" * 1_001, ToolOutput("x" * 600, "y" * 600), ["x" * 1_000]]
)
async def test_an_output_that_is_too_large_fails_that_call_and_says_so(value: object) -> None:
    outcome = await returned(value)
    assert outcome.result.outcome == "error"
    assert "larger than 1000 bytes" in text(outcome)
    assert outcome.blobs == {}


@pytest.mark.parametrize("value", [object(), threading.Lock()])
async def test_an_output_that_is_no_json_fails_that_call_and_says_so(value: object) -> None:
    outcome = await returned(value)
    assert outcome.result.outcome == "error"
    assert "no JSON value" in text(outcome)


class Rude(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no such order"), "ValueError: no such order"),
        (KeyError(), "KeyError"),
        (ToolError("The shop is closed."), "The shop is closed."),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (StopIteration(), "StopIteration"),
        (asyncio.CancelledError(), "CancelledError"),
        (Rude(), "Rude"),
    ],
)
async def test_an_exception_becomes_an_error_result_without_a_traceback(
    error: BaseException, expected: str, in_thread: bool
) -> None:
    @tool
    async def fail() -> None:
        """Fail."""
        raise error

    @tool
    def fail_in_thread() -> None:
        """Fail."""
        raise error

    outcome = await run(fail_in_thread if in_thread else fail)
    assert outcome.result.outcome == "error"
    # An async function cannot let StopIteration out: Python makes it a RuntimeError.
    if not (isinstance(error, StopIteration) and not in_thread):
        assert text(outcome) == expected
    assert "Traceback" not in text(outcome)


async def test_secrets_of_the_worker_do_not_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "hush-hush-hush")

    @tool
    async def fail() -> None:
        """Fail."""
        raise ConnectionError("postgresql://me:pass@db/x refused hush-hush-hush")

    assert text(await run(fail)) == "ConnectionError: postgresql://me:***@db/x refused ***"


@pytest.mark.parametrize("word", ["x", "a.b-", "://a:"])
async def test_a_long_error_is_cut(word: str) -> None:
    @tool
    async def fail() -> None:
        """Fail."""
        raise ValueError(word * 100_000)

    assert len(text(await run(fail))) < 5_000


async def test_a_sync_tool_does_not_block_the_event_loop() -> None:
    release = threading.Event()

    @tool
    def hold() -> None:
        """Hold."""
        assert release.wait(30)

    task = asyncio.create_task(run(hold))
    await asyncio.sleep(0)
    await asyncio.to_thread(time.sleep, 0)
    release.set()
    assert (await task).result.outcome == "success"
