"""Commands that every application gets by being registered: a verb's group, and options that applications declare."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from volvelle.applications.contract import Option
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.cli.suggestions import SuggestingGroup
from volvelle.cli.words import Output, Within

Command = Callable[..., None]
DATA = click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="Rows of your own, in the columns of a shipped table.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, in SI units.")


class ApplicationGroup(SuggestingGroup):
    """A verb whose commands are made of applications, each loaded when it is asked for."""

    def __init__(self, *args: Any, make: Callable[[Any], click.Command | None], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._make = make

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Applications that know the verb, and what the verb has beside them."""
        known = [word for word in APPLICATIONS if self._make(application(word)) is not None]
        return sorted([*known, *super().list_commands(ctx)])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of an application."""
        return self._make(application(name)) if name in APPLICATIONS else super().get_command(ctx, name)


def own_options(options: Sequence[Option]) -> Callable[[Command], Command]:
    """Options that an application declares, for a command."""

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = _declared(option)(command)
        return command

    return added


def _declared(option: Option) -> Callable[[Command], Command]:
    kind: Any = option.kind
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.kind is Path:
        kind = Output()
    elif option.domain is not None:
        kind = Within(option.domain)
    if not option.flag.startswith("-"):
        if option.default is None:
            return click.argument(option.flag)
        return click.argument(option.flag, default=option.default)
    if option.kind is bool:
        return click.option(option.flag, is_flag=True, help=option.help)
    return click.option(
        option.flag,
        type=kind,
        default=() if option.multiple else option.default,
        multiple=option.multiple,
        metavar=option.metavar,
        show_default=option.default is not None,
        help=option.help,
    )


def chosen(options: Sequence[Option], given: dict[str, Any]) -> dict[str, Any]:
    """The values of an application's own options."""
    return {option.name: given[option.name] for option in options}
