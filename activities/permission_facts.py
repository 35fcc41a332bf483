"""What a worker finds out about a call before it is decided: where its paths lead, and what the tool's check says.

Rule: whatever goes wrong here asks a person. A path that cannot be resolved is left without a real path, so no rule
allows it; a check that fails, answers nonsense or takes too long has said "ask".
"""

from __future__ import annotations

import asyncio
import copy
import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import structlog
from pydantic import ValidationError

from turnwright.activities.check import Check, CheckVerdict
from turnwright.activities.jsonable import jsonable
from turnwright.activities.tool_body import Ended, answer_of, in_thread
from turnwright.activities.tool_context import ToolContext
from turnwright.activities.tool_errors import MESSAGE_CHARACTERS_MAX, ToolError, bounded, told, traced, unfit
from turnwright.activities.tools import Tool
from turnwright.journal.agents import ToolSpec
from turnwright.journal.permissions.call import paths_in
from turnwright.journal.permissions.facts import CallFacts, Checked

CHECK_TIMEOUT_S: Final = 10.0
PATHS_TIMEOUT_S: Final = 10.0
# A person reads the whole of what they approve, such as a plan.
ASKED_CHARACTERS_MAX: Final = 70_000

log = structlog.get_logger(__name__)


async def facts_of(
    tool: Tool[..., Any] | None,
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    context: ToolContext,
    working_directories: Sequence[str],
    *,
    check_timeout_s: float = CHECK_TIMEOUT_S,
) -> CallFacts:
    """What is to be known of a call; `spec` is the tool as the agent was pinned, `tool` as this worker has it.

    A relative path is relative to the first working directory, or to the process's folder if there is none.
    """
    received, why_not = _received(spec.name, tool, arguments)
    directories, resolved = await _resolved(spec.paths, received or arguments, working_directories)
    checked = await _checked(tool, spec, received, context, check_timeout_s)
    return CallFacts(resolved=resolved, directories=directories, check=checked, received=received, unfit=why_not)


def _received(
    name: str, tool: Tool[..., Any] | None, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, str | None]:
    """The arguments as the tool gets them, as JSON; else why they do not fit, if that is known for certain."""
    if tool is None:
        return None, None
    try:
        validated: dict[str, Any] = jsonable(tool.signature.validated(dict(arguments)))
    except ValidationError as error:
        return None, unfit(name, error)
    except ToolError as error:  # the words of a schema that was written elsewhere
        return None, told(error)
    except Exception:  # noqa: BLE001 - a validator of the tool's own types may raise anything
        return None, None
    return validated, None


async def _resolved(
    paths: Sequence[str], arguments: Mapping[str, Any], working_directories: Sequence[str]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The real paths of the working directories and of the path arguments, as far as they can be told."""
    if not paths:
        return {}, {}
    written = {name: _texts(arguments.get(name)) for name in paths}

    def find() -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
        places = {directory: _real(directory, "/") for directory in working_directories}
        base = working_directories[0] if working_directories else str(Path.cwd())
        found = {name: [_real(path, base) for path in texts] for name, texts in written.items() if texts}
        known = {name: tuple(place for place in real if place is not None) for name, real in found.items()}
        complete = {name: real for name, real in known.items() if len(real) == len(found[name])}
        return {d: place for d, place in places.items() if place is not None}, complete

    try:
        async with asyncio.timeout(PATHS_TIMEOUT_S):
            ended = await in_thread(find)
    except TimeoutError:
        log.warning("paths_not_resolved", timeout_s=PATHS_TIMEOUT_S)
        return {}, {}
    if ended.error is not None:
        log.warning("paths_not_resolved", traceback=traced(ended.error))
        return {}, {}
    found: tuple[dict[str, str], dict[str, tuple[str, ...]]] = ended.value
    return found


def _texts(value: object) -> tuple[str, ...]:
    """The paths in an argument; none if it holds anything else, or more than anybody reads."""
    written = paths_in(value)
    paths = tuple(path for path in written if path is not None)
    return paths if len(paths) == len(written) else ()


def _real(path: str, base: str) -> str | None:
    try:
        return os.path.realpath(Path(base) / Path(path).expanduser())
    except (OSError, ValueError, RuntimeError):  # it holds NUL, or nobody has that home
        return None


async def _checked(
    tool: Tool[..., Any] | None,
    spec: ToolSpec,
    received: dict[str, Any] | None,
    context: ToolContext,
    timeout_s: float,
) -> Checked | None:
    if tool is None or tool.check is None:
        return _ask("This worker does not know the tool's own check.") if spec.checked else None
    if received is None:
        return _ask("The arguments do not fit the tool, so its own check was not made.")
    hook = functools.partial(tool.check, context, copy.deepcopy(received))
    ended = await answer_of(hook, timeout_s, f"check {spec.name}")
    return _too_late(spec.name, timeout_s) if ended is None else _ended(spec.name, ended)


def _too_late(tool: str, timeout_s: float) -> Checked:
    log.warning("check_timed_out", tool=tool, timeout_s=timeout_s)
    return _ask(f"The tool's own check did not answer within {timeout_s:g} s.")


def _ended(tool: str, ended: Ended) -> Checked:
    if ended.error is not None:
        log.warning("check_failed", tool=tool, traceback=traced(ended.error))
        return _ask(f"The tool's own check failed ({type(ended.error).__name__}).")
    return _said(tool, ended.value)


def _said(tool: str, found: object) -> Checked:
    if not isinstance(found, Check) or found.verdict not in get_args(CheckVerdict):
        log.warning("check_wrong_answer", tool=tool, answer=type(found).__name__)
        return _ask("The tool's own check gave no verdict.")
    most = ASKED_CHARACTERS_MAX if found.verdict == "ask" else MESSAGE_CHARACTERS_MAX
    return Checked(verdict=found.verdict, message=bounded(str(found.message), most))


def _ask(message: str) -> Checked:
    return Checked(verdict="ask", message=message)
