"""Predictions of reported runs as tables, worst first."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from volvelle.applications.goodput.known_figures import LLAMA_DAYS, KnownFigure, llama_causes
from volvelle.applications.goodput.validation import Ends, GoodputValidation, PredictedRun
from volvelle.quantities import percent
from volvelle.report.sheet import Sheet, markdown_of
from volvelle.report.terminal import print_sheet, wide_console


def print_goodput(validation: GoodputValidation, figures: tuple[KnownFigure, ...], *, worst: int) -> None:
    """Both tables, and the scores as JSON on the last line."""
    for sheet in goodput_sheets(validation, figures, worst=worst):
        print_sheet(sheet)
    wide_console().print(json.dumps(scores(validation, figures)), markup=False, soft_wrap=True)


def goodput_markdown(validation: GoodputValidation, figures: tuple[KnownFigure, ...]) -> str:
    """The same for a page of the documentation."""
    return "\n".join(markdown_of(sheet) for sheet in goodput_sheets(validation, figures, worst=100))


def scores(validation: GoodputValidation, figures: tuple[KnownFigure, ...]) -> Mapping[str, float | int]:
    """What is asked of all rows."""
    exact = [figure for figure in figures if figure.low is None and "over the card" not in figure.what]
    return {
        "runs": len(validation.runs),
        "scored": len(validation.scored),
        "held": validation.held,
        "mean_width": round(validation.width, 3),
        "recovery_held": validation.held_by(lambda run: run.recovery),
        "recovery_mean_width": round(validation.width_by(lambda run: run.recovery), 3),
        "stated_held": validation.held_by(lambda run: run.stated),
        "stated_mean_width": round(validation.width_by(lambda run: run.stated), 3),
        **{f"mean_width_by_{name}": round(width, 3) for name, width in validation.width_alone.items()},
        "own_median_distance": round(validation.own_distance, 4),
        "figures": len(figures),
        "figures_in_interval": sum(figure.held for figure in figures if figure.low is not None),
        "worst_exact_figure": round(max(abs(figure.off) for figure in exact), 4),
    }


def goodput_document(validation: GoodputValidation, figures: tuple[KnownFigure, ...]) -> Mapping[str, object]:
    """What ``volvelle validate goodput --json`` prints: the scores, and every run and figure."""
    runs = [
        {
            "run": run.row.name,
            "reported_low": run.row.least,
            "reported_high": run.row.most,
            "low": run.prior.low,
            "middle": run.prior.middle,
            "high": run.prior.high,
            "held": run.held,
            "recovery_stated": asdict(run.recovery),
            "all_stated": asdict(run.stated),
            "own": run.own,
            "width_by": run.alone,
            "source": run.row.source,
        }
        for run in validation.runs
    ]
    return {**scores(validation, figures), "rows": runs, "published": [asdict(figure) for figure in figures]}


def goodput_sheets(validation: GoodputValidation, figures: tuple[KnownFigure, ...], *, worst: int) -> tuple[Sheet, ...]:
    """Runs, interruptions by cause and published figures."""
    causes = dict(sorted(llama_causes().items(), key=lambda cause: -cause[1]))
    numbers = ("reported", "from others", "recovery as stated", "failures too", "own rates")
    return (
        Sheet(
            title="Effective training time of held-out runs, worst first",
            columns=("run", *numbers, "held"),
            rows=tuple(map(_run, validation.runs[:worst])),
            numbers=frozenset(numbers),
            note="80 % intervals: from other systems alone; with restart and stall as the source states them, as far "
            "as it does; and with its failures too. Own rates: the last in its middle. Held is the first; a bound "
            "is held where the interval reaches it.",
        ),
        Sheet(
            title="What the width comes from, in the mean of scored runs",
            columns=("in doubt", "width"),
            rows=(
                ("all, from other systems alone", f"{validation.width:.3f}"),
                *((f"{name} alone", f"{width:.3f}") for name, width in validation.width_alone.items()),
                ("all, recovery as stated", f"{validation.width_by(lambda run: run.recovery):.3f}"),
                ("all, failures as stated too", f"{validation.width_by(lambda run: run.stated):.3f}"),
            ),
            numbers=frozenset(("width",)),
        ),
        Sheet(
            title="Interruptions of Llama 3 405B in 54 days, by cause as counted",
            columns=("cause", "count", "a day", "share"),
            rows=tuple(
                (cause, str(count), f"{count / LLAMA_DAYS:.2f}", percent(count / sum(causes.values())))
                for cause, count in causes.items()
            ),
            numbers=frozenset(("count", "a day", "share")),
            note="148 faulty GPUs of 419 are 35.3 %; the paper prints 30.1 %, and a share of GPUs after it.",
        ),
        Sheet(
            title="Published figures",
            columns=("figure", "published", "ours", "off", "interval"),
            rows=tuple(map(_figure, figures)),
            numbers=frozenset(("published", "ours", "off")),
        ),
    )


def _run(run: PredictedRun) -> tuple[str, ...]:
    own = "–" if run.own is None else f"{run.own:.3f}"
    held = {True: "yes", False: "no", None: "reports nothing"}[run.held]
    return (run.row.name, run.row.reported, _span(run.prior), _span(run.recovery), _span(run.stated), own, held)


def _span(ends: Ends) -> str:
    return f"{ends.low:.2f} … {ends.high:.2f}"


def _figure(figure: KnownFigure) -> tuple[str, ...]:
    ends = "" if figure.low is None else f"{figure.low:.3g} … {figure.high:.3g}"
    return figure.what, f"{figure.published:,.4g}", f"{figure.ours:,.4g}", percent(figure.off, signed=True), ends
