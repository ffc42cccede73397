"""``volvelle validate collectives``, ``training``, ``layouts`` and ``memory``."""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from volvelle.cli.benchmark_words import VerbOnBenchmarks

if TYPE_CHECKING:
    from volvelle.applications.collectives.validation import CollectiveValidation, Score
    from volvelle.applications.training.measurements import TrainingMeasurements
    from volvelle.applications.training.validation import ScoredRun, TrainingValidation
    from volvelle.estimators.contract import AbstractEstimator

__all__ = ["validate"]

_WIDTH = 100


@click.group(cls=VerbOnBenchmarks, short_help="Hold the model against measurements, worst rows first.")
def validate() -> None:
    """Hold the model, with the catalogue's frozen constants, against published measurements."""


@validate.command(short_help="Collective communication against nccl-tests and the like.")
@click.option("--all-sizes", is_flag=True, help="Score short messages too, not only those above 1 MB.")
@click.option("--worst", default=10, show_default=True, type=click.IntRange(0), help="Held-out rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def collectives(*, all_sizes: bool, worst: int, markdown: bool, as_json: bool) -> None:
    """Predict every measured collective; constants were fitted to calibration rows only."""
    from volvelle.applications.collectives.validation import LONG, validate_collectives  # noqa: PLC0415 - short start-up

    found = validate_collectives()
    above = -1.0 if all_sizes else LONG
    if as_json:
        click.echo(json.dumps(_document(found, above), indent=2))
    elif markdown:
        click.echo(_markdown(found, above))
    else:
        _print(found, above, worst)


def _document(found: "CollectiveValidation", above: float) -> dict[str, object]:
    from volvelle.applications.collectives.validation import LONG, TARGET  # noqa: PLC0415 - short start-up

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
    from volvelle.applications.collectives.validation import TARGET  # noqa: PLC0415 - short start-up

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

    from volvelle.applications.collectives.validation import TARGET  # noqa: PLC0415 - short start-up
    from volvelle.quantities import BYTES, SECONDS, show  # noqa: PLC0415 - short start-up

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


# -- training ------------------------------------------------------------------------------------------------

_SAMPLES = 32
"""Of the machine's uncertain numbers, for the range of each prediction."""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)
_SCORE = ("rows", "skipped", "median", "mean", "bias")


@validate.command(short_help="Training steps against published runs.")
@click.option("--data", type=_FILE, metavar="FILE.csv", help="Runs of your own, in the columns of the shipped tables.")
@click.option("--group", default="", metavar="G", help="Only publications whose names start like this.")
@click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Rows to show.")
@click.option("--markdown", is_flag=True, help="Print the tables of the documentation page.")
@click.option("--html", type=_OUTPUT, metavar="FILE", help="Write a page with all rows, worst first.")
@click.option("--plot", type=_OUTPUT, metavar="FILE", help="Write predicted against measured (.svg or .png).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def training(
    *, data: Path | None, group: str, worst: int, markdown: bool, html: Path | None, plot: Path | None, as_json: bool
) -> None:
    """Predict the time of every measured training step; held-out and calibration rows apart."""
    from volvelle.applications.training.measurements import training_measurements  # noqa: PLC0415 - short start-up
    from volvelle.applications.training.validation import training_document  # noqa: PLC0415 - short start-up
    from volvelle.estimators.training.closed_form import ClosedForm  # noqa: PLC0415 - short start-up
    from volvelle.estimators.uncertainty import UnderUncertainty  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.training_page import (  # noqa: PLC0415 - short start-up
        training_markdown,
        training_page,
        training_picture,
    )
    from volvelle.report.figures.rendering import save  # noqa: PLC0415 - short start-up

    if plot is not None and plot.suffix not in (".svg", ".png"):
        raise click.BadParameter(f"{plot.name!r} ends neither in .svg nor in .png", param_hint="--plot")
    measured = _only(training_measurements(data), (group,) if group else ())
    found = _with_bar(measured, UnderUncertainty(estimator=ClosedForm(), samples=_SAMPLES))
    if html is not None:
        html.write_text(training_page(found), "utf-8")
    if plot is not None:
        save(training_picture(found), plot)
    if as_json:
        click.echo(json.dumps(training_document(found), indent=2))
    elif markdown:
        click.echo(training_markdown(found))
    else:
        _print_training(found, worst)


def _only(measured: "TrainingMeasurements", starts: tuple[str, ...]) -> "TrainingMeasurements":
    """The publications whose names start like that; all without any."""
    from volvelle.applications.training.measurements import TrainingMeasurements  # noqa: PLC0415 - short start-up

    if not starts:
        return measured
    rows = tuple(row for row in measured.rows if row.group.startswith(starts))
    if not rows:
        known = sorted({row.group for row in measured.rows})
        raise click.BadParameter(f"no group starts like {starts[0]!r}; there are {', '.join(known)}")
    return TrainingMeasurements(rows=rows, unread=tuple(row for row in measured.unread if row.group.startswith(starts)))


def _with_bar(measured: "TrainingMeasurements", estimator: "AbstractEstimator") -> "TrainingValidation":
    """Predict all rows, with a bar where somebody watches."""
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.progress import Progress  # noqa: PLC0415 - short start-up

    from volvelle.applications.training.validation import validate_training  # noqa: PLC0415 - short start-up

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("predicting", total=len(measured.rows))
        return validate_training(measured, estimator=estimator, advance=lambda: bar.advance(task))


def _show(title: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: columns of words, then columns of numbers."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - short start-up
    from rich.console import Console  # noqa: PLC0415 - short start-up
    from rich.table import Table  # noqa: PLC0415 - short start-up

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    console.width = min(console.width, _WIDTH)
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for name in words:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _print_training(found: "TrainingValidation", worst: int) -> None:
    from volvelle.quantities import SECONDS, show  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.training_page import score_cells  # noqa: PLC0415 - short start-up

    _show("all rows", ("split",), _SCORE, ((split, *score_cells(found.overall(split))) for split in found.splits))
    for split in found.splits:
        if split != "excluded":
            scores = (score for score in found.groups() if score.split == split)
            rows = ((score.group, *score_cells(score)) for score in scores)
            _show(f"{split} rows by publication, worst first", ("group",), _SCORE, rows)
    if worst:
        _show(
            "rows furthest off",
            ("row", "group", "split"),
            ("chips", "measured", "predicted", "error"),
            (
                (
                    each.row.row_id,
                    each.row.group,
                    each.row.split,
                    str(each.row.chips),
                    show(each.measured, SECONDS),
                    show(each.predicted, SECONDS),
                    f"{each.error:+.0%}",
                )
                for each in found.worst_first()[:worst]
            ),
        )
    if found.skipped:
        rows = ((reason, str(sum(counts.values()))) for reason, counts in found.reasons().items())
        _show("rows not scored", ("reason",), ("rows",), rows)


@validate.command(short_help="Whether the layout ranked first was the fastest.")
@click.option("--data", type=_FILE, metavar="FILE.csv", help="Runs of your own, in the columns of the shipped tables.")
@click.option("--worst", default=15, show_default=True, type=click.IntRange(0), help="Sets of runs to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def layouts(*, data: Path | None, worst: int, as_json: bool) -> None:
    """Rank runs that differ only in their layout, and hold the first choice against the fastest."""
    from volvelle.applications.training import layouts as study  # noqa: PLC0415 - short start-up
    from volvelle.applications.training.measurements import training_measurements  # noqa: PLC0415 - short start-up
    from volvelle.estimators.training.closed_form import ClosedForm  # noqa: PLC0415 - short start-up

    groups = study.LAYOUT_GROUPS if data is None else None
    found = _with_bar(_only(training_measurements(data), groups or ()), ClosedForm())
    contests = study.validate_layouts(found, groups=groups)
    if as_json:
        click.echo(json.dumps(study.layout_document(contests, found), indent=2))
        return
    total = study.layout_score(contests)
    click.echo(
        f"The layout ranked first runs {total.mean_regret:.1%} slower than the fastest in the mean, "
        f"{total.max_regret:.1%} at most,\nover {total.groups} sets of runs ({total.rows} rows). It is the fastest in "
        f"{total.best_chosen:.0%} of them. Median rank correlation: {total.median_rank_correlation:.2f}\n"
    )
    rows = (
        (
            contest.name,
            _layout_words(contest.chosen),
            _layout_words(contest.best),
            f"{contest.regret:.1%}",
            f"{contest.rank_correlation:.2f}",
        )
        for contest in contests[:worst]
    )
    columns = ("runs that share", "ranked first", "fastest")
    _show("sets of runs, worst first", columns, ("slower by", "correlation"), rows)


def _layout_words(run: "ScoredRun") -> str:
    mapping = run.asked.mapping
    return f"tp{mapping.tensor} pp{mapping.pipeline} dp{mapping.data} mb{mapping.micro_batch}"


@validate.command(short_help="Memory against published amounts.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def memory(*, as_json: bool) -> None:
    """Predict what weights, optimiser and activations take, and hold it against what was measured."""
    from volvelle.applications.memory.validation import memory_document, validate_memory  # noqa: PLC0415 - short start-up
    from volvelle.report.applications.training_page import score_cells  # noqa: PLC0415 - short start-up

    found = validate_memory()
    if as_json:
        click.echo(json.dumps(memory_document(found), indent=2))
        return
    rows = ((score.quantity or "all", *score_cells(score)) for score in (*found.quantities(), found.overall()))
    _show("memory by quantity, worst first", ("quantity",), _SCORE, rows)
