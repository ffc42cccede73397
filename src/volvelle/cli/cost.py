"""``volvelle cost --on SYSTEM …``."""

from typing import Any

import click

from volvelle.cli.options.shared import machine_options
from volvelle.cli.words import BRIEF, Within
from volvelle.domains import ENERGY_PRICE, LIFE, NO_SHARE, POWER, PRICE, SHARE, STEP_TIME, TOKENS


@click.command(short_help="What a machine costs to buy and to own, by part.")
@click.option("--on", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/1024.")
@click.option(
    "--model",
    type=click.Choice(["market", "parts", "dfmodel"]),
    default="market",
    show_default=True,
    help="Whole accelerators as offered, by parts, or DFModel's prices.",
)
@click.option(
    "--since", default="", metavar="DATE", help="Take offers of accelerators from this date on, like 2024-01."
)
@click.option("--until", default="", metavar="DATE", help="Take offers until this date.")
@click.option(
    "--chip-price",
    type=Within(PRICE),
    metavar="USD",
    help="Price of one accelerator, like '30 kUSD', in place of offers.",
)
@click.option(
    "--chip-power", type=Within(POWER), metavar="W", help="Rated power of one, like '700 W', in place of its entry's."
)
@click.option(
    "--life", default="4 years", type=Within(LIFE), show_default=True, help="Time over which the machine is paid off."
)
@click.option(
    "--use", default="80 %", type=Within(SHARE), show_default=True, help="Share of its life in which it is used."
)
@click.option(
    "--energy-price",
    type=Within(ENERGY_PRICE),
    metavar="PRICE",
    help="Like '0.08 USD/kWh'. [default: the price book's, with interval]",
)
@click.option(
    "--interest",
    type=Within(NO_SHARE),
    metavar="SHARE",
    help="A year, like '5 %'. [default: the price book's, with interval]",
)
@click.option("--building/--no-building", default=True, show_default=True, help="Pay for power and cooling plant.")
@click.option(
    "--step", type=Within(STEP_TIME), metavar="TIME", help="Time of a step, like '9.8 s', to say what it costs."
)
@click.option(
    "--step-range",
    type=Within(STEP_TIME),
    nargs=2,
    metavar="LOW HIGH",
    help="Ends of its range, as estimate prints them: low and high are with them too.",
)
@click.option("--tokens-per-step", type=Within(TOKENS), help="Tokens of a step.")
@click.option("--tokens", type=Within(TOKENS), help="Tokens to train on in all, like 15e12.")
@machine_options
@BRIEF
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def cost(*, as_json: bool, brief: bool, **question: Any) -> None:
    """What SYSTEM costs to buy, by part, what power it takes, and what owning it costs over its life.

    Every price has a date, an interval and a source; low and high take every price at that end at once, and a step's
    time with --step-range.
    """
    from volvelle.verbs.cost import cost as verb  # noqa: PLC0415 - keeps start-up short

    account = verb(**question)
    if as_json:
        from volvelle.report.documents.document import json_text  # noqa: PLC0415 - not needed for text

        click.echo(json_text("cost", account))
    else:
        from volvelle.report.cost_text import print_cost  # noqa: PLC0415 - not needed for JSON

        print_cost(account, brief=brief)
