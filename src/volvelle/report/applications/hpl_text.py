"""Plans of High-Performance Linpack as a person reads them, and as JSON."""

from volvelle.applications.hpl.contract import HplEstimate
from volvelle.applications.hpl.panels import HplConstants
from volvelle.applications.hpl.plan import HplPlan
from volvelle.quantities import BYTES, FLOP_PER_SECOND, SECONDS, show
from volvelle.report.applications.scores_text import show_table, wide_console

__all__ = ["hpl_plan_document", "print_hpl_plan"]


def _rates(answer: HplEstimate) -> str:
    low, high = answer.rate_range or (answer.rate, answer.rate)
    return f"{show(low, FLOP_PER_SECOND)} … {show(high, FLOP_PER_SECOND)}"


def _short_range(answer: HplEstimate) -> str:
    """Low and high over the rate."""
    low, high = answer.rate_range or (answer.rate, answer.rate)
    return f"{low / answer.rate - 1:+.0%} … {high / answer.rate - 1:+.0%}"


def _per_watt(answer: HplEstimate) -> str:
    return "–" if answer.rate_per_watt is None else f"{answer.rate_per_watt * 1e-9:.1f}"


def _where(plan: HplPlan, answer: HplEstimate) -> str:
    """Where the matrix of a run lies."""
    spilled = plan.in_host_memory(answer)
    kept = f"matrix {plan.memory:.0%} of the accelerators' memory"
    return f"{kept} and {spilled:.0%} of itself in host memory" if spilled else kept


def _notes(plan: HplPlan) -> tuple[str, ...]:
    """What of memory was not considered, or was and did not pay."""
    if plan.host and not plan.in_host_memory(plan.best[0]):
        return (f"{show(plan.host, BYTES)} of host memory an accelerator were offered and would make it slower",)
    if not plan.host and plan.cluster.host_rate is not None:
        return (
            "the matrix keeps to the accelerators' memory; runs with a larger one, in host memory too, may be faster "
            "and are planned with --host-memory SIZE",
        )
    return ()


def print_hpl_plan(plan: HplPlan, constants: HplConstants, seconds: float) -> None:
    """The first choice, where its time goes, and the runners-up."""
    console, first = wide_console(), plan.best[0]
    console.print(
        f"[bold]HPL on {plan.cluster.name}: N {first.problem.order}, NB {first.problem.block}, "
        f"{first.grid.rows} × {first.grid.columns}[/bold], {first.grid.broadcast.word}, look-ahead {first.grid.depth}"
    )
    console.print(
        f"{show(first.rate, FLOP_PER_SECOND)} expected, {_rates(first)} (80 % range), {first.efficiency:.1%} of peak, "
        f"in {show(first.time, SECONDS)}"
    )
    if first.rate_per_watt is not None and first.power is not None:
        console.print(f"{_per_watt(first)} GF/W at {first.power * 1e-6:.3g} MW, accelerators and hosts at their limits")
    told = "calibration runs on this family" if constants.fitted else "no calibration run on this family"
    console.print(
        f"{_where(plan, first)}; {plan.tried} combinations tried in {seconds:.2f} s; constants: "
        f"{constants.family}, {told}"
    )
    for note in _notes(plan):
        console.print(f"note: {note}")
    console.print()
    show_table(
        "where the time goes",
        ("part", ""),
        ("time", "share", "law"),
        (
            (
                part.name,
                "" if part.exposed else "hidden",
                show(part.time, SECONDS),
                f"{part.time / first.time:.1%}" if part.exposed else "",
                part.law,
            )
            for part in sorted(first.contributions, key=lambda part: (not part.exposed, -part.time))
        ),
    )
    show_table(
        "fastest first",
        (),
        ("N", "NB", "P × Q", "broadcast", "depth", "time", "rate", "80 % range", "GF/W"),
        (
            (
                str(answer.problem.order),
                str(answer.problem.block),
                f"{answer.grid.rows} × {answer.grid.columns}",
                answer.grid.broadcast.word,
                str(answer.grid.depth),
                show(answer.time, SECONDS),
                show(answer.rate, FLOP_PER_SECOND),
                _short_range(answer),
                _per_watt(answer),
            )
            for answer in plan.best
        ),
    )


def hpl_plan_document(plan: HplPlan, constants: HplConstants, seconds: float) -> dict[str, object]:
    """A plan as plain values."""
    return {
        "system": plan.cluster.name,
        "accelerators": plan.cluster.accelerators,
        "memory": plan.memory,
        "host_memory": plan.host,
        "tried": plan.tried,
        "seconds": seconds,
        "constants": {"family": constants.family, "fitted": constants.fitted},
        "notes": list(_notes(plan)),
        "plans": [_answer(plan, answer) for answer in plan.best],
    }


def _answer(plan: HplPlan, answer: HplEstimate) -> dict[str, object]:
    low, high = answer.rate_range or (None, None)
    return {
        "N": answer.problem.order,
        "NB": answer.problem.block,
        "P": answer.grid.rows,
        "Q": answer.grid.columns,
        "broadcast": answer.grid.broadcast.word,
        "depth": answer.grid.depth,
        "time": answer.time,
        "rate": answer.rate,
        "low": low,
        "high": high,
        "efficiency": answer.efficiency,
        "in_host_memory": plan.in_host_memory(answer),
        "flops_per_watt": answer.rate_per_watt,
        "contributions": [
            {"name": part.name, "part": part.part, "time": part.time, "exposed": part.exposed, "law": part.law}
            for part in answer.contributions
        ],
    }
