"""From a journal's URL to its driver.

    sqlite:///relative.db   sqlite:////absolute.db
    postgresql://user:password@host:5432/database?schema=turnwright

Options stand behind `?`. Both: `keys`, where the keys are that the journal is sealed with
(`turnwright.journal.sealing.providers`). SQLite: `lock_timeout_s`. PostgreSQL: `schema`, `connections_max`; everything
else there is handed to the server's client (`host` for a socket folder, `sslmode`, …).
"""

from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from turnwright.journal.authority import split
from turnwright.journal.driver import Driver
from turnwright.journal.errors import InvalidInput
from turnwright.journal.sealing.providers import FileKeys, provider_of
from turnwright.journal.sealing.sealer import Sealer
from turnwright.journal.sqlite.driver import LOCK_TIMEOUT_S, SqliteDriver


def open_driver(url: str) -> Driver:
    """The driver of that journal, not started yet.

    Raises:
        InvalidInput: the URL names no store, or keys that cannot be had.
    """
    scheme = split(url, "the journal's URL").scheme
    if scheme == "sqlite":
        return _sqlite(url)
    if scheme in ("postgresql", "postgres"):
        return _postgres(url)
    raise InvalidInput(f"{scheme or 'no scheme'!r} is no journal; use sqlite:///file.db or postgresql://…")


def sqlite_file(url: str) -> Path | None:
    """The file of that journal, if it is one."""
    parts = urlsplit(url)
    path = unquote(parts.path).removeprefix("/")
    return Path(path) if parts.scheme == "sqlite" and not parts.netloc and path else None


def file_of_keys(url: str) -> Path | None:
    """The file of the keys that this journal is sealed with, if they are in one.

    Raises:
        InvalidInput: the URL names no provider of keys that can be loaded.
    """
    keys = dict(parse_qsl(urlsplit(url).query)).get("keys")
    provider = None if keys is None else provider_of(keys)
    return provider.file if isinstance(provider, FileKeys) else None


def _sqlite(url: str) -> SqliteDriver:
    parts, path = urlsplit(url), sqlite_file(url)
    if path is None or str(path) == ":memory:":
        raise InvalidInput("a SQLite journal is a file: sqlite:///relative.db or sqlite:////absolute.db")
    options = dict(parse_qsl(parts.query))
    timeout_s = _positive("lock_timeout_s", options.pop("lock_timeout_s", LOCK_TIMEOUT_S))
    sealer = _sealer(options)
    if options:
        raise InvalidInput(f"unknown option {next(iter(options))!r} in the journal's URL; known: keys, lock_timeout_s")
    return SqliteDriver(path, lock_timeout_s=timeout_s, sealer=sealer)


def _postgres(url: str) -> Driver:
    # Here, because who has a file need not wait for the server's client to load.
    from turnwright.journal.postgres.driver import CONNECTIONS_MAX, SCHEMA, PostgresDriver  # noqa: PLC0415

    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    schema = options.pop("schema", SCHEMA)
    connections = _positive("connections_max", options.pop("connections_max", CONNECTIONS_MAX))
    sealer = _sealer(options)
    dsn = urlunsplit(parts._replace(query=urlencode(options)))
    return PostgresDriver(dsn, schema=schema, connections_max=int(connections), sealer=sealer)


def _sealer(options: dict[str, str]) -> Sealer:
    """Takes `keys` out of the options."""
    keys = options.pop("keys", None)
    return Sealer(None if keys is None else provider_of(keys))


def _positive(name: str, value: str | float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0
    if not number > 0:
        raise InvalidInput(f"{name} in the journal's URL must be a number above 0, got {value!r}")
    return number
