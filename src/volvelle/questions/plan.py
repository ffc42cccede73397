"""The questions of ``volvelle plan MODEL``: the best layout, and how many GPUs a run takes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from volvelle.base.option_kinds import Instance, Number, Text, Words
from volvelle.base.question import Option, option
from volvelle.domains import DAYS, PRICE
from volvelle.questions.machine import PROGRESS, SYSTEM
from volvelle.questions.shared import EMIT, TOP
from volvelle.questions.training import ANYWAY, RUN_TOKENS, SearchedStep

if TYPE_CHECKING:
    from volvelle.search.space import Space
    from volvelle.system.cluster import Cluster

Framework = Literal["megatron", "torchtitan", "deepspeed", "fsdp"]
FRAMEWORKS: tuple[Framework, ...] = ("megatron", "torchtitan", "deepspeed", "fsdp")
"""Frameworks whose launch flags can be written."""
Rank = Literal["centre", "likely", "expected"]
RANKS: tuple[Rank, ...] = ("centre", "likely", "expected")

_DAYS = Option(
    "--days",
    "Find the fewest GPUs that finish within these days, failures included.",
    kind=Number(DAYS),
    group="Limits",
)
_USD = Option("--usd", "Find the fewest GPUs within a budget, like 5MUSD.", kind=Number(PRICE), group="Limits")


class PlanQuestion(SearchedStep):
    """Rank every layout of a model on a machine, and explain the first."""

    subcommand = "plan"
    summary = "The best layout for a model on a machine, or the best run of a benchmark."
    examples = (
        "llama3-70b --on dgx-h100/64 --batch 1024 --seq 8192 --tokens 2T",
        "llama3-405b --on dgx-h100 --batch 2048 --tokens 15T --days 60",
    )

    on: "Cluster | str" = option(SYSTEM)
    tokens: str | float | None = option(RUN_TOKENS, default=None)
    framework: Framework | None = option(
        EMIT, default=None, help="Print launch flags of the best layout for a framework.", kind=Words(FRAMEWORKS)
    )
    top: int = option(TOP, default=4, help="Layouts to show, in addition to the best of each kind.")
    rank: Rank = option(
        Option(
            "--rank",
            "Order layouts by predicted time, by probability of being fastest, or by mean time.",
            kind=Words(RANKS),
            group="Search",
        ),
        default="centre",
    )
    space: "Space | None" = option(
        Option(
            "",
            "Layouts to consider as one value, in place of fields.",
            kind=Instance("a Space", ("Space",)),
            group="Search",
        ),
        default=None,
    )
    anyway: bool = option(ANYWAY, default=False)
    progress: Callable[[int], None] | None = option(PROGRESS, default=None)


class HowManyQuestion(SearchedStep):
    """Find the fewest GPUs of a kind of machine that train on all tokens by a date or within a budget."""

    subcommand = "plan"
    summary = "The fewest GPUs that keep a date or a budget."
    any_size = True

    on: str = option(SYSTEM, kind=Text(), help="Kind of machine without a GPU count, like dgx-h100.")
    tokens: str | float = option(RUN_TOKENS)
    days: float | None = option(_DAYS, default=None)
    usd: str | float | None = option(_USD, default=None)
    progress: Callable[[int, int], None] | None = option(PROGRESS, default=None)


class PlanOrCountQuestion(PlanQuestion):
    """Rank every layout of MODEL on SYSTEM, and explain the first.

    Give each option of a layout once or several times to restrict the search. With --days or --usd, SYSTEM has no GPU
    count, and the answer is the fewest GPUs that are enough.
    """

    days: float | None = option(_DAYS, default=None)
    usd: str | float | None = option(_USD, default=None)
