"""Snapshots in Redis: a hash for each session, in it two fields for each state.

    turnwright:["default","ann","order-17"]     head:["shop","main","agent_state"]   "3 12 <sha256>"
                                                body:["shop","main","agent_state"]   the JSON

Rule: a write is one script on one key (`redis.lua`), so nobody comes between, also in a cluster. Nothing is sent twice
by itself: an answer that is lost is `StoreUnavailable`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Collection
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlunsplit
from uuid import uuid4

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as Silent

from turnwright.journal.authority import split
from turnwright.journal.errors import InvalidInput, SnapshotGone, StoreError, StoreUnavailable
from turnwright.journal.ids import SessionKey, ThreadKey
from turnwright.journal.snapshots.deciding import Kept, Policy, Verdict, checked_policy, kept
from turnwright.journal.snapshots.snapshot import Head, Offer, Snapshot, SnapshotKey, unreadable, whole

T = TypeVar("T")
PREFIX = "turnwright:"
DELETED = b"deleted"
HEAD = b"head:"
SCANNED = 500
ANSWER_S_MAX = 20.0


class RedisSnapshots:
    """Hashes whose names begin with the `prefix` of the URL."""

    def __init__(self, url: str) -> None:
        parts = split(url, "the URL of the snapshots")
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        self._prefix = options.pop("prefix", PREFIX)
        said = {name: value for name, value in options.items() if "pass" not in name}
        query = urlencode({**said, "prefix": self._prefix})
        shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query)
        self.name = urlunsplit(shown)
        try:
            self._redis: Any = Redis.from_url(
                urlunsplit(parts._replace(query=urlencode(options))),
                retry=Retry(NoBackoff(), 0),
                socket_timeout=ANSWER_S_MAX,
            )
            self._check_options()
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"the URL of the snapshots names no Redis: {error}") from error
        self._put = self._redis.register_script(files(__package__).joinpath("redis.lua").read_text(encoding="utf-8"))

    def _check_options(self) -> None:
        """Make a connection, which connects to nothing yet: it refuses options that are none."""
        self._redis.connection_pool.make_connection()

    async def start(self) -> None:
        """See that it is there."""
        await self._asked(self._redis.ping(), self.name)

    async def stop(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    async def place_id(self) -> str:
        """See `SnapshotStore.place_id`."""
        return await self._told(f"{self._prefix}place", uuid4().hex)

    async def owner(self, claimed_by: str = "") -> str:
        """See `SnapshotStore.owner`."""
        return await self._told(f"{self._prefix}journal", claimed_by)

    async def load(self, key: SnapshotKey) -> Snapshot | None:
        """See `SnapshotStore.load`."""
        name, field, place = self._names(key)
        head, body = await self._asked(self._redis.hmget(name, f"head:{field}", f"body:{field}"), place)
        if head is None and body is None:
            return None
        if head is None or body is None:
            raise unreadable(place, "a part of it is missing")
        return whole(key, _head(head, place), body, place)

    async def put(
        self, key: SnapshotKey, offer: Offer, *, policy: Policy = "keep_newer", expected_version: int | None = None
    ) -> Kept:
        """See `SnapshotStore.put`."""
        checked_policy(policy, expected_version)
        name, field, place = self._names(key)
        expected = "" if expected_version is None else expected_version
        arguments = (field, offer.checked().as_of_seq, offer.sha256, offer.payload, expected, policy)
        said, version, as_of_seq = await self._asked(self._put(keys=[name], args=arguments), place)
        verdict: Verdict | str = said.decode()
        if verdict == "gone":
            raise SnapshotGone(place)
        if verdict == "unreadable":
            raise unreadable(place, "its head is not one")
        if verdict == "write":
            return Kept(written=True, version=version, as_of_seq=as_of_seq)
        stored = Head(version, as_of_seq, "") if version else None
        return kept(stored, "same" if verdict == "same" else "conflict", policy, offer, place)

    async def remove(self, key: SnapshotKey, version: int | None = None) -> bool:
        """See `SnapshotStore.remove`."""
        name, field, place = self._names(key)
        said = "" if version is None else version
        script = (
            "local head = redis.call('HGET', KEYS[1], 'head:' .. ARGV[1]) "
            "if ARGV[2] ~= '' and (not head or string.match(head, '^%d+') ~= ARGV[2]) then return 0 end "
            "return redis.call('HDEL', KEYS[1], 'head:' .. ARGV[1], 'body:' .. ARGV[1])"
        )
        return bool(await self._asked(self._redis.eval(script, 1, name, field, said), place))

    async def delete_session(self, session: SessionKey, threads: Collection[ThreadKey] = ()) -> int:  # noqa: ARG002 - it is one hash
        """See `SnapshotStore.delete_session`."""
        name = self._of(session)
        script = (
            "local kept = 0 for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do "
            "if string.sub(field, 1, 5) == 'head:' then kept = kept + 1 end end "
            "redis.call('UNLINK', KEYS[1]) redis.call('HSET', KEYS[1], 'deleted', '1') return kept"
        )
        return int(await self._asked(self._redis.eval(script, 1, name), name))

    async def revive_session(self, session: SessionKey) -> None:
        """See `SnapshotStore.revive_session`."""
        name = self._of(session)
        await self._asked(self._redis.hdel(name, DELETED), name)

    async def every_key(self) -> AsyncIterator[SnapshotKey]:
        """See `SnapshotStore.every_key`."""
        cursor = -1
        while cursor:
            cursor, names = await self._asked(
                self._redis.scan(max(cursor, 0), f"{_escaped(self._prefix)}[[]*", SCANNED, "hash"), self.name
            )
            for name in set(names):
                place = name.decode(errors="replace")
                for field in await self._asked(self._redis.hkeys(name), place):
                    if not field.startswith(HEAD):
                        continue
                    found = _key(name.removeprefix(self._prefix.encode()), field.removeprefix(HEAD))
                    if found is not None:
                        yield found

    async def _told(self, name: str, said: str) -> str:
        """What stands under a name that is no session's: `said`, if nothing did."""
        if said:
            await self._asked(self._redis.set(name, said, nx=True), name)
        return bytes(await self._asked(self._redis.get(name), name) or b"").decode(errors="replace")

    def _of(self, session: SessionKey) -> str:
        return f"{self._prefix}{session.checked().canonical}"

    def _names(self, key: SnapshotKey) -> tuple[str, str, str]:
        """The hash, what its fields end with, and where that is, for people."""
        name, field = self._of(key.checked().thread.session_key), key.in_session
        return name, field, f"{name} {field}"

    async def _asked(self, answer: Awaitable[T], place: str) -> T:
        try:
            return await answer
        except ResponseError as error:
            if "WRONGTYPE" in str(error):
                raise unreadable(place, "that key holds something else") from error
            raise _refused(error) from error
        except (Disconnected, Silent, OSError) as error:
            raise StoreUnavailable(f"the Redis of the snapshots does not answer: {error}") from error
        except RedisError as error:
            raise _refused(error) from error


def _refused(error: RedisError) -> StoreError:
    """Loading, read-only, out of memory: it is there and takes nothing now."""
    return StoreUnavailable(f"the Redis of the snapshots refuses: {error}")


def _head(said: bytes, place: str) -> Head:
    try:
        version, as_of_seq, sha256 = said.decode().split(" ")
        return Head(int(version), int(as_of_seq), sha256)
    except ValueError as error:
        raise unreadable(place, "its head is not one") from error


def _key(session: bytes, field: bytes) -> SnapshotKey | None:
    try:
        tenant, user, name = json.loads(session)
        agent, thread, state_key = json.loads(field)
        return SnapshotKey.of_parts([tenant, user, agent, name, thread, state_key])
    except (ValueError, TypeError):
        return None


def _escaped(prefix: str) -> str:
    """For a pattern, that means nothing but itself."""
    return "".join(f"\\{c}" if c in "*?[]^-\\" else c for c in prefix)
