"""Options of commands that say what of a model is trained, by which optimiser and in which types."""

import click

from volvelle.cli.options.shared import together
from volvelle.cli.words import Within
from volvelle.domains import NO_LAYERS, RANK
from volvelle.workload.optimisers import MASTERS, OPTIMISERS
from volvelle.workload.tuning import BASES, FROZEN_PARTS, TARGETS

_TYPES = click.Choice(("fp32", "bf16"))

tuning_options = together(
    click.option("--lora", type=Within(RANK), help="Train adapters of this rank, all else frozen."),
    click.option("--qlora", type=Within(RANK), help="The same beside weights in 4 bits: --lora with --base nf4."),
    click.option(
        "--lora-targets",
        metavar="WORDS",
        help=f"Projections with an adapter, with commas: {', '.join(TARGETS)}. [default: all]",
    ),
    click.option("--base", type=click.Choice(BASES), help="Element type frozen matrices are kept in."),
    click.option("--freeze", multiple=True, type=click.Choice(tuple(FROZEN_PARTS)), help="A part that is not trained."),
    click.option("--freeze-layers", type=Within(NO_LAYERS), help="Layers at the start that are not trained."),
    click.option(
        "--optimizer", type=click.Choice(tuple(OPTIMISERS)), help="What is kept of a parameter. [default: adam]"
    ),
    click.option("--master", type=click.Choice(MASTERS), help="Element type of weights it updates. [default: fp32]"),
    click.option("--moments", type=_TYPES, help="Element type of its moments. [default: fp32]"),
    click.option("--gradients", type=_TYPES, help="Element type of gradients. [default: fp32]"),
    click.option(
        "--lengths",
        metavar="LENGTHS|FILE",
        help="Tokens of documents packed into a sequence, with shares, like 512:0.7,4096:0.3.",
    ),
)
"""All of them, without a value where nothing is said."""
