"""Scripts for the desk: a message that says what the scripted model shall do with it.

Rule: the script travels in the message, so any worker can go on with it where another died.
"""

from __future__ import annotations

from typing import Any

from turnwright.journal.messages import Message, user

Step = dict[str, Any]


def scripted(text: str, *steps: Step) -> Message:
    """A task, with the steps the scripted model takes."""
    return user(text, steps=list(steps))


def calls(*wanted: Step) -> Step:
    """One answer that calls these tools, in parallel."""
    return {"call": list(wanted)}


def call(tool: str, /, **arguments: str) -> Step:
    """A tool call."""
    return {"name": tool, "arguments": arguments}


def says(text: str) -> Step:
    """An answer in words; `{result}` stands for what the tools returned."""
    return {"say": text}
