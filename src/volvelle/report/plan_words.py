"""What is said of layouts, and where none fits: the same on a terminal, on a page and in a notebook."""

from volvelle.mapping.axes import CONTEXT, EXPERT
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import BYTES, DOLLARS, SECONDS, percent, show
from volvelle.verbs.layouts import Layout
from volvelle.verbs.plan import Plan


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


def layout_cells(layout: Layout) -> tuple[str, ...]:
    """A row of a table: time, utilisation, memory, kind, degrees, choices with how many tie, and what launches it."""
    ties = f" (+{layout.ties} that tie)" if layout.ties else ""
    return (
        show(layout.time, SECONDS),
        percent(layout.utilisation),
        show(layout.memory_bytes, BYTES),
        layout.kind.word,
        degrees_text(layout.mapping),
        choices_text(layout.mapping) + ties,
        " ".join(layout.frameworks) or "none",
    )


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
        ours, theirs = first.parts(), second.parts()
        gains = {name: theirs.get(name, 0.0) - ours.get(name, 0.0) for name in {**ours, **theirs}}
        saved = sorted(gains.items(), key=lambda item: -item[1])
        paid = sorted(gains.items(), key=lambda item: item[1])
        better = [f"{name} {show(gain, SECONDS)}" for name, gain in saved if gain > 1e-9]
        worse = [f"{name} {show(-gain, SECONDS)}" for name, gain in paid if gain < -1e-9]
        lead = show(second.time - first.time, SECONDS)
        text += f" It beats the next kind by {lead}: it saves {', '.join(better[:3]) or 'nothing'}"
        text += f", and pays {', '.join(worse[:2])}." if worse else "."
    return text


def nearest_words(near: Layout) -> str:
    """Of a layout that is faster than the first and does not fit."""
    return (
        f"Faster but too large: {degrees_text(near.mapping)}, {choices_text(near.mapping)} would take "
        f"{show(near.time, SECONDS)} with {show(near.memory_bytes, BYTES)} a chip."
    )


def dead_end_words(plan: Plan) -> tuple[list[str], list[tuple[str, str]]]:
    """By how much nothing fits, a sentence each; and commands with which something does, each with what it gives."""
    end = plan.dead_end
    if end is None:
        return [], []
    told, least, has = [], end.lightest, show(float(plan.cluster.chip.capacity), BYTES)
    if least is not None:
        told.append(
            f"The layout that needs least, {degrees_text(least.mapping)}, {choices_text(least.mapping)}, holds "
            f"{show(least.memory, BYTES)} on its fullest rank; a chip has {has}."
        )
    if not end.ways_out:
        tried = "neither host memory, nor more of these chips, nor others with more memory"
        told.append(f"Nothing that was tried helps: {tried}.")
    ways = []
    for way in end.ways_out:
        price = "" if way.usd is None else f", {show(way.usd, DOLLARS)} a step"
        held = f"{show(way.memory_bytes, BYTES)} a chip{price}"
        ways.append((way.command, f"{show(way.time, SECONDS)} a step on {way.accelerators} chips, {held}"))
    return told, ways
