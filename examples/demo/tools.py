"""What the agents of the demonstration can do: read and write files of a shop, and write into its ledger.

Each says what repeating it means, and that is all Turnwright needs to know to survive the death of its worker.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from examples.demo.gates import FILE_AFTER, LEDGER_AFTER, LEDGER_BEFORE, Gates
from examples.demo.ledger import Ledger, Line
from examples.demo.place import Place
from turnwright.activities import Reconciled, ToolContext, ToolError, tool

PLACE = Place.of_worker()
GATES = Gates(PLACE.gates)
LEDGER = Ledger(PLACE.ledger_file)


@tool(effect="read")
async def list_files() -> list[str]:
    """List the files of the shop."""
    return sorted(path.name for path in PLACE.shop.iterdir() if not path.name.startswith("."))


@tool(effect="read")
async def read_file(name: str) -> str:
    """Read a file.

    Args:
        name: the name of the file
    """
    path = _in_shop(name)
    if not path.is_file():
        raise ToolError(f"there is no file {name}")
    return await asyncio.to_thread(path.read_text, encoding="utf-8")


@tool(effect="idempotent")
async def write_file(ctx: ToolContext, name: str, text: str) -> str:
    """Write a file.

    Args:
        ctx: what is known about this call; the model does not see it
        name: the name of the file
        text: the whole content
    """
    path = _in_shop(name)
    # A repeated call has the same key: it finds and replaces its own half-written file, and nobody else's.
    half = path.with_name(f".{path.name}.{ctx.idempotency_key.replace('/', '-')}")
    await asyncio.to_thread(half.write_text, text, encoding="utf-8")
    await GATES.pass_through(FILE_AFTER)
    half.replace(path)
    return f"wrote {len(text)} characters to {name}"


async def look_into_ledger(ctx: ToolContext, _arguments: dict[str, Any]) -> Reconciled:
    """Find out what became of a call whose worker died: its line is there, or it is not."""
    line = await asyncio.to_thread(LEDGER.find, ctx.idempotency_key)
    if line is None:
        return Reconciled.run_again()
    return Reconciled.succeeded(f"the ledger has it: {line.text}")


@tool(effect="once", reconcile=look_into_ledger)
async def append_ledger(ctx: ToolContext, text: str) -> str:
    """Write into the ledger.

    Args:
        ctx: what is known about this call; the model does not see it
        text: the line to write
    """
    await GATES.pass_through(LEDGER_BEFORE)
    number = await asyncio.to_thread(LEDGER.append, Line(ctx.idempotency_key, text))
    await GATES.pass_through(LEDGER_AFTER)
    return f"line {number}: {text}"


def _in_shop(name: str) -> Path:
    path = PLACE.shop / name
    if path.parent != PLACE.shop or name.startswith("."):
        raise ToolError(f"{name!r} is no plain file name")
    return path
