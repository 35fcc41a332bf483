"""The console is ours alone: nothing from elsewhere, nothing inline, no markup from values, and no module too long."""

import re
from pathlib import Path

import pytest

from tests.unit.source_tree import ROOT

FOLDER = ROOT / "client" / "console"
MODULE_LINES_MAX = 250
STYLE_LINES_MAX = 400
LINE_CHARACTERS_MAX = 240
MODULES = sorted(FOLDER.rglob("*.js"))
ALL = [path for path in sorted(FOLDER.rglob("*")) if path.is_file()]
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|eval\(|new Function|ContextualFragment"
)
ELSEWHERE = re.compile(r"""(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}|@import|url\(""")
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""")
NAMESPACE = "http://www.w3.org/2000/svg"


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def named(paths: list[Path]) -> list[str]:
    return [path.relative_to(FOLDER).as_posix() for path in paths]


def test_no_value_can_become_markup() -> None:
    assert named([path for path in MODULES if MARKUP.search(text_of(path))]) == []


def test_nothing_comes_from_anywhere_else() -> None:
    found = {path: ELSEWHERE.findall(text_of(path).replace(NAMESPACE, "")) for path in ALL}
    assert {path.name: places for path, places in found.items() if places} == {}


def test_nothing_stands_inline_in_the_page() -> None:
    page = text_of(FOLDER / "index.html")
    assert re.findall(r"<style|style=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page) == []


def test_every_module_that_is_imported_is_there_and_every_one_is_imported() -> None:
    found = {
        (path.parent / name).resolve() for path in MODULES for name in IMPORT.findall(text_of(path)) if name[0] == "."
    }
    assert found | {FOLDER / "main.js"} == set(MODULES)


@pytest.mark.parametrize("path", MODULES, ids=named(MODULES))
def test_a_module_says_its_rule_first_and_is_no_longer_than_one_reads_in_one_go(path: Path) -> None:
    lines = text_of(path).splitlines()
    assert lines[0].startswith("/**")
    assert len(lines) <= MODULE_LINES_MAX
    assert max(map(len, lines)) <= LINE_CHARACTERS_MAX


def test_no_style_sheet_is_longer_than_the_limit() -> None:
    assert (
        named([path for path in ALL if path.suffix == ".css" and len(text_of(path).splitlines()) > STYLE_LINES_MAX])
        == []
    )
