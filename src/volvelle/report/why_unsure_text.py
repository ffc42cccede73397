"""What ``volvelle why-unsure`` prints."""

from math import expm1

from volvelle.quantities import SECONDS, chance_text, percent, show
from volvelle.report.terminal import plain_table, wide_console
from volvelle.verbs.why_unsure import WhyUnsure

_COLUMNS = ("uncertain", "brings", "alone", "run this", "takes", "then ±")


def print_why_unsure(found: WhyUnsure) -> None:
    """Shares of the doubt, largest first, and what to measure."""
    console = wide_console()
    console.print(f"[bold]{found.model}[/bold] on [bold]{found.system}[/bold], {show(found.seconds, SECONDS)} a step")
    for note in found.notes:
        console.print(f"note: {note}", style="yellow")
    if found.ratio is not None and found.chance is not None:
        console.print(
            f"the other layout takes {percent(found.ratio - 1.0, 1, signed=True)}; the first is the faster one with a "
            f"chance of {chance_text(found.chance)}"
        )
    console.print(f"{found.of}: ± {percent(expm1(found.half_width), 1)} (80 % range); it rests on {found.rests_on}")
    rows = [
        (
            one.input,
            percent(one.total, 1),
            percent(max(one.first_order, 0.0), 1),
            one.benchmark or "–",
            "–" if one.minutes is None else f"{one.minutes:g} min",
            percent(expm1(one.half_width_after), 1),
        )
        for one in found.shares
    ]
    folded = ("uncertain", "run this")
    numbers = [name for name in _COLUMNS if name not in folded]
    console.print(plain_table("", _COLUMNS, rows, numbers=numbers, folded=folded))
    first = next((one for one in found.shares if one.benchmark), None)
    if first is not None:
        settled = first.settles
        console.print(
            f"\nfirst: {first.benchmark}, {first.minutes:g} min; ± {percent(expm1(found.half_width), 1)} becomes "
            f"± {percent(expm1(first.half_width_after), 1)}"
            + ("" if settled is None else f", which settles it with a chance of {chance_text(settled)}")
        )
