"""`turnwright webhooks create|list|delete`: where a gateway posts what is committed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from turnwright.client.cli.options import After, Json, Limit, RequestId, User
from turnwright.client.cli.plain import iso, session_key
from turnwright.client.cli.running import Runner
from turnwright.client.cli.screen import Screen, local
from turnwright.client.client import Client
from turnwright.client.hooked import Hooked
from turnwright.journal.errors import InvalidInput
from turnwright.journal.webhooks import Webhook

Url = Annotated[str, typer.Argument(metavar="URL", help="Where to: https, and a public address.")]
WebhookId = Annotated[str, typer.Argument(metavar="WEBHOOK", help="The webhook's id, as `webhooks list` shows it.")]
OfSession = Annotated[str | None, typer.Option("--session", "-s", help="Of this session (of --user).")]
OfTurn = Annotated[str | None, typer.Option("--turn", help="Of this turn: its id, or the beginning of it.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Only entries of this type, such as turn.completed; may be repeated."),
]
Position = Annotated[
    int | None,
    typer.Option("--after", min=0, metavar="POSITION", help="Begin behind this position; else now, or with the turn."),
]
TIMES = ("created", "failing_since", "next_try", "ended")
TOLD = ("webhook_id", "turn_id", "url", "principal", "state", "position", "tries", "last_error")
COLUMNS = ("webhook", "of", "url", "types", "state", "position", "failure")


class WebhooksCommands:
    """The commands with the runner they use."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def add_to(self, app: typer.Typer) -> None:
        """Add them to a group."""
        app.command("create")(self.create)
        app.command("list")(self.list_)
        app.command("delete")(self.delete)

    def create(
        self,
        url: Url,
        *,
        session: OfSession = None,
        user: User = None,
        turn: OfTurn = None,
        types: Types = None,
        after: Position = None,
        request_id: RequestId = None,
        as_json: Json = False,
    ) -> None:
        """Have what is committed to a session or a turn posted to a URL; the secret is shown once."""

        async def run(client: Client, screen: Screen) -> None:
            of = await _hooked(client, session, user, turn)
            made = await of.create_webhook(url, types=tuple(types or ()), after=after, request_id=request_id)
            if screen.as_json:
                screen.json(_plain(made.webhook) | {"secret": made.secret})
                return
            screen.line(made.secret)
            screen.note(f"the secret of webhook {made.webhook.webhook_id}; it is not shown again")
            screen.note("a gateway delivers: `turnwright gateway`, or that of `turnwright dev`")

        self._runner.run(run, as_json=as_json)

    def list_(
        self,
        *,
        session: OfSession = None,
        user: User = None,
        turn: OfTurn = None,
        after: After = None,
        limit: Limit = 50,
        as_json: Json = False,
    ) -> None:
        """List the webhooks of a session with those of its turns, or of one turn, oldest first."""

        async def run(client: Client, screen: Screen) -> None:
            page = await (await _hooked(client, session, user, turn)).webhooks(after, limit)
            if screen.as_json:
                screen.json({"webhooks": [_plain(webhook) for webhook in page.items], "next": page.next})
                return
            none = "no webhook; `turnwright webhooks create` makes one"
            screen.table(COLUMNS, [_row(webhook) for webhook in page.items], none)
            if page.next is not None:
                screen.note(f"more: --after {page.next}")

        self._runner.run(run, as_json=as_json)

    def delete(
        self,
        webhook: WebhookId,
        *,
        session: OfSession = None,
        user: User = None,
        turn: OfTurn = None,
        as_json: Json = False,
    ) -> None:
        """Remove a webhook; nothing is sent to it from then on."""

        async def run(client: Client, screen: Screen) -> None:
            await (await _hooked(client, session, user, turn)).delete_webhook(webhook)
            screen.show({"deleted": webhook}, f"nothing is sent to webhook {webhook} any more")

        self._runner.run(run, as_json=as_json)


async def _hooked(client: Client, session: str | None, user: str | None, turn: str | None) -> Hooked:
    """The session or the turn that is meant.

    Raises:
        InvalidInput: the options name none, or more than one.
        NotFound: there is no such turn.
    """
    if (session is None) == (turn is None):
        raise InvalidInput("say whose webhooks: --session NAME (with --user), or --turn TURN")
    if session is not None:
        return client.session(user, session)
    if user is not None:
        raise InvalidInput("--user goes with --session; a turn is known by its id")
    return await client.turn(turn or "")


def _plain(webhook: Webhook) -> dict[str, Any]:
    times = {f"{name}_at": iso(getattr(webhook, f"{name}_us")) for name in TIMES}
    told = {name: getattr(webhook, name) for name in TOLD}
    return session_key(webhook.session) | told | {"types": list(webhook.types)} | times


def _row(webhook: Webhook) -> tuple[str, ...]:
    failure = webhook.last_error or ""
    if webhook.next_try_us is not None:
        failure += f"; tried again at {local(webhook.next_try_us)}"
    of = webhook.session.session if webhook.turn_id is None else webhook.turn_id
    types = ", ".join(webhook.types) or "all"
    return webhook.webhook_id, of, webhook.url, types, webhook.state, str(webhook.position), failure
