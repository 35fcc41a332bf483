"""Messages that tell the scripted model what to do."""

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from turnwright.journal.messages import Message, user

Step: TypeAlias = dict[str, Any]


def say(text: str, **more: float) -> Step:
    return {"say": text, **more}


def call(name: str, **arguments: str | float) -> Step:
    return {"call": [{"name": name, "arguments": arguments}]}


def tell(name: str, *tasks: Sequence[Step]) -> Step:
    """One step that gives each of these scripts to a subagent."""
    told = (f"Do this:\n```json\n{json.dumps({'steps': list(steps)})}\n```" for steps in tasks)
    return {"call": [{"name": name, "arguments": {"task": text}} for text in told]}


def task(*steps: Step) -> Message:
    return user("please", steps=list(steps))
