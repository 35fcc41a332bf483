"""`python -m benchmarks [part …] [--quick]`: measures, prints, and writes RESULTS.md and RESULTS.json.

Rule: one part after another and nothing beside them. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import structlog

from benchmarks import (
    append,
    cancel,
    console,
    crowd,
    freeze,
    history,
    long,
    long_context,
    machine,
    over_http,
    payloads,
    rebuild,
    recovery,
    report,
    savers,
    sealed,
    search,
    streams,
    submit,
    subscribers,
    takeover,
    turn,
)
from benchmarks.bench import Bench
from benchmarks.figures import Section

PARTS: Mapping[str, Callable[[Bench], Awaitable[Section]]] = {
    "turn": turn.run,
    "history": history.run,
    "submit": submit.run,
    "append": append.run,
    "rebuild": rebuild.run,
    "takeover": takeover.run,
    "crowd": crowd.run,
    "freeze": freeze.run,
    "cancel": cancel.run,
    "recovery": recovery.run,
    "streams": streams.run,
    "subscribers": subscribers.run,
    "payloads": payloads.run,
    "http": over_http.run,
    "console": console.run,
    "search": search.run,
    "sealed": sealed.run,
    "context": long_context.run,
}
# They take hours, so they are measured only when they are named.
LONG_PARTS: Mapping[str, Callable[[Bench], Awaitable[Section]]] = {"long": long.run, "savers": savers.run}
ALL = {**PARTS, **LONG_PARTS}


def main() -> None:
    """Measure the parts that are named, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Turnwright.")
    parser.add_argument(
        "parts", nargs="*", metavar="part", help=f"one of {', '.join(ALL)}; none: all but {', '.join(LONG_PARTS)}"
    )
    parser.add_argument("--quick", action="store_true", help="few rounds and small sizes: to see that it works")
    parser.add_argument("--results", type=Path, default=report.FOLDER, help="the folder for the results")
    given = parser.parse_args()
    unknown = [name for name in given.parts if name not in ALL]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; known are {', '.join(ALL)}")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("error"))
    with tempfile.TemporaryDirectory(prefix="turnwright-bench-", ignore_cleanup_errors=True) as folder:
        asyncio.run(_measure(given.parts or list(PARTS), Path(folder), given.results, quick=given.quick))


async def _measure(names: list[str], folder: Path, results: Path, *, quick: bool) -> None:
    for name in names:
        print(f"{name} …", flush=True)
        started = time.monotonic()
        place = folder / name
        place.mkdir()
        section = await ALL[name](Bench(place, quick))
        page = report.write({name: section}, machine.describe(), quick=quick, folder=results)
        print(f"{report.table(section)}\n{name}: {time.monotonic() - started:.0f} s; see {page}\n", flush=True)


if __name__ == "__main__":
    main()
