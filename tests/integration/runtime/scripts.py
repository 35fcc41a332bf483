"""Messages that tell the scripted model what to do."""

from collections.abc import Mapping
from typing import Any

from turnwright.journal.messages import Message, user

Step = dict[str, Any]


def say(text: str, **more: object) -> Step:
    return {"say": text, **more}


def call(name: str, **arguments: object) -> Step:
    return calls((name, arguments))


def calls(*wanted: tuple[str, Mapping[str, object]]) -> Step:
    return {"call": [{"name": name, "arguments": arguments} for name, arguments in wanted]}


def task(*steps: Step, text: str = "please") -> Message:
    return user(text, steps=list(steps))
