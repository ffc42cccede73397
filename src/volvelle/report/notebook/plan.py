"""A plan, and how many accelerators a run takes, as a notebook shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from volvelle.quantities import DOLLARS, SECONDS, TOKEN_COUNT, show
from volvelle.report.compare_text import difference_lines
from volvelle.report.documents.plan import SizingDocument
from volvelle.report.estimate_pictures import time_picture
from volvelle.report.how_many_text import limit_words, search_words, shown_sizes, unmet_words
from volvelle.report.notebook.shown import Presentation, Row, Shown, itself, under
from volvelle.report.page.sizing import days_picture
from volvelle.report.plan_words import dead_end_words, degrees_text, layout_cells
from volvelle.report.run_text import run_lines
from volvelle.report.sheet import Sheet
from volvelle.verbs.how_many import Size, Sizing
from volvelle.verbs.layouts import Layout
from volvelle.verbs.plan import Plan


def _shown(plan: Plan) -> Shown:
    ranking, best = plan.ranking, plan.best
    figures = [
        f"{plan.step.model.parameters() / 1e9:.4g} B parameters, {plan.step.batch} sequences of {plan.sequence} "
        f"a step; {ranking.configurations:,} layouts, {ranking.feasible:,} can run"
    ]
    if best is not None and best.time_range is not None:
        around = best.time_range
        figures.append(
            f"the first: {show(best.time, SECONDS)}/step, {show(around.low, SECONDS)} … {show(around.high, SECONDS)} "
            f"({100 * around.level:.0f} % range), {100 * best.utilisation:.1f} % of peak (MFU)"
        )
    if plan.difference is not None:
        figures += difference_lines(plan.difference)
    if plan.run is not None:
        figures += run_lines(plan.run)
    return Shown(
        title=f"{plan.model} on {plan.cluster.name}: layouts, fastest first",
        figures=figures,
        warnings=[*plan.notes, *plan.cluster.notes_on_power, *plan.warnings, *_dead_end(plan)],
        pictures=() if best is None else (lambda width: time_picture(best, width=width),),
        sheets=(
            _layouts(f"The {plan.order} of each kind", plan.kinds),
            _layouts("Other fast ones, those that tie as one", _others(plan, plan.layouts)),
        ),
    )


def _others(plan: Plan, rows: Sequence[Any]) -> list[Any]:
    """Of rows that stand for the fastest layouts, those that are the fastest of no kind."""
    kinds = {layout.mapping for layout in plan.kinds}
    return [row for row, layout in zip(rows, plan.layouts, strict=True) if layout.mapping not in kinds]


def _layouts(title: str, layouts: Sequence[Layout]) -> Sheet:
    columns = ("step", "MFU", "memory", "kind", "degrees", "choices", "launched by")
    return Sheet(title=title, columns=columns, rows=tuple(map(layout_cells, layouts)), numbers=frozenset(columns[:3]))


def _dead_end(plan: Plan) -> list[str]:
    """Where nothing fits: by how much, and what would."""
    told, ways = dead_end_words(plan)
    words = ["none of them fits", *told, *(f"{command}: {gives}" for command, gives in ways)]
    return [] if plan.layouts else words


def _rows(plan: Plan, document: Mapping[str, Any]) -> list[Row]:
    """The fastest of each kind and the fastest of all, each once, fastest first."""
    rows = [*document["best_of_kinds"], *_others(plan, document["layouts"])]
    return sorted(rows, key=lambda row: float(row["seconds"]))


PLAN = Presentation(verb="plan", document=itself, rows=_rows, shown=_shown)


def _sizing(sizing: Sizing) -> Shown:
    figures = [
        f"{sizing.step.model.parameters() / 1e9:.4g} B parameters, {sizing.step.batch} sequences of {sizing.sequence} "
        f"a step, {show(sizing.tokens, TOKEN_COUNT)} tokens within {limit_words(sizing)}"
    ]
    if sizing.smallest is not None:
        figures += _size("the fewest", sizing.smallest)
        if sizing.cheapest is not None and sizing.cheapest.accelerators != sizing.smallest.accelerators:
            figures += _size("the cheapest near it", sizing.cheapest)
    rows = tuple(
        (
            f"{size.accelerators:,}",
            f"{size.run.days_with_failures:,.1f}",
            f"{100 * size.utilisation:.1f} %",
            "–" if size.usd is None else show(size.usd, DOLLARS),
            degrees_text(size.mapping),
        )
        for size in shown_sizes(sizing)
    )
    columns = ("accelerators", "days with failures", "MFU", "money", "layout")
    return Shown(
        title=f"{sizing.model} on {sizing.system}: how many accelerators",
        figures=figures,
        warnings=[*sizing.notes, *(search_words(sizing) if sizing.smallest else (unmet_words(sizing),))],
        pictures=(lambda width: days_picture(sizing, width=width),) if sizing.sizes else (),
        sheets=(
            Sheet(
                title="Counts that are faster than every smaller one",
                columns=columns,
                rows=rows,
                numbers=frozenset(columns[:4]),
            ),
        ),
    )


def _size(which: str, size: Size) -> list[str]:
    days, money, *_ = run_lines(size.run)
    return [f"{which}: {size.accelerators:,}, {degrees_text(size.mapping)}; {days}", money]


SIZING = Presentation(verb="plan", document=SizingDocument.model_validate, rows=under("sizes"), shown=_sizing)
