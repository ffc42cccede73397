"""A ranking of transforms as a person reads it, and for other programs."""

from collections.abc import Sequence

from volvelle.applications.fft.plan import FftRanking
from volvelle.quantities import BYTES, FLOP_PER_SECOND, SECONDS, show
from volvelle.report.applications.scores_text import PLAN_WIDTH, show_table, wide_console
from volvelle.system.cluster import Cluster

__all__ = ["fft_document", "print_fft"]


def print_fft(found: FftRanking, cluster: Cluster, *, outside: Sequence[str] = ()) -> None:
    """Layouts that can run, fastest first, and why the first is first."""
    console = wide_console(PLAN_WIDTH)
    problem = (found.best or found.refused)[0].problem
    sides = " x ".join(map(str, problem.shape))
    kind = "real to complex" if problem.real else "complex to complex"
    console.print(
        f"[bold]Transform of {sides}[/bold], {kind}, {problem.element}, on [bold]{cluster.name}[/bold]: "
        f"{found.considered} layouts"
    )
    for note in cluster.notes:
        console.print(f"note: {note}", style="yellow")
    if outside and found.best:
        console.print(f"note: the range is wider, because {'; '.join(outside)}", style="yellow")
    if not found.best:
        refused = found.refused[0]
        console.print("\n[bold red]none of them can run[/bold red]")
        for violation in refused.violations:
            console.print(f"{refused.layout.words}: {violation.problem}; try {' or '.join(violation.cures)}")
        return
    show_table(
        "\nlayouts, fastest first",
        ("", "layout"),
        ("time", "80 % range", "rate", "network"),
        (
            (
                str(place),
                each.layout.words,
                show(each.time, SECONDS),
                f"{show(each.time_range.low, SECONDS)} … {show(each.time_range.high, SECONDS)}",
                show(each.rate, FLOP_PER_SECOND),
                f"{sum(part.time for part in each.contributions if part.resource == 'network') / each.time:.0%}",
            )
            for place, each in enumerate(found.best, start=1)
        ),
        width=PLAN_WIDTH,
    )
    first = found.best[0]
    words = ", ".join(f"{part.name} {part.time / first.time:.0%}" for part in first.contributions)
    memory = show(float(first.memory), BYTES)
    console.print(f"The first spends its time on {words}. A chip holds {memory}, three copies of its share.")
    if found.refused and found.refused[0].time < first.time:
        refused = found.refused[0]
        console.print(f"Faster but impossible: {refused.layout.words}; {refused.violations[0].problem}.")


def fft_document(found: FftRanking, cluster: Cluster, *, outside: Sequence[str] = ()) -> dict[str, object]:
    """The same in SI units."""
    problem = (found.best or found.refused)[0].problem
    return {
        "system": cluster.name,
        "shape": list(problem.shape),
        "element": problem.element,
        "real": problem.real,
        "considered": found.considered,
        "layouts": [
            {
                "decomposition": "slab" if each.layout.slab else "pencil",
                "rows": each.layout.rows,
                "columns": each.layout.columns,
                "seconds": each.time,
                "range": {
                    "low": each.time_range.low,
                    "high": each.time_range.high,
                    "level": each.time_range.level,
                },
                "flop_per_second": each.rate,
                "memory_bytes": each.memory,
                "parts": {part.name: part.time for part in each.contributions},
            }
            for each in found.best
        ],
        "refused": [
            {
                "decomposition": "slab" if each.layout.slab else "pencil",
                "rows": each.layout.rows,
                "columns": each.layout.columns,
                "seconds": each.time,
                "violations": [violation.problem for violation in each.violations],
            }
            for each in found.refused
        ],
        "notes": list(cluster.notes),
        "outside_calibration": list(outside),
    }
