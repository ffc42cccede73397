"""Options that several verbs have, declared once."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from volvelle.cli.words import Within
from volvelle.domains import EXPERT_LOAD

Command = TypeVar("Command", bound=Callable[..., Any])


class _Changes(click.Option):
    """``--set FIELD=VALUE``, any number of times; gives the verb a table of them."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Field → value; None: nothing is set."""
        texts: tuple[str, ...] = super().process_value(ctx, value)
        if not texts:
            return None
        from volvelle.verbs.what_if import read_changes  # noqa: PLC0415 - keeps start-up short

        return read_changes(texts)


def set_option(command: Command) -> Command:
    """Numbers of the machine that are to be others than they are."""
    return click.option(
        "--set",
        "set",
        cls=_Changes,
        multiple=True,
        metavar="FIELD=VALUE",
        help="What if a number of the machine were another: scale_up.rate=2x, chip.memory.capacity=192GB, chip=b200. "
        "Several may be given; the machine as it is stands beside.",
    )(command)


def expert_load_option(command: Command) -> Command:
    """How unevenly tokens choose experts."""
    return click.option(
        "--expert-load",
        default=1.0,
        type=Within(EXPERT_LOAD),
        show_default=True,
        help="Tokens of the busiest expert over the even share.",
    )(command)
