"""A plan of how to serve, as a notebook shows it."""

from volvelle.report.documents.plan_serving import ServingPlanDocument
from volvelle.report.notebook.shown import Presentation, Shown, under
from volvelle.report.plan_serving.split_words import brief_split_text
from volvelle.report.plan_serving.words import (
    COLUMNS,
    NUMBERS,
    asked_text,
    change_rows,
    dead_end_lines,
    option_cells,
    option_lines,
    title_text,
)
from volvelle.report.sheet import Sheet
from volvelle.verbs.plan_serving.plan import ServingPlan


def _shown(plan: ServingPlan) -> Shown:
    best = plan.best
    lines = [asked_text(plan), *(() if best is None else option_lines(plan, best))]
    if plan.split_pools is not None:
        lines.append(brief_split_text(plan))
    rows = tuple(option_cells(plan, option) for option in plan.options)
    columns = ("change", "goodput", "replicas")
    return Shown(
        title=f"{title_text(plan)}: ways to serve",
        figures=lines,
        warnings=[*plan.notes, *dead_end_lines(plan)],
        sheets=(
            Sheet(title="The best of each layout", columns=COLUMNS, rows=rows, numbers=frozenset(NUMBERS)),
            Sheet(
                title="What would change it",
                columns=columns,
                rows=tuple(change_rows(plan)),
                numbers=frozenset(columns[1:]),
            ),
        ),
    )


SERVING_PLAN = Presentation(
    verb="plan", document=ServingPlanDocument.model_validate, rows=under("options"), shown=_shown
)
