"""The question of ``volvelle cost``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from volvelle.base.option_kinds import Number, Switch, Text, Words
from volvelle.base.question import Option, option
from volvelle.domains import ENERGY_PRICE, LIFE, NO_SHARE, POWER, PRICE, SHARE, STEP_TIME, TOKENS
from volvelle.economics.price_book import PriceModel
from volvelle.questions.machine import SYSTEM, OtherMachine
from volvelle.questions.shared import PURPOSE_MODEL
from volvelle.questions.training import RUN_TOKENS, STEP

if TYPE_CHECKING:
    from volvelle.system.cluster import Cluster

_MONEY = "Money and energy"
PRICE_MODEL = replace(
    PURPOSE_MODEL,
    help="Prices of whole GPUs as offered, by parts, or as DFModel has them.",
    kind=Words(get_args(PriceModel)),
    group=_MONEY,
    metavar="",
)


class CostQuestion(OtherMachine):
    """Show what SYSTEM costs to buy, by part, its power, and what owning it costs over its life.

    Every price has a date, an interval and a source. The low and high columns take every price at that end at once, and
    the step time as well if --step-range is given.
    """

    subcommand = "cost"
    summary = "What a machine costs to buy and to own, by part."
    examples = (
        "--on dgx-h100/1024",
        "--on dgx-b200/64 --step '5.1 s' --tokens-per-step 4M --tokens 2T",
    )

    on: "Cluster | str" = option(SYSTEM)
    model: PriceModel = option(PRICE_MODEL, default="market")
    since: str = option(
        Option("--since", "Earliest offers of GPUs, like 2024-01.", kind=Text(), group=_MONEY, metavar="DATE"),
        default="",
    )
    until: str = option(
        Option("--until", "Latest offers of GPUs.", kind=Text(), group=_MONEY, metavar="DATE"), default=""
    )
    chip_price: str | float | None = option(
        Option(
            "--chip-price",
            "Price of one GPU instead of offers, like '30 kUSD'.",
            kind=Number(PRICE),
            configured="prices.gpu",
            group=_MONEY,
            metavar="USD",
        ),
        default=None,
    )
    chip_power: str | float | None = option(
        Option(
            "--chip-power",
            "Rated power of one GPU instead of the catalogue's, like '700 W'.",
            kind=Number(POWER),
            group=_MONEY,
            metavar="W",
        ),
        default=None,
    )
    life: str | float = option(
        Option(
            "--life",
            "Time over which the machine is paid off.",
            kind=Number(LIFE),
            configured="prices.life",
            group=_MONEY,
        ),
        default="4 years",
    )
    use: str | float = option(
        Option(
            "--use",
            "Share of its life in which the machine is used.",
            kind=Number(SHARE),
            configured="prices.use",
            group=_MONEY,
        ),
        default="80 %",
    )
    energy_price: str | float | None = option(
        Option(
            "--energy-price",
            "Price of energy, like '0.08 USD/kWh'.",
            kind=Number(ENERGY_PRICE),
            configured="prices.energy",
            group=_MONEY,
            usually="from the price book, with interval",
            metavar="PRICE",
        ),
        default=None,
    )
    interest: str | float | None = option(
        Option(
            "--interest",
            "Interest per year, like '5 %'.",
            kind=Number(NO_SHARE),
            configured="prices.interest",
            group=_MONEY,
            usually="from the price book, with interval",
            metavar="SHARE",
        ),
        default=None,
    )
    building: bool = option(
        Option(
            "--building", "Include the building, power and cooling plant.", kind=Switch(), group=_MONEY, opposite=True
        ),
        default=True,
    )
    step: str | float | None = option(STEP, default=None, help="Step time, like '9.8 s'; adds the cost of a step.")
    step_range: Sequence[str | float] | None = option(
        Option(
            "--step-range",
            "Low and high end of the step time, as estimate prints them.",
            kind=Number(STEP_TIME),
            metavar="LOW HIGH",
            values=2,
        ),
        default=None,
    )
    tokens_per_step: str | float | None = option(
        Option("--tokens-per-step", "Tokens per step.", kind=Number(TOKENS)), default=None
    )
    tokens: str | float | None = option(RUN_TOKENS, default=None)
