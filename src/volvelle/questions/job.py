"""The question of ``volvelle job``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from volvelle.base.option_kinds import InputFile, Named, Number, Switch, Text, Words
from volvelle.base.question import Option, option
from volvelle.domains import (
    ACCELERATORS,
    EVENTS,
    GAP,
    LOST_SHARE,
    NO_SHARE,
    PART_DAYS,
    RECOVERY,
    RENT,
    SPARES,
    YEAR,
)
from volvelle.questions.machine import RANDOM_SEED
from volvelle.questions.shared import CHECK
from volvelle.questions.training import RUN_TOKENS, STEP, StatedStep

Way = Literal["asynchronous", "synchronous", "memory", "two-tier", "elastic"]
WAYS: tuple[Way, ...] = ("asynchronous", "synchronous", "memory", "two-tier", "elastic")
"""How a job recovers. Checkpoints are written while the job runs or while it waits, are kept in the memory of peers, or
there and in storage; or replicas restart alone."""
Phases = Path | str | Sequence[Mapping[str, object]]
"""A file of phases, or the list that it holds under ``phases``."""
_FAILURES, _MONEY = "Failures", "Money and energy"


def _failure(flag: str, text: str) -> Option:
    return Option(flag, text, kind=Number(RECOVERY), group=_FAILURES, metavar="TIME")


class JobQuestion(StatedStep):
    """Estimate the days of training MODEL on SYSTEM, failures included, with money, energy and carbon.

    Give a layout by its options, as for estimate. Without one, the job runs the fastest layout that plan finds. With
    --step, the job runs at the step time that you measured.

    With --recovery, checkpoints are written while the job runs (asynchronous) or waits (synchronous), are kept by peers
    (memory), or by peers and in storage (two-tier). With elastic, replicas restart alone.
    """

    subcommand = "job"
    summary = "How long a run really takes, failures included, and what it costs and burns."
    examples = (
        "llama3-70b --on dgx-h100/2048 --tokens 15T --batch 2048 --tp 8 --pp 4 --rent lambda",
        "llama3-8b --on dgx-h100/64 --tokens 1T --batch 512 --step '8 s' --events 4 --node-days 900",
    )

    tokens: str | float | None = option(RUN_TOKENS, default=None, help="Training tokens in all, like 15T or 15e12.")
    phases: Phases | None = option(
        Option(
            "--phases",
            "File of phases with tokens, batch, sequence, layout or step each.",
            kind=InputFile(("list", "tuple")),
            metavar="FILE",
        ),
        default=None,
    )
    step: str | float | None = option(STEP, default=None)
    recovery: Way = option(
        Option(
            "--recovery",
            "How checkpoints are kept, and what restarts after a failure.",
            kind=Words(WAYS),
            group=_FAILURES,
        ),
        default="asynchronous",
    )
    restart: str | float | None = option(
        _failure("--restart", "Time from a failure to the next step, like '12 min'."), default=None
    )
    stall: str | float | None = option(
        _failure("--stall", "Time that a checkpoint stops the job, like '5 s'."), default=None
    )
    write: str | float | None = option(
        _failure("--write", "Time to write a checkpoint while the job runs, like '60 s'."), default=None
    )
    interval: str | float | None = option(
        _failure("--interval", "Work between checkpoints, like '30 min'."), default=None, usually="the best"
    )
    replicas: int = option(
        Option(
            "--replicas",
            "Replicas that restart alone, with --recovery elastic.",
            kind=Number(ACCELERATORS),
            group=_FAILURES,
        ),
        default=1,
    )
    common: str | float = option(
        Option(
            "--common",
            "Share of failures that stop all elastic replicas.",
            kind=Number(NO_SHARE),
            group=_FAILURES,
        ),
        default="0 %",
    )
    survived: str | float | None = option(
        Option(
            "--survived",
            "Share of failures that two tiers survive in memory.",
            kind=Number(NO_SHARE),
            group=_FAILURES,
        ),
        default=None,
    )
    storage_stall: str | float | None = option(
        _failure("--storage-stall", "Stall of a checkpoint to storage, with two tiers."), default=None
    )
    storage_restart: str | float | None = option(
        _failure("--storage-restart", "Restart from storage, with two tiers."), default=None
    )
    spares: int | None = option(
        Option(
            "--spares",
            "Spare nodes of the job.",
            kind=Number(SPARES),
            group=_FAILURES,
            usually="a pool that others pay for",
        ),
        default=None,
    )
    hazard: Path | str | None = option(
        Option(
            "--hazard",
            "File of your failure rates: part, what_counts, rate.",
            kind=InputFile(),
            group=_FAILURES,
            metavar="FILE",
        ),
        default=None,
    )
    events: float | None = option(
        Option("--events", "Interruptions that you observed. Needs --node-days.", kind=Number(EVENTS), group=_FAILURES),
        default=None,
    )
    node_days: float | None = option(
        Option("--node-days", "Observation period of --events, in node-days.", kind=Number(PART_DAYS), group=_FAILURES),
        default=None,
    )
    preempted_every: str | float | None = option(
        Option(
            "--preempted-every",
            "Time between preemptions, like '12 h'.",
            kind=Number(GAP),
            group=_FAILURES,
            metavar="TIME",
        ),
        default=None,
    )
    capacity_wait: str | float | None = option(
        _failure("--capacity-wait", "Time until preempted capacity is back, like '20 min'."), default=None
    )
    planned: str | float = option(
        Option(
            "--planned",
            "Share of time of planned stops and evaluation.",
            kind=Number(LOST_SHARE),
            group=_FAILURES,
        ),
        default="0 %",
    )
    slow_nodes: str | float = option(
        Option("--slow-nodes", "Share of nodes that are slow.", kind=Number(NO_SHARE), group=_FAILURES), default="0 %"
    )
    slower: str | float = option(
        Option("--slower", "Slowdown of slow nodes.", kind=Number(NO_SHARE), group=_FAILURES), default="10 %"
    )
    rent: str | float | None = option(
        Option(
            "--rent",
            "Cloud to rent from, like lambda, or the price of a GPU, like '3 USD/h'.",
            kind=Named("a cloud or a price per hour", domain=RENT),
            group=_MONEY,
            metavar="CLOUD|USD/h",
            configured="prices.rent",
        ),
        default=None,
    )
    spot: bool = option(
        Option("--spot", "Pay the spot price of the cloud in --rent.", kind=Switch(), group=_MONEY), default=False
    )
    own: bool = option(
        Option("--own", "Add the cost of owning the machine.", kind=Switch(), group=_MONEY), default=False
    )
    region: str | None = option(
        Option(
            "--region",
            "Region of a cloud, or country, whose grid powers the machine, like europe-north1.",
            kind=Text(),
            group=_MONEY,
        ),
        default=None,
    )
    year: int | None = option(
        Option("--year", "Year of the grid's data.", kind=Number(YEAR), group=_MONEY, usually="the last known"),
        default=None,
    )
    check: Literal["simulate"] | None = option(
        CHECK, default=None, help="Simulate the run failure by failure, too.", kind=Words(("simulate",))
    )
    seed: int = option(RANDOM_SEED, default=0, help="Seed of samples and simulated runs.")
