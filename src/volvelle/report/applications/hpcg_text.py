"""A plan for HPCG as a person reads it, and for other programs."""

from volvelle.applications.hpcg.plan import HpcgPlan
from volvelle.quantities import BYTES, FLOP_PER_SECOND, WATTS, show
from volvelle.report.applications.scores_text import PLAN_WIDTH, show_table, wide_console

__all__ = ["hpcg_document", "print_hpcg"]


def print_hpcg(plan: HpcgPlan) -> None:
    """The run to make, what to expect, and what that rests on."""
    console = wide_console(PLAN_WIDTH)
    found = plan.expected
    console.print(
        f"[bold]HPCG[/bold] on [bold]{plan.cluster.name}[/bold]: "
        f"[bold]{show(float(found.rate), FLOP_PER_SECOND)}[/bold] expected, "
        f"{show(found.low, FLOP_PER_SECOND)} … {show(found.high, FLOP_PER_SECOND)} ({found.level:.0%} range)"
    )
    for note in plan.cluster.notes:
        console.print(f"note: {note}", style="yellow")
    if not found.factors.fitted:
        console.print(f"note: factors are those of {found.factors.family}", style="yellow")
    grid, processes = (" x ".join(map(str, sides)) for sides in (plan.grid, plan.processes))
    console.print(f"\nlocal grid        {grid} a process, {show(float(plan.memory), BYTES)} in the reference storage")
    console.print(f"processes         {processes}, one a device; {plan.unknowns:.4g} unknowns in all")
    if plan.per_watt is not None and plan.power is not None:
        central, low, high = (value / 1e9 for value in plan.per_watt)
        console.print(
            f"efficiency        {central:.3g} GF/W, {low:.3g} … {high:.3g}, at {show(float(plan.power), WATTS)} "
            "(devices at 85 % of their rating, and hosts)"
        )
    show_table(
        "\ninputs and sources",
        ("factor",),
        ("value", "low", "high"),
        (
            (name, f"{value:.4g}", f"{low:.4g}", f"{high:.4g}")
            for name, (value, low, high) in found.bounds.items()
            if value
        ),
        width=PLAN_WIDTH,
    )


def hpcg_document(plan: HpcgPlan) -> dict[str, object]:
    """The same in SI units."""
    found = plan.expected
    return {
        "system": plan.cluster.name,
        "devices": plan.cluster.accelerators,
        "local_grid": list(plan.grid),
        "processes": list(plan.processes),
        "unknowns": plan.unknowns,
        "memory_bytes": plan.memory,
        "flop_per_second": found.rate,
        "range": {"low": found.low, "high": found.high, "level": found.level},
        "mean": found.mean,
        "power_watts": plan.power,
        "flop_per_second_per_watt": None if plan.per_watt is None else list(plan.per_watt),
        "factors": {
            name: {"value": value, "low": low, "high": high} for name, (value, low, high) in found.bounds.items()
        },
        "fitted": found.factors.fitted,
        "family": found.factors.family,
        "notes": list(plan.cluster.notes),
    }
