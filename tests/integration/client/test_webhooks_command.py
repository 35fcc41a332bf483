"""`turnwright webhooks`: what operators do about webhooks in a terminal."""

from __future__ import annotations

import pytest

from tests.integration.client.hands import AGENT
from tests.integration.client.terminal import Run, lines, refused, shown
from turnwright.client import Client, Session

URL = "https://shop.example.com/hook"
OF_SESSION = ("--session", "s", "--user", "ann")


async def test_a_webhook_is_made_with_its_secret_listed_without_it_and_removed(run: Run, session: Session) -> None:
    turn = await session.submit("hello", agent=AGENT)
    types = ("--type", "turn.failed", "--type", "turn.completed")
    secret = shown(await run("webhooks", "create", URL, *OF_SESSION, *types)).strip()
    assert secret.startswith("whsec_")
    [made] = lines(await run("webhooks", "create", f"{URL}/2", "--turn", turn.id, "--after", "1", "--json"))
    assert (made["turn_id"], made["session"], made["position"]) == (turn.id, "s", 1)
    assert made["secret"] != secret

    table = await run("webhooks", "list", *OF_SESSION)
    assert [word in shown(table) for word in (URL, "turn.completed, turn.failed", turn.id)] == [True] * 3
    assert secret not in table.output
    [page] = lines(await run("webhooks", "list", *OF_SESSION, "--limit", "1", "--json"))
    [rest] = lines(await run("webhooks", "list", *OF_SESSION, "--after", page["next"], "--json"))
    [first], [second] = page["webhooks"], rest["webhooks"]
    assert (first["url"], first["types"], first["state"]) == (URL, ["turn.completed", "turn.failed"], "active")
    assert second | {"secret": made["secret"]} == made
    assert lines(await run("webhooks", "list", "--turn", turn.id[:20], "--json"))[0]["webhooks"] == [second]

    shown(await run("webhooks", "delete", made["webhook_id"], "--turn", turn.id))
    shown(await run("webhooks", "delete", first["webhook_id"], *OF_SESSION))
    assert (await session.webhooks()).items == ()
    assert "there is no webhook wh-" in refused(await run("webhooks", "delete", first["webhook_id"], *OF_SESSION))


async def test_a_request_that_is_repeated_makes_one(run: Run, session: Session) -> None:
    command = ("webhooks", "create", URL, *OF_SESSION, "--request-id", "hook")
    assert shown(await run(*command)) == shown(await run(*command))
    assert len((await session.webhooks()).items) == 1


@pytest.mark.usefixtures("session")
async def test_whose_they_are_must_be_said_and_must_be_there(run: Run, client: Client) -> None:
    for whose in ((), (*OF_SESSION, "--turn", "t-1"), ("--turn", "t-1", "--user", "ann")):
        refused(await run("webhooks", "list", *whose), 2)
    assert "no session none" in refused(await run("webhooks", "list", "--session", "none"))
    assert "no turn t-0" in refused(await run("webhooks", "create", URL, "--turn", "t-0"))
    assert "looks like https" in refused(await run("webhooks", "create", "shop", *OF_SESSION), 2)
    assert (await client.session("ann", "s").webhooks()).items == ()
