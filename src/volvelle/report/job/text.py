"""A whole job as a person reads it, on one screen: days, where they go, money, energy, carbon, what would help."""

from collections.abc import Iterator

from volvelle.applications.goodput.run_estimate import RunFigure
from volvelle.quantities import DAY, DOLLARS, SECONDS, TOKEN_COUNT, percent, show, whole_text
from volvelle.report.plan_words import degrees_text
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import print_answer
from volvelle.verbs.job.answer import Job

_MOST_SHOWN = 1e6
"""Days from which on a figure says nothing more."""


def print_job(answer: Job, *, brief: bool = False) -> None:
    """Print it; briefly, without tables."""
    print_answer(
        title_text(answer),
        figure_lines(answer),
        sheets(answer),
        answer.notes,
        folded=("rests on", "what"),
        brief=brief,
    )


def title_text(answer: Job) -> str:
    """What is asked, on one line."""
    layout = f", {degrees_text(answer.mapping)}" if answer.mapping is not None else ""
    return f"{answer.model} on {answer.system}{layout}: {show(answer.tokens, TOKEN_COUNT)} tokens"


def figure_lines(answer: Job) -> Iterator[str]:
    """Days with their interval, interruptions, checkpoints, spares, money, energy and carbon."""
    run = answer.run
    if run.problem:
        yield f"infeasible: {run.problem}"
        yield from (f"  cure: {cure}" for cure in run.cures)
    yield (
        f"{_span(run.days, 'days')}; without failures {answer.contributions['work']:.3g} "
        f"({answer.steps:,.0f} steps of {show(answer.step_seconds, SECONDS)})"
    )
    yield (
        f"ETTR {percent(run.ettr.value)}, {percent(run.ettr.p10)} … {percent(run.ettr.p90)}; "
        f"{run.interruptions_per_day:.3g} interruptions a day, one every {_hours(run.between)}; "
        f"{whole_text(run.interruptions.value)} in all, {whole_text(run.interruptions.p10)} … "
        f"{whole_text(run.interruptions.p90)}"
    )
    apart = "; ".join(f"{name} {low:.3g} … {high:.3g}" for name, (low, high) in run.doubts.items())
    yield f"days in doubt by one alone: {apart}"
    half, best, double = (percent(ratio) for ratio in run.flat)
    tier = f", every {whole_text(run.segments)} of them to storage" if run.segments > 1 else ""
    often = f"checkpoint every {_minutes(run.interval)} of work{tier}"
    yield f"{often}: ETTR {best}; {half} at half that, {double} at twice"
    if run.spare_nodes is not None:
        spare = run.spare_nodes
        yield (
            f"spares: {spare.for_95:,.0f} nodes for 95 % of the time, {spare.for_99:,.0f} for 99 % "
            f"({spare.mean:.3g} out on average; {spare.poisson_95:,.0f} were faults independent)"
        )
    for paid in run.spending:
        yield (
            f"{show(paid.usd.value, DOLLARS)} {paid.way}, {show(paid.usd.p10, DOLLARS)} … "
            f"{show(paid.usd.p90, DOLLARS)} at {paid.usd_per_hour:.2f} USD an hour and accelerator ({paid.what}); "
            f"what failures cost: {show(paid.failures, DOLLARS)}"
        )
    if not run.spending:
        yield "money: no price known, neither of the chip nor of its rent"
    if run.kwh is not None:
        yield f"{_span(run.kwh, 'MWh', scale=1e-3)} with hosts and PUE"
    if run.tco2e is not None:
        yield f"{_span(run.tco2e, 't CO2e')} of its energy, by the grid of the place"
    if answer.simulated is not None:
        told = answer.simulated
        yield (
            f"simulated {told.runs:,} times, {told.failures:,.0f} failures each: {told.days:.4g} days, deviation "
            f"{told.deviation:.3g}; closed form {told.closed_days:.4g}, {told.closed_deviation:.3g}"
        )


def sheets(answer: Job) -> Iterator[Sheet]:
    """Tables: where days go, what would help, carbon by place, inputs."""
    run, days = answer.run, answer.contributions
    total = sum(days.values())
    yield Sheet(
        title="Where the days go",
        columns=("part", "days", "share"),
        rows=(
            *((name, _days(part), percent(part / total)) for name, part in days.items() if part > 0.0),
            ("sum", _days(total), percent(1.0)),
        ),
        numbers=frozenset(("days", "share")),
        note="With every input at its median; parts sum to the days above.",
    )
    if len(answer.phases) > 1:
        yield Sheet(
            title="Phases, without failures",
            columns=("phase", "tokens", "steps", "time of a step", "days", "layout"),
            rows=tuple(
                (
                    phase.name,
                    show(phase.run.tokens, TOKEN_COUNT),
                    f"{phase.run.steps:,.0f}",
                    show(phase.run.step, SECONDS),
                    _days(phase.run.work / DAY),
                    "as measured" if phase.mapping is None else degrees_text(phase.mapping),
                )
                for phase in answer.phases
            ),
            numbers=frozenset(("tokens", "steps", "time of a step", "days")),
        )
    yield Sheet(
        title="What would help",
        columns=("change", "days fewer", "less money"),
        rows=tuple(
            (remedy.what, _days(remedy.days), "" if remedy.usd is None else show(remedy.usd, DOLLARS))
            for remedy in run.remedies
        ),
        numbers=frozenset(("days fewer", "less money")),
    )
    if answer.places:
        yield Sheet(
            title="Carbon by place",
            columns=("region", "g/kWh", "t CO2e", "where"),
            rows=tuple(
                (place.place, f"{place.grams_per_kwh:,.0f}", f"{place.tco2e:,.0f}", place.where)
                for place in answer.places
            ),
            numbers=frozenset(("g/kWh", "t CO2e")),
        )
    yield Sheet(
        title="Inputs and sources",
        columns=("input", "rests on"),
        rows=tuple(answer.basis.items()),
        note="The final run alone: experiments, failed runs and evaluation before it are not in these figures.",
    )


def _span(figure: RunFigure, unit: str, *, scale: float = 1.0) -> str:
    middle, low, high = (_plain(value * scale) for value in (figure.value, figure.p10, figure.p90))
    return f"{middle} {unit}, {low} … {high}"


def _plain(value: float) -> str:
    if value >= _MOST_SHOWN and value > 1e15:
        return "for ever"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _days(value: float) -> str:
    return f"{value:,.2f}" if abs(value) < _MOST_SHOWN else f"{value:.2g}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.3g} h" if seconds < 1e9 else "never"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.3g} min"
