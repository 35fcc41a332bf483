"""Looks at agents in a process of its own, before anything is started for them.

Rule: a user's module may start threads or take a GPU when it is loaded; the process that looks after all the
others must not. `python -m turnwright.worker.agents_check TARGET` prints one JSON object, and the rest goes to stderr.
It ends once it has looked, whatever the module left running, and has so long for it.
"""

import faulthandler
import json
import os
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from turnwright.journal.errors import InvalidInput

LOOK_S_MAX = 120.0


@dataclass(frozen=True, slots=True)
class AgentsSeen:
    """What was found: `warnings` say which models cannot be made, and which subagents are not there."""

    warnings: tuple[str, ...] = ()


def look_at(target: str, within_s: float = LOOK_S_MAX) -> AgentsSeen:
    """Load the agents elsewhere.

    Raises:
        InvalidInput: they cannot be loaded; says why, with the frames of the user's code as a note.
    """
    command = [sys.executable, "-m", "turnwright.worker.agents_check", target, str(within_s)]
    # Files: what the module starts inherits them, and a pipe would not end before all of that does.
    with tempfile.TemporaryFile() as found, tempfile.TemporaryFile() as beside:
        try:
            status = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=found, stderr=beside, timeout=within_s, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            raise _stuck(target, within_s, _read(beside)) from None
        try:
            said = json.loads(_read(found))
        except ValueError:
            raise InvalidInput(_ended(target, status, _read(beside))) from None
    if error := said.get("error"):
        invalid = InvalidInput(error)
        for note in said["notes"]:
            invalid.add_note(note)
        raise invalid
    return AgentsSeen(tuple(said["warnings"]))


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def _ended(target: str, status: int, beside: str) -> str:
    lines = beside.splitlines() or ["it said nothing"]
    return f"{target!r}: the process ended with {status} while the agents were loaded: {lines[-1]}"


def _stuck(target: str, within_s: float, beside: str) -> InvalidInput:
    invalid = InvalidInput(
        f"{target!r}: the agents were not loaded within {within_s:g} s; their module must wait for nothing when loaded"
    )
    _, dumped, frames = beside.rpartition("Timeout (")
    if dumped:
        invalid.add_note("it stood at\n" + frames.partition("\n")[2])
    return invalid


def _look(target: str) -> dict[str, object]:
    from turnwright.activities.models.making import find_unmakeable  # noqa: PLC0415 - not for who only asks
    from turnwright.activities.registry import load_registry  # noqa: PLC0415

    try:
        registry = load_registry(target)
    except InvalidInput as error:
        return {"error": str(error), "notes": getattr(error, "__notes__", [])}
    unmakeable = [f"agent {name}: {reason}" for name, reason in find_unmakeable(registry).items()]
    unknown = [
        f"agent {name}: no agent here is called {', '.join(map(repr, agents))}; tasks for it wait for a worker that "
        "knows it"
        for name, agents in registry.unknown_subagents.items()
    ]
    return {"warnings": [*unmakeable, *unknown]}


def main(target: str, within_s: float = LOOK_S_MAX) -> NoReturn:
    """Look, print what was found, and end."""
    own = os.dup(1)
    os.dup2(2, 1)  # whatever the module prints, also past Python
    faulthandler.dump_traceback_later(within_s / 4, repeat=True)  # where it stands, in case it is given up
    sys.path.insert(0, str(Path.cwd()))  # as for a worker
    status = 1
    try:
        with os.fdopen(own, "w") as out:
            out.write(json.dumps(_look(target)))
        status = 0
    except BaseException:  # noqa: BLE001 - the threads of the module would keep the process from ending with it
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:]))
