"""What is not what was written is an error that names its place: it is not taken for nothing, nor written over."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.integration.snapshots.damage import refused
from turnwright.journal.errors import StoreUnavailable
from turnwright.journal.ids import ThreadKey
from turnwright.journal.snapshots.opening import open_snapshots
from turnwright.journal.snapshots.snapshot import Offer, SnapshotKey

KEY = SnapshotKey(ThreadKey("default", "ann", "shop", "order-17"))


def offer(seq: int, said: str = "said") -> Offer:
    return Offer.of_value(seq, {"said": said})


KEY_SAID = json.dumps(KEY.parts).encode()
CUT = {
    "empty": b"",
    "garbage": b"\x00\xff\x00garbage",
    "other JSON": b"[1,2,3]\n",
    "half a head": b'{"as_of_seq":3,"key":%s,"sha' % KEY_SAID,
    "no version": b'{"as_of_seq":3,"key":%s,"state":{}}\n' % KEY_SAID,
    "of another": b'{"as_of_seq":3,"key":["t",null,"a","s","m","k"],"sha256":"","version":1,"state":{}}\n',
}


def the_file(place: str) -> Path:
    [file] = Path(urlsplit(place).path).glob("*/*/*.json")
    return file


@pytest.mark.parametrize("content", [*CUT.values(), None], ids=[*CUT, "cut off"])
async def test_a_file_that_is_not_whole_is_an_error_and_left_alone(file_place: str, content: bytes | None) -> None:
    async with open_snapshots(file_place) as store:
        await store.put(KEY, offer(3))
        file = the_file(file_place)
        left = file.read_bytes()[:-4] if content is None else content
        file.write_bytes(left)
        await refused(store, KEY, str(file))
        assert file.read_bytes() == left
        assert await store.remove(KEY)
        assert (await store.put(KEY, offer(4))).version == 1


async def test_a_byte_that_was_changed_in_a_file_is_seen(file_place: str) -> None:
    async with open_snapshots(file_place) as store:
        await store.put(KEY, offer(3))
        file = the_file(file_place)
        file.write_bytes(file.read_bytes().replace(b'"said"}', b'"sAid"}'))
        await refused(store, KEY, str(file), head=False)


async def test_a_server_that_is_away_is_said_and_no_secret_with_it() -> None:
    for url in (
        "redis://:secret@127.0.0.1:9/0",
        "postgresql+asyncpg://ann:secret@127.0.0.1:9/shop",
        "mysql+asyncmy://ann:secret@127.0.0.1:9/shop",
    ):
        with pytest.raises(StoreUnavailable) as caught:
            async with open_snapshots(url):
                pass
        assert "secret" not in str(caught.value)


async def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StoreUnavailable, match="taken"):
        async with open_snapshots(f"file://{tmp_path}/taken"):
            pass
