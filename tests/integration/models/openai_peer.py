"""A server that speaks OpenAI's chat streaming protocol, and can misbehave in every way a real one does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Ending = Literal["done", "closed", "cut", "silent"]


@dataclass(frozen=True)
class Reply:
    """What to answer: a status with a body, or a stream of chunks and how it ends."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    chunks: tuple[dict[str, Any], ...] = ()
    ending: Ending = "done"


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "peer", "choices": [choice]}


def words(*parts: str) -> tuple[dict[str, Any], ...]:
    return tuple(chunk({"role": "assistant", "content": part}) for part in parts)


def called(index: int, name: str, arguments: str, call_id: str | None = None) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": call_id or f"call_{index}", "type": "function", "function": function}
    return chunk({"tool_calls": [call]})


def finished(reason: str, prompt: int = 11, completion: int = 7) -> tuple[dict[str, Any], ...]:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return (chunk({}, reason), {**chunk({}), "choices": [], "usage": usage})


class Peer:
    """Answers request by request from `replies`; keeps what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.answering = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.url = ""
        self._connections: set[asyncio.Task[None]] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(asyncio.ensure_future(self._serve(reader, writer)))

    async def left(self) -> None:
        """Wait until every client has gone."""
        if self._connections:
            await asyncio.wait(self._connections, timeout=10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:])}
        self.asked.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
        self.keys.append(headers.get("authorization", ""))
        reply = self.replies.pop(0)
        if reply.status != 200:
            self._refuse(reply, writer)
            return True
        await self._stream(reply, writer)
        match reply.ending:
            case "done":
                writer.write(_framed(b"data: [DONE]\n\n") + b"0\r\n\r\n")
                return True
            case "closed":
                writer.write(b"0\r\n\r\n")
                return True
            case "cut":
                writer.transport.abort()
            case "silent":
                self.answering.set()
                await reader.read(1)
                self.hung_up.set()
        return False

    def _refuse(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        body = json.dumps(reply.body).encode()
        lines = [f"HTTP/1.1 {reply.status} Refused", "content-type: application/json", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def _stream(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for data in reply.chunks:
            writer.write(_framed(b"data: " + json.dumps(data).encode() + b"\n\n"))
        await writer.drain()


def _framed(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@asynccontextmanager
async def peer(*replies: Reply) -> AsyncIterator[Peer]:
    served = Peer(*replies)
    server = await asyncio.start_server(served.accept, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield served
    finally:
        server.close()
        await served.left()
