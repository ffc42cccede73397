"""A plan as a person reads it: ranked layouts, why the first is first, what else was in the way."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from volvelle.estimators.result import TrainingEstimate
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.search.exhaustive import Ranked, Ranking
from volvelle.search.sensitivity import Sensitivity
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

__all__ = ["Plan", "plan_document", "print_plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A ranking with what explains it."""

    model: str
    step: TrainingStep
    cluster: Cluster
    ranking: Ranking
    explained: tuple[TrainingEstimate, ...]
    """The first two layouts (or the only one), in full."""
    sensitivity: Sequence[Sensitivity]
    seconds: float
    """How long the search took."""
    notes: tuple[str, ...] = ()

    def utilisation(self, found: Ranked) -> float:
        """Model FLOPs utilisation of a layout."""
        work, peak = self.explained[0].work, self.explained[0].peak
        return float(model_flops_utilisation(work, found.time, chips=self.cluster.accelerators, peak=peak))


def _degrees(mapping: ParallelMapping) -> str:
    words = [f"tp{mapping.tensor}", f"pp{mapping.pipeline}", f"dp{mapping.data}"]
    if mapping.context > 1:
        words.append(f"cp{mapping.context}" + ("/heads" if mapping.ulysses else ""))
    if mapping.expert > 1:
        words.append(f"ep{mapping.expert}" + ("" if mapping.expert_tensor_parallel else "/etp1"))
    return " ".join(words)


def _choices(mapping: ParallelMapping) -> str:
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


def print_plan(plan: Plan, console: Console | None = None) -> None:
    """Print a plan."""
    console = console or Console(highlight=False)
    console.width = min(console.width, 100)
    ranking, step, cluster = plan.ranking, plan.step, plan.cluster
    console.print(
        f"[bold]{plan.model}[/bold]  {step.model.parameters() / 1e9:.4g} B parameters, {step.batch} sequences of "
        f"{int(step.model.sizes.get('position', 1))} a step, on [bold]{cluster.name}[/bold]"
    )
    for note in (*plan.notes, *cluster.notes):
        console.print(f"note: {note}", style="yellow")
    console.print(
        f"{ranking.configurations:,} layouts: {ranking.evaluated:,} priced, {ranking.pruned:,} ruled out by their "
        f"states alone, {ranking.feasible:,} can run; {plan.seconds:.1f} s",
        style="dim",
    )
    if not ranking.best:
        console.print("\n[bold red]none of them fits[/bold red]")
        _nearest(console, plan)
        return
    table = Table(title="\nLayouts, fastest first", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for head, justify in (("", "right"), ("step", "right"), ("MFU", "right"), ("memory", "right")):
        table.add_column(head, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("degrees", no_wrap=True)
    table.add_column("choices")
    for place, found in enumerate(ranking.best, start=1):
        table.add_row(
            str(place),
            show(found.time, SECONDS),
            f"{100 * plan.utilisation(found):.1f} %",
            show(found.memory, BYTES),
            _degrees(found.mapping),
            _choices(found.mapping),
            style="bold" if place == 1 else "",
        )
    console.print(table)
    first = plan.explained[0]
    if first.time_range is not None:
        console.print(
            f"\nThe first takes {show(first.time_range.low, SECONDS)} … {show(first.time_range.high, SECONDS)} "
            f"({100 * first.time_range.level:.0f} % range); its fullest rank ({first.worst_rank}) "
            f"holds {show(first.memory_bytes, BYTES)} of {show(first.capacity, BYTES)}."
        )
    console.print(_why(plan))
    _nearest(console, plan)
    text = ", ".join(f"{item.name} {100 * item.gain:.1f} %" for item in plan.sensitivity if item.gain > 5e-4)
    console.print(Text(f"\nNext item: a tenth more of a resource saves of the step: {text or 'nothing'}."))


def _why(plan: Plan) -> Text:
    """Where the first layout gains on the second, part by part."""
    first = plan.explained[0]
    largest = list(first.parts().items())[:3]
    words = ", ".join(f"{name} {100 * time / first.time:.0f} %" for name, time in largest)
    text = Text(f"\nIts time goes to {words}.")
    if len(plan.explained) > 1:
        second = plan.explained[1]
        if second.time <= first.time * (1 + 1e-9):
            text.append(" The second takes as long: the model sees no difference between the two.")
            return text
        parts = {**dict.fromkeys(first.parts(), 0.0), **dict.fromkeys(second.parts(), 0.0)}
        gains = {name: second.parts().get(name, 0.0) - first.parts().get(name, 0.0) for name in parts}
        better = [
            f"{name} {show(gain, SECONDS)}" for name, gain in sorted(gains.items(), key=lambda g: -g[1]) if gain > 1e-9
        ]
        worse = [
            f"{name} {show(-gain, SECONDS)}" for name, gain in sorted(gains.items(), key=lambda g: g[1]) if gain < -1e-9
        ]
        lead = show(second.time - first.time, SECONDS)
        text.append(f" It beats the second by {lead}: it saves {', '.join(better[:3]) or 'nothing'}")
        text.append(f", and pays {', '.join(worse[:2])}." if worse else ".")
    return text


def _nearest(console: Console, plan: Plan) -> None:
    near = plan.ranking.nearest
    if near is None:
        return
    console.print(
        f"\nFaster but too large: {_degrees(near.mapping)}, {_choices(near.mapping)} would take "
        f"{show(near.time, SECONDS)} with {show(near.memory, BYTES)} a chip."
    )


def plan_document(plan: Plan) -> dict[str, object]:
    """A plan for other programs: seconds, bytes, and every choice of every layout."""

    def entry(found: Ranked) -> dict[str, object]:
        return {
            "seconds": found.time,
            "utilisation": plan.utilisation(found),
            "memory_bytes": found.memory,
            **found.mapping.described(),
        }

    first = plan.explained[0] if plan.explained else None
    spread = None if first is None else first.time_range
    return {
        "model": plan.model,
        "system": plan.cluster.name,
        "batch": plan.step.batch,
        "sequence": int(plan.step.model.sizes.get("position", 1)),
        "configurations": plan.ranking.configurations,
        "evaluated": plan.ranking.evaluated,
        "pruned": plan.ranking.pruned,
        "feasible": plan.ranking.feasible,
        "search_seconds": plan.seconds,
        "layouts": [entry(found) for found in plan.ranking.best] if first is not None else [],
        "range": None if spread is None else {"low": spread.low, "high": spread.high, "level": spread.level},
        "nearest": None if plan.ranking.nearest is None or first is None else entry(plan.ranking.nearest),
        "sensitivity": [{"name": item.name, "gain": item.gain} for item in plan.sensitivity],
        "notes": list(plan.notes),
    }
