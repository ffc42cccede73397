"""What a machine costs, as a notebook shows it."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from volvelle.economics.price_book import End
from volvelle.quantities import DOLLARS, WATTS, Number, Quantity, show
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import PALETTE
from volvelle.report.notebook.shown import Presentation, Row, Shown, itself
from volvelle.report.price_words import YEAR
from volvelle.report.sheet import Sheet
from volvelle.verbs.cost import Account

_ENDS = (End.LOW, End.TYPICAL, End.HIGH)
_PARTS = {
    "capex_by_part_usd": ("to buy", "USD"),
    "power_by_part_watts": ("power", "W"),
    "ownership_usd": ("to own", "USD"),
}


def _shown(account: Account) -> Shown:
    typical, inventory = account.breakdowns[End.TYPICAL], account.inventory
    figures = [
        f"{show(float(typical.capex), DOLLARS)} to buy, {show(float(typical.power), WATTS)} at the meter, "
        f"{show(float(typical.tco), DOLLARS)} to own for {float(typical.terms.life) / YEAR:.3g} years"
    ]
    usual = account.typical
    if usual.step is not None:
        figures.append(f"{show(float(usual.step.dollars), DOLLARS)} a step")
    if usual.training_days is not None and usual.training_usd is not None:
        figures.append(f"{usual.training_days:,.3g} days and {show(usual.training_usd, DOLLARS)} for all tokens")
    return Shown(
        title=f"{inventory.name}: {float(inventory.chips):,.0f} × {inventory.chip}, prices by {account.model}",
        figures=figures,
        pictures=(lambda width: _picture(account, width),),
        sheets=(
            _sheet(account, "To own", "ownership", "tco", DOLLARS),
            _sheet(account, "To buy", "capex_by_part", "capex", DOLLARS),
            _sheet(account, "Power in use", "power_by_part", "power", WATTS),
        ),
        details=(_prices(account),),
        warnings=account.notes,
    )


def _picture(account: Account, width: float) -> Chart:
    """What owning the machine costs, at low, typical and high prices."""
    rows = []
    for end in _ENDS:
        bill = account.breakdowns[end]
        parts = {part: float(value) for part, value in bill.ownership.items()}
        pieces = tuple(
            Piece(kind=part, value=value, tells=f"{part}: {show(value, DOLLARS)} at {end.value} prices")
            for part, value in parts.items()
            if value > 0
        )
        rows.append(BarRow(label=end.value, pieces=pieces, text=show(float(bill.tco), DOLLARS)))
    years = float(account.terms.life) / YEAR
    return row_chart(
        rows,
        name="to own",
        kind=DOLLARS,
        colours=dict(zip(account.breakdowns[End.TYPICAL].ownership, cycle(PALETTE), strict=False)),
        title=f"What {account.inventory.name} costs over {years:.3g} years",
        about="Money by part at low, typical and high prices.",
        said="Low and high: every price at that end at once.",
        width=width,
    )


def _sheet(account: Account, title: str, parts: str, whole: str, kind: Quantity) -> Sheet:
    bills = [account.breakdowns[end] for end in _ENDS]

    def cells(name: str, values: list[Number]) -> tuple[str, ...]:
        return (name, *(show(float(value), kind) for value in values))

    rows = [cells(part, [getattr(bill, parts)[part] for bill in bills]) for part in getattr(bills[0], parts)]
    rows.append(cells("all", [getattr(bill, whole) for bill in bills]))
    ends = tuple(end.value for end in _ENDS)
    return Sheet(title=title, columns=("part", *ends), rows=tuple(rows), numbers=frozenset(ends))


def _prices(account: Account) -> Sheet:
    rows = tuple(
        (name, f"{figure.value:.4g}", figure.date, figure.evidence.word, figure.source)
        for name, figure in account.rests_on.items()
    )
    columns = ("price", "typical, SI and USD", "date", "evidence", "source")
    return Sheet(title="Inputs and sources", columns=columns, rows=rows, numbers=frozenset(columns[1:2]))


def _rows(account: Account, document: Mapping[str, Any]) -> list[Row]:
    """A row for every part to buy, to power and to own, at low, typical and high prices."""
    ends = ("low", "typical", "high")
    return [
        {"what": what, "part": part, "unit": unit, **{end: document[end][key][part] for end in ends}}
        for key, (what, unit) in _PARTS.items()
        for part in document["typical"][key]
    ]


ACCOUNT = Presentation(verb="cost", document=itself, rows=_rows, shown=_shown)
