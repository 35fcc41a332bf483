"""A server that speaks OpenAI's responses protocol: it thinks and calls a tool, then it answers."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Item = dict[str, Any]
Event = tuple[str, dict[str, Any]]
THOUGHT: Item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
CALL: Item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "status": "completed"}
ARGUMENTS = ('{"what": "the', ' door"}')
WORDS = ("It is ", "closed.")
COUNTS = {"input_tokens": 11, "input_tokens_details": {"cached_tokens": 3}, "output_tokens": 7, "total_tokens": 18}


@dataclass
class ResponsesPeer:
    """What it was asked, and where it is."""

    url: str = ""
    asked: list[Item] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        length = next(int(line.partition(":")[2]) for line in head if line.startswith("content-length:"))
        self.asked.append(json.loads(await reader.readexactly(length)))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        has_result = any(item.get("type") == "function_call_output" for item in self.asked[-1]["input"])
        for number, (kind, body) in enumerate(_answers() if has_result else _calls(), start=1):
            data = json.dumps({"type": kind, "sequence_number": number, **body})
            writer.write(f"event: {kind}\ndata: {data}\n\n".encode())
        await writer.drain()
        writer.close()


@asynccontextmanager
async def responses_peer() -> AsyncIterator[ResponsesPeer]:
    peer = ResponsesPeer()
    async with await asyncio.start_server(peer.serve, "127.0.0.1", 0) as server:
        peer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield peer


def _calls() -> Iterator[Event]:
    where = {"item_id": "fc_1", "output_index": 1}
    call = CALL | {"arguments": "".join(ARGUMENTS)}
    yield _response("created")
    yield from _item(0, THOUGHT | {"encrypted_content": None}, THOUGHT)
    yield from itertools.islice(_item(1, CALL | {"arguments": "", "status": "in_progress"}, call), 1)
    for part in ARGUMENTS:
        yield "response.function_call_arguments.delta", where | {"delta": part}
    yield "response.function_call_arguments.done", where | {"arguments": call["arguments"], "name": "look"}
    yield "response.output_item.done", {"output_index": 1, "item": call}
    yield _response("completed", THOUGHT, call)


def _answers() -> Iterator[Event]:
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    begun: Item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
    whole = begun | {"status": "completed", "content": [part | {"text": "".join(WORDS)}]}
    yield _response("created")
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    yield "response.content_part.added", where | {"part": part}
    for words in WORDS:
        yield "response.output_text.delta", where | {"delta": words, "logprobs": []}
    yield "response.output_text.done", where | {"text": "".join(WORDS), "logprobs": []}
    yield "response.output_item.done", {"output_index": 0, "item": whole}
    yield _response("completed", whole)


def _item(index: int, begun: Item, whole: Item) -> Iterator[Event]:
    yield "response.output_item.added", {"output_index": index, "item": begun}
    yield "response.output_item.done", {"output_index": index, "item": whole}


def _response(what: str, *output: Item) -> Event:
    done = what == "completed"
    return f"response.{what}", {
        "response": {
            "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "output": list(output),
            "status": "completed" if done else "in_progress", "parallel_tool_calls": True, "tool_choice": "auto",
            "tools": [], "usage": COUNTS | {"output_tokens_details": {"reasoning_tokens": 2}} if done else None,
        }
    }  # fmt: skip
