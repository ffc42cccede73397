"""Options that several verbs have, declared once."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from volvelle.cli.words import Within
from volvelle.domains import SEQUENCES, WIDTH
from volvelle.workload.families.shape import TRAINING_LENGTH

Command = TypeVar("Command", bound=Callable[..., Any])


class _Changes(click.Option):
    """``--set FIELD=VALUE``, any number of times; gives the verb a table of them."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Field → value; None: nothing is set."""
        texts: tuple[str, ...] = super().process_value(ctx, value)
        if not texts:
            return None
        from volvelle.questions.machine import read_changes  # noqa: PLC0415 - keeps start-up short

        return read_changes(texts)


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several options as one, in the order in which help lists them."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


batch_options = together(
    click.option("--batch", type=Within(SEQUENCES), help="Sequences per step, over all GPUs."),
    click.option(
        "--seq",
        "sequence",
        type=Within(WIDTH),
        help=f"Tokens per sequence. [default: {TRAINING_LENGTH}, or the model's context if shorter]",
    ),
)
"""Sequences per step, and how long they are."""

machine_options = together(
    click.option(
        "--set",
        "set",
        cls=_Changes,
        multiple=True,
        metavar="FIELD=VALUE",
        help="What if a number of the machine were another: scale_up.rate=2x, chip.memory.capacity=192GB, chip=b200. "
        "Several may be given; the machine as it is stands beside.",
    ),
    click.option("--catalogue", type=click.Path(path_type=Path), help="A catalogue folder of your own."),
)
