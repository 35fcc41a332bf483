"""A thread's conversation on the command line: forked, rewound, made whole, compacted, remembered; and titles."""

import json
from pathlib import Path

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, refused, shown
from turnwright.client import Client, Session, Thread

AT = ("s", AGENT, "-u", "ann")
OTHER = ("other", AGENT, "-u", "ann")
OPTIONS = {
    "thread fork": ("--at", "--as", "--into"),
    "thread rewind": ("--to", "--expected-seq"),
    "thread make-whole": ("--thread",),
    "thread compact": ("--thread",),
    "thread memory": ("--set", "--expected-revision"),
    "session title": ("TITLE",),
}


async def two_turns(session: Session, hands: Hands) -> tuple[int, int]:
    """The thread's last entry after each of two turns."""
    thread, ends = session.thread(AGENT), []
    for text in ("one", "two"):
        await hands.finish(await thread.submit(text))
        ends.append((await thread.status()).seq)
    return ends[0], ends[1]


async def texts(thread: Thread) -> list[str]:
    return [message.text for message in (await thread.state()).context]


@pytest.mark.parametrize("command", OPTIONS)
async def test_each_says_what_it_does_and_how_it_is_repeated_safely(run: Run, command: str) -> None:
    told = shown(await run(*command.split(), "--help"))
    for option in (*OPTIONS[command], "--user", "--reason", "--request-id", "--json"):
        assert option in told
    assert command.rsplit(maxsplit=1)[-1] in shown(await run(command.split(maxsplit=1)[0], "--help"))


async def test_a_thread_is_forked_where_it_is_said_and_a_repeated_request_is_the_same_fork(
    run: Run, session: Session, hands: Hands
) -> None:
    first, _ = await two_turns(session, hands)
    told = shown(await run("thread", "fork", *AT, "--at", str(first), "--as", "side", "--reason", "to try"))
    assert told == f"accepted; thread side of {AGENT} begins as main was after entry {first}\n"
    assert await texts(session.thread(AGENT, "side")) == ["one", "done"]
    named = ("thread", "fork", *AT, "--request-id", "f", "--json")
    [made], [again] = lines(await run(*named)), lines(await run(*named))
    assert again["receipt"] == made["receipt"] | {"duplicate": True}
    assert await texts(session.thread(AGENT, made["receipt"]["thread"])) == ["one", "done", "two", "done"]
    assert "thread.forked" in shown(await run("journal", "tail", "s", "-u", "ann"))
    assert await texts(session.thread(AGENT)) == ["one", "done", "two", "done"], "its origin goes on untouched"


async def test_a_fork_in_another_session_keeps_its_origin_until_it_is_whole(
    run: Run, client: Client, session: Session, hands: Hands
) -> None:
    await two_turns(session, hands)
    await client.session("ann", "other").create()
    assert "in session other begins" in shown(await run("thread", "fork", *AT, "--as", "side", "--into", "other"))
    assert f"{AGENT}/side of session other" in refused(await run("session", "delete", "s", "-u", "ann", "--yes"), 1)
    whole = ("thread", "make-whole", *OTHER, "-t", "side")
    assert shown(await run(*whole)) == f"accepted; thread side of {AGENT} needs its origin no more\n"
    assert json.loads(refused(await run(*whole, "--json")))["error"]["code"] == "whole_already"
    shown(await run("session", "delete", "s", "-u", "ann", "--yes"))
    assert await texts(client.session("ann", "other").thread(AGENT, "side")) == ["one", "done", "two", "done"]


async def test_a_thread_is_rewound_unless_something_was_written_since(run: Run, session: Session, hands: Hands) -> None:
    first, last = await two_turns(session, hands)
    back = ("thread", "rewind", *AT, "--to", str(first))
    assert "expected_seq" in refused(await run(*back, "--request-id", "r"), 2)
    assert f"is at entry {last}, not {first}" in refused(await run(*back, "--expected-seq", str(first)))
    named = (*back, "--expected-seq", str(last), "--request-id", "r", "--json")
    [made], [again] = lines(await run(*named)), lines(await run(*named))
    assert again["receipt"] == made["receipt"] | {"duplicate": True}
    assert await texts(session.thread(AGENT)) == ["one", "done"]
    told = shown(await run("thread", "rewind", *AT, "--to", str(last)))
    assert told == f"accepted; thread main of {AGENT} goes on as it was after entry {last}\n"
    assert await texts(session.thread(AGENT)) == ["one", "done", "two", "done"]


async def test_a_compaction_is_asked_for_once_and_the_state_says_so(run: Run, session: Session, hands: Hands) -> None:
    ask = ("thread", "compact", *AT)
    turn = await session.submit("one", agent=AGENT)
    assert json.loads(refused(await run(*ask, "--json")))["error"]["code"] == "nothing_to_compact"
    await hands.finish(turn)
    told = shown(await run(*ask, "--reason", "it is slow", "--request-id", "c"))
    assert told == f"accepted; the next model call of thread main of {AGENT} begins with a shorter conversation\n"
    assert "asked for in entry" in shown(await run("thread", "state", *AT))
    [again] = lines(await run(*ask, "--reason", "it is slow", "--request-id", "c", "--json"))
    assert again["receipt"]["duplicate"] is True
    assert json.loads(refused(await run(*ask, "--json")))["error"]["code"] == "already_requested"
    assert [e.type for e in await session.thread(AGENT).history()].count("context.compaction_requested") == 1


async def test_memory_is_shown_and_replaced_as_it_was_read(
    run: Run, session: Session, hands: Hands, tmp_path: Path
) -> None:
    await two_turns(session, hands)
    memory = ("thread", "memory", *AT)
    assert shown(await run(*memory)) == "nothing is remembered\n"
    assert "remembers it with the next model call" in shown(await run(*memory, "--set", "She likes tea."))
    assert shown(await run(*memory)) == "revision 1\nShe likes tea.\n"
    stale = await run(*memory, "--set", "Coffee.", "--expected-revision", "0", "--json")
    assert "is at revision 1" in json.loads(refused(stale))["error"]["message"]
    (tmp_path / "memory.md").write_text("She likes cake.", encoding="utf-8")
    shown(await run(*memory, "--set", f"@{tmp_path / 'memory.md'}", "--expected-revision", "1"))
    [plain] = lines(await run(*memory, "--json"))
    assert (plain["agent"], plain["memory"]["revision"], plain["memory"]["document"]) == (AGENT, 2, "She likes cake.")
    shown(await run(*memory, "--set", "-", given="From a pipe."))
    assert (await session.thread(AGENT).memory()).document == "From a pipe."


async def test_a_session_gets_another_title_and_loses_it(run: Run, session: Session) -> None:
    title = ("session", "title", "s")
    assert "it is called My trip" in shown(await run(*title, "My trip", "-u", "ann"))
    assert "My trip" in shown(await run("session", "list"))
    named = (*title, "Yours", "-u", "ann", "--request-id", "t", "--json")
    [made], [again] = lines(await run(*named)), lines(await run(*named))
    assert again["receipt"] == made["receipt"] | {"duplicate": True}
    assert "it has no title" in shown(await run(*title, "", "-u", "ann"))
    assert (await session.status()).control.title is None


async def test_what_cannot_be_is_refused_by_its_code_and_changes_nothing(
    run: Run, client: Client, session: Session, hands: Hands
) -> None:
    _, last = await two_turns(session, hands)
    closed = client.session("ann", "closed")
    await closed.create()
    await closed.close()
    before = await session.history()
    nowhere, nothing = ("none", AGENT, "-u", "ann"), ("-t", "none")
    for words, code in (
        (("thread", "fork", *AT, "--at", "99"), "unknown_entry"),
        (("thread", "fork", *AT, "--as", "main"), "thread_exists"),
        (("thread", "fork", *AT, "--into", "none"), "unknown_session"),
        (("thread", "fork", *AT, "--into", "closed"), "session_closed"),
        (("thread", "fork", *AT, *nothing), "unknown_thread"),
        (("thread", "fork", *nowhere), "unknown_thread"),
        (("thread", "rewind", *AT, "--to", "99"), "unknown_entry"),
        (("thread", "rewind", *AT, "--to", str(last)), "nothing_to_rewind"),
        (("thread", "rewind", *AT, *nothing, "--to", "1"), "not_found"),
        (("thread", "make-whole", *AT), "not_a_fork"),
        (("thread", "make-whole", *AT, *nothing), "unknown_thread"),
        (("thread", "compact", *AT, *nothing), "unknown_thread"),
        (("thread", "memory", *AT, *nothing), "not_found"),
        (("thread", "memory", *AT, *nothing, "--set", "x"), "unknown_thread"),
        (("session", "title", "none", "T"), "unknown_session"),
    ):
        result = await run(*words, "--json")
        assert (result.stdout, json.loads(refused(result))["error"]["code"]) == ("", code), words
    assert "at most 500 characters" in refused(await run("session", "title", "s", "x" * 501, "-u", "ann"), 2)
    for wrong in (
        ("fork", "--as", ""),
        ("fork", "--into", ""),
        ("fork", "--at", "0"),
        ("fork", "--at", "x"),
        ("rewind",),
        ("rewind", "--to", "0"),
    ):
        assert (await run("thread", wrong[0], *AT, *wrong[1:])).exit_code == 2, wrong
    assert await session.history() == before
    assert (await closed.threads()).items == ()
