"""Logs of a test: configured as a process does it, and read as lines; its fixture is `logs_restored`."""

import io
import json
from pathlib import Path
from typing import Any

from turnwright.worker.log_rules import LogLevel
from turnwright.worker.logs import LogFormat, configure_logs


def configured(log_format: LogFormat = "json", log_level: LogLevel = "info", rules: Path | None = None) -> io.StringIO:
    stream = io.StringIO()
    configure_logs(log_format, log_level, stream, rules)
    return stream


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail_saying(said: str) -> None:
    raise ValueError(said)
