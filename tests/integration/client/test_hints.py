"""What is mistyped makes nothing, and the error says what was probably meant."""

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, refused, shown
from turnwright.client import Client, CommandRejected, NotFound, Session


async def test_a_thread_comes_into_being_with_work_only(client: Client, session: Session) -> None:
    thread = session.thread("ecko")
    with pytest.raises(CommandRejected, match="there is no thread main of ecko in session s of user ann") as rejected:
        await thread.pause()
    assert (rejected.value.code, rejected.value.key) == ("unknown_thread", thread.key)
    with pytest.raises(NotFound):
        await thread.status()
    with pytest.raises(CommandRejected, match="there is no session t of user ann; create it first"):
        await client.session("ann", "t").pause()
    await thread.inject("material")
    assert (await thread.status()).control.injected == 1


async def test_a_command_to_a_mistyped_agent_makes_no_thread_and_says_which_there_are(
    run: Run, session: Session
) -> None:
    await session.submit("one", agent=AGENT)
    await session.submit("one", agent=AGENT, thread="side")
    for verb, *rest in (("pause",), ("inject", "x"), ("permissions", "--mode", "explore"), ("budget", "--steps", "3")):
        told = refused(await run("thread", verb, "s", "ecko", *rest, "-u", "ann"))
        assert "there is no thread main of ecko in session s of user ann" in told, verb
        assert f"did you mean {AGENT}?; the session has {AGENT}, {AGENT} --thread side" in told, verb
    assert len((await session.threads()).items) == 2


async def test_material_begins_a_thread_when_that_is_said(run: Run, session: Session) -> None:
    at = ("s", AGENT, "material", "-u", "ann")
    assert "the session has no threads yet" in refused(await run("thread", "inject", *at))
    assert "accepted" in shown(await run("thread", "inject", *at, "--create"))
    assert "accepted" in shown(await run("thread", "inject", *at))
    assert (await session.thread(AGENT).status()).control.injected == 2


async def test_a_turn_for_an_agent_nobody_knows_is_kept_and_that_is_said(
    run: Run, session: Session, hands: Hands
) -> None:
    submit = ("submit", "x", "-s", "s", "-u", "ann", "-a")
    result = await run(*submit, "ecko")
    assert "accepted as turn" in shown(result)
    assert f"no live worker knows the agent ecko; did you mean {AGENT}?" in result.stderr
    assert f"they know {AGENT}" in (await run(*submit, "zzz")).stderr
    assert "no live worker" not in (await run(*submit, AGENT)).stderr


async def test_a_session_that_is_not_there_is_named_and_its_namesake_of_another_user_is_hinted_at(
    run: Run, client: Client, session: Session
) -> None:
    await client.session(None, "open").create()
    told = refused(await run("session", "show", "s"))
    assert "there is no session s of the anonymous user; there is one with --user ann" in told
    assert "there is one with no --user" in refused(await run("session", "pause", "open", "-u", "ann"))
    told = refused(await run("submit", "x", "-s", "opem", "-a", AGENT))
    assert "no session opem of the anonymous user; create it first; did you mean open?; no --user was given" in told
    told = refused(await run("thread", "show", "s", AGENT))
    assert "there is no session s of the anonymous user; there is one with --user ann" in told


async def test_the_client_of_a_program_gets_no_names_of_other_users(client: Client, session: Session) -> None:
    with pytest.raises(NotFound) as missing:
        await client.session("bob", "s").status()
    assert "ann" not in f"{missing.value} {getattr(missing.value, '__notes__', '')}"
