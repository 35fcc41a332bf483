"""Keys that wrap data keys, data keys that seal values, and how sealed values look."""

import base64

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.errors import InvalidInput, KeyMissing, StoreCorrupt
from turnwright.journal.keyring import Altered, Keys, opened_with
from turnwright.journal.sealing.providers import EnvironmentKeys, KeyProvider, provider_of
from turnwright.journal.sealing.sealer import DataKey, Sealer
from turnwright.journal.sealing.values import DATA, KEY_ID_BYTES, MARK, PLAIN, TEXT_MARK, escaped, is_marked, marked


class Held:
    """A provider whose keys change."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked = 0

    def keys(self) -> Keys:
        self.asked += 1
        if not self.names:
            raise InvalidInput("none is left")
        return Keys({name: name.encode().ljust(32, b".") for name in self.names})


@pytest.mark.parametrize("value", [b"", b"said", "", "said", MARK, TEXT_MARK, "\U0001f600"])
def test_a_value_is_opened_as_it_was_under_its_key_and_label_only(value: bytes | str) -> None:
    sealer = Sealer(Held("a"))
    key, wrong = sealer.make(), sealer.make()
    cipher, other = sealer.learn(key), sealer.learn(wrong)
    sealed = sealed_as(sealer, cipher, key, value)
    assert type(sealed) is type(value)
    found = marked(sealed)
    assert found is not None
    assert (found[:1], found[1 : 1 + KEY_ID_BYTES]) == (DATA, key.key_id)
    body = found[1 + KEY_ID_BYTES :]
    assert opened_with(cipher, body, b"body") == (value.encode() if isinstance(value, str) else value)
    for with_what, label in ((cipher, b"another"), (other, b"body")):
        with pytest.raises(Altered):
            opened_with(with_what, body, label)


def sealed_as(sealer: Sealer, cipher: AESGCM, key: DataKey, value: bytes | str) -> bytes | str:
    if isinstance(value, str):
        return sealer.seal(cipher, key.key_id, "body", value)
    return sealer.seal(cipher, key.key_id, "body", value)


@given(st.one_of(st.binary(max_size=99), st.binary(max_size=9).map(lambda rest: MARK + rest)))
def test_what_was_never_sealed_is_told_from_what_was(value: bytes) -> None:
    found = marked(escaped(value))
    assert (found is None) == (not value.startswith(MARK))
    assert found is None or found == PLAIN + value


@given(st.one_of(st.text(max_size=99), st.text(max_size=9).map(lambda rest: TEXT_MARK + rest)))
def test_a_text_that_was_never_sealed_is_told_from_one_that_was(value: str) -> None:
    found = marked(escaped(value))
    assert (found is None) == (not value.startswith(TEXT_MARK))
    assert found is None or found == PLAIN + value.encode()


@pytest.mark.parametrize("value", [None, 0, 1.5, True])
def test_what_is_no_text_and_no_bytes_is_never_sealed(value: object) -> None:
    assert not is_marked(value)
    assert marked(value) is None


def test_a_data_key_is_unwrapped_by_the_key_that_wrapped_it_only() -> None:
    key = Sealer(Held("a")).make()
    assert key.wrapped_by == "a"
    Sealer(Held("b", "a")).learn(key)
    with pytest.raises(KeyMissing, match="'a', which is not among"):
        Sealer(Held("b")).learn(key)
    with pytest.raises(KeyMissing, match="add `keys=FILE`"):
        Sealer().learn(key)
    for wrong in (
        DataKey(key.key_id, key.wrapped[:-1] + bytes([key.wrapped[-1] ^ 1]), "a"),
        DataKey(bytes(KEY_ID_BYTES), key.wrapped, "a"),
        DataKey(key.key_id, b"", "a"),
    ):
        with pytest.raises(KeyMissing, match="not as the key 'a' wrapped it"):
            Sealer(Held("a")).learn(wrong)


def test_a_data_key_is_the_same_whatever_wraps_it() -> None:
    sealer = Sealer(Held("b", "a"))
    old = Sealer(Held("a")).make()
    new = sealer.rewrap(old)
    assert (new.key_id, new.wrapped_by) == (old.key_id, "b")
    sealed = sealer.seal(Sealer(Held("a")).learn(old), old.key_id, "body", b"said")
    found = marked(sealed)
    assert found is not None
    assert opened_with(Sealer(Held("b")).learn(new), found[1 + KEY_ID_BYTES :], b"body") == b"said"


def test_keys_that_came_meanwhile_are_asked_for_and_such_that_went_are_said() -> None:
    held = Held("a")
    sealer = Sealer(held)
    held.names = ("b", "a")
    sealer.learn(Sealer(held).make())
    assert sealer.newest == "b"
    held.names = ()
    with pytest.raises(KeyMissing, match="none is left"):
        sealer.learn(Sealer(Held("c")).make())


@given(st.binary(max_size=99))
def test_what_is_enlisted_is_sealed_by_the_key_itself(value: bytes) -> None:
    sealed = Sealer(Held("a")).enlisted(value)
    assert is_marked(sealed)
    assert Sealer(Held("b", "a")).from_enlisted(sealed) == value
    assert Sealer().from_enlisted(b"{}") == b"{}"
    with pytest.raises(KeyMissing):
        Sealer().from_enlisted(sealed)
    for wrong in (sealed[:-1] + bytes([sealed[-1] ^ 1]), *(sealed[:n] for n in range(len(MARK), 40))):
        with pytest.raises(StoreCorrupt):
            Sealer(Held("a")).from_enlisted(wrong)


def test_keys_that_cannot_be_read_are_not_asked_for_with_each_value() -> None:
    held, missing = Held("a"), Sealer(Held("b")).make()
    sealer, asked_before = Sealer(held), held.asked
    held.names = ()
    for _ in range(20):
        with pytest.raises(KeyMissing):
            sealer.learn(missing)
    assert held.asked - asked_before < 20


def test_a_provider_is_asked_for_the_same_missing_key_once_in_a_while() -> None:
    held, missing = Held("a"), Sealer(Held("b")).make()
    sealer, asked_before = Sealer(held), held.asked
    for _ in range(20):
        with pytest.raises(KeyMissing):
            sealer.learn(missing)
    assert held.asked - asked_before < 20


@pytest.mark.parametrize("keys", [{}, {"a": b"short"}, {"no name": bytes(32)}, {"": bytes(32)}])
def test_keys_that_can_be_none_are_refused_whoever_gives_them(keys: dict[str, bytes]) -> None:
    with pytest.raises(InvalidInput):
        Keys(keys)


def test_a_key_of_the_past_is_known_no_more_once_it_is_destroyed() -> None:
    sealer = Sealer(Held("a"))
    key = sealer.make()
    assert sealer.find(key.key_id) is not None
    sealer.forget(key.key_id)
    assert sealer.find(key.key_id) is None


def test_keys_come_from_a_variable_or_from_a_program_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS_HERE", f"a {base64.b64encode(bytes(32)).decode()}")
    assert provider_of("env:KEYS_HERE") == EnvironmentKeys("KEYS_HERE")
    assert provider_of("env:KEYS_HERE").keys().newest == "a"
    assert provider_of(f"python:{__name__}:OWN").keys().newest == "own"


OWN: KeyProvider = Held("own")
