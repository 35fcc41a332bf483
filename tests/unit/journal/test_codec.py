"""Stored bytes: what they are read back as, and the chain over them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.codec import GENESIS, Link, body_digest, chain_hash, decode
from turnwright.journal.entries import (
    REGISTRY,
    Entry,
    Erased,
    InputInjected,
    Payload,
    TurnCancelled,
    TurnFailed,
    TurnQueued,
    Unreadable,
)
from turnwright.journal.errors import StoreCorrupt, UnknownEntryType
from turnwright.journal.messages import Media, Message, Text, Thinking, ToolCall, ToolResult, user
from turnwright.journal.upcast import UPCASTERS, upcast

BODIES = [b"", b"not json", b"null", b"[]", b'"text"', b"{", b"\xff\xfe", b"[" * 100_000]


def read(kind: str, body: bytes | None, version: int = 1, *, required: bool = True) -> Payload:
    return decode(kind, version, body, required=required, thread="[the thread]", seq=17)


def test_every_kind_of_block_comes_back_as_it_was() -> None:
    blocks = (
        Text(text="t"),
        Thinking(text="hm", signature="s", provider="p"),
        ToolCall(id="1", name="n", arguments={"deep": [{"x": 1.5}]}),
        ToolResult(id="1", name="n", output=(Text(text="r"), Media(mime="image/png", blob="ab")), outcome="denied"),
        Media(mime="image/png", url="https://example.org/x.png"),
    )
    payload = InputInjected(message=Message(role="assistant", blocks=blocks, metadata={"k": None}))
    assert read("input.injected", payload.body()) == payload


def test_a_first_draft_of_turn_failed_is_read_as_the_current_version() -> None:
    assert read("turn.failed", b'{"error":"max_steps: too many","revision":4}') == TurnFailed(
        code="max_steps", message="too many", revision=4
    )
    assert read("turn.failed", b'{"error":"internal","revision":4}') == TurnFailed(
        code="internal", message="internal", revision=4
    )


def test_what_0_1_0_gave_as_the_reason_of_a_cancel_is_what_nobody_knew_of_its_calls() -> None:
    note = "whether it had its effect is unknown of: charge"
    body = f'{{"principal":"ann","reason":"{note}","revision":4,"source":"thread"}}'.encode()
    then = TurnCancelled(source="thread", principal="ann", effects_unknown=note, revision=4)
    assert read("turn.cancelled", body, 1) == then
    assert read("turn.cancelled", b'{"revision":4}', 1) == TurnCancelled(revision=4)
    again = TurnCancelled(reason="too late", effects_unknown=note, revision=4)
    assert read("turn.cancelled", again.body(), TurnCancelled.VERSION) == again


def test_upcasting_does_not_touch_the_body_it_was_given() -> None:
    body = {"error": "internal"}
    upcast("turn.failed", 1, 2, body)
    assert body == {"error": "internal"}


def test_there_is_a_way_from_every_version_to_the_current_one() -> None:
    for kind, payload in REGISTRY.items():
        missing = [v for v in range(1, payload.VERSION) if (kind, v) not in UPCASTERS]
        assert missing == []
    assert {kind for kind, _ in UPCASTERS} <= set(REGISTRY)


@pytest.mark.parametrize(("kind", "version"), [("turn.paced", 1), ("turn.queued", 2), ("turn.failed", 3)])
def test_a_required_entry_of_an_unknown_type_or_version_stops_with_its_name(kind: str, version: int) -> None:
    with pytest.raises(UnknownEntryType, match=rf"'{kind}' version {version} .*\[the thread\], seq 17"):
        read(kind, b"{}", version)


def test_an_optional_entry_of_an_unknown_type_is_kept_as_it_was() -> None:
    payload = read("app/weather", b'{"sun":true}', 3, required=False)
    assert payload == Unreadable(type="app/weather", version=3, raw='{"sun":true}')
    assert Entry("id", payload).type == "app/weather"


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("kind", "version"), [("turn.queued", 1), ("turn.failed", 1), ("turn.failed", 2)])
def test_a_body_that_is_not_what_was_written_names_thread_and_seq(kind: str, version: int, body: bytes) -> None:
    with pytest.raises(StoreCorrupt, match=r"thread \[the thread\], seq 17") as caught:
        read(kind, body, version)
    assert (caught.value.thread, caught.value.seq) == ("[the thread]", 17)
    assert len(str(caught.value)) < 1_000


@given(st.binary(max_size=60))
def test_no_body_brings_another_error(body: bytes) -> None:
    for kind in REGISTRY:
        try:
            read(kind, body)
        except (StoreCorrupt, UnknownEntryType):
            continue


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("turn.completed", b'{"revision":2,"surprise":1}'),
        ("model.interrupted", b'{"ordinal":1,"reason":"a reason added later"}'),
        ("model.responded", b'{"ordinal":1,"blocks":[{"type":"a block added later"}]}'),
    ],
)
def test_what_a_newer_version_added_is_never_dropped_and_not_called_corrupt(kind: str, body: bytes) -> None:
    with pytest.raises(UnknownEntryType, match="run a worker of the version that wrote it"):
        read(kind, body)
    assert isinstance(read(kind, body, required=False), Unreadable)


def test_what_a_newer_version_added_does_not_excuse_what_is_missing() -> None:
    with pytest.raises(StoreCorrupt):
        read("turn.completed", b'{"surprise":1}')


# -- the chain --------------------------------------------------------------------------------------


def link(seq: int, content: bytes) -> Link:
    return Link(seq, "turn.queued", 1, f"id-{seq}", "turn", None, None, None, required=True, content=content)


def chain(bodies: list[bytes], salts: list[bytes]) -> list[bytes]:
    hashes, prev = [], GENESIS
    for seq, (body, salt) in enumerate(zip(bodies, salts, strict=True), start=1):
        prev = chain_hash(prev, link(seq, body_digest(salt, body)))
        hashes.append(prev)
    return hashes


def test_an_erased_body_leaves_the_chain_valid_because_only_its_digest_is_in_it() -> None:
    bodies = [TurnQueued(request_id=str(n), input=user(f"secret {n}")).body() for n in range(3)]
    salts = [bytes([n]) * 16 for n in range(3)]
    whole = chain(bodies, salts)
    prev = GENESIS
    for seq, kept in enumerate(map(body_digest, salts, bodies), start=1):
        prev = chain_hash(prev, link(seq, kept))
    assert prev == whole[-1]
    payload = read("turn.queued", None)
    assert payload == Erased(type="turn.queued")
    assert Entry("id", payload).type == "turn.queued"


def test_the_digest_of_an_erased_body_does_not_give_it_away_without_its_salt() -> None:
    body = TurnQueued(request_id="r", input=user("yes")).body()
    assert body_digest(b"one salt", body) != body_digest(b"another salt", body)


BASE = Link(1, "turn.queued", 1, "id", "turn", "run", 2, 3, required=True, content=b"\x01" * 32)
CHANGES: list[dict[str, object]] = [
    {"seq": 2},
    {"type": "turn.started"},
    {"version": 2},
    {"entry_id": "id2"},
    {"turn_id": "another"},
    {"turn_id": None},
    {"run": None},
    {"step": None},
    {"epoch": 0},
    {"epoch": None},
    {"required": False},
    {"content": b"\x03" * 32},
    {"version": 11, "step": None},
    {"type": 'turn.queued",1', "version": 1},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_whatever_is_changed_in_an_entry_changes_its_hash(changes: dict[str, object]) -> None:
    assert chain_hash(GENESIS, BASE._replace(**changes)) != chain_hash(GENESIS, BASE)  # type: ignore[arg-type]
    assert chain_hash(b"\x02" * 32, BASE) != chain_hash(GENESIS, BASE)


def test_a_committed_entry_keeps_everything_of_its_draft() -> None:
    entry = Entry("id", TurnFailed(code="c", message="m", revision=2), "turn", "run", 3, 4, seq=5, at_us=6)
    assert replace(entry.stored(7, b"p", b"h"), position=0, prev_hash=b"", hash=b"") == entry
    assert entry.when.isoformat() == "1970-01-01T00:00:00.000006+00:00"
