"""A plan of any application as a person reads it."""

from collections.abc import Iterator
from typing import Any

from volvelle.applications.contract import AnyApplication, Planned
from volvelle.estimators.result import Estimate
from volvelle.quantities import SECONDS, numbered, percent, show
from volvelle.report.applications.scores_text import print_finding
from volvelle.report.terminal import show_table, wide_console


def print_plan(application: AnyApplication, planned: Planned[Any, Any, Any]) -> None:
    """The first choice, the runners-up, and where the time of the first goes."""
    console, ranking = wide_console(application.plan_width), planned.ranking
    if ranking.best:
        head, *others = application.headline(planned)
    else:
        head, others = (
            f"{planned.asked.title} on {planned.system.name}: {numbered(ranking.considered, 'candidate')}",
            [],
        )
    console.print(f"[bold]{head}[/bold]")
    for line in others:
        console.print(line)
    for note in (*planned.system.notes, *application.notes(planned)):
        console.print(f"note: {note}", style="yellow")
    if not ranking.best:
        console.print("\n[bold red]none of them can run[/bold red]")
        for violation in ranking.first.violations:
            words = [application.cells(ranking.first)[word] for word in application.plan_words]
            console.print(": ".join((*words, violation.problem)), markup=False)
        remedies = ranking.first.violations[0].cures
        for place, remedy in enumerate(remedies):
            console.print(f"  {'or: ' if place else 'fix:'} {remedy}", markup=False, soft_wrap=True)
        if not remedies:
            console.print("  no other option and no machine of another size that was tried makes it run")
        return
    if planned.asked.outside:
        console.print(f"note: the range is wider, because {'; '.join(planned.asked.outside)}", style="yellow")
    if (evidence := application.evidence(planned.asked)) is not None:
        console.print(evidence.words, style="dim")
    if ranking.considered > 1:
        rows = [application.cells(estimate) for estimate in ranking.best]
        numbers = tuple(name for name in rows[0] if name not in application.plan_words)
        show_table(
            "\nfastest first",
            ("", *application.plan_words),
            numbers,
            (
                (str(place), *(cells[name] for name in (*application.plan_words, *numbers)))
                for place, cells in enumerate(rows, start=1)
            ),
            width=application.plan_width,
        )
    if len(ranking.first.contributions) > 1:
        show_table(
            "where the time of the first goes",
            ("part",),
            ("exposed", "share", "hidden", "law"),
            _parts(ranking.first),
            width=application.plan_width,
        )
    for finding in application.plan_findings(planned):
        print_finding(finding, width=application.plan_width)
    for remark in application.remarks(planned):
        console.print(remark)


def _parts(estimate: Estimate[Any, Any]) -> Iterator[tuple[str, ...]]:
    """Seconds of each contribution, exposed and hidden, largest first."""
    parts: dict[tuple[str, str], tuple[float, float]] = {}
    for part in estimate.contributions:
        exposed, hidden = parts.get((part.name, part.law), (0.0, 0.0))
        parts[part.name, part.law] = (exposed + part.time, hidden) if part.exposed else (exposed, hidden + part.time)
    for (name, law), (exposed, hidden) in sorted(parts.items(), key=lambda item: (-item[1][0], -item[1][1])):
        shown = ("", "") if not exposed and hidden else (show(exposed, SECONDS), f"{percent(exposed / estimate.time)}")
        yield name, *shown, show(hidden, SECONDS) if hidden else "", law
