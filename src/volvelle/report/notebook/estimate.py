"""An estimate as a notebook shows it."""

from volvelle.quantities import BYTES, DOLLARS, JOULES, SECONDS, chance_text, show, whole_text
from volvelle.report.compare_text import difference_lines
from volvelle.report.estimate_pictures import memory_picture, time_picture
from volvelle.report.estimate_text import bound_words
from volvelle.report.figures.engine import Chart
from volvelle.report.notebook.shown import Drawing, Presentation, Shown, itself, under
from volvelle.report.plan_words import choices_text, degrees_text
from volvelle.report.run_text import run_lines
from volvelle.report.sheet import Sheet
from volvelle.report.violations_text import violation_warnings
from volvelle.verbs.estimate import Answer


def _shown(answer: Answer) -> Shown:
    estimate, cluster = answer.estimate, answer.cluster
    figures = [
        f"{answer.parameters / 1e9:.4g} B parameters, {answer.step.batch} sequences of {answer.sequence} a step",
        f"layout {degrees_text(estimate.mapping)}; {choices_text(estimate.mapping)}",
    ]
    if answer.speed is not None:
        around = estimate.time_range
        span = "" if around is None else f", {show(around.low, SECONDS)} … {show(around.high, SECONDS)}"
        level = "" if around is None else f" ({100 * around.level:.0f} % range)"
        figures.append(
            f"{show(estimate.time, SECONDS)}/step{span}{level}; {100 * estimate.utilisation:.1f} % of peak (MFU), "
            f"{whole_text(estimate.tokens_per_second)} tokens/s"
        )
    fits = "fits" if estimate.memory_bytes <= estimate.capacity * (1.0 - estimate.margin) else "does not fit"
    sure = "" if estimate.fits is None else f" (probability {chance_text(estimate.fits)})"
    figures.append(
        f"{show(estimate.memory_bytes, BYTES)} of {show(estimate.capacity, BYTES)} on the fullest rank "
        f"({estimate.worst_rank}): {fits}{sure}"
    )
    costs = answer.costs
    if costs.energy is not None:
        money = "" if costs.dollars is None else f", {show(float(costs.dollars), DOLLARS)} on owned hardware"
        figures.append(f"{show(float(costs.energy), JOULES)}/step{money}")
    if answer.difference is not None:
        figures += difference_lines(answer.difference)
    if answer.run is not None:
        figures += run_lines(answer.run)
    warnings = [*answer.notes]
    warnings += violation_warnings(estimate.violations)
    return Shown(
        title=f"{answer.model} on {cluster.name}: one training step",
        figures=figures,
        warnings=warnings,
        pictures=_pictures(answer),
        sheets=(*((time_sheet(answer),) if answer.speed is not None else ()), _memory(answer)),
        details=(_inputs(answer),),
    )


def _pictures(answer: Answer) -> tuple[Drawing, ...]:
    estimate, host = answer.estimate, answer.cluster.host_memory

    def held(width: float) -> Chart:
        return memory_picture(estimate, rank=estimate.worst_rank, host=host, width=width)

    return (held,) if answer.speed is None else (lambda width: time_picture(estimate, width=width), held)


def time_sheet(answer: Answer) -> Sheet:
    """Where the time goes, by part, and what runs behind it."""
    estimate = answer.estimate
    rows = []
    for part, seconds in estimate.parts().items():
        lines = [line for line in estimate.contributions if line.part == part and line.exposed]
        bounds = dict.fromkeys(bound_words(word) for line in lines for word in line.resource.split(" and "))
        rows.append((part, show(seconds, SECONDS), f"{100 * seconds / estimate.time:.1f} %", ", ".join(bounds)))
    rows += [
        (f"hidden: {line.name}", show(line.time, SECONDS), "", bound_words(line.resource))
        for line in estimate.contributions
        if not line.exposed
    ]
    return Sheet(
        title="Where the time goes",
        columns=("part", "time", "share", "bound by"),
        rows=tuple(rows),
        numbers=frozenset(("time", "share")),
    )


def _memory(answer: Answer) -> Sheet:
    estimate = answer.estimate
    parts = sorted(estimate.memory, key=lambda part: -part.bytes)
    rows = tuple(
        (part.name, show(part.bytes, BYTES), f"{100 * part.bytes / estimate.capacity:.1f} %") for part in parts
    )
    return Sheet(
        title="What the fullest rank holds",
        columns=("part", "bytes", "of memory"),
        rows=rows,
        numbers=frozenset(("bytes", "of memory")),
    )


def _inputs(answer: Answer) -> Sheet:
    rows = []
    for used in answer.inputs:
        between = "" if used.figure.spread is None else " … ".join(map(used.shown, used.figure.bounds(0.8)))
        evidence = f"{used.figure.evidence.word}: {answer.cite(used.figure.source)}"
        rows.append((used.name, used.shown(used.figure.value), between, evidence))
    return Sheet(
        title="Inputs and sources",
        columns=("number", "value", "between (80 %)", "evidence"),
        rows=tuple(rows),
        numbers=frozenset(("value",)),
    )


ESTIMATE = Presentation(verb="estimate", document=itself, rows=under("contributions"), shown=_shown)
