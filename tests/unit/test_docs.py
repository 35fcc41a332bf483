"""The pages hang together: links lead somewhere, the index is whole, and the changelog knows this version."""

import re
import tomllib

from tests.unit.source_tree import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*.md"), *ROOT.glob("benchmarks/*.md")]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")

PROOF = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_every_promise_names_a_test_that_is_there() -> None:
    named = PROOF.findall((ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    files = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in named}
    assert [f"{file}::{test}" for file, test in named if test and f"def {test}(" not in files[file]] == []


def test_every_link_between_pages_leads_somewhere() -> None:
    dangling = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert dangling == []


def test_the_index_lists_every_decision_under_its_number() -> None:
    folder = ROOT / "docs" / "decisions"
    index = re.findall(r"^(\d+)\. \[.+\]\((.+)\)$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    pages = sorted(page.name for page in folder.glob("[0-9]*.md"))
    assert [name for _, name in index] == pages
    for number, name in index:
        title = (folder / name).read_text(encoding="utf-8").splitlines()[0]
        assert name.startswith(f"{int(number):04}-")
        assert title.startswith(f"# {number}. ")


def test_the_changelog_has_a_section_for_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
