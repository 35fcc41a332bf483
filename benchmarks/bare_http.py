"""The peer of a gateway: a bare Starlette application on uvicorn, with no journal and nobody to ask who asks.

`python -m benchmarks.bare_http PORT`. `PUT /answer` says what `GET` and `POST /answer` give; `POST /event` writes its
body to every reader of `GET /events`, as it is.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route


def application() -> Starlette:
    """One of its own."""
    said = {"answer": b""}
    readers: set[asyncio.Queue[bytes]] = set()

    async def answer(request: Request) -> Response:
        body = await request.body()
        if request.method == "PUT":
            said["answer"] = body
        return Response(said["answer"], media_type="application/json")

    async def tell(request: Request) -> Response:
        event = await request.body()
        for reader in readers:
            reader.put_nowait(event)
        return Response(status_code=204)

    async def follow(_: Request) -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    async def events() -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        readers.add(queue)
        try:
            yield b": begun\n\n"
            while True:
                yield await queue.get()
        finally:
            readers.discard(queue)

    return Starlette(
        routes=[
            Route("/answer", answer, methods=["GET", "PUT", "POST"]),
            Route("/event", tell, methods=["POST"]),
            Route("/events", follow),
        ]
    )


if __name__ == "__main__":
    uvicorn.run(
        application(),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_config=None,
        access_log=False,
        http="h11",
        timeout_keep_alive=600,
    )
