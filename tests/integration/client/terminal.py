"""Commands as they are typed, on the journal of a test."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import typer
from typer.testing import CliRunner

Result: TypeAlias = Any
Run: TypeAlias = Callable[..., Coroutine[Any, Any, Result]]


async def invoke(app: typer.Typer, *words: str, given: str | None = None) -> Result:
    """Call the application as a terminal would."""
    return await asyncio.to_thread(CliRunner().invoke, app, words, given)


def lines(result: Result) -> list[dict[str, Any]]:
    """The JSON objects on standard output."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def shown(result: Result) -> str:
    """What a command showed, which must have gone well."""
    assert result.exit_code == 0, result.output
    text: str = result.stdout
    return text


def refused(result: Result, exit_code: int = 1) -> str:
    """The line that says why a command did not go well."""
    assert result.exit_code == exit_code, result.output
    text: str = result.stderr.splitlines()[-1]
    return text
