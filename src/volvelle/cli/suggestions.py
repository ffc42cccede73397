"""A group of commands that says which one was meant."""

from collections.abc import Mapping
from typing import ClassVar

import click

from volvelle.errors import brief, nearest_names


class SuggestingGroup(click.Group):
    """A group of commands; of an unknown one it says what was meant."""

    meant: ClassVar[Mapping[str, str]] = {}
    """Words for which people look → the command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names."""
        name = args[0]
        if name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        known = self.list_commands(ctx)
        near = [self.meant[name.lower()]] if name.lower() in self.meant else nearest_names(name, known)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(known)}."
        raise click.UsageError(f"No such command {brief(name)}; {hint}", ctx)
