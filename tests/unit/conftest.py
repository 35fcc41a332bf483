import logging  # noqa: TID251 - other libraries log through it
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture
def logs_restored() -> Iterator[None]:
    """A test may configure the logs as a process does it."""
    root = logging.getLogger()
    before = structlog.get_config(), root.handlers[:], root.level
    yield
    structlog.configure(**before[0])
    root.handlers[:], root.level = before[1], before[2]
