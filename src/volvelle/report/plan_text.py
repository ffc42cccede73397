"""A plan as a person reads it: ranked layouts, why the first is first, what else was in the way."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from volvelle.mapping.axes import CONTEXT, EXPERT
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import BYTES, DOLLARS, SECONDS, show
from volvelle.report.compare_text import difference_lines
from volvelle.report.run_text import run_lines
from volvelle.report.terminal import plain_table, wide_console
from volvelle.report.trained_text import trained_text
from volvelle.verbs.layouts import Layout
from volvelle.verbs.plan import Plan
from volvelle.verbs.ways_out import WayOut


def degrees_text(mapping: ParallelMapping) -> str:
    """Degrees of parallelism in a few letters."""
    notes = {
        CONTEXT: "/heads" if mapping.ulysses else "",
        EXPERT: "" if mapping.expert_tensor_parallel else "/etp1",
    }
    return " ".join(f"{axis.word}{degree}{notes.get(axis, '')}" for axis, degree in mapping.shown)


def choices_text(mapping: ParallelMapping) -> str:
    """All else that a layout says, in a few words."""
    words = [f"mb{mapping.micro_batch}", f"zero{mapping.zero}"]
    if mapping.pipeline > 1:
        words.append(mapping.schedule.word + (f"/{mapping.interleave}" if mapping.interleave > 1 else ""))
    every = f" every {mapping.recompute_every}" if mapping.recompute_every > 1 else ""
    words.append(f"recompute {mapping.recompute.word}{every}")
    if mapping.sequence_parallel:
        words.append("sp")
    if mapping.offloaded:
        words.append("host: " + "+".join(mapping.offloaded))
    return ", ".join(words)


_FOLDED = ("kind, degrees, choices", "launched by")


def print_plan(plan: Plan, console: Console | None = None) -> None:
    """Print a plan."""
    console = wide_console(console=console or Console(highlight=False))
    ranking, step, cluster = plan.ranking, plan.step, plan.cluster
    console.print(
        f"[bold]{plan.model}[/bold]  {step.model.parameters() / 1e9:.4g} B parameters, {step.batch:,} sequences of "
        f"{plan.sequence:,} a step, on [bold]{cluster.name}[/bold]"
    )
    if told := trained_text(step):
        console.print(f"[bold]trains[/bold]  {told}")
    for note in (*plan.notes, *cluster.notes):
        console.print(f"note: {note}", style="yellow")
    console.print(
        f"{ranking.configurations:,} layouts: {ranking.evaluated:,} timed, {ranking.pruned:,} ruled out by model "
        f"states alone, {ranking.feasible:,} can run; {plan.seconds:.1f} s",
        style="dim",
    )
    if not ranking.best:
        console.print("\n[bold red]none of them fits[/bold red]")
        _dead_end(console, plan)
        return
    console.print(_layouts("The fastest of each kind", plan.kinds))
    shown = {layout.mapping for layout in plan.kinds}
    others = [layout for layout in plan.layouts if layout.mapping not in shown]
    if others:
        console.print(_layouts("Other fast ones, those that tie as one", others))
    first = plan.explained[0]
    if first.time_range is not None:
        console.print(
            f"\nThe first takes {show(first.time_range.low, SECONDS)} … {show(first.time_range.high, SECONDS)} "
            f"({100 * first.time_range.level:.0f} % range); its fullest rank ({first.worst_rank}) "
            f"holds {show(first.memory_bytes, BYTES)} of {show(first.capacity, BYTES)}."
        )
    for warning in plan.warnings:
        console.print(f"note: {warning}", style="yellow")
    if plan.difference is not None and plan.baseline is not None and plan.baseline.best is not None:
        as_it_is = plan.baseline.best
        console.print("\nThe first: " + "\n".join(difference_lines(plan.difference)))
        console.print(f"as it is: {show(as_it_is.time, SECONDS)} by {degrees_text(as_it_is.mapping)}")
    if plan.run is not None:
        console.print("\n" + "\n".join(run_lines(plan.run)))
    console.print(Text(f"\n{why_words(plan)}"))
    _nearest(console, plan)
    text = ", ".join(f"{item.name} {100 * item.gain:.1f} %" for item in plan.sensitivity if item.gain > 5e-4)
    console.print(Text(f"\nSensitivity: a tenth more of a resource shortens the step by: {text or 'nothing'}."))


def _layouts(title: str, layouts: Sequence[Layout]) -> Table:
    """A table of layouts, fastest first."""
    numbers = ("step", "MFU", "memory")
    table = plain_table(title, (*numbers, "kind, degrees, choices", "launched by"), numbers=numbers, folded=_FOLDED)
    for layout in layouts:
        ties = f" (+{layout.ties} that tie)" if layout.ties else ""
        table.add_row(
            show(layout.time, SECONDS),
            f"{100 * layout.utilisation:.1f} %",
            show(layout.memory_bytes, BYTES),
            f"[bold]{layout.kind.word}[/bold]: {degrees_text(layout.mapping)}; {choices_text(layout.mapping)}{ties}",
            " ".join(layout.frameworks) or "none",
        )
    return table


def why_words(plan: Plan) -> str:
    """Where the first layout gains on the second, part by part."""
    first = plan.explained[0]
    largest = list(first.parts().items())[:3]
    words = ", ".join(f"{name} {100 * time / first.time:.0f} %" for name, time in largest)
    text = f"Its time goes to {words}."
    if len(plan.explained) > 1:
        second = plan.explained[1]
        if second.time <= first.time * (1 + 1e-9):
            return f"{text} The next kind takes as long: the model sees no difference."
        parts = {**dict.fromkeys(first.parts(), 0.0), **dict.fromkeys(second.parts(), 0.0)}
        gains = {name: second.parts().get(name, 0.0) - first.parts().get(name, 0.0) for name in parts}
        better = [
            f"{name} {show(gain, SECONDS)}" for name, gain in sorted(gains.items(), key=lambda g: -g[1]) if gain > 1e-9
        ]
        worse = [
            f"{name} {show(-gain, SECONDS)}" for name, gain in sorted(gains.items(), key=lambda g: g[1]) if gain < -1e-9
        ]
        lead = show(second.time - first.time, SECONDS)
        text += f" It beats the next kind by {lead}: it saves {', '.join(better[:3]) or 'nothing'}"
        text += f", and pays {', '.join(worse[:2])}." if worse else "."
    return text


def _dead_end(console: Console, plan: Plan) -> None:
    """By how much nothing fits, and what would."""
    end, capacity = plan.dead_end, float(plan.cluster.chip.capacity)
    if end is None:
        return
    if end.lightest is not None:
        least = end.lightest
        console.print(
            f"The layout that needs least, {degrees_text(least.mapping)}, {choices_text(least.mapping)}, holds "
            f"{show(least.memory, BYTES)} on its fullest rank; a chip has {show(capacity, BYTES)}."
        )
    if not end.ways_out:
        console.print(
            "Nothing that was tried helps: neither host memory, nor more of these chips, nor others with more memory."
        )
    for way in end.ways_out:
        console.print(
            f"\n  {way.command}\n  {show(way.time, SECONDS)} a step on {way.accelerators} chips, "
            f"{show(way.memory_bytes, BYTES)} a chip{_step_price(way)}",
            soft_wrap=True,
        )


def _step_price(way: WayOut) -> str:
    return "" if way.usd is None else f", {show(way.usd, DOLLARS)} a step"


def _nearest(console: Console, plan: Plan) -> None:
    near = plan.nearest
    if near is None:
        return
    console.print(
        f"\nFaster but too large: {degrees_text(near.mapping)}, {choices_text(near.mapping)} would take "
        f"{show(near.time, SECONDS)} with {show(near.memory_bytes, BYTES)} a chip."
    )
