"""What is said of layouts, and where none fits: the same on a terminal, on a page and in a notebook."""

from collections.abc import Sequence

from volvelle.mapping.axes import AXES, CONTEXT, EXPERT
from volvelle.mapping.choices import Choice
from volvelle.mapping.parallelism import CHOICES, ParallelMapping
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


_ALWAYS = ("micro_batch", "zero", "schedule", "recompute", "sequence_parallel")
"""Choices that are printed of every layout; of the others, those that are not the default."""
_WITH = {"interleave": "schedule", "recompute_every": "recompute"}
"""Choice → the one whose word includes it."""
_IN_DEGREES = frozenset({"ulysses", "expert_tensor_parallel"})
_CHOICES = tuple(one for one in CHOICES if one.name not in {axis.name for axis in AXES})


def _word(choice: Choice, mapping: ParallelMapping) -> str:
    """One choice of a layout in a word or two."""
    value = getattr(mapping, choice.name)
    if choice.name == "schedule":
        return mapping.schedule.word + (f"/{mapping.interleave}" if mapping.interleave > 1 else "")
    if choice.name == "recompute":
        every = f" every {mapping.recompute_every}" if mapping.recompute_every > 1 else ""
        return f"recompute {mapping.recompute.word}{every}"
    short = {"micro_batch": "mb", "zero": "zero"}.get(choice.name)
    if short is not None:
        return f"{short}{value}"
    if choice.name == "sequence_parallel":
        return "sp" if value else "no sp"
    if choice.listed:
        return f"host: {choice.listed_word}" if value else f"{choice.listed_word} on the chip"
    return " ".join(choice.typed(value)).removeprefix("--")


def choices_text(mapping: ParallelMapping) -> str:
    """Return all that a layout has besides degrees, in a few words: the usual choices, and what is not the default."""
    words = []
    for choice in _CHOICES:
        if choice.name in _WITH or choice.name in _IN_DEGREES or choice.listed:
            continue
        if choice.name == "schedule" and mapping.pipeline == 1:
            continue
        if choice.name == "sequence_parallel" and not mapping.sequence_parallel:
            continue
        if choice.name in _ALWAYS or getattr(mapping, choice.name) != choice.default:
            words.append((_order(choice.name), _word(choice, mapping)))
    if mapping.offloaded:
        words.append((len(CHOICES), "host: " + "+".join(mapping.offloaded)))
    return ", ".join(word for _, word in sorted(words, key=lambda pair: pair[0]))


def _order(name: str) -> int:
    return _ALWAYS.index(name) if name in _ALWAYS else len(_ALWAYS)


def layout_names(mappings: Sequence[ParallelMapping]) -> tuple[str, ...]:
    """Return a short name for each layout: its degrees, and where these are alike all choices in which they differ."""
    alike: dict[str, list[ParallelMapping]] = {}
    for mapping in mappings:
        alike.setdefault(degrees_text(mapping), []).append(mapping)
    differing = {
        degrees: [one for one in _CHOICES if len({getattr(mapping, one.name) for mapping in those}) > 1]
        for degrees, those in alike.items()
    }

    def name(mapping: ParallelMapping) -> str:
        degrees = degrees_text(mapping)
        told = {one.name: one for one in differing[degrees]}
        owners = [by_name[_WITH.get(one, one)] for one in told]
        words = dict.fromkeys(_word(one, mapping) for one in owners)
        return f"{degrees} ({', '.join(words)})" if words else degrees

    by_name = {one.name: one for one in _CHOICES}
    return tuple(map(name, mappings))


def probability_text(share: float) -> str:
    """Return a probability that may be small, with two digits at least down to a tenth of a percent.

    >>> probability_text(0.22), probability_text(0.0157), probability_text(0.0001)
    ('22 %', '1.6 %', 'below 0.1 %')
    """
    return "below 0.1 %" if share < 0.001 else percent(share, 1 if share < 0.1 else 0)


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
        if second.time < first.time * (1 - 1e-9):
            faster = show(first.time - second.time, SECONDS)
            return f"{text} The next kind is predicted {faster} faster, but is less likely to be the fastest."
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
