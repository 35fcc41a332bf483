"""Mistakes in the command line itself are told like every other error: one line, or one JSON object, and exit code 2.

Rule: what the parser says is kept, and what was probably meant is added: a near name, the place of an option that
stands before the command, the groups that have a command of that name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from turnwright.client.cli.screen import Screen

JSON_OPTION = "--json"
_FROM_THE_PARSER = "Value error, "
_HELP_WAS_SHOWN = "NoArgsIsHelpError"  # typer tells it by its name too; the class is not public


class Commands(TyperGroup):
    """The group of all commands, for `typer.Typer(cls=Commands)`."""

    def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override]  # noqa: ANN401 - typer has more by position, which nobody gives
        """Run what the arguments say, and exit with its code."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        try:
            code = super().main(args, standalone_mode=False, **extra)
        except typer.TyperException as error:
            given = sys.argv[1:] if args is None else args
            code = self._tell(error, Screen(as_json=JSON_OPTION in given))
        except typer.Abort:
            Screen(as_json=False).note("stopped")
            code = 1
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's own types are not public
        """The command that is meant; where there is none, the groups that have one of that name are named."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            groups = [name for name, group in self.commands.items() if args[0] in getattr(group, "commands", {})]
            if groups:
                error.message += f" There is {', '.join(f'`{ctx.command_path} {name} {args[0]}`' for name in groups)}"
            raise

    def _tell(self, error: typer.TyperException, screen: Screen) -> int:
        if type(error).__name__ != _HELP_WAS_SHOWN:
            context: typer.Context | None = getattr(error, "ctx", None)
            said = [error.format_message().replace(_FROM_THE_PARSER, "").rstrip(".")]
            if context is not None:
                said += self._place(getattr(error, "option_name", None), context)
                said.append(f"see `{context.command_path} --help`")
            screen.error("usage", "; ".join(said))
        return error.exit_code

    def _place(self, option: str | None, context: typer.Context) -> Iterator[str]:
        known = {name for parameter in self.params for name in parameter.opts}
        if context.parent is not None and option in known:
            yield f"it stands before the command: `{context.find_root().command_path} {option} … {context.info_name} …`"
