"""Load on an HTTP server for a while: by `wrk` where it is installed, else over connections of our own.

Rule: both sides of a figure are asked by the same, over as many connections that stay open, and every answer must be
one of success. Our own connections take as much of a core as a small server does, so they show less of a difference.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from string import Template

from benchmarks.servers import Server

SECONDS = 1
REQUESTS_A_BATCH = 500
WRK = shutil.which("wrk")
DRIVER = "`wrk`" if WRK else "connections of our own"
_RATE = re.compile(r"^Requests/sec:\s+([\d.]+)$", re.MULTILINE)
_FAILED = re.compile(r"Non-2xx|Socket errors")
_SCRIPT = Template("""local number = 0
local headers = {["Content-Type"] = "application/json"}
request = function()
  number = number + 1
  headers["Idempotency-Key"] = "$key-" .. number
  local path = string.gsub("$path", "BATCH", math.floor(number / $batch))
  return wrk.format("$method", path, headers, [[$body]])
end
""")


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked again and again, with an `Idempotency-Key` of its own each time that begins with `key`.

    `BATCH` in the path becomes another number after some hundred requests.
    """

    key: str
    path: str
    method: str = "GET"
    body: str = ""


async def rate(server: Server, load: Load, connections: int, folder: Path) -> float:
    """Answers a second. Raises `RuntimeError` if one is not of success."""
    return await (_wrk if WRK else _own)(server, load, connections, folder)


async def repeated(streams: int, act: Callable[[int], Awaitable[object]]) -> float:
    """Run acts one after another in each of so many streams, for as long as a load lasts; acts a second."""
    began_s, done = time.perf_counter(), 0

    async def one(stream: int) -> None:
        nonlocal done
        while time.perf_counter() - began_s < SECONDS:
            await act(stream)
            done += 1

    await asyncio.gather(*(one(stream) for stream in range(streams)))
    return done / (time.perf_counter() - began_s)


async def _own(server: Server, load: Load, connections: int, _: Path) -> float:
    asking = [await server.connect() for _ in range(connections)]
    numbers = itertools.count(1)

    async def ask(stream: int) -> None:
        number = next(numbers)
        path = load.path.replace("BATCH", str(number // REQUESTS_A_BATCH))
        key = f"Idempotency-Key: {load.key}-{number}\r\n"
        await asking[stream].ask(load.method, path, load.body.encode(), key)

    try:
        return await repeated(connections, ask)
    finally:
        for one in asking:
            one.close()


async def _wrk(server: Server, load: Load, connections: int, folder: Path) -> float:
    assert WRK is not None
    script = folder / "wrk.lua"
    said = _SCRIPT.substitute(key=load.key, path=load.path, method=load.method, body=load.body, batch=REQUESTS_A_BATCH)
    await asyncio.to_thread(script.write_text, said, "utf-8")
    process = await asyncio.create_subprocess_exec(
        WRK, "--threads", "1", "--connections", str(connections), "--duration", f"{SECONDS}s",
        "--script", str(script), f"http://127.0.0.1:{server.port}/",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    told = out.decode()
    found = _RATE.search(told)
    if process.returncode or found is None or _FAILED.search(told):
        raise RuntimeError(f"wrk, {load.method} {load.path}: {told}")
    return float(found[1])
