"""The operators' page, as it stands in the package: HTML, style sheets and scripts of our own, at `console/`.

Rule: what can be served is a table that is made once, so no path of a request ever reaches the file system. Nothing in
the page comes from anywhere else, nothing in it is inline, and no text can become markup: the browser is told to refuse
all of that. The files are nobody's secret; what they show is asked for with the reader's own key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

FOLDER = Path(__file__).parent.parent / "console"
PATH = "/console"
INDEX = "index.html"
MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cache-Control": "no-cache",  # asked about each time, and sent again only when it is another
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    body: bytes
    media_type: str
    tag: str


@cache
def assets() -> Mapping[str, Asset]:
    """All files, by their paths below `console/`."""
    found = (path for path in sorted(FOLDER.rglob("*")) if path.suffix in MEDIA_TYPES)
    return {path.relative_to(FOLDER).as_posix(): _read(path) for path in found}


@router.get("/")
@router.get(PATH)
async def open_console() -> Response:
    """To the page; relative, so that it is found behind a proxy's prefix too."""
    return RedirectResponse(f".{PATH}/", 307, HEADERS)


@router.get(PATH + "/{name:path}")
async def serve_console(name: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
    """A file of the page; the page itself without a name."""
    asset = assets().get(name or INDEX)
    if asset is None:
        raise HTTPException(404, "the console has no such file")
    headers = {**HEADERS, "ETag": asset.tag}
    if if_none_match == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, media_type=asset.media_type, headers=headers)


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(body, MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:32]}"')
