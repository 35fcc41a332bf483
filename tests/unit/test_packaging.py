"""What is built is what stands in the folders, under one import name, and the type checker sees all of it."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.source_tree import BESIDE, PACKAGES, ROOT

PIN = re.compile(r"([a-z0-9-]+)==([A-Za-z0-9.+]+)")
# Never needed, and a long build from source: see the Makefile.
UNWANTED = {"llama-cpp-python", "llm"}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run((sys.executable, "-m", *command), cwd=cwd, capture_output=True, text=True, check=False)


def copied(target: Path, *names: str) -> Path:
    target.mkdir()
    for name in names:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, target / name)
    return target


def build(tree: Path, *options: str) -> Path:
    out = tree / "built"
    done = run("build", "--no-isolation", *options, "--outdir", str(out), str(tree), cwd=tree)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def content(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copied(tmp_path / "tree", "pyproject.toml", "README.md", "LICENSE", ".gitignore", "src", "tests", *PACKAGES)


def expected(tree: Path) -> set[str]:
    files = (path for package in PACKAGES for path in (tree / package).rglob("*") if path.is_file())
    return {f"turnwright/{path.relative_to(tree).as_posix()}" for path in files}


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--wheel",)], ids=["from the sdist", "from the tree"])
def test_the_wheel_holds_the_folders_and_nothing_else(tree: Path, options: tuple[str, ...]) -> None:
    assert content(build(tree, *options)) == expected(tree)


def test_folders_links_and_build_mapping_are_in_step() -> None:
    typed = {path.parent.name for path in ROOT.glob("*/py.typed")}
    links = {path.name: path.readlink().as_posix() for path in (ROOT / "src" / "turnwright").iterdir()}
    targets = project()["tool"]["hatch"]["build"]["targets"]
    assert typed == set(PACKAGES)
    assert links == {name: f"../../{name}" for name in PACKAGES}
    assert set(targets["wheel"]["only-include"]) == set(PACKAGES)
    assert targets["wheel"]["sources"] == {name: f"turnwright/{name}" for name in PACKAGES}
    assert set(targets["sdist"]["only-include"]) == {*PACKAGES, "tests"}


@pytest.mark.slow
def test_a_type_error_in_any_folder_is_seen(tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree", "pyproject.toml", "src")
    for folder in (*PACKAGES, *BESIDE):
        (tree / folder).mkdir()
        (tree / folder / "__init__.py").touch()
        (tree / folder / "planted.py").write_text('NUMBER: int = "not one"\n', encoding="utf-8")
    done = run("mypy", "--no-error-summary", cwd=tree)
    seen = {line.split(":")[0] for line in done.stdout.splitlines() if "[assignment]" in line}
    packages = {f"src/turnwright/{name}/planted.py" for name in PACKAGES}
    assert seen == packages | {f"{name}/planted.py" for name in BESIDE}, done.stdout + done.stderr


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    stated = [line for line in lines if line and not line.startswith("#")]
    matches = [PIN.fullmatch(line) for line in stated]
    assert all(matches), "a constraint is a name and one exact version: no address, no option"
    return {match[1]: match[2] for match in matches if match}


def requirements() -> list[Requirement]:
    stated = project()["project"]
    extras = stated["optional-dependencies"].values()
    return [Requirement(text) for group in (stated["dependencies"], *extras) for text in group]


def test_every_requirement_is_pinned_to_a_release_it_allows() -> None:
    pinned = pins()
    pinned_well = {
        str(wanted): wanted.specifier.contains(pinned.get(canonicalize_name(wanted.name), "0"))
        for wanted in requirements()
    }
    assert [text for text, well in pinned_well.items() if not well] == []


def test_constraints_pin_nothing_that_would_be_built_from_source() -> None:
    assert UNWANTED.isdisjoint(pins())
