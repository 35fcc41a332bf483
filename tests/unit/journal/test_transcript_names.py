"""Sessions never meet in a folder, and nothing gets out of it."""

from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.ids import SessionKey
from turnwright.journal.transcripts.names import LOG, VIEW, place

FOLDER = Path("/srv/transcripts")
NAMES = (
    "a", "A", "a.log", "a.log.jsonl", "a~", "..", ".", "a/b", "a:b", "a-b", "_anonymous", "\N{GRINNING FACE}",
    "a" * 200, "\N{GRINNING FACE}" * 200, "con", "-rf", "a b", "ä", "a\u0308",
)  # fmt: skip
FILE_BYTES_MAX = 200


def test_names_that_are_plain_stand_as_they_are() -> None:
    assert place(FOLDER, SessionKey("default", None, "trip-7"), LOG) == FOLDER / "default/_anonymous/trip-7.log.jsonl"
    assert place(FOLDER, SessionKey("default", "ann", "trip-7"), VIEW) == FOLDER / "default/ann/trip-7.jsonl"


def test_no_two_sessions_have_a_file_in_common_on_any_file_system() -> None:
    keys = [SessionKey(*parts) for parts in product(NAMES[:6], (None, *NAMES), NAMES)]
    paths = [str(place(FOLDER, key, ending)).lower() for key in keys for ending in (LOG, VIEW)]
    assert len(set(paths)) == len(paths)


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_every_file_stands_in_its_tenants_folder(tenant: str, session: str) -> None:
    path = place(FOLDER, SessionKey(tenant, None, session), LOG)
    assert path.parent.parent.parent == FOLDER
    assert ".." not in path.parts
    assert all(len(part.encode()) <= FILE_BYTES_MAX for part in path.parts)
    assert not path.name.startswith(".")
