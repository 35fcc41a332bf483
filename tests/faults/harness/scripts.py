"""Messages that tell the scripted model what to do."""

from typing import Any, TypeAlias

from turnwright.journal.messages import Message, user

Step: TypeAlias = dict[str, Any]


def say(text: str, **more: float) -> Step:
    return {"say": text, **more}


def call(name: str, **arguments: str | float) -> Step:
    return {"call": [{"name": name, "arguments": arguments}]}


def task(*steps: Step) -> Message:
    return user("please", steps=list(steps))
