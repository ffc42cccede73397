"""Groups of commands that every application gets by being registered."""

from collections.abc import Callable
from typing import Any

import click

from volvelle.applications.contract import AnyApplication
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.cli.suggestions import SuggestingGroup


class ApplicationGroup(SuggestingGroup):
    """A command whose subcommands are made of applications, each loaded when it is asked for."""

    def __init__(self, *args: Any, make: Callable[[AnyApplication], click.Command | None], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._make = make

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the applications that have the command, and the other subcommands."""
        known = [word for word in APPLICATIONS if self._make(application(word)) is not None]
        return sorted([*known, *super().list_commands(ctx)])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of an application."""
        return self._make(application(name)) if name in APPLICATIONS else super().get_command(ctx, name)
