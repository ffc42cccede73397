"""Training steps predicted and measured: a picture, a page with every run, tables for the documentation."""

import math

from volvelle.applications.memory.validation import MemoryScore
from volvelle.applications.scores import RowScore
from volvelle.applications.training.validation import ScoredRun, TrainingValidation
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, GREY, RUST, VIOLET, WIDE
from volvelle.report.page import page
from volvelle.report.sheet import Sheet

__all__ = ["score_cells", "training_markdown", "training_page", "training_picture"]

_HELD_OUT = Mark(name="held-out", colour=RUST, shape="diamond")
_MARKS = {
    "calibration": Mark(name="calibration", colour=BLUE, shape="circle"),
    "calibration_noisy": Mark(name="noisy calibration", colour=GREY, shape="square"),
    "given": Mark(name="given", colour=VIOLET, shape="triangle"),
}


def training_picture(found: TrainingValidation, *, width: float = WIDE) -> Chart:
    """Predicted against measured steps; held-out runs lie on top."""
    points = [
        Point(
            measured=each.measured,
            predicted=each.predicted,
            mark=_MARKS.get(each.row.split, _HELD_OUT),
            label=f"{each.row.row_id} ({each.row.group}): {_model(each)} on {each.row.chips} {each.row.accelerator}: "
            f"measured {each.measured:.3g} s, predicted {each.predicted:.3g} s ({each.error:+.0%})",
        )
        for each in sorted(found.rows, key=lambda each: not each.row.split.startswith("calibration"))
    ]
    return scatter(points, title="Training steps", quantity="time of a step", unit="s", width=width)


def score_cells(score: RowScore | MemoryScore) -> tuple[str, ...]:
    """Rows, skipped rows, median and mean error, and bias as text."""
    errors = ((score.median_abs_error, ".1%"), (score.mean_abs_error, ".1%"), (score.bias, "+.1%"))
    shown = ("–" if math.isnan(value) else format(value, form) for value, form in errors)
    return str(score.rows), str(score.skipped), *shown


def training_page(found: TrainingValidation) -> str:
    """A page with the picture, all publications and all runs, worst first."""
    columns = ("rows", "skipped", "median error", "mean error", "bias")
    groups = Sheet(
        title="By publication, worst first",
        columns=("publication", "split", *columns),
        rows=tuple((score.group, score.split, *score_cells(score)) for score in found.groups()),
        numbers=frozenset(columns),
    )
    shown = ("measured, s", "predicted, s", "low, s", "high, s", "error")
    runs = Sheet(
        title="Runs, furthest off first",
        columns=("row", "publication", "split", "model", "chips", *shown, "assumed", "source"),
        rows=tuple(_run_cells(each) for each in found.worst_first()),
        numbers=frozenset(shown),
        note="Low and high are the 80 % range: inputs in doubt, and what calibration runs were off.",
    )
    unscored = Sheet(
        title="Rows not scored",
        columns=("reason", *found.splits),
        rows=tuple(
            (reason, *(str(counts.get(split, 0)) for split in found.splits))
            for reason, counts in found.reasons().items()
        ),
        numbers=frozenset(found.splits),
    )
    totals = [found.overall(split) for split in found.splits]
    lead = "; ".join(f"{each.split}: median error {score_cells(each)[2]} over {each.rows} rows" for each in totals)
    return page(
        title="Training steps, predicted and measured",
        lead=lead,
        picture=lambda width: training_picture(found, width=width),
        sheets=(groups, runs, unscored),
    )


def training_markdown(found: TrainingValidation) -> str:
    """The tables of the documentation page."""
    lines: list[str] = []
    for split in found.splits:
        if split == "excluded":
            continue
        lines += [
            f"**{split.replace('_', ', ').replace('heldout', 'held-out').capitalize()} rows**, worst first",
            "",
            "| publication | rows | skipped | median error | mean error | bias |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {score.group} | {' | '.join(score_cells(score))} |" for score in found.groups() if score.split == split
        ]
        lines += [f"| **all** | {' | '.join(score_cells(found.overall(split)))} |", ""]
    splits = found.splits
    lines += ["**Rows not scored**", "", f"| reason | {' | '.join(splits)} |", f"| ---{' | ---:' * len(splits)} |"]
    lines += [
        f"| {reason} | {' | '.join(str(counts.get(split, 0)) for split in splits)} |"
        for reason, counts in found.reasons().items()
    ]
    return "\n".join(lines)


def _model(each: ScoredRun) -> str:
    return each.row.model or f"{each.row.layers} layers of {each.row.hidden}"


def _run_cells(each: ScoredRun) -> tuple[str, ...]:
    return (
        each.row.row_id,
        each.row.group,
        each.row.split,
        _model(each),
        f"{each.row.chips} {each.row.accelerator}",
        f"{each.measured:.4g}",
        f"{each.predicted:.4g}",
        "–" if each.low is None else f"{each.low:.4g}",
        "–" if each.high is None else f"{each.high:.4g}",
        f"{each.error:+.1%}",
        "; ".join(each.asked.assumed),
        each.row.source,
    )
