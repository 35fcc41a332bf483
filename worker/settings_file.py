"""The file `turnwright.toml`: one flat table of settings, in which a key that means nothing is an error."""

import difflib
import os
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

DEFAULT_FILE = Path("turnwright.toml")
CONFIG_VARIABLE = "TURNWRIGHT_CONFIG"


class SettingsError(ValueError):
    """A setting cannot be used; the message names it, where it was written, and what is wanted."""


class SettingsFile(PydanticBaseSettingsSource):
    """The file as a source of settings."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """Nothing for one field alone: the file is read whole."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The values of the file, if there is one."""
        path = find_file(self.current_state.get("config"))
        return {} if path is None else self._read(path)

    def _read(self, path: Path) -> dict[str, Any]:
        values = read_toml(path)
        known = sorted(self.settings_cls.model_fields.keys() - {"config"})
        for key in values:
            if key not in known:
                raise SettingsError(f"{path} has the unknown key {key!r}{did_you_mean(key, known)}")
        return values


def did_you_mean(wrong: str, known: Collection[str], prefix: str = "") -> str:
    """A hint at the name that was probably meant; empty without one that is near, for all they share a prefix."""
    bare = sorted(name.removeprefix(prefix) for name in known)
    near = difflib.get_close_matches(wrong.removeprefix(prefix), bare, n=1)
    return f"; did you mean {prefix + near[0]!r}?" if near else ""


def find_file(given: str | Path | None) -> Path | None:
    """The file that was named, else the one in the working folder, else none."""
    named = given or os.environ.get(CONFIG_VARIABLE)
    if named:
        return at_home(Path(named))
    return DEFAULT_FILE if DEFAULT_FILE.is_file() else None


def at_home(path: Path) -> Path:
    """The path with `~` filled in, as far as the system knows whose home that is."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content, or a sentence about why it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read the settings file {path}: {error.strerror}") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise SettingsError(f"the settings file {path} is not valid TOML: {error}") from None
