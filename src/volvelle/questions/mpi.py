"""The question of ``volvelle mpi``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from volvelle.base.option_kinds import InputFile, Number, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import NO_SIZE, NumberDomain
from volvelle.questions.machine import CATALOGUE, OTHER_SYSTEM, RANDOM_SEED
from volvelle.questions.shared import ESTIMATORS
from volvelle.workload.message_passing.trace import RANKS

if TYPE_CHECKING:
    from volvelle.questions.machine import Folder
    from volvelle.system.cluster import Cluster

COMPUTE_RATIO = NumberDomain(1e-6, 1e6)
"""Seconds of computation over recorded seconds."""
OPERATIONAL_INTENSITY = NumberDomain(1e-6, 1e6)
"""FLOP per byte of memory traffic."""
Sharing = Literal["auto", "flows", "laws"]
"""Messages share links, or each message has the network to itself; auto: they share links up to 200,000 messages."""


class MpiQuestion(Question):
    """Show the messages, collectives, phases and loops of an MPI program, and how evenly its ranks are loaded.

    TRACE is a CSV of events, compressed by gzip or not, or the anchor file of an OTF2 archive. Several traces must be
    of one program on different numbers of ranks; the answer is about the largest, or with --ranks about more ranks.
    """

    subcommand = "mpi"
    summary = "An MPI trace: messages, loops, its time on another machine and on more ranks."
    examples = (
        "examples/mpi/traces/conjugate_gradient-16.csv.gz",
        "examples/mpi/traces/conjugate_gradient-16.csv.gz --on dgx-h100/16",
    )

    traces: Sequence[Path | str] = option(
        Option("TRACE", "Traces of one MPI program.", kind=InputFile(), several=True), kw_only=False
    )
    on: "Cluster | str | None" = option(
        OTHER_SYSTEM, default=None, help="Machine to replay on, rank r on GPU r, like dgx-h100/32."
    )
    ranks: int | None = option(
        Option("--ranks", "Extrapolate to this many ranks. Needs traces of at least two sizes.", kind=Number(RANKS)),
        default=None,
    )
    compute_ratio: float | None = option(
        Option(
            "--compute-ratio",
            "Computation time over recorded computation time. Needs --on.",
            kind=Number(COMPUTE_RATIO),
            group="Method",
            usually="1",
        ),
        default=None,
    )
    recorded_on: "Cluster | str | None" = option(
        OTHER_SYSTEM,
        flag="--recorded-on",
        default=None,
        help="Machine of the trace; scales computation by the roofline. Needs --intensity.",
    )
    intensity: float | None = option(
        Option(
            "--intensity",
            "FLOP per byte of memory traffic in the computation. Needs --recorded-on.",
            kind=Number(OPERATIONAL_INTENSITY),
            group="Method",
        ),
        default=None,
    )
    eager: str | float = option(
        Option(
            "--eager",
            "Largest message that does not wait for its receiver.",
            kind=Number(NO_SIZE),
            group="Method",
        ),
        default="64KiB",
    )
    sharing: Sharing = option(
        ESTIMATORS,
        default="auto",
        help="flows: messages share links; laws: formulas; auto: flows up to 200,000 messages.",
        kind=Words(get_args(Sharing)),
    )
    seed: int = option(RANDOM_SEED, default=0)
    catalogue: "Folder" = option(CATALOGUE, default=None)
