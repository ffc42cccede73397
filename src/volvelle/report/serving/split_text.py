"""How a model is served by two pools, as a person enjoys reading it."""

from collections.abc import Iterator

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from volvelle.quantities import BYTES_PER_SECOND, SECONDS, numbered, percent, show, whole_text
from volvelle.report.serving.words import degrees_text, load_text, load_throughput_text, price_text
from volvelle.report.terminal import plain_table, print_lines, print_notes, wide_console
from volvelle.report.violations_text import brief_violations, violations_text
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
_NO_CURE = "no wider worker and no narrower weights that were tried are enough"


def print_split(answer: SplitServing, *, brief: bool = False) -> None:
    """Print how a model is served by two pools: the answer first, then both pools, then what was assumed."""
    console = wide_console(console=Console(highlight=False))
    if brief:
        print_lines(console, brief_lines(answer))
        return
    console.print(_headline(answer))
    if answer.load is not None:
        columns = ("latency", "mean", "median", "p90", "p99")
        if rows := list(latency_rows(answer)):
            console.print(plain_table("What clients measure", columns, rows, numbers=columns[1:]))
        console.print(plain_table("Pools", POOLS, list(pool_rows(answer)), numbers=POOLS[1:6]))
    print_notes(console, answer.notes, but=answer.warnings)


def title_text(answer: SplitServing) -> str:
    """What is served where, on one line."""
    systems = dict.fromkeys((answer.prefill.cluster.name, answer.decode.cluster.name))
    return f"{answer.model} on {' and '.join(systems)}, {answer.decode.instance.engine.title}, two pools"


def question_text(answer: SplitServing) -> str:
    """What was asked."""
    return load_text(answer.question)


def pool_text(pool: SplitPool) -> str:
    """How a pool is laid out."""
    layout, served = pool.instance.layout, pool.instance.served
    chips = numbered(layout.chips, "chip")
    return (
        f"{numbered(pool.workers, 'worker')} of {chips}{degrees_text(layout)}, {pool.cluster.chip.name}, "
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
        user = "" if load.throughput_per_user is None else f", {load.throughput_per_user:,.1f} a user"
        yield (f"{load_throughput_text(load)}, {whole_text(load.throughput / load.chips)} a chip{user}")
        yield f"{load.request_throughput:.4g} requests/s, {whole_text(load.total_throughput)} tokens/s in and out"
    use = getattr(load, load.binds).utilisation
    yield f"the {load.binds} pool binds: {percent(use, 0)} of what it sustains"
    if answer.advice:
        yield answer.advice
    if answer.cost is not None:
        yield price_text(answer.cost)


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
    yield from brief_violations(answer.violations)


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
    if answer.violations:
        text.append("\n").append_text(violations_text(answer.violations, style="bold red", no_cure=_NO_CURE))
    title = "served" if answer.feasible else "cannot run"
    return Panel(text, title=title, border_style="green" if answer.feasible else "red", title_align="left")
