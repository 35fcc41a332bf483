"""The reference page of Python names every public name and no other, and links to headings find them."""

import re
from types import ModuleType

import pytest

import turnwright.activities
import turnwright.activities.models
import turnwright.client
from tests.unit.source_tree import ROOT

FOLDER = ROOT / "docs" / "reference"
PAGE = (FOLDER / "python.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `([\w.]+)`[^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
MODULES = [turnwright.activities, turnwright.activities.models, turnwright.client]


def exported(module: ModuleType) -> set[str]:
    """The public names of a module that are none of its parts."""
    named = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    return set(named)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_page_names_what_a_module_exports(module: ModuleType) -> None:
    cells = "\n".join(re.findall(r"^\| ((?:`\w+` ?)+)\|", SECTIONS[module.__name__], re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", cells)) == exported(module)


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as they are made of them."""
    words = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", words, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_link_to_a_heading_finds_it() -> None:
    dangling = [
        f"{page.relative_to(ROOT)}: {link}#{anchor}"
        for page in ROOT.glob("docs/**/*.md")
        for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
        if anchor not in anchors(((page.parent / link) if link else page).read_text(encoding="utf-8"))
    ]
    assert dangling == []
