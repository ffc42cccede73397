"""What ``volvelle validate intervals`` prints."""

from collections.abc import Sequence
from dataclasses import asdict
from math import expm1

from rich.console import Console

from volvelle.applications.intervals import LEVELS, PLAIN, Coverage, IntervalReport
from volvelle.quantities import percent
from volvelle.report.terminal import plain_table, wide_console

_SHARES = tuple(f"{percent(level, 0)} range" for level in LEVELS)
_NUMBERS = ("rows", *_SHARES, "bias", "half-width", f"± {percent(PLAIN, 0)}")


def intervals_document(report: IntervalReport) -> dict[str, object]:
    """For other programs."""
    return {
        "levels": LEVELS,
        "overall": asdict(report.overall),
        "in_band": report.in_band,
        "alike_narrower": report.alike_narrower,
        "most_narrower": report.most_narrower,
        "drawn_narrower": report.drawn_narrower,
        **{
            name: [asdict(one) for one in getattr(report, name)]
            for name in ("applications", "splits", "publications", "regimes")
        },
    }


def print_intervals(report: IntervalReport) -> None:
    """Shares of rows within ranges, the worst publication first; the last line sums up."""
    console = wide_console()
    _print(console, "held-out rows within ranges", "application", (report.overall, *report.applications))
    _print(console, "rows with something unstated, and between fitted ones", "application, rows", report.splits)
    _print(console, "publications left out of the fit in turn, least covered first", "publication", report.publications)
    rows = [
        (
            one.application,
            f"beyond: {one.axes[0]}" if one.axes else one.regime or "any",
            str(one.rows),
            str(one.sources),
            percent(expm1(one.bias), 1, signed=True),
            percent(one.between, 1),
            percent(one.within, 1),
            "/".join(f"{100 * expm1(side):+.0f}" for side in one.sides),
        )
        for one in report.regimes
    ]
    numbers = ("rows", "publications", "bias", "between", "within", "4/5, %")
    title = "what ranges rest on: calibration rows that their fit did not see"
    console.print(plain_table(title, ("application", "regime", *numbers), rows, numbers=numbers))
    worst, overall = report.publications[0], report.overall
    shares = ", ".join(
        f"{percent(level, 0)}: {percent(one)}" for level, one in zip(LEVELS, overall.covered, strict=True)
    )
    console.print(
        f"\nOne width an application, chosen with held-out rows in sight, would be {percent(report.alike_narrower, 0)} "
        f"narrower than ± {percent(PLAIN, 0)} if it is to hold as many rows of each, and "
        f"{percent(report.most_narrower, 0)} if as many of all: only ranges that tell rows of an application apart "
        "can give more"
    )
    least, middle, most = (percent(one, 0) for one in report.drawn_narrower)
    console.print(
        f"\nWere errors drawn from these very ranges, these would be {middle} narrower than ± {percent(PLAIN, 0)} "
        f"({least} to {most} in four fifths of 1000 draws): only predictions that are nearer can give more"
    )
    console.print(
        f"\n{overall.rows} held-out rows: {shares}; half-width {percent(overall.half_width)}, "
        f"{percent(overall.narrower, 0)} narrower than ± {percent(PLAIN, 0)} at its coverage of "
        f"{percent(overall.plain_covered)}; {percent(report.in_band, 0)} of publications within 65 to 95 %, worst "
        f"{worst.name} with {percent(worst.covered[1])} and a bias of {percent(worst.bias, 1, signed=True)}"
    )


def _print(console: Console, title: str, head: str, found: Sequence[Coverage]) -> None:
    rows = [
        (
            one.name,
            str(one.rows),
            *(percent(share) for share in one.covered),
            percent(one.bias, 1, signed=True),
            percent(one.half_width),
            percent(one.plain_covered),
        )
        for one in found
    ]
    console.print(plain_table(title, (head, *_NUMBERS), rows, numbers=_NUMBERS))
    console.print()
