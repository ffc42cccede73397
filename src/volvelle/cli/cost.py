"""``volvelle cost --on SYSTEM …``."""

import json
from pathlib import Path

import click

__all__ = ["cost"]


@click.command(short_help="What a machine costs to buy and to own, by part.")
@click.option("--on", "system", required=True, metavar="SYSTEM", help="Cluster and accelerators, like dgx-h100/1024.")
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
@click.option("--chip-price", metavar="USD", help="Price of one accelerator, like '30 kUSD', in place of offers.")
@click.option("--chip-power", metavar="W", help="Rated power of one, like '700 W', in place of its entry's.")
@click.option("--life", default="4 years", show_default=True, help="Time over which the machine is paid off.")
@click.option("--use", default="80 %", show_default=True, help="Share of its life in which it is used.")
@click.option("--energy-price", metavar="PRICE", help="Like '0.08 USD/kWh'. [default: the price book's, with interval]")
@click.option("--interest", metavar="SHARE", help="A year, like '5 %'. [default: the price book's, with interval]")
@click.option("--building/--no-building", default=True, show_default=True, help="Pay for power and cooling plant.")
@click.option("--step", "time", metavar="TIME", help="Time of a step, like '9.8 s', to say what it costs.")
@click.option("--tokens-per-step", type=click.FloatRange(1), help="Tokens of a step.")
@click.option("--tokens", type=click.FloatRange(1), help="Tokens to train on in all, like 15e12.")
@click.option("--catalogue", "folder", type=click.Path(path_type=Path), help="A catalogue folder of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def cost(
    *,
    system: str,
    model: str,
    since: str,
    until: str,
    chip_price: str | None,
    chip_power: str | None,
    life: str,
    use: str,
    energy_price: str | None,
    interest: str | None,
    building: bool,
    time: str | None,
    tokens_per_step: float | None,
    tokens: float | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """What SYSTEM costs to buy, by part, what power it takes, and what owning it costs over its life.

    Every price has a date, an interval and a source; low and high take every price at that end at once.
    """
    from dataclasses import replace  # noqa: PLC0415 - short start-up

    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up
    from volvelle.catalogue.prices import PriceBook  # noqa: PLC0415 - short start-up
    from volvelle.economics.cost_breakdown import cost_breakdown  # noqa: PLC0415 - short start-up
    from volvelle.economics.price_book import AbstractPrices, End  # noqa: PLC0415 - short start-up
    from volvelle.quantities import (  # noqa: PLC0415 - short start-up
        DOLLARS,
        DOLLARS_PER_JOULE,
        FRACTION,
        SECONDS,
        WATTS,
        parse,
    )
    from volvelle.report.cost_text import Account, bill_document, print_bill  # noqa: PLC0415 - short start-up
    from volvelle.system.inventory import Inventory  # noqa: PLC0415 - short start-up

    catalogue = Catalogue(*([folder] if folder else []))
    cluster = catalogue.cluster(system)
    if chip_power is not None:
        cluster = replace(cluster, chip=replace(cluster.chip, power=parse(chip_power, WATTS)))
    book, inventory = PriceBook(catalogue), Inventory.of(cluster)
    own = None if chip_price is None else parse(chip_price, DOLLARS)
    # What was asked for replaces the price book's; the rest stays with its interval.
    asked = {"life": parse(life, SECONDS), "use": parse(use, FRACTION)}
    if energy_price is not None:
        asked["energy_price"] = parse(energy_price, DOLLARS_PER_JOULE)
    if interest is not None:
        asked["interest"] = parse(interest, FRACTION)

    def prices(end: End) -> AbstractPrices:
        match model:
            case "parts":
                return book.parts(cluster, at=end, since=since, until=until, chip_price=own)
            case "market":
                return book.market(cluster, at=end, since=since, until=until, chip_price=own)
            case _:
                return book.dfmodel(cluster)

    breakdowns = {}
    for end in End:
        terms = replace(book.terms(at=end), **asked)
        breakdowns[end] = cost_breakdown(
            inventory, prices(end), terms if building else replace(terms, plant_price=None)
        )
    site = {
        name: figure
        for name, figure in book.figures.items()
        if name.startswith("site.") and name.removeprefix("site.") not in asked and (building or "plant" not in name)
    }
    found = Account(
        inventory=inventory,
        model=model,
        breakdowns=breakdowns,
        rests_on={**prices(End.TYPICAL).rests_on, **site},
        given=tuple(
            f"{name} {value}"
            for name, value in (
                ("chip price", chip_price),
                ("chip power", chip_power),
                ("energy price", energy_price),
                ("interest", interest),
                ("life", life),
                ("use", use),
            )
            if value is not None
        ),
        references=catalogue.references,
        steps=None
        if time is None
        else {end: one.step(parse(time, SECONDS), tokens=tokens_per_step) for end, one in breakdowns.items()},
        tokens=tokens,
    )
    if as_json:
        click.echo(json.dumps(bill_document(found), indent=2))
    else:
        print_bill(found)
