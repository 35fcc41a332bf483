"""The partial answer, and the model objects that are kept open."""

from turnwright.activities.models.clients import CLIENTS_MAX, Clients, Key, served_name
from turnwright.activities.models.port import ModelFailure, Partial, Words
from turnwright.journal.messages import Text, Thinking, Usage


def test_a_partial_joins_chunks_in_the_order_of_their_blocks() -> None:
    partial = Partial()
    partial.extend(1, "text", "It ")
    partial.extend(0, "thinking", "hm")
    partial.extend(1, "text", "is")
    partial.extend(2, "text", "")
    assert partial.blocks == (Thinking(text="hm"), Text(text="It is"))
    assert partial.text == "It is"


def test_a_partial_is_empty_before_the_first_word() -> None:
    assert Partial().blocks == ()
    assert Partial().usage == Usage()


def test_a_failure_costs_nothing_unless_it_says_so() -> None:
    failure = ModelFailure("transient", "x")
    assert (failure.usage, failure.retry_after_s) == (Usage(), None)


def test_the_prefix_of_a_provider_is_not_part_of_the_name_a_server_knows() -> None:
    assert served_name("openai:tiny") == "tiny"
    assert served_name("local:tiny") == "tiny"
    assert served_name("qwen2.5:0.5b") == "qwen2.5:0.5b"


def key(number: int) -> Key:
    return Key("openai:tiny", f"http://127.0.0.1:9/{number}")


async def test_a_model_object_is_made_once_and_closed_at_the_end() -> None:
    clients = Clients()
    async with clients.use(key(1)) as first, clients.use(key(1)) as second:
        assert first is second
    await clients.aclose()
    assert first.provider is not None
    assert first.provider.client.is_closed()


async def test_only_so_many_stay_open_and_one_in_use_is_never_closed() -> None:
    clients = Clients()
    async with clients.use(key(0)) as busy:
        seen = []
        for number in range(1, CLIENTS_MAX + 2):
            async with clients.use(key(number)) as model:
                seen.append(model)
        assert busy.provider is not None
        assert not busy.provider.client.is_closed()
        closed = [model for model in seen if model.provider is not None and model.provider.client.is_closed()]
        assert closed == seen[:2]
    await clients.aclose()


def test_what_is_taken_of_a_partial_is_all_of_it_once_whatever_the_chunks() -> None:
    partial = Partial()
    taken: list[Words] = []
    for index, chunk in ((1, "a\ud83d"), (1, ""), (1, "\ude00b"), (0, "hm"), (1, "\ud83d"), (1, "c\x00")):
        partial.extend(index, "thinking" if index == 0 else "text", chunk)
        taken += partial.take()
    assert taken == [
        Words(1, "text", "a"),
        Words(1, "text", "\U0001f600b"),
        Words(0, "thinking", "hm"),
        Words(1, "text", "\ufffdc\u2400"),
    ]
    assert partial.take() == ()
    assert "".join(words.text for words in taken if words.kind == "text") == partial.text
