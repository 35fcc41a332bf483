"""Looks at agents in a process of its own, before anything is started for them.

Rule: a user's module may start threads or take a GPU when it is loaded; the process that looks after all the
others must not. `python -m turnwright.worker.agents_check TARGET` prints one JSON object, and the rest goes to stderr.
"""

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from turnwright.journal.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class AgentsSeen:
    """What was found: `warnings` say which models cannot be made."""

    warnings: tuple[str, ...] = ()


def look_at(target: str) -> AgentsSeen:
    """Load the agents elsewhere.

    Raises:
        InvalidInput: they cannot be loaded; says why, with the frames of the user's code as a note.
    """
    command = [sys.executable, "-m", "turnwright.worker.agents_check", target]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        raise InvalidInput(_ended(target, done)) from None
    if error := said.get("error"):
        invalid = InvalidInput(error)
        for note in said["notes"]:
            invalid.add_note(note)
        raise invalid
    return AgentsSeen(tuple(said["warnings"]))


def _ended(target: str, done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    return f"{target!r}: the process ended with {done.returncode} while the agents were loaded: {lines[-1]}"


def _look(target: str) -> dict[str, object]:
    from turnwright.activities.models.making import find_unmakeable  # noqa: PLC0415 - not for who only asks
    from turnwright.activities.registry import load_registry  # noqa: PLC0415

    try:
        registry = load_registry(target)
    except InvalidInput as error:
        return {"error": str(error), "notes": getattr(error, "__notes__", [])}
    return {"warnings": [f"agent {name}: {reason}" for name, reason in find_unmakeable(registry).items()]}


def main(target: str) -> None:
    """Look, and print what was found."""
    sys.path.insert(0, str(Path.cwd()))  # as for a worker
    with contextlib.redirect_stdout(sys.stderr):
        found = _look(target)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
