"""A comparison as a person reads it: figures side by side, then what each part of the step adds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose

from rich.console import Console
from rich.text import Text

from volvelle.mapping.axes import AXES
from volvelle.quantities import BYTES, DOLLARS, JOULES, SECONDS, show, whole_text
from volvelle.report.terminal import plain_table, wide_console
from volvelle.verbs.compare import Alternative, Comparison
from volvelle.verbs.differences import Difference

_BESIDE = 3
"""Alternatives beside the first in one table."""
_PARTS = 8
"""Parts of a step that are shown, those that differ most."""
PARTS_TITLE = "Where the difference comes from, for as many tokens"
_TOLD = 1e-4
"""Share of a step below which a part does not differ."""


def print_comparison(found: Comparison) -> None:
    """Print alternatives beside the first of them, few at a time."""
    console = wide_console(console=Console(highlight=False))
    for note in found.notes:
        console.print(f"note: {note}", style="yellow")
    first, others = found.alternatives[0], found.alternatives[1:]
    for start in range(0, len(others), _BESIDE):
        beside, told = others[start : start + _BESIDE], found.differences[start : start + _BESIDE]
        console.print(_figures((first, *beside), told))
        if any(told):
            console.print(_parts(first, beside, told))
    for text in dict.fromkeys(one.rests_on for one in found.differences if one is not None):
        console.print(Text(f"Ranges of differences (80 %) rest on {text}.", style="dim"))


def difference_lines(told: Difference) -> list[str]:
    """A difference in words: how much, how sure, and the parts that make it."""
    line = (
        f"{change_text(told.ratio)} ({span_text(told.range.low, told.range.high)}), {told.verdict}, "
        f"against the machine as it is"
    )
    if told.verdict == "no difference":
        line = "the step takes as long as on the machine as it is"
    parts = [f"{name} {more_text(more)}" for name, more in list(told.parts.items())[:4] if abs(more) > 1e-9]
    words = {"memory_bytes": "memory", "joules": "energy", "usd": "money"}
    others = [
        f"{words[name]} {change_text(ratio)}"
        for name, ratio in told.figures.items()
        if not isclose(ratio, 1, abs_tol=5e-4)
    ]
    return [line, *([f"by {', '.join(parts)}"] if parts else []), *([", ".join(others)] if others else [])]


def _figures(alternatives: Sequence[Alternative], told: Sequence[Difference | None]) -> object:
    names = [one.name for one in alternatives]
    table = plain_table("", ("", *names), numbers=names, folded=names)
    for name, shown in figure_rows(alternatives, told):
        table.add_row(name, *shown)
    return table


def figure_rows(
    alternatives: Sequence[Alternative], told: Sequence[Difference | None]
) -> Iterator[tuple[str, list[str]]]:
    """Figures of alternatives by name, those that are known of one at least; `told` is of all but the first."""
    for name, shown in _rows(alternatives, told):
        if any(cell not in ("", "–") for cell in shown):
            yield name, shown


def _rows(alternatives: Sequence[Alternative], told: Sequence[Difference | None]) -> Iterator[tuple[str, list[str]]]:
    def each(shown: Callable[[Alternative], str | None]) -> list[str]:
        return [shown(one) or "–" for one in alternatives]

    def differing(shown: Callable[[Alternative], str]) -> list[str]:
        """Only where they are not all alike."""
        cells = [shown(one) for one in alternatives]
        return cells if len(set(cells)) > 1 else []

    for name, cells in (
        ("model", differing(lambda one: one.model)),
        ("system", differing(lambda one: one.system)),
        ("software", differing(lambda one: one.stack or "–")),
    ):
        if cells and cells != [one.name for one in alternatives]:
            yield name, cells
    yield "tokens per sequence", each(lambda one: f"{one.sequence:,}")
    yield "layout", [cell or "–" for cell in layout_cells(alternatives)]
    yield (
        "can run",
        ["yes" if one.feasible else "no" for one in alternatives]
        if not all(one.feasible for one in alternatives)
        else [],
    )
    yield "step", each(lambda one: None if one.time is None else show(one.time, SECONDS))
    yield (
        "80 % range",
        each(
            lambda one: (
                None if one.range is None else f"{show(one.range.low, SECONDS)} … {show(one.range.high, SECONDS)}"
            )
        ),
    )
    yield "for as many tokens", ["", *("–" if one is None else change_text(one.ratio) for one in told)]
    yield (
        "80 % range of that",
        [
            "",
            *("–" if one is None else span_text(one.range.low, one.range.high) for one in told),
        ],
    )
    yield "verdict", ["", *("–" if one is None else f"{one.verdict}, {100 * one.chance:.0f} %" for one in told)]
    yield "MFU", each(lambda one: None if one.utilisation is None else f"{100 * one.utilisation:.1f} %")
    yield (
        "tokens a second",
        each(lambda one: None if one.tokens_per_second is None else whole_text(one.tokens_per_second)),
    )
    yield "memory a chip", each(lambda one: None if one.memory_bytes is None else show(one.memory_bytes, BYTES))
    yield "of", each(lambda one: None if one.memory_capacity is None else show(one.memory_capacity, BYTES))
    yield "energy a step", each(lambda one: None if one.joules is None else show(one.joules, JOULES))
    yield "USD a step", each(lambda one: None if one.usd is None else show(one.usd, DOLLARS))
    yield "days", each(lambda one: None if one.run is None else f"{one.run.days:,.3g}")
    yield "owned", each(lambda one: _money(one, "usd_owned"))
    yield "rented", each(lambda one: _money(one, "usd_rented"))


def _money(one: Alternative, name: str) -> str | None:
    if one.run is None:
        return None
    usd = getattr(one.run, name)
    return "no price known" if usd is None else show(usd, DOLLARS)


def layout_cells(alternatives: Sequence[Alternative]) -> list[str | None]:
    """Return degrees, micro-batch and ZeRO of each layout, and whatever else differs between those that read alike."""
    cells = [_degrees_cell(one) for one in alternatives]
    found = []
    for one, cell in zip(alternatives, cells, strict=True):
        alike = [other.layout for other, same in zip(alternatives, cells, strict=True) if same == cell]
        words = [_choice_word(name, value) for name, value in one.layout.items() if _differs(name, alike)]
        found.append(None if cell is None else " ".join([cell, *words]))
    return found


def _differs(name: str, layouts: Sequence[Mapping[str, object]]) -> bool:
    return len({str(layout.get(name)) for layout in layouts}) > 1


def _choice_word(name: str, value: object) -> str:
    word = name.replace("_", "-")
    if isinstance(value, bool):
        return word if value else f"no-{word}"
    return f"{word} {'+'.join(map(str, value)) or 'none' if isinstance(value, list) else value}"


def _degrees_cell(one: Alternative) -> str | None:
    if not one.layout:
        return None
    degrees = {axis.word: one.layout.get(axis.name, 1) for axis in AXES}
    words = [f"{word}{degree}" for word, degree in degrees.items() if degree != 1] or ["dp1"]
    return " ".join([*words, f"mb{one.layout.get('micro_batch', 1)}", f"zero{one.layout.get('zero', 1)}"])


def _parts(first: Alternative, beside: Sequence[Alternative], told: Sequence[Difference | None]) -> object:
    names = [first.name, *(one.name for one in beside)]
    rows = list(part_rows(first, told))
    return plain_table(PARTS_TITLE, ("part", *names), rows, numbers=names, folded=names)


def part_rows(first: Alternative, told: Sequence[Difference | None]) -> Iterator[tuple[str, ...]]:
    """Parts of the step that differ most: of the first, and what each of the others adds to it."""
    most: dict[str, float] = {}
    for one in told:
        for part, more in () if one is None else one.parts.items():
            most[part] = max(most.get(part, 0.0), abs(more))
    enough = _TOLD * (first.time or 0.0)
    for part in sorted((part for part, more in most.items() if more > enough), key=lambda part: -most[part])[:_PARTS]:
        own = show(first.parts.get(part, 0.0), SECONDS)
        yield (part, own, *("–" if one is None else more_text(one.parts.get(part, 0.0)) for one in told))


def change_text(ratio: float) -> str:
    """A ratio of times as a change."""
    return f"× {ratio:.3g}" if ratio >= 2 or ratio <= 0.5 else f"{100 * (ratio - 1):+.1f} %"


def span_text(low: float, high: float) -> str:
    """Two ratios of times, both as changes or both as factors."""
    far = high >= 2 or low <= 0.5
    return f"× {low:.3g} … {high:.3g}" if far else f"{change_text(low)} … {change_text(high)}"


def more_text(more: float) -> str:
    """Seconds more, or less, than another."""
    return "0 s" if abs(more) < 1e-12 else f"{'+' if more >= 0 else '−'}{show(abs(more), SECONDS)}"
