"""What is gathered while a document is read: notes, files, and times."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import mimetypes
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Final
from urllib.parse import unquote_to_bytes
from zoneinfo import ZoneInfo

from turnwright.journal.canonical import repair
from turnwright.journal.elsewhere.document import Place
from turnwright.journal.entries.thread import Note
from turnwright.journal.errors import InvalidInput
from turnwright.journal.messages import Media, Text

NOTES_MAX: Final = 500
FILE_BYTES_MAX: Final = 32 * 1024 * 1024
MIME_CHARACTERS_MAX: Final = 200
URL_SHOWN_CHARACTERS_MAX: Final = 200
_MIME = re.compile(r"[A-Za-z0-9.+_-]+/[A-Za-z0-9.+_*-]+")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_DATA_URL = re.compile(r"data:(?P<mime>[^;,]*)(?P<more>[^,]*),(?P<data>.*)", re.DOTALL)


@dataclass(slots=True)
class Reading:
    """What was noted so far. `zone`: that of times that name none."""

    zone: tzinfo | None = None
    notes: list[Note] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    unsaid: int = 0

    def note(self, place: str, text: str) -> None:
        """Note something; of very many only how many there are."""
        if len(self.notes) < NOTES_MAX:
            self.notes.append(Note(place=place, text=text))
        else:
            self.unsaid += 1

    def all_notes(self) -> tuple[Note, ...]:
        """What was noted."""
        more = (Note(place="", text=f"and {self.unsaid:,} more notes"),) if self.unsaid else ()
        return (*self.notes, *more)

    def time(self, place: Place) -> str:
        """A point in time.

        Raises:
            InvalidInput: it is none, or names no time zone and none was given for those.
        """
        try:
            read = datetime.fromisoformat(place.text())
        except ValueError as error:
            if isinstance(error, InvalidInput):
                raise
            raise place.expected("a date and time, such as 2026-03-01T09:30:00+01:00,") from None
        if read.tzinfo is None:
            if self.zone is None:
                raise place.wrong(
                    f"{read.isoformat(' ')} names no time zone; say which one such times are in "
                    "(time_zone, or --time-zone Europe/Berlin)"
                )
            read = read.replace(tzinfo=self.zone)
        return read.isoformat()

    def stored(self, place: Place, mime: str, body: bytes) -> Media | Text:
        """A file of which the bytes are here; an empty one is words.

        Raises:
            InvalidInput: it is larger than what is kept of one file, or its type is none.
        """
        if len(body) > FILE_BYTES_MAX:
            raise place.wrong(f"the file has {len(body):,} bytes, {FILE_BYTES_MAX:,} are the most")
        if not body:
            return self.left_out(place, f"[{mime}: an empty file]")
        sha = hashlib.sha256(body).hexdigest()
        self.blobs[sha] = body
        return Media(mime=self.mime(place, mime), blob=sha)

    def base64(self, place: Place, mime: str) -> Media | Text:
        """A file in base64. Raises `InvalidInput`."""
        try:
            body = base64.b64decode("".join(place.text().split()), validate=True)  # some break its lines
        except (binascii.Error, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise place.wrong(f"this is no base64: {error}") from None
        return self.stored(place, mime, body)

    def located(self, place: Place, mime: str | None, kind: str) -> Media | Text:
        """A file at a URL. One that only its own machine can reach is words.

        Raises:
            InvalidInput: it is no URL.
        """
        url = place.text()
        if url.startswith("data:"):
            return self._inline(place, url, mime)
        if not url.startswith(("https://", "http://")):
            return self.left_out(place, f"[{kind} at {url[:URL_SHOWN_CHARACTERS_MAX]}: it cannot be reached from here]")
        guessed = mime or mimetypes.guess_type(url.partition("?")[0])[0] or f"{kind}/*"
        return Media(mime=self.mime(place, guessed), url=url)

    def left_out(self, place: Place, words: str) -> Text:
        """Words in place of something that is not taken along, and a note of it."""
        self.note(place.path, f"words stand in its place: {words}")
        return Text(text=words)

    def mime(self, place: Place, mime: str) -> str:
        """A type of files. Raises `InvalidInput`."""
        if len(mime) > MIME_CHARACTERS_MAX or not _MIME.fullmatch(mime):
            raise place.wrong(f"{mime[:MIME_CHARACTERS_MAX]!r} is no type of files, such as image/png")
        return mime

    def _inline(self, place: Place, url: str, mime: str | None) -> Media | Text:
        found = _DATA_URL.fullmatch(url)
        if found is None:
            raise place.wrong("this is no data URL, such as data:image/png;base64,…")
        kind = mime or found["mime"] or "text/plain"
        if found["more"].endswith(";base64"):
            return self.base64(Place(found["data"], place.path), kind)
        return self.stored(place, kind, unquote_to_bytes(found["data"]))


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a call that came as text, with every character storable; None if they are no JSON object."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    made = repair(read)
    return made if isinstance(made, dict) else None


def zone_named(name: str | None) -> tzinfo | None:
    """The time zone of that name, such as `Europe/Berlin`, `UTC` or `+08:00`.

    Raises:
        InvalidInput: there is none.
    """
    if name is None:
        return None
    if (found := _OFFSET.fullmatch(name)) is not None:
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        if offset < timedelta(hours=24):
            return timezone(-offset if found[1] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise InvalidInput(f"{name!r} is no time zone; write one such as Europe/Berlin, UTC or +08:00") from error
