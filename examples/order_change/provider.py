"""A language model's server on this machine that says what a script says, and keeps every request it was sent.

Rule: it speaks the protocol real providers speak, over HTTP, so what it keeps is what any of them would have seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self

Saying = dict[str, Any]


def calling(thought: str, text: str, name: str, **arguments: object) -> Saying:
    """An answer that thinks, says something, and asks for a call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{name}", "type": "function", "function": function}
    return {"reasoning_content": thought, "content": text, "tool_calls": [call]}


def saying(thought: str, text: str) -> Saying:
    """An answer of words."""
    return {"reasoning_content": thought, "content": text}


class Provider:
    """Answers one request after another from the script; `requests` is what it was sent."""

    def __init__(self, *script: Saying) -> None:
        self.requests: list[dict[str, Any]] = []
        self._script = list(script)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    @property
    def base_url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: dict[str, Any]) -> Iterator[bytes]:
        """The answer to a request, as server-sent events. A repeated request gets the same answer again."""
        if request not in self.requests:
            self.requests.append(request)
        said = self._script[self.requests.index(request)]
        base = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "script"}
        for delta, reason in (({"role": "assistant"} | said, None), ({}, _reason(said))):
            yield _event(base | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        usage = {"prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60}
        yield _event(base | {"choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for event in provider.answer(request):
                    self.wfile.write(event)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


def _reason(said: Saying) -> str:
    return "tool_calls" if "tool_calls" in said else "stop"


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
