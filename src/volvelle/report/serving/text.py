"""How a model is served, as a person enjoys reading it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from volvelle.applications.serving.part_bounds import TimedPart
from volvelle.applications.serving.static_answer import StaticAnswer
from volvelle.estimators.result import Range
from volvelle.quantities import BYTES, SECONDS, numbered, percent, show, whole_text
from volvelle.report.serving.launch_files_text import print_launch_files
from volvelle.report.serving.words import (
    degrees_text,
    lengths_text,
    load_text,
    load_throughput_text,
    price_text,
    throughput_text,
)
from volvelle.report.speculation.text import gain_lines, gain_sheets
from volvelle.report.terminal import MORE, plain_table, print_notes, wide_console
from volvelle.report.violations_text import brief_violations, violations_panel
from volvelle.verbs.serving.serve import Serving

if TYPE_CHECKING:
    from volvelle.applications.serving.under_load import LoadAnswer

_PARTS = 4
"""Of the time, that a brief answer tells."""
_NO_CURE = "no single change of layout, format or machine that was tried is enough"
LATENCIES = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2el": "E2EL"}
"""Latencies as ``vllm bench serve`` calls them."""


def print_serving(answer: Serving, *, brief: bool = False) -> None:
    """Print how a model is served: the answer first, then where time and memory go, then what was assumed."""
    console = wide_console(console=Console(highlight=False))
    if brief:
        for line in brief_lines(answer):
            console.print(line, markup=False)
        _print_files(console, answer)
        console.print(MORE, style="dim")
        return
    console.print(_headline(answer))
    if answer.violations:
        console.print(violations_panel(answer.violations, title="why it cannot run", no_cure=_NO_CURE))
    if answer.load is not None and answer.load.latencies:
        console.print(_latencies(answer.load))
    if answer.static is not None:
        static = answer.static
        console.print(_time("Where the time to the first token goes", static.prefill, static.ttft))
        console.print(_time("Where the time of each further token goes", static.decode, static.tpot))
    if answer.speculation is not None:
        for sheet in gain_sheets(answer.speculation):
            console.print(plain_table(sheet.title, sheet.columns, sheet.rows, numbers=sheet.numbers))
    console.print(_memory(answer))
    print_notes(console, answer.notes, but=answer.warnings)
    _print_files(console, answer)


def _print_files(console: Console, answer: Serving) -> None:
    """Files that launch it, and what a timeline has."""
    print_launch_files(console, answer.files, answer.folder)
    traced = answer.timeline
    if traced is not None:
        console.print(
            Text(
                f"\n{traced.file}: {numbered(traced.spans, 'span')} of steps, {numbered(traced.requests, 'request')}, "
                f"for ui.perfetto.dev{f'; cut to {traced.cut}' if traced.cut else ''}"
            )
        )


def title_text(answer: Serving) -> str:
    """What is served where, on one line."""
    return f"{answer.model} on {answer.cluster.name}, {answer.instance.engine.title}"


def question_text(answer: Serving) -> str:
    """What was asked."""
    question = answer.question
    if question.load is None:
        return f"{numbered(question.batch or 1, 'sequence')} at once, {lengths_text(question)}"
    return load_text(question)


def instance_text(answer: Serving) -> str:
    """How one instance is laid out, and how many there are."""
    layout, served = answer.instance.layout, answer.instance.served
    return (
        f"{numbered(answer.replicas, 'instance')} of {numbered(layout.chips, 'chip')}{degrees_text(layout)}, "
        f"weights in {served.weights}, KV cache in {served.cache}"
    )


def figure_lines(answer: Serving) -> Iterator[str]:
    """What comes of it: latencies, throughputs, what binds, money."""
    if answer.static is not None:
        yield from _static_lines(answer.static)
    if answer.load is not None:
        yield from _load_lines(answer.load)
    if answer.speculation is not None:
        yield from gain_lines(answer.speculation)
    if answer.cost is not None:
        yield price_text(answer.cost)


def memory_line(answer: Serving) -> str:
    """What a chip holds, and what its cache has room for."""
    held = answer.memory
    if held.cache_tokens == 0:
        return f"{show(held.used, BYTES)} of {show(held.allowed, BYTES)} a chip: does not fit"
    such = "" if answer.question.traced else f", {held.most_sequences:,} such requests"
    return (
        f"{show(held.used, BYTES)} of {show(held.allowed, BYTES)} a chip: {'fits' if held.fits else 'does not fit'}; "
        f"the KV cache holds {held.cache_tokens:,} tokens in {held.cache_blocks:,} blocks{such}"
    )


def _span(found: Range) -> str:
    return f"{show(found.low, SECONDS)} … {show(found.high, SECONDS)}"


def _static_lines(static: StaticAnswer) -> Iterator[str]:
    ranges = static.ranges
    level = percent(ranges["ttft"].level, 0)
    for name, value in (("ttft", static.ttft), ("tpot", static.tpot), ("latency", static.latency)):
        word = LATENCIES.get(name, name)
        yield f"{word} {show(value, SECONDS)}   {_span(ranges[name])} ({level} interval)"
    found = ranges["throughput"]
    yield (
        f"{throughput_text(static.throughput, found)}; {whole_text(static.throughput_per_instance)} an instance, "
        f"{whole_text(static.throughput_per_chip)} a chip, "
        f"{static.throughput_per_user:,.1f} a user"
    )
    binding = static.binding
    yield f"bound by {binding.bound}: {binding.name} takes {percent(binding.seconds / static.latency, 0)} of the time"


def _load_lines(load: "LoadAnswer") -> Iterator[str]:
    full = load.occupancy
    if load.unstable is not None:
        yield f"{load.unstable}"
        yield "the queue grows for as long as requests come, so latencies would say how long the run was"
    elif load.throughput is not None and load.total_throughput is not None and load.metrics is not None:
        yield (f"{load_throughput_text(load)}, {whole_text(load.throughput / load.chips)} a chip")
        yield (
            f"{load.request_throughput:.4g} requests/s, {whole_text(load.total_throughput)} tokens/s in and out; "
            f"{numbered(load.requests, 'request')} in {show(load.metrics.duration, SECONDS)}"
            + (f" on each of {load.ranks} ranks" if load.ranks > 1 else "")
            + (", the first of each client as warm-up" if load.warmed_up else "")
        )
    yield (
        f"running {full.mean_running:,.1f} in the mean, {full.most_running:,} at most; waiting {full.most_waiting:,} "
        f"at most; KV cache {percent(full.kv_peak, 0)} full at most; {numbered(full.preemptions, 'preemption')}"
    )
    yield f"limited by: {full.limited_by}"


def brief_lines(answer: Serving) -> Iterator[str]:
    """The answer in a few lines."""
    yield f"{title_text(answer)}: {question_text(answer)}"
    yield instance_text(answer)
    yield from (f"note: {warning}" for warning in answer.warnings)
    yield from figure_lines(answer)
    if answer.load is not None:
        for name, found in answer.load.latencies.items():
            mean, median, high = (show(value, SECONDS) for value in (found.mean, found.median, found.percentiles[99.0]))
            yield f"{LATENCIES[name]} mean {mean}, median {median}, p99 {high}"
    yield memory_line(answer)
    if answer.static is not None:
        for phase, parts, whole in (
            ("first token", answer.static.prefill, answer.static.ttft),
            ("further tokens", answer.static.decode, answer.static.tpot),
        ):
            told = ", ".join(f"{part.name} {percent(part.seconds / whole, 0)}" for part in parts[:_PARTS])
            yield f"{phase}: {told}"
    yield from brief_violations(answer.violations)


def _headline(answer: Serving) -> Panel:
    text = Text()
    text.append(answer.model, style="bold")
    text.append(f"  {question_text(answer)}\n")
    text.append(answer.cluster.name, style="bold")
    text.append(f"  {answer.cluster.accelerators:,} × {answer.cluster.chip.name}\n")
    text.append(answer.instance.engine.title, style="bold")
    text.append(f"  {instance_text(answer)}\n")
    for warning in answer.warnings:
        text.append(f"note: {warning}\n", style="yellow")
    text.append("\n")
    for index, line in enumerate(figure_lines(answer)):
        text.append(f"{line}\n", style="bold green" if index == 0 else "")
    text.append(memory_line(answer))
    if not answer.feasible:
        text.append("\nno speed: it cannot be served so", style="bold red")
    title = "served" if answer.feasible else "cannot run"
    return Panel(text, title=title, border_style="green" if answer.feasible else "red", title_align="left")


def latency_rows(load: "LoadAnswer") -> Mapping[str, tuple[float, float, float, float]]:
    """Mean, median, 90th and 99th percentile of each latency."""
    return {
        LATENCIES[name]: (found.mean, found.median, found.percentiles[90.0], found.percentiles[99.0])
        for name, found in load.latencies.items()
    }


def _latencies(load: "LoadAnswer") -> Table:
    columns = ("latency", "mean", "median", "p90", "p99")
    rows = [(name, *(show(value, SECONDS) for value in values)) for name, values in latency_rows(load).items()]
    return plain_table("What clients measure", columns, rows, numbers=columns[1:])


def _time(title: str, parts: tuple[TimedPart, ...], whole: float) -> Table:
    columns = ("part", "time", "share", "bound by")
    rows = [(part.name, show(part.seconds, SECONDS), percent(part.seconds / whole), part.bound) for part in parts]
    return plain_table(title, columns, rows, numbers=columns[1:3])


def _memory(answer: Serving) -> Table:
    held = answer.memory
    columns = ("part", "bytes", "of memory")
    rows = [(part.name, show(part.bytes, BYTES), percent(part.bytes / held.capacity)) for part in held.parts]
    return plain_table("What a chip holds", columns, rows, numbers=columns[1:])
