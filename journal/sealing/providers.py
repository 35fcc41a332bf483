"""Where the keys come from that wrap the data keys of a journal.

keys=/etc/turnwright/journal.keys      a file
keys=env:JOURNAL_KEYS                  a variable of the environment, with what would stand in the file
keys=python:shop.vault:provider        a `KeyProvider` of yours, such as one that asks a key service
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from turnwright.journal.errors import InvalidInput
from turnwright.journal.keyring import Keys, parse_keys, read_keys


@runtime_checkable
class KeyProvider(Protocol):
    """Gives the keys, the one that wraps first."""

    def keys(self) -> Keys:
        """All that may be needed now.

        Called when a journal is opened, and again (seldom, from any thread) when one is named that was not there.

        Raises:
            InvalidInput: there are none.
        """
        ...


@dataclass(frozen=True, slots=True)
class FileKeys:
    """Those of a file."""

    file: Path

    def keys(self) -> Keys:
        """All of them."""
        return read_keys(self.file)


@dataclass(frozen=True, slots=True)
class EnvironmentKeys:
    """Those of a variable of this process's environment."""

    name: str

    def keys(self) -> Keys:
        """All of them."""
        text = os.environ.get(self.name)
        if text is None:
            raise InvalidInput(f"the journal's keys are to be in the variable {self.name}, which is not set")
        return parse_keys(text, self.name)


def provider_of(said: str) -> KeyProvider:
    """The provider that the `keys` of a journal's URL name.

    Raises:
        InvalidInput: they name none.
    """
    kind, colon, rest = said.partition(":")
    if not colon or kind not in _KINDS:
        return FileKeys(Path(said).absolute())
    return _KINDS[kind](rest)


def _of_python(place: str) -> KeyProvider:
    module, _, name = place.partition(":")
    try:
        found: object = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"no provider of keys can be loaded from {place!r}, give `module:name`: {error}") from None
    if not isinstance(found, KeyProvider):
        raise InvalidInput(f"{place} is no provider of keys: it has no method `keys`")
    return found


_KINDS: dict[str, Callable[[str], KeyProvider]] = {"env": EnvironmentKeys, "python": _of_python}
