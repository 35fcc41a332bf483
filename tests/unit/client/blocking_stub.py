"""What `client/blocking.pyi` must say: the async client's methods, each as one that waits.

`python -m tests.unit.client.blocking_stub` writes it.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import turnwright.client
from turnwright.client.client import Client
from turnwright.client.session import Session
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn

STUB = Path(turnwright.client.__file__).with_name("blocking.pyi")
CLASSES = {Session: "BlockingSession", Thread: "BlockingThread", Turn: "BlockingTurn", Client: "BlockingClient"}
OWN = {"connect", "of", "close"}
WORDS = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


def written() -> str:
    """The stub's text."""
    imports: dict[str, set[str]] = defaultdict(set)
    blocks = [_class(kind, name, imports) for kind, name in CLASSES.items()]
    imports["types"].add("TracebackType")
    imports["typing"].add("Self")
    lines = ["# The types of `turnwright.client.blocking`, made from those of the async client by its test.", ""]
    lines += [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())]
    return "\n".join(lines) + "\n\n" + "\n".join(blocks)


def _class(kind: type, name: str, imports: dict[str, set[str]]) -> str:
    lines = [f"class {name}:", *(f"    {field}" for field in sorted(_fields(kind, imports)))]
    for attribute, value in sorted(_attributes(kind)):
        lines += [f"    {line}" for line in _attribute(attribute, value, imports)]
    if kind is Client:
        lines += [f"    {line}" for line in _ends(imports)]
    return "\n".join(lines) + "\n"


def _attributes(kind: type) -> Iterator[tuple[str, Any]]:
    for name in dir(kind):
        if not name.startswith("_") and name not in OWN:
            yield name, inspect.getattr_static(kind, name)


def _fields(kind: type, imports: dict[str, set[str]]) -> Iterator[str]:
    """What a handle keeps of what it was made with."""
    made = inspect.getattr_static(kind, "__init__")
    given = inspect.signature(made).parameters
    for name, source in re.findall(r"self\.([a-z]\w*) = (\w+)", inspect.getsource(made)):
        yield f"{name}: {_type(str(given[source].annotation), made, imports)}"


def _attribute(name: str, value: Any, imports: dict[str, set[str]]) -> list[str]:  # noqa: ANN401 - any attribute
    if isinstance(value, property):
        assert isinstance(value.fget, FunctionType)
        return ["@property", _signature(name, value.fget, imports)]
    if isinstance(value, FunctionType):
        return [_signature(name, value, imports)]
    imports[value.__module__].add(value.__name__)
    return [f"{name}: {value.__name__}"]


def _signature(name: str, method: FunctionType, imports: dict[str, set[str]], *, returns: str | None = None) -> str:
    parts: list[str] = []
    star = False
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        parts.append(_parameter(parameter, method, imports))
    given = returns or _result(method, imports)
    return f"def {name}({', '.join(parts)}) -> {given}: ..."


def _parameter(parameter: inspect.Parameter, method: Callable[..., Any], imports: dict[str, set[str]]) -> str:
    stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else stars
    if parameter.annotation is parameter.empty:
        return f"{stars}{parameter.name}"
    said = f"{stars}{parameter.name}: {_type(str(parameter.annotation), method, imports)}"
    return said if parameter.default is parameter.empty else f"{said} = ..."


def _result(method: FunctionType, imports: dict[str, set[str]]) -> str:
    said = str(inspect.signature(method).return_annotation)
    return _type(said.replace("AsyncIterator[", "Iterator["), method, imports)


def _type(said: str, method: Callable[..., Any], imports: dict[str, set[str]]) -> str:
    """The annotation, with what it names imported, and handles as those that wait."""
    blocking = {kind.__name__: name for kind, name in CLASSES.items()}
    for word in dict.fromkeys(WORDS.findall(re.sub(r'"[^"]*"', "", said))):
        if word in blocking:
            said = re.sub(rf"\b{word}\b", blocking[word], said)
        elif word == "Iterator":
            imports["collections.abc"].add(word)
        elif (source := _source(word, method)) is not None:
            imports[source[0]].add(source[1])
    return said


def _source(word: str, method: Callable[..., Any]) -> tuple[str, str] | None:
    """Where a name of a module comes from, as the module's own import says; None for one that is built in."""
    text = inspect.getsource(inspect.getmodule(method))  # type: ignore[arg-type]
    for module, many, one in re.findall(r"^\s*from (\S+) import (?:\(([^)]*)\)|([^(\n]+))", text, re.MULTILINE):
        for name in (part.strip() for part in (many or one).split(",")):
            if name in (word, f"{word} as {word}"):
                return module, word
            if name.endswith(f" as {word}"):
                return module, name
    if re.search(rf"^{word}\s*[:=]|^class {word}\b", text, re.MULTILINE):
        return method.__module__, word
    return None


def _ends(imports: dict[str, set[str]]) -> list[str]:
    connect = inspect.getattr_static(Client, "connect").__func__
    return [
        "@classmethod",
        _signature("connect", connect, imports, returns="Self"),
        "def close(self) -> None: ...",
        "def __enter__(self) -> Self: ...",
        "def __exit__(",
        "    self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None",
        ") -> None: ...",
    ]


if __name__ == "__main__":
    STUB.write_text(written(), encoding="utf-8")
