"""What became of a command about a turn."""

from __future__ import annotations

from turnwright.client.cli import plain
from turnwright.client.cli.permissions import KINDS
from turnwright.client.cli.screen import Screen
from turnwright.client.client import Client
from turnwright.client.turn import Turn
from turnwright.journal.commands import Receipt
from turnwright.journal.entries import PermissionsChanged
from turnwright.journal.entry_ids import request_of
from turnwright.journal.permissions.rules import rule_text
from turnwright.journal.state_parts import PermissionState

ANSWER_ENTRIES_MAX = 10  # an answer's own and the facts that follow from it


async def tell_receipt(turn: Turn, receipt: Receipt, screen: Screen) -> None:
    """Show an accepted command's receipt, and people where the turn stands now."""
    if screen.as_json:
        screen.json(plain.receipt(receipt))
    else:
        view = await turn.status()
        screen.line(f"accepted; turn {turn.id} is {view.status} (revision {view.revision})")


async def tell_rule(client: Client, turn: Turn, receipt: Receipt, screen: Screen) -> None:
    """Tell people which rule an answer with `--always` has added."""
    if screen.as_json:
        return
    thread = client.session(turn.key.user, turn.key.session).thread(turn.key.agent, turn.key.thread)
    found = await thread.history(max(0, receipt.seq - ANSWER_ENTRIES_MAX), ANSWER_ENTRIES_MAX)
    for entry in found:
        if isinstance(entry.payload, PermissionsChanged) and request_of(entry.entry_id) == receipt.request_id:
            before = _rules((await thread.state(entry.seq - 1)).permissions)
            new = [rule for rule in _rules(entry.payload.permissions) if rule not in before]
            added = f"added the rule {', '.join(new)}" if new else "the rule was there already"
            screen.line(f"{added}; it holds for thread {turn.key.thread} of {turn.key.agent} from now on")


def _rules(permissions: PermissionState) -> list[str]:
    return [f"{kind} {rule_text(rule)}" for kind in KINDS for rule in getattr(permissions, kind)]
