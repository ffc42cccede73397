"""Pictures of an estimate: where the time goes, by what bounds it, and what the fullest rank holds."""

import itertools
from collections.abc import Sequence
from typing import Any

from volvelle.estimators.result import Contribution, Estimate
from volvelle.quantities import BYTES, SECONDS, Bytes, show
from volvelle.report.estimate_text import bound_words
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import BLUE, GREEN, GREY, LILAC, NAVY, ORANGE, RUST, SAND, SKY, VIOLET, WIDE

_PARTS = 12
"""Rows of the picture at most; the rest is one row."""
_COMPUTE = {"matrix": BLUE, "matrix, memory": SKY, "vector": VIOLET, "memory": ORANGE, "waiting": GREY}
_NETWORKS = (RUST, GREEN, LILAC, SAND, NAVY)
_HELD = {
    "weights": NAVY,
    "gradients": SKY,
    "optimiser state": RUST,
    "activations": ORANGE,
    "framework and fragmentation": GREY,
}


def resource_colours(estimates: Sequence[Estimate[Any, Any]]) -> dict[str, str]:
    """Resource → colour: the same for compute everywhere, networks in the order in which they come."""
    found = dict.fromkeys(bound_words(line.resource) for timed in estimates for line in timed.contributions)
    spare = itertools.cycle(_NETWORKS)
    return {word: _COMPUTE[word] for word in _COMPUTE if word in found} | {
        word: next(spare) for word in found if word not in _COMPUTE
    }


def line_words(line: Contribution) -> str:
    """A contribution's name."""
    return line.name.removeprefix("layer: ").removesuffix(" of activations")


def time_picture(timed: Estimate[Any, Any], *, width: float = WIDE) -> Chart:
    """A row for every part, its lines by what bounds them; what is hidden below, in outline."""
    parts = timed.parts()
    kept = list(parts)[: _PARTS if len(parts) <= _PARTS else _PARTS - 1]
    rows = [_row(timed, part, (part,)) for part in kept]
    if len(parts) > len(kept):
        rows.append(_row(timed, "all else", tuple(part for part in parts if part not in kept)))
    behind = sorted((line for line in timed.contributions if not line.exposed), key=lambda line: -line.time)
    rows += [
        BarRow(
            label=f"hidden: {line_words(line)}",
            pieces=(
                Piece(
                    kind=bound_words(line.resource),
                    value=line.time,
                    hollow=True,
                    tells=f"{line_words(line)}: {show(line.time, SECONDS)}, hidden behind other work; {line.law}",
                ),
            ),
            text=show(line.time, SECONDS),
        )
        for line in behind
    ]
    said = "Colours: what bounds it."
    hidden = " Outlined: runs behind other work, and does not lengthen the step." if behind else ""
    return row_chart(
        rows,
        name="time of a step",
        kind=SECONDS,
        colours=resource_colours([timed]),
        title=f"{show(timed.time, SECONDS)} by part",
        about="Seconds of a step by part: "
        + ", ".join(f"{name} {show(time, SECONDS)}" for name, time in parts.items()),
        said=said + hidden,
        width=width,
    )


def _row(timed: Estimate[Any, Any], label: str, parts: tuple[str, ...]) -> BarRow:
    lines = [line for line in timed.contributions if line.part in parts and line.exposed]
    whole = sum(line.time for line in lines)
    return BarRow(
        label=label,
        pieces=tuple(
            Piece(
                kind=bound_words(line.resource),
                value=line.time,
                tells=f"{line_words(line)}: {show(line.time, SECONDS)}, {100 * line.time / timed.time:.1f} % of the "
                f"step; bound by {bound_words(line.resource)}" + (f"; {line.law}" if line.law else ""),
            )
            for line in sorted(lines, key=lambda line: -line.time)
        ),
        text=f"{show(whole, SECONDS)}, {100 * whole / timed.time:.1f} %",
    )


def memory_picture(
    timed: Estimate[Any, Any], *, rank: str = "", host: Bytes | None = None, width: float = WIDE
) -> Chart:
    """What the fullest rank holds against what a chip has; what is put in host memory below, of so many bytes there."""
    parts = [part for part in timed.memory if part.bytes > 0]
    held = sorted(parts, key=lambda part: list(_HELD).index(part.name) if part.name in _HELD else len(_HELD))
    spare = itertools.cycle((VIOLET, GREEN, LILAC))
    colours = {part.name: _HELD.get(part.name) or next(spare) for part in held}
    span = timed.ranges.get("memory")
    rows = [
        BarRow(
            label="memory",
            pieces=tuple(
                Piece(
                    kind=part.name,
                    value=part.bytes,
                    tells=f"{part.name}: {show(part.bytes, BYTES)}, {100 * part.bytes / timed.capacity:.1f} % of the "
                    f"memory; {part.law}",
                )
                for part in held
            ),
            text=show(timed.memory_bytes, BYTES),
            span=(span.low, span.high) if span is not None else None,
        )
    ]
    away = timed.facts.get("host_memory_bytes")
    if away is not None:
        size = "" if host is None else f" of {show(float(host), BYTES)}"
        colours["in host memory"] = SAND
        piece = Piece(kind="in host memory", value=away, tells=f"in host memory: {show(away, BYTES)}{size}, a chip")
        rows.append(BarRow(label="host", pieces=(piece,), text=show(away, BYTES) + size))
    return row_chart(
        rows,
        name="memory of a chip",
        kind=BYTES,
        colours=colours,
        title="What the fullest rank holds" + (f" ({rank})" if rank else ""),
        about="Bytes by part: " + ", ".join(f"{part.name} {show(part.bytes, BYTES)}" for part in held),
        said=_said(timed),
        limits=[(timed.capacity, f"{show(timed.capacity, BYTES)} of a chip")],
        width=width,
    )


def _said(timed: Estimate[Any, Any]) -> str:
    free = f", of which {100 * timed.left_free:.3g} % stay free" if timed.left_free else ""
    span = timed.ranges.get("memory")
    sure = f" Thin line: {100 * span.level:.0f} % range." if span is not None else ""
    return f"It holds {show(timed.memory_bytes, BYTES)}; a chip has {show(timed.capacity, BYTES)}{free}.{sure}"
