"""The questions of ``volvelle crosscheck`` and ``volvelle why-unsure``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from volvelle.base.option_kinds import Listed, Named, Number, Switch, Text
from volvelle.base.question import Option, option
from volvelle.domains import SAMPLES
from volvelle.questions.machine import RANDOM_SEED, ROUTING, SYSTEM
from volvelle.questions.shared import ESTIMATORS
from volvelle.questions.training import MODEL, LaidOutStep

if TYPE_CHECKING:
    from volvelle.mapping.parallelism import ParallelMapping
    from volvelle.system.cluster import Cluster
    from volvelle.workload.families.shape import Transformer
    from volvelle.workload.graph import Workload


class CrosscheckQuestion(LaidOutStep):
    """Estimate one training step of MODEL by several estimators, and explain every difference."""

    subcommand = "crosscheck"
    summary = "One step by formulas, by a replay and with flows on links: do they agree, and if not, why."
    examples = (
        "gpt3-175b --on dgx-a100/1024 --tp 8 --pp 8 --batch 1536",
        "llama3-8b --on dgx-h100/64 --tp 8 --batch 128 --with closed,flows",
    )

    estimators: Sequence[str] | str = option(
        ESTIMATORS,
        default=("closed", "event"),
        help="Two or more of closed (formulas), event (a replay), flows and simgrid (collectives on links).",
        kind=Listed(Text(lower=True)),
    )
    routing: str | None = option(ROUTING, default=None)
    seed: int = option(RANDOM_SEED, default=0)


class CrosscheckOrSuiteQuestion(CrosscheckQuestion):
    """Estimate one training step of MODEL by several estimators, and explain every difference.

    With --suite, a fixed suite of workloads is checked instead.
    """

    model: "Transformer | Workload | Path | str | None" = option(MODEL, default=None, kw_only=False)  # type: ignore[assignment]
    on: "Cluster | str | None" = option(SYSTEM, default=None)  # type: ignore[assignment]
    suite: bool = option(
        Option(
            "--suite",
            "Check formulas against replays of 51 workloads on 8 to 65,536 GPUs.",
            kind=Switch(),
            group="Method",
        ),
        default=False,
    )


class WhyUnsureQuestion(LaidOutStep):
    """Show which inputs cause the uncertainty of a step time, and what to measure to reduce it.

    The model's own error is one of them. With --against, it is the uncertainty of the difference of two layouts.
    """

    subcommand = "why-unsure"
    summary = "Which numbers make an answer uncertain, and what to measure first."
    examples = (
        "llama3-70b --on dgx-h100/64 --batch 512 --tp 4 --pp 4",
        "llama3-8b --on dgx-h100/8 --batch 128 --zero 2 --against 'tp2 zero1'",
    )

    against: "str | ParallelMapping" = option(
        Option(
            "--against",
            "Another layout, like 'tp8 pp4 zero1', to explain why the order is unsure.",
            kind=Named("text or a ParallelMapping", ("ParallelMapping",)),
            group="Method",
            metavar="LAYOUT",
        ),
        default="",
    )
    samples: int = option(
        Option("--samples", "Samples of each set; a power of two is best.", kind=Number(SAMPLES), group="Method"),
        default=4096,
    )
    seed: int = option(RANDOM_SEED, default=0)
