"""Arguments and options that several commands share, each named and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

from turnwright.client.access import How
from turnwright.journal.errors import InvalidInput

Json = Annotated[bool, typer.Option("--json", help="Show JSON, one object a line.")]
User = Annotated[
    str | None, typer.Option("--user", "-u", help="The session's user; without it, the anonymous one's session.")
]
SessionName = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")]
Agent = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")]
ThreadName = Annotated[str, typer.Option("--thread", "-t", help="The thread's name.")]
TurnId = Annotated[
    str, typer.Argument(metavar="TURN", help="The turn's id, or as much of it as no other turn's begins with.")
]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, for the records.")]
WhyNeeded = Annotated[
    str, typer.Option("--reason", help="How you know, for the records; it is required.", show_default=False)
]
RequestId = Annotated[
    str | None, typer.Option("--request-id", help="Your id of this command, to be able to repeat it safely.")
]
Forever = Annotated[bool, typer.Option("--yes", "-y", help="Really: nothing brings it back.")]
Revision = Annotated[
    int | None, typer.Option("--revision", help="Only if the flag is still at this revision; else whatever it is at.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=500, help="How many at most.")]
After = Annotated[str | None, typer.Option("--after", help="Go on behind the page before (its `next`).")]
AtSeq = Annotated[int | None, typer.Option("--at", min=0, help="The state after this entry; else the last.")]
Timeout = Annotated[float | None, typer.Option("--timeout", min=0, help="Seconds to wait at most; what runs goes on.")]


def how(reason: str | None = None, request_id: str | None = None) -> How:
    """What was said with a command."""
    said: How = {"reason": reason}
    if request_id is not None:
        said["request_id"] = request_id
    return said


def nothing_erased(seq: int, shown: str = "") -> InvalidInput:
    """What is said to whoever would erase an entry without `--yes`; `shown`: what stands in it."""
    return InvalidInput(f"nothing was erased; nothing would bring it back: say --yes (entry {seq}{shown})")
