"""The results as a page for people and as JSON for programs.

Rule: a section is replaced as a whole. A run of some parts keeps the others' figures as they are in the
JSON, so the page always shows every part that was ever measured here, each with its own date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Section, Spread

FOLDER = Path(__file__).parent
THREE_DIGITS = 100
HEADER = """# Measurements

Each figure is a ratio against a floor or a peer that was measured in the same run, round by round; the columns beside
it are medians. A ratio is shown as its median with the lowest and the highest round in brackets. Times and sizes are
better when low, rates when high. `make bench` writes this page again; `python -m benchmarks --help` measures parts.
"""


def write(sections: Mapping[str, Section], machine: Mapping[str, str], *, quick: bool, folder: Path = FOLDER) -> Path:
    """Put the sections into RESULTS.json and RESULTS.md; returns the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "RESULTS.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    for name, section in sections.items():
        known[name] = _data(section) | {"measured": today, "quick": quick, "machine": dict(machine)}
    path.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
    page = folder / "RESULTS.md"
    page.write_text("\n".join([HEADER, *_pages(known), *_machines(known)]), "utf-8")
    return page


def table(section: Section) -> str:
    """The section's figures as a table in Markdown."""
    return _table([_row(figure) for figure in section.figures])


def _data(section: Section) -> dict[str, Any]:
    return {"title": section.title, "how": section.how, "figures": [_row(figure) for figure in section.figures]}


def _row(figure: Figure) -> dict[str, Any]:
    return {
        "what": figure.what,
        "unit": figure.unit,
        "ours": _numbers(Spread.of(figure.ours)),
        "against": figure.against,
        "theirs": _numbers(Spread.of(figure.theirs)),
        "ratio": _numbers(figure.ratio),
        "rounds": len(figure.ours),
    }


def _numbers(spread: Spread) -> list[float]:
    return [float(f"{value:.4g}") for value in (spread.middle, spread.low, spread.high)]


def _pages(known: Mapping[str, Any]) -> list[str]:
    pages = []
    for name, part in known.items():
        stamp = f"Part `{name}`, measured on {part['measured']}{' with `--quick`' if part['quick'] else ''}."
        pages.append(f"## {part['title']}\n\n{part['how']}\n\n{_table(part['figures'])}\n{stamp}\n")
    return pages


def _machines(known: Mapping[str, Any]) -> list[str]:
    parts: dict[str, list[str]] = {}
    for name, part in known.items():
        facts = "\n".join(f"| {fact} | {value} |" for fact, value in part["machine"].items())
        parts.setdefault(facts, []).append(name)
    return [f"## Machine ({', '.join(names)})\n\n| | |\n|---|---|\n{facts}\n" for facts, names in parts.items()]


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| measured | ours | against | theirs | ratio | rounds |", "|---|--:|---|--:|--:|--:|"]
    return "\n".join([*lines, *(_line(row) for row in rows)]) + "\n"


def _line(row: dict[str, Any]) -> str:
    ours, theirs = (f"{_shown(row[who][0])} {row['unit']}" for who in ("ours", "theirs"))
    middle, low, high = (_shown(value) for value in row["ratio"])
    ratio = f"**{middle}**" if low == high else f"**{middle}** ({low} to {high})"
    return f"| {row['what']} | {ours} | {row['against']} | {theirs} | {ratio} | {row['rounds']} |"


def _shown(value: float) -> str:
    if value >= THREE_DIGITS:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"
