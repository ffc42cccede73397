"""The question of ``volvelle collective``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from volvelle.base.option_kinds import Instance, Joined, Number, Text, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import ACCELERATORS, SIZE
from volvelle.errors import DescriptionError
from volvelle.questions.machine import CALIBRATED, RANDOM_SEED, ROUTING, SYSTEM, OtherMachine
from volvelle.questions.shared import ESTIMATORS, GROUP

if TYPE_CHECKING:
    from volvelle.system.cluster import Cluster

Group = int | str | Sequence[int] | None
"""A number of consecutive GPUs, or GPUs per network dimension from the innermost, like ``8x64``; None: all."""
_PLACEMENT = Option(
    "--placement",
    "Placement of ranks: in-order, interleaved or shuffled. Needs --with flows.",
    kind=Text(lower=True),
    group="Method",
)
_BESIDE = Option(
    "--beside",
    "Another job's collective: 'all-to-all 1GB' or same. Repeatable; needs --with flows.",
    group="Method",
    several=True,
    metavar="'OPERATION SIZE'",
)


class FlowQuestion(Question):
    """Placement of a collective whose messages share links, other jobs at the same time, and routing of messages."""

    subcommand = "collective"

    placement: str = option(_PLACEMENT, default="in-order")
    beside: str | Sequence[str] = option(_BESIDE, default=())
    routing: str | None = option(ROUTING, default=None)
    seed: int = option(RANDOM_SEED, default=0)


class CollectiveQuestion(OtherMachine):
    """Show how long a collective of SIZE takes on SYSTEM, where the time goes, and which algorithm is fastest.

    OPERATION is all-reduce, all-gather, reduce-scatter, all-to-all or broadcast. SIZE is the size of the whole tensor,
    like 1GB: the data of every GPU before an all-reduce or a reduce-scatter, after an all-gather or a broadcast, and
    the data that every GPU sends in an all-to-all.
    """

    subcommand = "collective"
    summary = "How long one collective takes, and what limits it."
    examples = (
        "all-reduce 1GB --on dgx-h100/1024 --group 8x64",
        "all-to-all 64MB --on dgx-h100/64 --with flows",
    )

    operation: str = option(Option("OPERATION", "Collective, like all-reduce.", kind=Text(lower=True)), kw_only=False)
    size: str | float = option(Option("SIZE", "Size of the whole tensor, like 1GB.", kind=Number(SIZE)), kw_only=False)
    on: "Cluster | str" = option(SYSTEM, help="Machine and number of GPUs, like dgx-h100/1024.")
    group: Group = option(
        GROUP,
        default=None,
        help="Number of GPUs, or GPUs per network dimension from innermost, like 8x64.",
        kind=Joined(Number(ACCELERATORS)),
        metavar="GPUS",
        usually="all",
    )
    algorithm: str = option(
        Option(
            "--algorithm",
            "nested (as in training), ring, tree, halving-doubling, direct or in-network.",
            kind=Text(lower=True),
            group="Method",
        ),
        default="nested",
    )
    estimator: Literal["closed", "flows"] = option(
        ESTIMATORS,
        default="closed",
        help="closed: formulas alone; flows: also messages that share links.",
        kind=Words(("closed", "flows")),
    )
    placement: str | None = option(_PLACEMENT, default=None, usually="in-order")
    beside: str | Sequence[str] = option(_BESIDE, default=())
    routing: str | None = option(
        ROUTING,
        default=None,
        help="Routing: d-mod-k, random or adaptive. Needs --with flows.",
        usually="the machine's own",
    )
    seed: int | None = option(
        RANDOM_SEED, default=None, help="Seed of random routes and shuffled ranks. Needs --with flows.", usually="0"
    )
    flows: FlowQuestion | None = option(
        Option(
            "",
            "Flows as one value, in place of --with flows and its options.",
            kind=Instance("a FlowQuestion", ("FlowQuestion",)),
            group="Method",
        ),
        default=None,
    )
    calibrated: Path | str | None = option(CALIBRATED, default=None)

    @property
    def as_flows(self) -> FlowQuestion | None:
        """The question about messages that share links; None: it is not asked."""
        values = {part.name: getattr(self, part.name) for part in FlowQuestion.options()}
        stated = {name: value for name, value in values.items() if value not in (None, ())}
        if self.flows is not None and stated:
            raise DescriptionError(f"both flows and {', '.join(stated)} are given; give one or the other")
        if self.estimator == "flows":
            return self.flows or FlowQuestion(**stated)
        if stated:
            raise DescriptionError(f"--{next(iter(stated))} is given and not used; add --with flows, or leave it out")
        return self.flows
