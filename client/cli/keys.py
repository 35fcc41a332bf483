"""`turnwright keys create|list|revoke`: who may use the gateway."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from turnwright.client.cli.options import After, Json, Limit
from turnwright.client.cli.plain import iso
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, local
from turnwright.client.client import Client
from turnwright.journal.api_keys import LIFE_DAYS_MAX, ApiKey, Role

DAY_S = 86_400
Name = Annotated[str, typer.Argument(metavar="NAME", help="Who acts with it, for the records.")]
KeyId = Annotated[str, typer.Argument(metavar="KEY", help="The key's id, as `keys list` shows it.")]
RoleOption = Annotated[
    Role, typer.Option("--role", help="caller: what is the user's; operator: all users'; admin: also keys and erasing.")
]
KeyUser = Annotated[
    str | None, typer.Option("--user", "-u", help="Whose sessions it reaches; without it, the anonymous user's.")
]
Days = Annotated[int | None, typer.Option("--days", min=1, max=LIFE_DAYS_MAX, help="For how long it is valid.")]
COLUMNS = ("key", "name", "role", "user", "created", "valid")


class KeysCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("create")(self.create)
        app.command("list")(self.list_)
        app.command("revoke")(self.revoke)

    def create(
        self, name: Name, *, role: RoleOption = "caller", user: KeyUser = None, days: Days = None, as_json: Json = False
    ) -> None:
        """Make a key for the gateway; it is shown once."""

        async def run(client: Client, screen: Screen) -> None:
            expires_in_s = None if days is None else days * DAY_S
            made = await client.create_key(name, role=role, user=user, expires_in_s=expires_in_s)
            if screen.as_json:
                screen.json(_plain(made.key) | {"token": made.token})
                return
            screen.line(made.token)
            screen.note(f"key {made.key.key_id} of {name} ({role}); it is not shown again")

        self._runner.run(run, as_json=as_json)

    def list_(self, *, after: After = None, limit: Limit = 50, as_json: Json = False) -> None:
        """List the tenant's keys, oldest first."""

        async def run(client: Client, screen: Screen) -> None:
            page = await client.keys(after=after, limit=limit)
            if screen.as_json:
                screen.json({"keys": [_plain(key) for key in page.items], "next": page.next})
                return
            screen.table(COLUMNS, [_row(key) for key in page.items], "no key; `turnwright keys create` makes one")
            if page.next is not None:
                screen.note(f"more: --after {page.next}")

        self._runner.run(run, as_json=as_json)

    def revoke(self, key: KeyId, *, as_json: Json = False) -> None:
        """Let a key be valid no more, from its next use on, and end its open streams."""

        async def run(client: Client, screen: Screen) -> None:
            await client.revoke_key(key)
            screen.show({"revoked": key}, f"key {key} is valid no more")

        self._runner.run(run, as_json=as_json)


def _plain(key: ApiKey) -> dict[str, Any]:
    times = {f"{name}_at": iso(getattr(key, f"{name}_us")) for name in ("created", "expires", "revoked")}
    return {"key_id": key.key_id, "tenant": key.tenant} | key.grant.model_dump(mode="json") | times


def _row(key: ApiKey) -> tuple[str, ...]:
    grant = key.grant
    if key.revoked_us is not None:
        valid = f"revoked {local(key.revoked_us)}"
    else:
        valid = "until revoked" if key.expires_us is None else f"until {local(key.expires_us)}"
    return key.key_id, grant.name, grant.role, grant.user or "", local(key.created_us), valid
