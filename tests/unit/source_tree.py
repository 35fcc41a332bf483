"""The files that the architecture tests judge, found on disk: a new file is judged without being named."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("activities", "client", "journal", "worker", "workflows")
BESIDE = ("benchmarks", "examples", "tests")


def files_in(*folders: str, suffixes: tuple[str, ...] = (".py",)) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and "__pycache__" not in path.parts:
                yield path


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    named = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(("turnwright", *named))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
