"""A mapped graph as a notebook shows it."""

from volvelle.quantities import BYTES, SECONDS, show
from volvelle.report.estimate_pictures import time_picture
from volvelle.report.notebook.shown import Drawing, Presentation, Shown, itself, under
from volvelle.report.sheet import Sheet
from volvelle.search.graph.answer import MappedPlan
from volvelle.verbs.map import MapAnswer


def _shown(answer: MapAnswer) -> Shown:
    found, plan = answer.mapping, answer.mapping.plan
    figures = [f"{answer.parameters / 1e9:.4g} B parameters, {answer.graph}, {answer.execution} execution"]
    sheets: tuple[Sheet, ...] = ()
    pictures: tuple[Drawing, ...] = ()
    if plan is None:
        figures.append("nothing fits" if found.proven else "nothing was found in time")
    else:
        degrees = " × ".join(f"{group.axis} {group.degree}" for group in plan.degrees.groups)
        sure = "optimum, proven" if found.proven else f"no mapping takes less than {show(found.bound, SECONDS)}"
        figures += [
            f"mapping {degrees}",
            f"{show(plan.time, SECONDS)}/step of {plan.micro_batches * plan.degrees.data} micro-batches, "
            f"{100 * plan.utilisation:.1f} % of peak; {sure}",
            f"{show(plan.memory_bytes, BYTES)} of {show(plan.capacity, BYTES)} of memory on the fullest stage",
        ]
        sheets, pictures = (_time(plan), _stages(plan)), (_picture(plan),)
    return Shown(
        title=f"{found.workload} on {found.cluster}: best mapping",
        figures=figures,
        warnings=[f"cannot run: {one.problem}" for one in found.violations],
        pictures=pictures,
        sheets=sheets,
    )


def _picture(plan: MappedPlan) -> Drawing:
    """Where the time goes."""
    return lambda width: time_picture(plan, width=width)


def _time(plan: MappedPlan) -> Sheet:
    rows = []
    for part, seconds in plan.parts().items():
        bounds = dict.fromkeys(line.resource for line in plan.contributions if line.exposed and line.part == part)
        rows.append((part, show(seconds, SECONDS), f"{100 * seconds / plan.time:.1f} %", ", ".join(bounds)))
    return Sheet(
        title="Where the time goes",
        columns=("part", "time", "share", "bound by"),
        rows=tuple(rows),
        numbers=frozenset(("time", "share")),
    )


def _stages(plan: MappedPlan) -> Sheet:
    rows = tuple(
        (str(place), show(stage.time, SECONDS), show(stage.memory_bytes, BYTES))
        for place, stage in enumerate(plan.stages, start=1)
    )
    columns = ("stage", "micro-batch", "memory")
    return Sheet(title="Stages", columns=columns, rows=rows, numbers=frozenset(columns))


MAP = Presentation(verb="map", document=itself, rows=under("contributions"), shown=_shown)
