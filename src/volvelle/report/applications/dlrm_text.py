"""A ranking of table placements as a person reads it, and for other programs."""

from collections.abc import Sequence

from volvelle.applications.dlrm.estimator import DlrmEstimate
from volvelle.applications.dlrm.plan import DlrmRanking
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.report.applications.scores_text import PLAN_WIDTH, show_table, wide_console
from volvelle.system.cluster import Cluster

__all__ = ["dlrm_document", "print_dlrm"]


def print_dlrm(found: DlrmRanking, cluster: Cluster, *, outside: Sequence[str] = ()) -> None:
    """Placements that fit, fastest first, and where the time of the first goes."""
    console = wide_console(PLAN_WIDTH)
    first = _first(found)
    step = first.step
    parameters = sum(each.parameters for each in step.shape.tables)
    console.print(
        f"[bold]{step.shape.name}[/bold]  {parameters / 1e9:.4g} B parameters in tables, {step.batch} samples a step, "
        f"on [bold]{cluster.name}[/bold]: {found.considered} placements"
    )
    for note in cluster.notes:
        console.print(f"note: {note}", style="yellow")
    if outside and found.best:
        console.print(f"note: the range is wider, because {'; '.join(outside)}", style="yellow")
    if not found.best:
        console.print("\n[bold red]none of them fits[/bold red]")
        for violation in first.violations:
            console.print(f"{first.placement.words}: {violation.problem}; try {' or '.join(violation.cures)}")
        return
    show_table(
        "\nplacements, fastest first",
        ("", "tables"),
        ("step", "80 % range", "memory"),
        (
            (
                str(place),
                each.placement.words,
                show(each.time, SECONDS),
                f"{show(each.time_range.low, SECONDS)} … {show(each.time_range.high, SECONDS)}",
                show(each.memory_bytes, BYTES),
            )
            for place, each in enumerate(found.best, start=1)
        ),
        width=PLAN_WIDTH,
    )
    show_table(
        "where the time of the first goes",
        ("part",),
        ("exposed", "hidden"),
        (
            (name, show(exposed, SECONDS), show(hidden, SECONDS) if hidden else "")
            for name, (exposed, hidden) in _parts(first).items()
        ),
        width=PLAN_WIDTH,
    )
    console.print(f"The first trains on {first.samples_per_second / 1e6:.3g} million samples a second.")
    if found.nearest is not None:
        near = found.nearest
        console.print(
            f"Faster but too large: {near.placement.words} would take {show(near.time, SECONDS)} with "
            f"{show(near.memory_bytes, BYTES)} on the fullest chip."
        )


def _first(found: DlrmRanking) -> DlrmEstimate:
    first = found.best[0] if found.best else found.nearest
    assert first is not None, "some placement is the fastest"
    return first


def _parts(found: DlrmEstimate) -> dict[str, tuple[float, float]]:
    parts: dict[str, tuple[float, float]] = {}
    for part in found.contributions:
        exposed, hidden = parts.get(part.name, (0.0, 0.0))
        parts[part.name] = (exposed + part.time, hidden) if part.exposed else (exposed, hidden + part.time)
    return dict(sorted(parts.items(), key=lambda item: -item[1][0]))


def dlrm_document(found: DlrmRanking, cluster: Cluster, *, outside: Sequence[str] = ()) -> dict[str, object]:
    """The same in SI units, with the placement of every table."""
    step = _first(found).step

    def entry(each: DlrmEstimate) -> dict[str, object]:
        return {
            "seconds": each.time,
            "range": {"low": each.time_range.low, "high": each.time_range.high, "level": each.time_range.level},
            "samples_per_second": each.samples_per_second,
            "memory_bytes": each.memory_bytes,
            "tables": [
                {
                    "count": tables.count,
                    "rows": tables.rows,
                    "width": tables.width,
                    "pooling": tables.pooling,
                    "placement": way.value,
                }
                for tables, way in zip(step.shape.tables, each.placement.ways, strict=True)
            ],
            "parts": {name: {"exposed": out, "hidden": hid} for name, (out, hid) in _parts(each).items()},
        }

    return {
        "model": step.shape.name,
        "system": cluster.name,
        "batch": step.batch,
        "considered": found.considered,
        "placements": [entry(each) for each in found.best],
        "nearest": None if found.nearest is None else entry(found.nearest),
        "notes": list(cluster.notes),
        "outside_calibration": list(outside),
    }
