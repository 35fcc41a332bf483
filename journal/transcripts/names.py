"""Where a session's transcripts stand: a folder for the tenant, one for the user, and two files named as the session.

Rule: two sessions never meet, whatever their ids are and whether or not the file system tells `a` from `A`. A name that
is plain stands as it is; of any other a readable beginning, a tilde, and its digest. No plain name holds a tilde or a
dot, so the session `a.log` does not meet the log of `a`.
"""

from __future__ import annotations

import re
from pathlib import Path

from turnwright.journal.canonical import digest
from turnwright.journal.ids import SessionKey

LOG, VIEW = ".log.jsonl", ".jsonl"
NOBODY = "_anonymous"
READABLE_CHARACTERS_MAX = 60
DIGEST_HEX_DIGITS = 16
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_NOT_PLAIN = re.compile(r"[^a-z0-9_-]+")


def file_name(name: str) -> str:
    """A tenant, user or session as part of a path."""
    if _PLAIN.fullmatch(name):
        return name
    readable = _NOT_PLAIN.sub("-", name.lower())[:READABLE_CHARACTERS_MAX].strip("-")
    return f"{readable}~{digest(name.encode()).hex()[:DIGEST_HEX_DIGITS]}"


def place(folder: Path, key: SessionKey, ending: str) -> Path:
    """The file of a session: `LOG` is everything that happened, `VIEW` what models see."""
    user = NOBODY if key.user is None else file_name(key.user)
    return folder / file_name(key.tenant) / user / f"{file_name(key.session)}{ending}"
