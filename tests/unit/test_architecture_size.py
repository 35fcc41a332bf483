"""Nothing grows past what a person reads in one go, and no name says nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.unit.source_tree import BESIDE, PACKAGES, ROOT, files_in, parse

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
EMPTY_NAMES = {"common", "helper", "helpers", "misc", "util", "utils"}
EVERYWHERE = (*PACKAGES, *BESIDE)


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_file_is_longer_than_the_limit() -> None:
    lengths = {
        place(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in files_in(*EVERYWHERE, suffixes=(".py", ".sql"))
    }
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX} == {}


def test_no_function_is_longer_than_the_limit() -> None:
    lengths = {
        f"{place(path)}:{name}": lines for path in files_in(*EVERYWHERE) for name, lines in functions(parse(path))
    }
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES_MAX} == {}


def test_no_folder_or_module_of_the_code_has_a_name_that_says_nothing() -> None:
    paths = [path.relative_to(ROOT) for path in files_in(*PACKAGES, "benchmarks", "examples")]
    named = {path.as_posix() for path in paths if EMPTY_NAMES & {*path.parent.parts, path.stem}}
    assert named == set()


def test_an_overlong_function_is_measured_whole_with_its_nested_ones() -> None:
    body = "\n".join(f"        x{n} = {n}" for n in range(FUNCTION_LINES_MAX))
    tree = ast.parse(f"class C:\n    async def long(self):\n{body}\n    def short(self):\n        return 1\n")
    assert dict(functions(tree)) == {"long": FUNCTION_LINES_MAX + 1, "short": 2}
