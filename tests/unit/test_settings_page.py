"""The page of settings names every setting there is, with its default."""

import re

from tests.unit.source_tree import ROOT
from turnwright.worker.settings import Settings

PAGE = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


def test_the_page_lists_exactly_the_settings_there_are_with_their_defaults() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`)? ?\|", PAGE, re.MULTILINE))
    known = {name: _shown(field.default) for name, field in Settings.model_fields.items()}
    assert listed == known


def _shown(default: object) -> str:
    return "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
