"""An estimate as a person enjoys reading it."""

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from volvelle.estimators.result import TrainingEstimate
from volvelle.mapping.axes import CONTEXT
from volvelle.mapping.parallelism import Graphs, ParallelMapping, Recompute
from volvelle.quantities import BYTES, DOLLARS, JOULES, SECONDS, WATTS, chance_text, percent, show, whole_text
from volvelle.report.compare_text import difference_lines
from volvelle.report.layers_text import layers_table
from volvelle.report.range_words import range_words
from volvelle.report.run_text import run_lines
from volvelle.report.terminal import plain_table, wide_console
from volvelle.report.trained_text import trained_text
from volvelle.report.violations_text import violations_panel
from volvelle.verbs.estimate import Answer
from volvelle.verbs.estimators import CLOSED

_BAR = 8
_BARRED = 80
"""Columns of a terminal from which on there is room for bars."""
_GRAPHS = {Graphs.ROUTER: "routing", Graphs.ATTENTION: "all but experts", Graphs.WHOLE: "the whole step"}
NO_REMEDY = "no change of one or two options that was tried makes it run, and no larger machine of this kind"
_MASKED = "; attention counts in full, but kernels skip what its mask hides"


def print_estimate(answer: Answer, *, detail: bool = False) -> None:
    """Print an estimate: the answer first, then where time and memory go, then what it rests on."""
    console = wide_console(console=Console(highlight=False))
    console.print(_headline(answer))
    if answer.estimate.violations:
        console.print(violations_panel(answer.estimate.violations, title="why it cannot run", no_cure=NO_REMEDY))
    if answer.speed is None:
        return  # no memory, no inputs: there is no such layout
    if answer.speed is not None:
        console.print(_time(answer, detail=detail, bars=console.width >= _BARRED))
        if detail:
            console.print(layers_table(answer.layer_phases))
    console.print(_memory(answer, bars=console.width >= _BARRED))
    console.print(_inputs(answer))
    console.print(_laws(answer))
    if answer.speed is not None:
        console.print(Text(f"\n{money_words(answer)} {range_words(answer.basis)}", style="dim"))


def _headline(answer: Answer) -> Panel:
    estimate, mapping = answer.estimate, answer.estimate.mapping
    step, cluster = answer.step, answer.cluster
    text = Text()
    shape = " × ".join(f"{dimension.size:,} ({dimension.name})" for dimension in cluster.dimensions)
    text.append(f"{answer.model}", style="bold")
    text.append(
        f"  {answer.parameters / 1e9:.4g} B parameters, {step.batch:,} sequences of {answer.sequence:,} a step\n"
    )
    if told := trained_text(step):
        text.append("trains", style="bold")
        text.append(f"  {told}\n")
    text.append(f"{cluster.name}", style="bold")
    text.append(f"  {cluster.accelerators:,} × {cluster.chip.name}: {shape}\n")
    for note in answer.notes:
        text.append(f"note: {note}\n", style="yellow")
    if answer.stack:
        others = answer.other_stacks.items()
        told = ", ".join(f"{name} {percent(time / estimate.time - 1, 0, signed=True)}" for name, time in others)
        text.append("software", style="bold")
        text.append(f"  {answer.stack}{f'; with {told}' if told else ''}\n")
        if not answer.stack_timed:
            family = answer.cluster.chip.family
            text.append(
                f"note: {answer.stack} was not timed on {family} chips; what is known of both counts\n", "yellow"
            )
    text.append("layout", style="bold")
    text.append(f"  {layout_text(mapping)}\n")
    if answer.estimator != CLOSED:
        text.append("estimator", style="bold")
        text.append("  a replay of every kernel and transfer of every stage; its range is the closed form's\n")
    if answer.seconds_without_stragglers is not None and answer.speed is not None:
        slow = ", ".join(f"stage {one.stage} at {percent(one.speed, 0)} of its speed" for one in answer.stragglers)
        longer = percent(answer.speed.time / answer.seconds_without_stragglers - 1, 1, signed=True)
        text.append("stragglers", style="bold")
        text.append(f"  {slow}: {longer} on {show(answer.seconds_without_stragglers, SECONDS)}\n")
    text.append("\n")
    if answer.speed is not None:
        _speed(text, answer.speed)
        text.append(use_text(answer) + "\n")
        text.append(
            f"{show(estimate.memory_bytes, BYTES)} of {show(estimate.capacity, BYTES)} on the fullest rank "
            f"({estimate.worst_rank}): {fits_text(estimate)}\n"
        )
    away = estimate.facts.get("host_memory_bytes") if answer.speed is not None else None
    if away is not None and cluster.host_memory is not None:
        text.append(f"{show(away, BYTES)} of {show(float(cluster.host_memory), BYTES)} of host memory, a chip\n")
    if answer.speed is not None:
        text.append(money_text(answer) + _ranges(answer) + _nearest(answer))
        if answer.difference is not None:
            text.append("\n\n" + "\n".join(difference_lines(answer.difference)))
        if answer.run is not None:
            text.append("\n\n" + "\n".join(run_lines(answer.run)))
    else:
        text.append("no speed: counts do not divide, so there is no such layout", style="bold red")
    title = "cannot run" if not estimate.feasible else "one training step"
    return Panel(text, title=title, border_style="red" if not estimate.feasible else "green", title_align="left")


def fits_text(estimate: TrainingEstimate) -> str:
    """Whether it fits with a margin left free, and how likely it is to fit at all."""
    fits = estimate.memory_bytes <= estimate.capacity * (1.0 - estimate.margin)
    free = f", {100 * estimate.left_free:.3g} % left free" if estimate.left_free else ""
    sure = "" if estimate.fits is None else f" (probability {chance_text(estimate.fits)}{free})"
    return ("fits" if fits else "does not fit") + sure


def _speed(text: Text, estimate: TrainingEstimate) -> None:
    text.append(f"{show(estimate.time, SECONDS)}/step", style="bold green" if estimate.feasible else "bold red")
    found = estimate.time_range
    text.append(
        f"   {show(found.low, SECONDS)} … {show(found.high, SECONDS)} ({100 * found.level:.0f} % range)\n"
        if found
        else "\n"
    )
    text.append(
        f"{whole_text(estimate.tokens_per_second)} tokens/s   "
        f"{100 * estimate.utilisation:.1f} % of peak (MFU{_MASKED if estimate.utilisation >= 1.0 else ''})   "
        f"{estimate.work / estimate.time / estimate.chips / 1e12:.1f} TFLOP/s a chip\n"
    )


def use_text(answer: Answer) -> str:
    """How much of the memory's rate and of the busiest level of the network a step puts to use."""
    link = answer.busiest_link
    network = f"   {100 * link.utilisation:.1f} % of the network ({link.name})" if link else ""
    return f"{100 * (answer.memory_utilisation or 0.0):.1f} % of the memory's rate{network}"


def layout_text(mapping: ParallelMapping) -> str:
    """A layout in words, defaults left out where they say nothing."""
    taking = sorted((pair for pair in mapping.shown if pair[0].takes_chips), key=lambda pair: pair[0].rank)
    notes = {CONTEXT: " (heads swapped for positions)" if mapping.ulysses else ""}
    words = [" × ".join(f"{axis.name} {degree}{notes.get(axis, '')}" for axis, degree in taking)]
    if mapping.expert > 1:
        kept = " whole" if not mapping.expert_tensor_parallel else ""
        relayed = ", tokens relayed" if mapping.hierarchical_dispatch else ""
        behind = ", behind another micro-batch" if mapping.expert_overlap else ""
        words.append(f"experts{kept} over {mapping.expert}{relayed}{behind}")
    if mapping.pipeline > 1:
        pieces = f" in {mapping.interleave} pieces" if mapping.interleave > 1 else ""
        words.append(f"{mapping.schedule.word}{pieces}")
    words.append(f"micro-batch {mapping.micro_batch}")
    words.append(f"ZeRO-{mapping.zero}" + (f" over {mapping.zero_group}" if mapping.zero_group else ""))
    words += [f"second copy of weights over {mapping.zero_secondary}"] if mapping.zero_secondary else []
    again = f"recompute {mapping.recompute.word}"
    if mapping.recompute is Recompute.SELECTIVE and mapping.fused_attention:
        again += " (nothing left to do: attention is fused)"
    if mapping.recompute_every > 1:
        again += f" every {mapping.recompute_every} layers"
    words += [again, "fused attention" if mapping.fused_attention else "unfused attention"]
    if mapping.sequence_parallel:
        words.append("sequence parallel")
    if not mapping.overlap:
        words.append("no overlap")
    if mapping.graphs is not Graphs.NONE:
        words.append(f"graphs of {_GRAPHS[mapping.graphs]}")
    if mapping.narrow_attention:
        words.append("narrow attention")
    if mapping.offloaded:
        words.append(f"{' and '.join(mapping.offloaded)} in host memory")
    return ", ".join(words)


def money_text(answer: Answer) -> str:
    """What a step takes of power, energy and money."""
    costs = answer.costs
    if costs.energy is None:
        return f"energy and money: not known ({', '.join(costs.missing)} not in the catalogue)"
    power = show(float(costs.energy) / answer.estimate.time, WATTS)
    energy = f"{power} at the meter, {show(float(costs.energy), JOULES)}/step"
    if costs.dollars is None:
        return f"{energy}; money: no price known ({', '.join(costs.missing)} not in the catalogue)"
    return f"{energy}, {show(float(costs.dollars), DOLLARS)}/step on owned hardware"


def _ranges(answer: Answer) -> str:
    """Where memory, power and money lie; that of the time stands beside it."""
    kinds = {"memory": BYTES, "power": WATTS, "dollars": DOLLARS}
    known = answer.ranges
    told = [
        f"{'money' if name == 'dollars' else name} {show(known[name].low, kind)} … {show(known[name].high, kind)}"
        for name, kind in kinds.items()
        if name in known
    ]
    return f"\n{100 * known['memory'].level:.0f} % ranges: {', '.join(told)}" if told else ""


def _nearest(answer: Answer) -> str:
    """Measured runs like it, and how far their predictions are off."""
    runs = [
        f"{run.model} on {run.chips} {run.accelerator} {percent(run.error, 0, signed=True)} ({run.source})"
        for run in answer.nearest_runs
    ]
    return "\nmeasured runs like it: " + ("; ".join(runs) if runs else "none")


def _bar(share: float) -> Text:
    filled = share * _BAR
    whole = int(filled)
    part = "▏▎▍▌▋▊▉"[int((filled - whole) * 8) - 1] if int((filled - whole) * 8) else ""
    return Text("█" * whole + part, style="cyan")


def bound_words(resource: str) -> str:
    """What bounds a contribution, in a word or two."""
    return resource.removeprefix("network: ").removesuffix(" units").replace(" units and", ",")


def _time(answer: Answer, *, detail: bool, bars: bool = True) -> Table:
    estimate = answer.estimate
    number = {law.name: f"[{index}]" for index, law in enumerate(answer.laws, start=1)}
    table = plain_table("Where the time goes", ())
    table.add_column("part", no_wrap=bars)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", width=_BAR if bars else 0, no_wrap=True)
    table.add_column("bound by", min_width=None if bars else 10)
    table.add_column("law", no_wrap=True, style="dim")

    def row(name: Text, time: float, bound: str, law: str, *, bar: Text | str = "", exposed: bool = True) -> None:
        share = f"{100 * time / estimate.time:.1f} %" if exposed else ""
        table.add_row(name, show(time, SECONDS), share, bar, bound, law, style="" if exposed else "dim")

    for part, time in estimate.parts().items():
        lines = [line for line in estimate.contributions if line.part == part and line.exposed]
        bounds = list(dict.fromkeys(word for line in lines for word in line.resource.split(" and ")))
        laws = list(dict.fromkeys(number[line.law] for line in lines))
        bound, law = (", ".join(map(bound_words, bounds[:2])), laws[0]) if len(laws) == 1 else ("", "")
        bar = _bar(time / estimate.time) if bars else ""
        row(Text(part, style="bold"), time, bound, law, bar=bar)
        if detail or len(laws) > 1:
            for line in sorted(lines, key=lambda line: -line.time):
                name = line.name.removeprefix("layer: ").removesuffix(" of activations")
                row(Text(f"  {name}", style="dim"), line.time, bound_words(line.resource), number[line.law])
    for line in estimate.contributions:
        if not line.exposed:
            row(Text(f"hidden: {line.name}"), line.time, bound_words(line.resource), number[line.law], exposed=False)
    return table


def _memory(answer: Answer, *, bars: bool = True) -> Table:
    estimate = answer.estimate
    number = {law.name: f"[{index}]" for index, law in enumerate(answer.laws, start=1)}
    table = plain_table(f"What the fullest rank holds ({estimate.worst_rank})", ())
    table.add_column("part", no_wrap=bars, min_width=24)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("of memory", justify="right", no_wrap=True)
    table.add_column("", width=_BAR if bars else 0, no_wrap=True)
    table.add_column("law", no_wrap=True, style="dim")
    for part in sorted(estimate.memory, key=lambda part: -part.bytes):
        share = part.bytes / estimate.capacity
        shown = (show(part.bytes, BYTES), f"{100 * share:.1f} %", _bar(min(share, 1.0)) if bars else "")
        table.add_row(part.name, *shown, number[part.law])
    return table


def _inputs(answer: Answer) -> Table:
    rows = []
    for used in answer.inputs:
        figure = used.figure
        low, high = figure.bounds(0.8)
        between = "" if figure.spread is None else f"{used.shown(low)} … {used.shown(high)}"
        evidence = Text(f"{figure.evidence.word}: {answer.cite(figure.source)}", style="dim")
        rows.append((used.name, used.shown(figure.value), between, evidence))
    columns = ("number", "value", "between (80 %)", "evidence")
    return plain_table("Inputs and sources", columns, rows, numbers=("value",), folded=("number", "evidence"))


def _laws(answer: Answer) -> Table:
    rows = (
        (f"[{index}]", law.name, Text(f"{answer.cite(law.paper)}, {law.place}", style="dim"))
        for index, law in enumerate(answer.laws, start=1)
    )
    return plain_table("Laws", ("", "law", "where it stands"), rows, folded=("where it stands",))


def money_words(answer: Answer) -> str:
    """Return the terms that owned money rests on, in words."""
    given, chip = answer.costs.assumptions, answer.cluster.chip
    power = (
        f"Power: accelerators at {100 * float(given.load):.0f} % and hosts at {100 * float(given.host_load):.0f} % of "
        f"their rating, PUE {float(answer.cluster.pue):.3g}."
    )
    if chip.price is None:
        return f"Money: no price of {chip.name} is known. {power}"
    plant = "" if given.plant_price is None else f"plant {float(given.plant_price):.3g} USD/W, "
    return (
        f"Money, as volvelle cost has it: {chip.name} at {show(float(chip.price), DOLLARS)}, hosts and network "
        f"{100 * float(given.overhead):.0f} % on top; {plant}interest {100 * float(given.interest):.3g} %, maintenance "
        f"{100 * float(given.maintenance):.3g} % a year; {float(given.life) / 31_557_600:.0f} years at "
        f"{100 * float(given.use):.0f} % use; {float(given.energy_price) * 3.6e6:.2f} USD/kWh. {power}"
    )
