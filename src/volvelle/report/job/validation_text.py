"""Predictions of reported runs as tables, worst first."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from volvelle.applications.goodput.known_figures import LLAMA_DAYS, KnownFigure, llama_causes
from volvelle.applications.goodput.validation import GoodputValidation, PredictedRun
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
            "low": run.low,
            "middle": run.middle,
            "high": run.high,
            "own": run.own,
            "held": run.held,
            "source": run.row.source,
        }
        for run in validation.runs
    ]
    return {**scores(validation, figures), "rows": runs, "published": [asdict(figure) for figure in figures]}


def goodput_sheets(validation: GoodputValidation, figures: tuple[KnownFigure, ...], *, worst: int) -> tuple[Sheet, ...]:
    """Runs, interruptions by cause and published figures."""
    causes = dict(sorted(llama_causes().items(), key=lambda cause: -cause[1]))
    numbers = ("reported", "low", "middle", "high", "own rates")
    return (
        Sheet(
            title="Effective training time of held-out runs, worst first",
            columns=("run", *numbers, "held"),
            rows=tuple(map(_run, validation.runs[:worst])),
            numbers=frozenset(numbers),
            note="From other systems alone, 80 % intervals; own rates: with what the source states of failures and "
            "restart, the rest as others have it. A bound is held where the interval reaches it.",
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
    return (run.row.name, run.row.reported, f"{run.low:.3f}", f"{run.middle:.3f}", f"{run.high:.3f}", own, held)


def _figure(figure: KnownFigure) -> tuple[str, ...]:
    ends = "" if figure.low is None else f"{figure.low:.3g} … {figure.high:.3g}"
    return figure.what, f"{figure.published:,.4g}", f"{figure.ours:,.4g}", percent(figure.off, signed=True), ends
