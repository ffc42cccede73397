"""Options that several verbs have, declared once."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from volvelle.cli.words import Output, Within
from volvelle.domains import EXPERT_LOAD, MARGIN, SEQUENCES, TOKENS, WIDTH
from volvelle.errors import DescriptionError
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

expert_load_option = click.option(
    "--expert-load",
    default=1.0,
    type=Within(EXPERT_LOAD),
    show_default=True,
    help="Tokens of the busiest expert over the even share.",
)


class _Stack(click.Option):
    """``--stack NAME``, or the file of a calibration that ``--calibrated`` names, which says its software itself."""

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> Any:
        """The name, or the file."""
        file = opts.get("calibrated")
        if file and opts.get(self.name):
            raise DescriptionError(
                f"--calibrated {file} says its software itself; leave out --stack {opts[self.name]}, or the file"
            )
        return super().handle_parse_result(ctx, {**opts, self.name: str(file)} if file else opts, args)


def stack_options(usually: str = "the usual one of the chip") -> Callable[[Command], Command]:
    """Software that trains, by its name or as own runs have it."""
    return together(
        click.option("--stack", cls=_Stack, default="", help=f"Software that trains, like fsdp. [default: {usually}]"),
        click.option(
            "--calibrated",
            metavar="FILE.yaml",
            expose_value=False,
            help="What own runs taught, as volvelle calibrate from --save writes it.",
        ),
    )


run_options = together(
    stack_options(),
    click.option(
        "--tokens", type=Within(TOKENS), help="Tokens to train on in all, like 2T or 15e12: days, money, energy."
    ),
)
margin_option = click.option(
    "--margin", type=Within(MARGIN), help="Share of memory to leave free, like 10%. [default: 5 %]"
)
anyway_option = click.option(
    "--anyway", is_flag=True, help="Answer with a wide range where no run is like it in two ways at once."
)
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


launch_options = together(
    click.option(
        "--emit",
        metavar="TARGET",
        help="Files that launch it: vllm, sglang, trtllm or dynamo, or one at a version, like vllm@0.19.0.",
    ),
    click.option(
        "--into", type=Output(folder=True), metavar="FOLDER", help="Write those files, rather than show them."
    ),
    click.option("--checkpoint", metavar="NAME", help="What the engine loads. [default: the model's, on the hub]"),
)
"""Files of an engine."""
