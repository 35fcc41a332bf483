"""Logs of a process that has set up none.

Rule: a library does not write into its caller's output. structlog left alone prints every line to standard
output; a process that wants more than this sets structlog up itself, before or after.
"""

from __future__ import annotations

import sys
from typing import Literal

import structlog


def quiet_logs(least: Literal["warning", "error"]) -> None:
    """Unless the process has set up its logs, let only lines from `least` up through, on standard error."""
    if structlog.is_configured():
        return
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
