"""How large the parts of an agent's state may become by operations.

Rule: everything is bounded, and what would exceed a bound is refused with the bound named.
"""

from __future__ import annotations

from typing import Final

TODOS_MAX: Final = 200
REQUIREMENTS_MAX: Final = 100
VERIFICATIONS_KEPT_MAX: Final = 200
ID_CHARACTERS_MAX: Final = 100
SUBJECT_CHARACTERS_MAX: Final = 500
TEXT_CHARACTERS_MAX: Final = 4_000
TASKS_BYTES_MAX: Final = 256 * 1024
MEMORY_DOCUMENT_BYTES_MAX: Final = 16 * 1024
PLAN_DOCUMENT_BYTES_MAX: Final = 64 * 1024
