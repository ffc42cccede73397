"""A mapped graph as a person reads it, and as pictures."""

from collections.abc import Mapping

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from volvelle.quantities import BYTES, DOLLARS, JOULES, SECONDS, WATTS, chance_text, percent, show
from volvelle.report.compare_text import change_text
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.graph_picture import Edge, Node, graph_picture
from volvelle.report.figures.roofline import RoofPoint, roofline
from volvelle.report.figures.theme import WIDE
from volvelle.report.range_words import range_words
from volvelle.report.terminal import plain_table, wide_console
from volvelle.report.violations_text import violations_panel
from volvelle.search.graph.answer import FusedBlock, MappedPlan, MappingAnswer
from volvelle.studies.mapped.mapping_cost import MappingCost
from volvelle.verbs.map import MapAnswer

_LISTED = 6
"""Kernels named in a row of the table of partitions."""
_DRAWN = 120
"""Kernels of a block that is drawn one by one."""

_NO_CURE = "a search of a few seconds found no other option and no larger machine of this kind that fits"


def print_map(answer: MapAnswer, *, brief: bool = False) -> None:
    """The whole answer on a terminal, or what fits on a screen."""
    out = wide_console()
    out.print(_headline(answer))
    found, before = answer.mapping, None if answer.baseline is None else answer.baseline.mapping.plan
    if found.plan is not None and before is not None:
        change = change_text(found.plan.time / before.time)
        out.print(f"{change} against the machine as it is, {show(before.time, SECONDS)} ({degrees_words(before)})")
    if found.plan is None:
        out.print(
            violations_panel(
                found.violations,
                title="why nothing fits" if found.proven else "why there is no answer",
                no_cure=_NO_CURE if found.proven else "",
            )
        )
        return
    out.print(_time(found.plan))
    if brief:
        out.print(_binding(found.plan) if found.plan.fused else "", Text(f"\nLooked at {looked_words(found)}"), sep="")
        return
    for block in found.plan.fused:
        out.print(_partitions(block))
    out.print(_splits(found.plan))
    if found.plan.fused:
        out.print(_binding(found.plan))
    out.print(Text(f"\nLooked at {looked_words(found)}"))
    if answer.sure is not None:
        out.print(Text(range_words(answer.sure.basis, "numbers of the machine"), style="dim"))


def _headline(answer: MapAnswer) -> Panel:
    found, plan = answer.mapping, answer.mapping.plan
    text = Text()
    text.append(f"{found.workload}", style="bold").append(
        f"  {answer.parameters / 1e9:.4g} B parameters, {answer.graph}, {answer.execution} execution\n"
    )
    positions = answer.workload.sizes.get("position")
    if positions is not None:
        text.append("sequence", style="bold").append(f"  {positions:,.0f} tokens\n")
    text.append(f"{found.cluster}", style="bold").append(f"  {found.chips} × {answer.cluster.chip.name}\n")
    if plan is None:
        text.append("\nnothing fits" if found.proven else "\nnothing was found in time", style="bold red")
        title = "cannot run" if found.proven else "no answer yet"
        return Panel(text, title=title, border_style="red", title_align="left")
    text.append("mapping", style="bold").append(f"  {degrees_words(plan)}\n\n")
    text.append(f"{show(plan.time, SECONDS)}/step", style="bold")
    text.append(f" of {plan.micro_batches * plan.degrees.data} micro-batches   {percent(plan.utilisation)} of peak\n")
    if answer.sure is not None:
        span = answer.sure.ranges["time"]
        ends = f"{show(span.low, SECONDS)} … {show(span.high, SECONDS)}"
        text.append(f"{ends} ({percent(span.level, 0)} range of this mapping)\n")
    text.append(f"{certificate_words(found)}\n", style="green" if found.proven else "yellow")
    text.append(f"{show(plan.memory_bytes, BYTES)} of {show(plan.capacity, BYTES)} of memory on the fullest stage")
    sure = None if answer.sure is None else answer.sure.fits
    text.append("\n" if sure is None else f", which suffices with a chance of {chance_text(sure)}\n")
    text.append(cost_words(answer.cost))
    return Panel(
        text, title="best mapping" if found.proven else "best mapping found", border_style="green", title_align="left"
    )


def cost_words(cost: MappingCost) -> str:
    """Price, power and energy in one line, or why they are not known."""
    per_usd, per_joule = cost.flops_per_usd, cost.flops_per_joule
    if cost.machine_usd is None or cost.power is None or cost.energy is None or per_usd is None or per_joule is None:
        return f"no price: {cost.missing}"
    told = (
        f"{show(cost.machine_usd, DOLLARS)} ({cost.model} prices), {show(cost.power, WATTS)}, "
        f"{show(cost.energy, JOULES)}/step; {per_usd / 1e9:.3g} GFLOP/s a dollar, {per_joule / 1e9:.3g} a watt"
    )
    shown = {"machine_usd": DOLLARS, "power": WATTS, "energy": JOULES}
    spans = [
        f"{show(cost.ranges[name].low, kind)} … {show(cost.ranges[name].high, kind)}"
        for name, kind in shown.items()
        if name in cost.ranges
    ]
    if not spans:
        return told
    return f"{told}\n{', '.join(spans)}/step with all prices and powers low, or all high"


def certificate_words(found: MappingAnswer) -> str:
    """How near the best the mapping is known to be."""
    if found.proven:
        return "optimum, proven"
    return f"no mapping takes less than {show(found.bound, SECONDS)}: gap {percent(found.gap)}"


def looked_words(found: MappingAnswer) -> str:
    """What the search went through."""
    counts = found.counts
    return (
        f"{counts.degrees} degrees ({counts.pruned + counts.full} ruled out by bounds), {counts.shardings} "
        f"shardings, {counts.fusions} fusions; {found.seconds:.1f} s"
    )


def degrees_words(plan: MappedPlan) -> str:
    """Degrees, and the networks that each lies on."""
    words = []
    for group in plan.degrees.groups:
        where = " × ".join(f"{members} on {name}" for name, members in group.spans)
        words.append(f"{group.axis} {group.degree}" + (f" ({where})" if where else ""))
    return " × ".join(words)


def _time(plan: MappedPlan) -> Table:
    table = plain_table(
        "Where the time goes", ("part", "time", "share", "bound by"), numbers=("time", "share"), folded=("bound by",)
    )
    for part, time in plan.parts().items():
        bound = dict.fromkeys(one.resource for one in plan.contributions if one.exposed and one.part == part)
        table.add_row(part, show(time, SECONDS), f"{percent(time / plan.time)}", ", ".join(bound))
    return table


def _partitions(block: FusedBlock) -> Table:
    tile = f", tiles of {block.tile}" if block.tile else ""
    often = f", {block.repeat} times" if block.repeat > 1 else ""
    numbers = ("time", "compute", "memory", "network", "SRAM")
    title = f"{block.name}: partitions in the order they run{tile}{often}"
    table = plain_table(title, ("", "kernels", *numbers), numbers=numbers, folded=("kernels",))
    for number, part in enumerate(block.partitions, start=1):
        if not part.kernels:
            continue
        names = ", ".join(part.kernels[:_LISTED])
        more = f" and {len(part.kernels) - _LISTED} more" if len(part.kernels) > _LISTED else ""
        times = [(part.compute, "compute"), (part.memory, "memory"), (part.network, "network")]
        cells = [Text(show(time, SECONDS), style="bold" if name == part.binding else "") for time, name in times]
        table.add_row(str(number), names + more, show(part.time, SECONDS), *cells, show(part.sram, BYTES))
    return table


def split_lines(plan: MappedPlan, *, most: int = 10) -> list[tuple[str, list[str]]]:
    """A heading for every block, and lines: which dimension splits what, and what is exchanged."""
    found = []
    for block in plan.blocks:
        by_dim: dict[str, list[str]] = {}
        for name, dim in block.sharded.dims.items():
            by_dim.setdefault(dim or "", []).append(name)
        lines = []
        for dim, names in sorted(by_dim.items(), key=lambda item: -len(item[1])):
            shown = ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
            lines.append(f"{'by ' + dim if dim else 'not split'}: {shown}")
        exchanged = [
            f"{one.collective.value} of {one.tensor}" for one in block.sharded.conversions if not one.of_weight
        ]
        if plan.degrees.tensor > 1:
            lines.append(f"exchanged: {', '.join(exchanged) or 'nothing'}")
        found.append((f"{block.name}: how kernels are split over {plan.degrees.tensor} chips", lines))
    return found


def _splits(plan: MappedPlan) -> Group:
    """Which dimension splits what, and what is exchanged."""
    texts = []
    for title, lines in split_lines(plan):
        texts += [Text(f"\n{title}", style="bold"), *(Text(f"  {line}") for line in lines)]
    return Group(*texts)


def _binding(plan: MappedPlan) -> Text:
    gains = [f"{limit.name} {percent(limit.gain / plan.time)}" for limit in plan.limits if limit.gain > 0]
    return Text("\nWhat binds (of the step, gone without it): " + (", ".join(gains[:4]) or "nothing but compute"))


# -- pictures --------------------------------------------------------------------------------------------------------


def map_pictures(answer: MapAnswer) -> dict[str, Chart]:
    """File name → picture: each block's graph, and a roofline of all partitions."""
    plan = answer.mapping.plan
    if plan is None or not plan.fused:
        return {}  # kernels one after another have no partitions to draw
    return graph_pictures(answer) | {"roofline.svg": roofline_picture(answer, plan)}


def graph_pictures(answer: MapAnswer) -> dict[str, Chart]:
    """File name → the graph of each block that is not too large to draw."""
    plan = answer.mapping.plan
    if plan is None:
        return {}
    stages = _stages(plan)
    return {
        f"graph-{block.name}.svg".replace(" ", "-"): _drawn(answer, block, stages)
        for block in plan.fused
        if len(block.problem.kernels) <= _DRAWN
    }


def _stages(plan: MappedPlan) -> Mapping[tuple[str, int], int]:
    """(block, partition) → the first stage that runs it."""
    places: dict[tuple[str, int], int] = {}
    count = {block.name: len(block.partitions) for block in plan.blocks}
    for number, stage in enumerate(plan.stages):
        for piece in stage.pieces:
            for partition in piece.partitions or range(count[piece.block]):
                places.setdefault((piece.block, partition), number)
    return places


def _drawn(answer: MapAnswer, block: FusedBlock, stages: Mapping[tuple[str, int], int]) -> Chart:
    def node(name: str) -> Node:
        place = block.fusion.place(name)
        dim = block.sharded.dims.get(name)
        return Node(
            name=name,
            words=f"split by {dim}" if dim else "not split",
            partition=place,
            stage=stages.get((block.name, place), 0),
        )

    edges = [
        Edge(
            producer=one.producer,
            consumer=one.consumer,
            words=f"{one.producer} to {one.consumer}: {show(one.bytes * block.problem.tiles, BYTES)} a chip",
        )
        for one in block.problem.tensors
    ]
    named = "" if block.name == answer.mapping.workload else f": {block.name}"
    title = f"{answer.mapping.workload}{named} on {answer.mapping.cluster}"
    return graph_picture([node(kernel.name) for kernel in block.problem.kernels], edges, title=title)


def roofline_picture(answer: MapAnswer, plan: MappedPlan, *, width: float = WIDE) -> Chart:
    """Partitions under the roofs of the chip and its network."""
    chip = plan.fused[0].problem.chip
    roofs = {"memory": chip.dram_rate}
    spans = plan.degrees.group("tensor").spans
    links = {dimension.name: float(dimension.link.sustained) for dimension in answer.cluster.dimensions}
    if spans:
        roofs[f"network ({spans[-1][0]})"] = links[spans[-1][0]]
    last = [*roofs.values()][-1]
    points, number = list[RoofPoint](), 0
    for block in plan.fused:
        work = {kernel.name: kernel.work * block.problem.tiles for kernel in block.problem.kernels}
        for part in block.partitions:
            number += 1
            flops = sum(work[name] for name in part.kernels)
            moved = (part.traffic, part.network * last)[: len(roofs)]
            if flops and part.time:
                intensities = tuple(flops / size if size else None for size in moved)
                points.append(RoofPoint(name=str(number), rate=flops / part.time, intensities=intensities))
    return roofline(
        points,
        roofs,
        peak=plan.peak,
        title=f"{answer.mapping.workload} on {answer.mapping.cluster}, by partition",
        about=f"Rate against FLOP a byte, with a roof for each of {', '.join(roofs)}.",
        said="Numbers: partitions in the order they run; what binds is the roof that a mark touches.",
        width=width,
    )
