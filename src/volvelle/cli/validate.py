"""``volvelle validate collectives``."""

import json
import math
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from volvelle.study.collective_validation import CollectiveValidation, Score

__all__ = ["validate"]

_WIDTH = 100


@click.group(short_help="Hold the model against measurements, worst rows first.")
def validate() -> None:
    """Hold the model, with the catalogue's frozen constants, against published measurements."""


@validate.command(short_help="Collective communication against nccl-tests and the like.")
@click.option("--all-sizes", is_flag=True, help="Score short messages too, not only those above 1 MB.")
@click.option("--worst", default=10, show_default=True, type=click.IntRange(0), help="Held-out rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def collectives(*, all_sizes: bool, worst: int, markdown: bool, as_json: bool) -> None:
    """Predict every measured collective; constants were fitted to calibration rows only."""
    from volvelle.study.collective_validation import LONG, validate_collectives  # noqa: PLC0415 - short start-up

    found = validate_collectives()
    above = -1.0 if all_sizes else LONG
    if as_json:
        click.echo(json.dumps(_document(found, above), indent=2))
    elif markdown:
        click.echo(_markdown(found, above))
    else:
        _print(found, above, worst)


def _document(found: "CollectiveValidation", above: float) -> dict[str, object]:
    from volvelle.study.collective_validation import LONG, TARGET  # noqa: PLC0415 - short start-up

    def numbers(score: "Score") -> dict[str, object]:
        errors = (score.median_abs_error, score.mean_abs_error, score.bias)
        named = zip(("median_abs_error", "mean_abs_error", "bias"), errors, strict=True)
        return {"rows": score.rows, **{name: None if math.isnan(value) else value for name, value in named}}

    return {
        "overall": {
            "target": {"split": "heldout", "above_bytes": LONG, "median_abs_error": TARGET},
            "heldout": numbers(found.overall("heldout")),
            "heldout_all_sizes": numbers(found.overall("heldout", above=-1.0)),
            "calibration": numbers(found.overall("calibration")),
            "calibration_all_sizes": numbers(found.overall("calibration", above=-1.0)),
        },
        "groups": [
            {
                "group": score.group,
                "split": score.split,
                "system": score.system,
                "op": score.operation,
                "skipped": score.skipped,
                **numbers(score),
            }
            for score in found.groups(above=above)
        ],
        "rows": [
            {
                "row_id": each.row.row_id,
                "group": each.row.group,
                "split": each.row.split,
                "op": each.row.operation,
                "chips": each.row.chips,
                "size_bytes": each.size,
                "measured": each.measured,
                "predicted": each.predicted,
                "error": each.error,
                "source": each.row.source,
            }
            for each in found.rows
            if each.size > above
        ],
        "skipped": [{"row_id": each.row.row_id, "reason": each.reason} for each in found.skipped],
    }


def _markdown(found: "CollectiveValidation", above: float) -> str:
    from volvelle.study.collective_validation import TARGET  # noqa: PLC0415 - short start-up

    lines = []
    titles = {"heldout": "Held-out rows", "calibration": "Calibration rows"}
    scores = found.groups(above=above)
    for split, title in titles.items():
        lines += [
            f"**{title}**, worst first",
            "",
            "| system | operation | rows | median error | mean error | bias |",
            "| --- | --- | ---: | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {score.group}: {score.system} | {score.operation.replace('_', '-')} | {score.rows} "
            f"| {score.median_abs_error:.1%} | {score.mean_abs_error:.1%} | {score.bias:+.1%} |"
            for score in scores
            if score.split == split and score.rows
        ]
        total = found.overall("heldout" if split == "heldout" else "calibration", above=above)
        lines += [
            f"| **all** | | {total.rows} | **{total.median_abs_error:.1%}** | {total.mean_abs_error:.1%} "
            f"| {total.bias:+.1%} |",
            "",
        ]
    held = found.overall("heldout", above=above).median_abs_error
    verdict = "met" if held <= TARGET else "not met"
    lines += [f"Target: a median of at most {TARGET:.0%} on held-out rows. {held:.1%}: **{verdict}**.", ""]
    lines += ["**Rows not scored**", "", "| reason | held-out | others |", "| --- | ---: | ---: |"]
    counts = _reasons(found)
    return "\n".join([*lines, *(f"| {reason} | {held} | {others} |" for reason, (held, others) in counts.items())])


def _reasons(found: "CollectiveValidation") -> dict[str, tuple[int, int]]:
    """Skipped rows by reason: held-out, others."""
    counts: dict[str, tuple[int, int]] = {}
    for each in found.skipped:
        held, others = counts.get(each.reason, (0, 0))
        is_held = each.row.split == "heldout"
        counts[each.reason] = (held + is_held, others + (not is_held))
    return counts


def _print(found: "CollectiveValidation", above: float, worst: int) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - short start-up
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.table import Table  # noqa: PLC0415 - short start-up

    from volvelle.quantities import BYTES, SECONDS, show  # noqa: PLC0415 - short start-up
    from volvelle.study.collective_validation import TARGET  # noqa: PLC0415 - short start-up

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    console.width = min(console.width, _WIDTH)
    sizes = "above 1 MB" if above > 0 else "of all sizes"
    held, calibration = found.overall("heldout", above=above), found.overall("calibration", above=above)
    console.print(
        f"[bold]Held-out messages {sizes}: median error {held.median_abs_error:.1%}[/bold] over {held.rows} rows"
    )
    verdict = "met" if held.median_abs_error <= TARGET else "not met"
    console.print(f"Target: {TARGET:.0%} above 1 MB" + (f", {verdict}" if above > 0 else ""))
    console.print(f"Calibration rows: median {calibration.median_abs_error:.1%} over {calibration.rows} rows\n")

    for split in ("heldout", "calibration"):
        table = Table(title=f"{split} rows by system, worst first", title_justify="left", box=SIMPLE_HEAD)
        table.add_column("group", no_wrap=True)
        table.add_column("system", no_wrap=True, max_width=22)
        table.add_column("operation", no_wrap=True)
        for name in ("rows", "median", "mean", "bias"):
            table.add_column(name, justify="right", no_wrap=True)
        for score in found.groups(above=above):
            if score.split == split and score.rows:
                table.add_row(
                    score.group,
                    score.system,
                    score.operation,
                    str(score.rows),
                    f"{score.median_abs_error:.1%}",
                    f"{score.mean_abs_error:.1%}",
                    f"{score.bias:+.1%}",
                )
        console.print(table)

    if worst:
        table = Table(title="held-out rows furthest off", title_justify="left", box=SIMPLE_HEAD)
        for name in ("row", "group"):
            table.add_column(name, no_wrap=True)
        for name in ("chips", "size", "measured", "predicted", "error"):
            table.add_column(name, justify="right", no_wrap=True)
        for each in found.worst(worst, above=above):
            table.add_row(
                each.row.row_id,
                each.row.group,
                str(each.row.chips),
                show(each.size, BYTES),
                show(each.measured, SECONDS),
                show(each.predicted, SECONDS),
                f"{each.error:+.0%}",
            )
        console.print(table)

    table = Table(title="rows not scored", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("reason")
    table.add_column("held-out", justify="right")
    table.add_column("others", justify="right")
    for reason, (out, others) in _reasons(found).items():
        table.add_row(reason, str(out), str(others))
    console.print(table)
