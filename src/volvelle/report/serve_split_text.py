"""How a model is served by two pools, as a person enjoys reading it."""

from collections.abc import Iterator

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from volvelle.quantities import BYTES_PER_SECOND, DOLLARS, SECONDS, numbered, percent, show
from volvelle.report.terminal import plain_table, wide_console
from volvelle.verbs.serving.split import SplitPool, SplitServing

LATENCIES = {
    "ttft": "TTFT, with transfer",
    "ttft_at_prefill": "TTFT, at prefill",
    "transfer": "  transfer",
    "wait_for_room": "  wait to decode",
    "tpot": "TPOT",
    "itl": "ITL",
    "e2el": "E2EL",
}
"""Latencies by name; those of a part of the way stand under the whole."""
POOLS = ("pool", "chips", "requests/s", "sustains", "used", "in a step", "limited by")
"""Columns of what each pool did."""
_MORE = "more without --brief"
_CURES = 2


def print_split(answer: SplitServing, *, brief: bool = False) -> None:
    """Print how a model is served by two pools: the answer first, then both pools, then what was assumed."""
    console = wide_console(console=Console(highlight=False))
    if brief:
        for line in brief_lines(answer):
            console.print(line, markup=False)
        console.print(_MORE, style="dim")
        return
    console.print(_headline(answer))
    if answer.load is not None:
        columns = ("latency", "mean", "median", "p90", "p99")
        if rows := list(latency_rows(answer)):
            console.print(plain_table("What clients measure", columns, rows, numbers=columns[1:]))
        console.print(plain_table("Pools", POOLS, list(pool_rows(answer)), numbers=POOLS[1:6]))
    for index, note in enumerate(note for note in answer.notes if note not in answer.warnings):
        console.print(Text(note if index else f"\n{note}", style="dim"))


def title_text(answer: SplitServing) -> str:
    """What is served where, on one line."""
    systems = dict.fromkeys((answer.prefill.cluster.name, answer.decode.cluster.name))
    return f"{answer.model} on {' and '.join(systems)}, {answer.decode.instance.engine.title}, two pools"


def question_text(answer: SplitServing) -> str:
    """What was asked."""
    question = answer.question
    if question.traced:
        return f"load: {question.load}"
    drawn = "" if question.lengths == "fixed" else f" ({question.lengths})"
    lengths = f"{numbered(question.input_tokens, 'token')} in, {question.output_tokens:,} out"
    return f"load: {question.load}, {lengths}{drawn}"


def pool_text(pool: SplitPool) -> str:
    """How a pool is laid out."""
    layout, served = pool.instance.layout, pool.instance.served
    degrees = {"tensor": layout.tensor, "data": layout.data, "pipeline": layout.pipeline, "expert": layout.expert}
    words = " × ".join(f"{name} {degree}" for name, degree in degrees.items() if degree > 1)
    chips = numbered(layout.chips, "chip")
    return (
        f"{numbered(pool.workers, 'worker')} of {chips}{f' ({words})' if words else ''}, {pool.cluster.chip.name}, "
        f"weights in {served.weights}"
    )


def figure_lines(answer: SplitServing) -> Iterator[str]:
    """What comes of it: throughput, which pool binds, how they would match, money."""
    load = answer.load
    if load is None:
        return
    if load.unstable is not None:
        yield f"{load.unstable}"
        yield f"the queue of the {load.unstable_pool} pool grows for as long as requests come"
    elif load.throughput is not None and load.total_throughput is not None:
        found = load.ranges["throughput"]
        user = "" if load.throughput_per_user is None else f", {load.throughput_per_user:,.1f} a user"
        yield (
            f"{load.throughput:,.0f} output tokens/s   {found.low:,.0f} … {found.high:,.0f} "
            f"({percent(found.level, 0)} interval), {load.throughput_per_chip:,.0f} a chip{user}"
        )
        yield f"{load.request_throughput:.4g} requests/s, {load.total_throughput:,.0f} tokens/s in and out"
    use = getattr(load, load.binds).utilisation
    yield f"the {load.binds} pool binds: {percent(use, 0)} of what it sustains"
    if answer.advice:
        yield answer.advice
    if answer.cost is not None:
        prices = {"on owned hardware": answer.cost.owned, "rented": answer.cost.rented}
        told = [f"{show(dollars, DOLLARS)} {how}" for how, dollars in prices.items() if dollars is not None]
        yield f"a million output tokens: {', '.join(told) or 'price not known'}"


def link_text(answer: SplitServing) -> str:
    """How caches go."""
    when = {"after": "after the prompt", "by-layer": "layer by layer"}[answer.question.transfer]
    return f"caches go {when} over {answer.link.name}, {show(answer.link.rate, BYTES_PER_SECOND)} a chip"


def latency_rows(answer: SplitServing) -> Iterator[tuple[str, ...]]:
    """Mean, median, 90th and 99th percentile of each latency."""
    if answer.load is None:
        return
    for name, found in answer.load.latencies.items():
        values = (found.mean, found.median, found.percentiles[90.0], found.percentiles[99.0])
        yield (LATENCIES[name], *(show(value, SECONDS) for value in values))


def pool_rows(answer: SplitServing) -> Iterator[tuple[str, ...]]:
    """What each pool did."""
    load = answer.load
    if load is None:
        return
    for name, used in (("prefill", load.prefill), ("decode", load.decode)):
        sustains = "" if used.capacity is None else f"{used.capacity:.4g}"
        limit = "nothing came" if used.occupancy is None else used.occupancy.limited_by
        cells = (f"{used.chips:,}", f"{used.rate:.4g}", sustains, percent(used.utilisation, 0), percent(used.busy, 0))
        yield (name, *cells, limit)


def brief_lines(answer: SplitServing) -> Iterator[str]:
    """The answer in a few lines."""
    yield f"{title_text(answer)}: {question_text(answer)}"
    yield f"prefill: {pool_text(answer.prefill)}"
    yield f"decode: {pool_text(answer.decode)}"
    yield from (f"note: {warning}" for warning in answer.warnings)
    yield from figure_lines(answer)
    for name, mean, median, _, high in latency_rows(answer):
        yield f"{name.strip()} mean {mean}, median {median}, p99 {high}"
    for violation in answer.violations:
        yield f"cannot run: {violation.problem}"
        yield from (f"  fix: {cure}" for cure in violation.cures[:_CURES])


def _headline(answer: SplitServing) -> Panel:
    text = Text()
    text.append(answer.model, style="bold")
    text.append(f"  {question_text(answer)}\n")
    for name, pool in (("prefill", answer.prefill), ("decode", answer.decode)):
        text.append(name, style="bold")
        text.append(f"  {pool_text(pool)}\n")
    text.append(f"{answer.decode.instance.engine.title}, {link_text(answer)}\n")
    for warning in answer.warnings:
        text.append(f"note: {warning}\n", style="yellow")
    for index, line in enumerate(figure_lines(answer)):
        text.append(f"\n{line}", style="bold green" if index == 0 else "")
    for violation in answer.violations:
        text.append(f"\n{violation.problem}", style="bold red")
        for place, cure in enumerate(violation.cures):
            text.append(f"\n  {'or: ' if place else 'fix:'} {cure}")
        if not violation.cures:
            text.append("\n  no wider worker and no narrower weights that were tried are enough")
    title = "served" if answer.feasible else "cannot run"
    return Panel(text, title=title, border_style="green" if answer.feasible else "red", title_align="left")
