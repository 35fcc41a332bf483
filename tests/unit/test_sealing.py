"""What passes through Temporal under a key, and what a file of keys may be."""

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter

from turnwright.journal.errors import InvalidInput
from turnwright.journal.keyring import KEYS_BYTES_MAX, SALT_BYTES, Keys, read_keys
from turnwright.workflows import sealing
from turnwright.workflows.sealing import Sealing, UnknownKey, converter

OLD, NEW = Keys({"old": b"o" * 32}), Keys({"new": b"n" * 32, "old": b"o" * 32})
Payloads = st.builds(
    Payload,
    metadata=st.dictionaries(st.text(max_size=9), st.binary(max_size=9), max_size=3),
    data=st.binary(max_size=99),
)


@given(st.lists(Payloads, max_size=4))
async def test_what_is_sealed_is_opened_the_same_and_nothing_of_it_is_seen(payloads: list[Payload]) -> None:
    sealed = await Sealing(NEW).encode(payloads)
    assert await Sealing(NEW).decode(sealed) == payloads
    for before, after in zip(payloads, sealed, strict=True):
        assert set(after.metadata) == {"encoding", "key"}
        assert len(before.data) < 8 or before.data not in after.data


@given(Payloads)
async def test_what_was_never_sealed_is_as_it_was(payload: Payload) -> None:
    assert await Sealing(NEW).decode([payload]) == [payload]


async def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    [old] = await Sealing(OLD).encode([Payload(data=b"said")])
    [new] = await Sealing(NEW).encode([Payload(data=b"said")])
    assert (old.metadata["key"], new.metadata["key"]) == (b"old", b"new")
    assert [one.data for one in await Sealing(NEW).decode([old, new])] == [b"said", b"said"]
    with pytest.raises(UnknownKey, match="'new', which this process was not given"):
        await Sealing(OLD).decode([new])


@given(st.data())
async def test_whatever_is_changed_of_it_is_not_opened(data: st.DataObject) -> None:
    [sealed] = await Sealing(NEW).encode([Payload(data=b"said")])
    place = data.draw(st.integers(0, len(sealed.data) - 1))
    changed = bytearray(sealed.data)
    changed[place] ^= data.draw(st.integers(1, 255))
    for wrong in (bytes(changed), sealed.data[:place]):
        with pytest.raises(ValueError, match="not as it was sealed"):
            await Sealing(NEW).decode([Payload(metadata=sealed.metadata, data=wrong)])
    with pytest.raises(ValueError, match="not as it was sealed"):
        await Sealing(NEW).decode([Payload(metadata={**sealed.metadata, "key": b"old"}, data=sealed.data)])


async def test_nothing_is_sealed_twice_alike_and_no_salt_serves_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "SEALS_PER_SALT_MAX", 3)
    sealed = await Sealing(NEW).encode([Payload(data=b"said")] * 7)
    assert len({one.data for one in sealed}) == 7
    assert len({one.data[:SALT_BYTES] for one in sealed}) == 3
    assert await Sealing(NEW).decode(sealed) == [Payload(data=b"said")] * 7


def test_no_key_is_in_what_is_shown_of_keys() -> None:
    assert "nnnn" not in repr(NEW)


def test_keys_are_read_newest_first(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# of this year\n\nb  {key(2)}\n a {key(1)}\n")
    assert list(read_keys(file).by_name.items()) == [("b", bytes([2] * 32)), ("a", bytes([1] * 32))]
    assert read_keys(file).newest == "b"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no key"),
        ("# none\n", "holds no key"),
        ("a\n", "line 1: give a name"),
        ("a b c\n", "line 1: give a name"),
        ("a short=\n", "line 1: give a name"),
        (f"a {base64.b64encode(b'x' * 31).decode()}\n", "line 1: give a name"),
        (f"\na {'!' * 44}\n", "line 2: give a name"),
        ("ä " + "A" * 44, "line 1: give a name"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=why):
        read_keys(file)


def test_a_name_that_comes_twice_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"a {key(1)}\na {key(2)}\n")
    with pytest.raises(InvalidInput, match="line 2"):
        read_keys(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_keys(tmp_path / "none")


def test_a_file_that_is_larger_than_any_file_of_keys_is_refused_and_not_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    line = f"one {base64.b64encode(b'o' * 32).decode()}\n"
    file.write_text(line + "#" * (KEYS_BYTES_MAX - len(line)))
    assert read_keys(file).newest == "one"
    file.write_text(line + "#" * (KEYS_BYTES_MAX - len(line) + 1))
    with pytest.raises(InvalidInput, match="more than 65,536 bytes"):
        read_keys(file)


async def test_errors_are_sealed_too_and_without_keys_nothing_is() -> None:
    assert converter(None) is DataConverter.default
    sealed, failure = converter(NEW), Failure()
    await sealed.encode_failure(ValueError("the words"), failure)
    assert b"the words" not in failure.SerializeToString()
    assert str(await sealed.decode_failure(failure)) == "ValueError: the words"


def key(number: int) -> str:
    return base64.b64encode(bytes([number] * 32)).decode()
