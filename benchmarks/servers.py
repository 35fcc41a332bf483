"""HTTP servers under measurement, each a process of its own, and what is said to them over plain sockets.

Rule: both sides are asked by the same few lines, so that what asking costs falls on both.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleet import ROOT, STOP_TIMEOUT_S

START_S_MAX = 30
LOOK_S = 0.05
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Server:
    """A process that listens on a port of this machine."""

    pid: int
    port: int

    @property
    def resident_bytes(self) -> int:
        """The memory it has now."""
        return int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]) * PAGE_BYTES

    async def connect(self) -> Asking:
        """A connection, which stays open."""
        return Asking(*await asyncio.open_connection("127.0.0.1", self.port))


@dataclass(frozen=True, slots=True)
class Asking:
    """One connection, on which one request follows another."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, method: str, path: str, body: bytes = b"", more: str = "") -> bytes:
        """The body of the answer, which must be one of success; `more` are header lines, each with its end."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}Content-Length: {len(body)}\r\n"
        self.writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = next((line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
        said = await self.reader.readexactly(int(length.partition(b":")[2]))
        if not answer.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{method} {path}: {answer.decode()}{said.decode()}")
        return said

    async def follow(self, path: str) -> None:
        """Begin to read a stream, and wait for its first event."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await self.reader.readuntil(b"\r\n\r\n")
        await self.event()

    async def event(self) -> bytes:
        """What the stream says next, with the framing of its chunk."""
        return await self.reader.readuntil(b"\n\n\r\n")

    def close(self) -> None:
        """Close it."""
        self.writer.close()


@asynccontextmanager
async def served(log: Path, module: str, *words: str) -> AsyncIterator[Server]:
    """A server, from when it answers; its module is given the words and a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", module, *words, str(port)], cwd=ROOT, stdout=out, stderr=out)  # noqa: ASYNC220 - it does not wait
    server = Server(process.pid, port)
    try:
        await _until_it_listens(process, server, log)
        yield server
    finally:
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _until_it_listens(process: subprocess.Popen[bytes], server: Server, log: Path) -> None:
    async with asyncio.timeout(START_S_MAX):
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"a server ended with {process.returncode}:\n{_said(log)}")
            with suppress(OSError):
                (await server.connect()).close()
                return
            await asyncio.sleep(LOOK_S)


def _said(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-2_000:]
